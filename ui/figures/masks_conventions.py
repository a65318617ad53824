"""One mask and its negation, given to PyTorch's function and to its layer, which read True in opposite ways."""

from __future__ import annotations

import numpy as np
import torch

from core.attention.hiding import mask_conventions
from core.attention.toy import embedding
from ui.figures.masks import percent
from ui.figures.matrices import matrix_of
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

NAMES = ("function", "function_negated", "layer", "layer_negated")
WIDTH, SIZE = 32, 0.5  # of the embeddings; at full size a token would look at little but itself


def compute(result: Result) -> Result:
    """The four maps for the sentence of the page, its embeddings as queries, keys and values."""
    p, tokens = result.parameters, result.arrays["mask"].rows
    x = SIZE * torch.stack([embedding(token, p["seed"], WIDTH) for token in tokens])  # [T, 32]
    both = mask_conventions(x, torch.from_numpy(~result.hidden))
    arrays = {n: Array.of(getattr(both, n), tokens, tokens, axes=("query", "key")) for n in NAMES}
    hidden = result.hidden
    wrong = arrays["layer"].values
    whole = ~np.isnan(wrong).any(-1)  # [T]  a row of NaN puts its weight nowhere
    facts = {
        "hidden": hidden,
        "scores": (x @ x.T / WIDTH**0.5).numpy(),
        "wrong_share": float((wrong * hidden)[whole].sum(-1).mean()) if whole.any() else 0.0,
        "agree": _gap(both.function, both.layer_negated),
        "negated_agree": _gap(both.function_negated, both.layer),
        "nan_rows": int(torch.isnan(both.layer).any(-1).sum()),
        "nan_rows_meant": int(torch.isnan(both.layer_negated).any(-1).sum()),
        "empty_negated": int((~hidden).all(-1).sum()),
    }
    return Result(p, arrays, facts)


def _gap(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference where neither is NaN."""
    gap = (one - other).abs()
    return float(gap[~gap.isnan()].max()) if (~gap.isnan()).any() else 0.0


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The function's maps, then the layer's."""
    return (tuple(_matrix(name, result, words) for name in NAMES),)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    return matrix_of(result, name, words, note=words.plain(f"note.{name}"))


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """Whether this weight is as the mask meant it."""
    name, i, j = cell
    array = result.arrays[name]
    told = {
        "i": i + 1,
        "query": array.rows[i],
        "j": j + 1,
        "key": array.columns[j],
        "value": array.values[i, j],
    }
    if np.isnan(told["value"]):
        return words("why.conv_nan", **told)
    meant = name in ("function", "layer_negated")
    allowed = not result.facts["hidden"][i, j]
    key = ("kept" if allowed else "hidden") if meant else ("lost" if allowed else "leaked")
    return words(f"why.conv_{key}", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: which pairs of maps are equal, how much goes where it must not, and no error anywhere."""
    facts = result.facts
    rows = len(facts["hidden"])
    lost, lost_meant = facts["nan_rows"] == rows, facts["nan_rows_meant"] == rows
    key = "agree_none" if lost_meant else "agree_meant" if lost else "agree"
    sentences = [words(f"conv.notice.{key}", agree=facts["agree"], negated=facts["negated_agree"])]
    if not lost:
        sentences.append(words("conv.notice.wrong", share=Raw(percent(facts["wrong_share"]))))
    if facts["nan_rows"] or facts["nan_rows_meant"]:
        sentences.append(words("conv.notice.nan", rows=facts["nan_rows"], meant=facts["nan_rows_meant"]))
    return [*sentences, words("conv.notice.cure")]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    rows, nan = len(result.facts["hidden"]), result.facts["nan_rows"]
    return words.plain("conv.summary", wrong=rows - nan, nan=nan)


def code_of(name: str) -> tuple[str, str]:
    """Where the core calls PyTorch: the dotted name of the function, and the variable that holds this map."""
    return "core.attention.hiding.mask_conventions", name
