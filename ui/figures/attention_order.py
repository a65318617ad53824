"""The order test: the same tokens in another order, and the result put back beside the original."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import torch

from core.attention import order
from core.attention.toy import seeded
from ui.figures.matrices import matrix_of
from ui.formulas import bracketed
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

STAGES = ("before", "after", "back", "diff")
OUTPUTS = tuple(f"o_{stage}" for stage in STAGES)
WEIGHTS = tuple(f"w_{stage}" for stage in STAGES)
MARKS = {"o": ("query", "feature"), "w": ("query", "key")}  # a token is marked wherever it stands
ROUNDING = 1e-9  # a difference below this is the arithmetic's, not the order's
SPREAD = 3.0


def permutation(kind: str, typed: str, tokens: int, draw: int) -> tuple[int, ...]:
    """The order of the tokens, counted from 0, that the reader asked for."""
    if kind == "reverse":
        return tuple(range(tokens))[::-1]
    if kind == "random":
        return order.at_random(tokens, seeded("order", draw))
    return order.complete([n - 1 for n in numbers_in(typed)], tokens)


def numbers_in(typed: str) -> list[int]:
    """The whole numbers in a reader's text, whatever stands between them."""
    return [int(digits) for digits in re.findall(r"[0-9]{1,6}", unicodedata.normalize("NFKC", typed))]


def left_out(typed: str, tokens: int) -> bool:
    """Whether the reader's text holds anything that an order of so many tokens cannot use."""
    found = numbers_in(typed)
    strange = re.search(r"[^0-9\s,;.、。]", unicodedata.normalize("NFKC", typed)) is not None
    return strange or len(set(found)) < len(found) or any(not 1 <= n <= tokens for n in found)


def compute(result: Result, places: Sequence[int]) -> Result:
    """Attention on the shuffled tokens under the page's mask, put back, and the same test without a mask."""
    q, k, v = (torch.from_numpy(result.values(name)) for name in ("q", "k", "v"))
    scale = result.facts["scale"]
    trace = order.shuffled(q, k, v, places, torch.from_numpy(~result.hidden), scale=scale)
    unmasked = order.shuffled(q, k, v, places, scale=scale)
    tokens = result.arrays["weights"].rows
    moved = tuple(tokens[i] for i in places)
    arrays = {}
    for kind, before, after, dims in (
        ("w", trace.original.weights, trace.shuffled.weights, (0, 1)),
        ("o", trace.original.output, trace.shuffled.output, (0,)),
    ):
        change = order.changed_by_order(before, after, places, dims)
        for stage, values in zip(STAGES, (before, after, change.back, change.difference), strict=True):
            labels = moved if stage == "after" else tokens
            axes = ("position", "position") if stage == "after" else ("query", "key")
            if kind == "o":
                arrays[f"o_{stage}"] = Array.of(values, labels, axes=(axes[0], "feature"))
            else:
                arrays[f"w_{stage}"] = Array.of(values, labels, labels, axes=axes)
    facts = {
        "places": tuple(places),
        "weights_deviation": trace.weights_deviation,
        "output_deviation": trace.output_deviation,
        "weights_unmasked": unmasked.weights_deviation,
        "output_unmasked": unmasked.output_deviation,
    }
    return Result(result.parameters, arrays, facts, result.hidden)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """The outputs above; the weights before, shuffled, put back, and the difference below."""
    return tuple(_matrix(n, result, words) for n in OUTPUTS), tuple(
        _matrix(n, result, words) for n in WEIGHTS
    )


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    values = result.values(name)
    # Rounding is told in words; in the cells it would only look like a pattern.
    values = values.round(12) if name.endswith("diff") else values
    weight = name.startswith("w_") and not name.endswith("diff")
    return matrix_of(
        result,
        name,
        words,
        limit=None if weight else 1.0 if name.startswith("w_") else SPREAD,
        values=values,
        marks=MARKS[name[0]],
        order=result.facts["places"] if name.endswith("after") else (),
    )


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One number before and after: where its tokens stood, and where they stand."""
    name, row, column = cell
    kind, _, stage = name.partition("_")
    places = result.facts["places"]
    i = places[row] if stage == "after" else row
    tokens = result.arrays["w_before"].rows
    told = {"i": i + 1, "query": tokens[i], "p": places.index(i) + 1}
    if kind == "w":
        j = places[column] if stage == "after" else column
        told |= {"j": j + 1, "key": tokens[j], "q": places.index(j) + 1}
    else:
        j = column
        told["c"] = column + 1
    before, after = (result.values(f"{kind}_{s}")[i, j] for s in ("before", "back"))
    told |= {"before": bracketed(before), "after": after, "difference": _small(after - before)}
    return words(f"why.{kind}_order", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: whether the order shows, and what lets it show."""
    facts, mask = result.facts, result.parameters["mask"]
    tokens, places = result.arrays["w_before"].rows, facts["places"]
    if places == tuple(range(len(tokens))):
        return [words("order.notice.in_place")]
    shows = facts["weights_deviation"] > ROUNDING or facts["output_deviation"] > ROUNDING
    key = (
        "order.notice.invisible"
        if not result.hidden.any()
        else "order.notice.shows"
        if shows
        else "order.notice.hidden"
    )
    told = {"mask": Raw(words.plain(f"choice.mask.{mask}"))}
    told |= {
        n: facts[n] for n in ("weights_deviation", "output_deviation", "weights_unmasked", "output_unmasked")
    }
    sentences = [words(key, **told)]
    if mask == "causal" and places[0]:
        first = places[0]
        sentences.append(
            words(
                "order.notice.first",
                first=tokens[first],
                i=first + 1,
                before=result.values("w_before")[first, first],
                after=result.values("w_back")[first, first],
            )
        )
    return [*sentences, words("order.notice.positions")]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    names = ("weights_deviation", "output_deviation")
    return words.plain(
        "order.summary", order=listed(result.facts["places"]), **{n: result.facts[n] for n in names}
    )


def listed(places: Sequence[int]) -> str:
    """An order as a reader writes it."""
    return " ".join(str(i + 1) for i in places)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    stage = name.partition("_")[2]
    if stage in ("before", "after"):
        return "core.attention.order.shuffled", stage
    return "core.attention.order.changed_by_order", {"diff": "difference"}.get(stage, stage)


def _small(value: float) -> float:
    return 0.0 if np.abs(value) < ROUNDING else float(value)
