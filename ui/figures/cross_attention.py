"""The rectangular picture of cross-attention, and the story of each of its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from core.attention.dot_product import attention
from core.attention.masks import padding
from core.attention.statistics import describe
from core.attention.toy import ToyInputs, toy_inputs
from ui.cached import cached
from ui.figures import pairs
from ui.figures.matrices import matrix_of
from ui.formulas import sum_of_products
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.words import Words

PAD = "⟨pad⟩"
MOST_PADDING = 8
INPUTS = ("q", "k", "v")
STEPS = ("scores", "scaled", "masked", "weights", "output")


@cached(max_entries=128, shared=True)
def drawn(tokens: tuple[str, ...], seed: int) -> ToyInputs:
    """The widest inputs of a sentence, of which every width is a slice. Shared by all readers, so never changed."""
    return toy_inputs(tokens, seed, d_k=64)


@cached(max_entries=512)
def compute(
    source: tuple[str, ...], target: tuple[str, ...], pad: int, masked: bool, dk: int, seed: int
) -> Result:
    """Cross-attention from the target's tokens to the source's, which `pad` padding tokens make longer."""
    padded = (*source, *[PAD] * pad)
    widest = drawn(target, seed), drawn((*source, *[PAD] * MOST_PADDING), seed)
    asking, answering = widest[0].first(len(target), dk), widest[1].first(len(padded), dk)
    shape = (len(target), len(padded))
    allowed = padding([len(source)], len(padded))[0].expand(shape) if masked else torch.ones(shape) > 0
    trace = attention(asking.q, answering.k, answering.v, allowed)

    arrays = {"q": Array.of(asking.q, target, axes=("query", "feature"))}
    arrays |= {name: Array.of(getattr(answering, name), padded, axes=("key", "feature")) for name in "kv"}
    arrays |= {
        name: Array.of(getattr(trace, name), target, padded, axes=("query", "key")) for name in STEPS[:-1]
    }
    arrays["output"] = Array.of(trace.output, target, axes=("query", "feature"))

    facts = {
        "statistics": describe(trace, allowed),
        "scale": trace.scale,
        "x_target": asking.x.numpy(),
        "x_source": answering.x.numpy(),
        "w_q": asking.w_q.numpy(),
        "w_k": asking.w_k.numpy(),
        "w_v": asking.w_v.numpy(),
        "real": len(source),
        "on_padding": float(trace.weights[:, len(source) :].sum(-1).mean()),
    }
    settings = {"source": source, "target": target, "pad": pad, "masked": masked, "dk": dk, "seed": seed}
    return Result(settings, arrays, facts, hidden=~allowed.numpy())


def steps(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """Queries, keys and values above, the linked row of steps below."""
    return tuple(matrix(n, result, words) for n in INPUTS), tuple(matrix(n, result, words) for n in STEPS)


def one_step(name: str, result: Result, words: Words) -> Matrix:
    """One matrix under its short name, to be set beside the same matrix of another result."""
    return replace(matrix(name, result, words), title=words.plain(f"choice.step.{name}"))


def matrix(name: str, result: Result, words: Words) -> Matrix:
    """One matrix of the picture."""
    return matrix_of(
        result,
        name,
        words,
        limit=pairs.limit_of(name),
        told={"dk": result.parameters["dk"]},
        identity=name if name in INPUTS else "",
        hidden=result.hidden if name == "masked" else None,
    )


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made: the formula, then the formula with the numbers on screen."""
    name, row, column = cell
    array = result.arrays[name]
    told = {"i": row + 1, "query": array.rows[row], "value": array.values[row, column], "c": column + 1}
    if name in INPUTS:
        x = result.facts["x_target" if name == "q" else "x_source"][row]
        return words(f"why.{name}", sum=sum_of_products(x, result.facts[f"w_{name}"][:, column]), **told)
    if name == "output":
        terms = sum_of_products(result.values("weights")[row], result.values("v")[:, column])
        return words("why.output", sum=terms, **told)
    return _why_pair(result, name, row, column, words, told)


def _why_pair(result: Result, name: str, row: int, column: int, words: Words, told: dict) -> str:
    """The story of a cell that belongs to one target token and one source token."""
    hidden = name in ("masked", "weights") and result.hidden[row, column]
    told |= pairs.story_of(result, name, row, column)
    return words(f"why.{name}_hidden" if hidden else f"why.{name}", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: the shape, what the padding mask does or lets through, and how widely a row looks."""
    s, p, facts = result.facts["statistics"], result.parameters, result.facts
    t, width = result.values("weights").shape
    told = {"t": t, "s": width, "dk": p["dk"], "pad": p["pad"], "real": facts["real"]}
    mask = "none" if p["pad"] == 0 else "masked" if p["masked"] else "unmasked"
    spread = words(
        "notice.spread" if pairs.chooses(result) else "notice.spread_alone",
        effective=s.mean_effective,
        visible=int(s.mean_visible),
        **pairs.largest_weight(result),
    )
    return [
        words("notice.shape", **told),
        words(f"notice.padding_{mask}", share=facts["on_padding"], **told),
        spread,
    ]


def numbers(result: Result, words: Words) -> dict[str, float]:
    """The numbers by which two results are compared, under their labels."""
    s = result.facts["statistics"]
    values = {"largest": s.largest, "entropy": s.mean_entropy, "on_padding": result.facts["on_padding"]}
    values |= {"deviation": s.deviation_after, "kept": s.kept_pairs}
    return {words(f"number.{name}"): value for name, value in values.items()}


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p, (t, width) = result.parameters, result.values("weights").shape
    return words.plain(
        "summary",
        t=t,
        s=width,
        pad=p["pad"],
        mask=words.plain("setting.on" if p["masked"] else "setting.off"),
        dk=p["dk"],
        **pairs.largest_weight(result),
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    if name in INPUTS:
        return "core.attention.toy.toy_inputs", name
    return "core.attention.dot_product.attention", "softmaxed" if name == "weights" else name


def tensors(result: Result) -> tuple[torch.Tensor, ...]:
    """q [T, d_k], k [S, d_k], v [S, d_k] and the mask [T, S] (True = may attend) of a result."""
    q, k, v = (torch.from_numpy(np.array(result.values(name))) for name in INPUTS)
    return q, k, v, torch.from_numpy(~result.hidden)


def token(labels: tuple[str, ...], position: int) -> str:
    """A token under its place, so that one which comes twice stays two labels."""
    return f"{number(position + 1)} {labels[position]}"
