"""What each kind of stack lets a token see: maps of tiny models of every kind, run on the reader's two texts."""

from __future__ import annotations

import numpy as np
import torch

from core.models.families import family_maps
from ui.cached import cached
from ui.figures.matrices import matrix_of
from ui.formulas import sum_of_exponentials
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.words import Raw, Words

ALONE = ("encoder", "decoder", "prefix")
TOGETHER = ("source", "target", "cross")
NAMES = (*ALONE, *TOGETHER)


@cached(max_entries=64)
def compute(source: tuple[str, ...], target: tuple[str, ...], prefix: int, seed: int) -> Result:
    """The six maps. A prefix beyond the text means all of it."""
    vocabulary = list(dict.fromkeys([*source, *target]))
    texts = [torch.tensor([vocabulary.index(word) for word in text]) for text in (source, target)]
    prefix = min(prefix, len(source))
    maps = family_maps(*texts, prefix, len(vocabulary), seed)
    arrays, scores = {}, {}
    for name, found in maps.items():
        rows = target if name in ("target", "cross") else source
        columns = target if name == "target" else source
        arrays[name] = Array.of(found.weights, rows, columns, axes=("query", "key"))
        scores[name] = found.masked.numpy()
    told = {"source": source, "target": target, "prefix": prefix, "seed": seed}
    return Result(told, arrays, {"scores": scores})


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """One stack alone, then the three maps of an encoder-decoder: all in one row and of one size."""
    return (tuple(_matrix(name, result, words) for name in NAMES),)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    text = {"target": ("t", "t"), "cross": ("t", "s")}.get(name, ("s", "s"))
    axes = result.arrays[name].axes
    return matrix_of(
        result,
        name,
        words,
        hidden=np.isneginf(result.facts["scores"][name]),
        note=words.plain(f"note.{name}", prefix=result.parameters["prefix"]),
        large=True,
        marks=tuple(f"{kind} of {side}" for kind, side in zip(axes, text, strict=True)),
    )


def visible(result: Result, name: str) -> int:
    """Pairs that the mask lets through."""
    return int(np.isfinite(result.facts["scores"][name]).sum())


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """The softmax of one row, or the mask."""
    name, i, j = cell
    scores, weights = result.facts["scores"][name][i], result.values(name)[i]
    array = result.arrays[name]
    told = {"i": i + 1, "j": j + 1, "query": array.rows[i], "key": array.columns[j]}
    if np.isneginf(scores[j]):
        return words("why.hidden", **told)
    seen = scores[np.isfinite(scores)]
    told |= {"score": Raw(number(float(scores[j]))), "count": len(seen), "value": float(weights[j])}
    return words("why.weight", sum=sum_of_exponentials([float(x) for x in seen]), **told)


def notices(result: Result, words: Words) -> list[str]:
    """Pairs counted, what a prefix makes of the mask, and the three maps of the encoder-decoder."""
    p = result.parameters
    n, m, prefix = len(p["source"]), len(p["target"]), p["prefix"]
    told = {name: visible(result, name) for name in NAMES}
    told |= {"prefix_pairs": told["prefix"], "n": n, "m": m, "prefix": prefix}
    between = "single" if n == 1 else "all" if prefix >= n else "causal" if prefix <= 1 else "some"
    three = told["source"] + told["target"] + told["cross"]
    return [
        words("map.notice.pairs", **told),
        words(f"map.notice.prefix_{between}", **told),
        words("map.notice.three", three=three, **told),
    ]


def summary(result: Result, words: Words) -> str:
    """The maps in one line."""
    return words.plain("map.summary", **{name: visible(result, name) for name in NAMES})


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes the maps."""
    made = {"encoder": "reading", "decoder": "writing", "prefix": "prefixed"}
    return "core.models.families.family_maps", made.get(name, "two")
