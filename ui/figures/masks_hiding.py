"""Ways to hide a key, in three number types, on a row of the worked example: a table that PyTorch fills."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from core.attention.hiding import DTYPES, WAYS, Hidden, hide
from core.attention.worked import TOKENS, given_scores
from ui.numbers import listed, number
from ui.words import Raw, Words


@dataclass(frozen=True)
class HidingRow:
    """One row of scores with its first keys left, under every way and number type."""

    row: int  # counted from 0
    kept: int
    scores: tuple[float, ...]
    results: tuple[Hidden, ...]

    def of(self, way: str, dtype: torch.dtype) -> Hidden:
        """One result."""
        return next(h for h in self.results if (h.way, h.dtype) == (way, dtype))


def measure(row: int, kept: int) -> HidingRow:
    """A row of the example, counted from 0, with only its first `kept` keys left."""
    scores = given_scores()[row]  # [4]
    keep = torch.arange(len(TOKENS)) < kept
    return HidingRow(row, kept, tuple(scores.tolist()), hide(scores, keep))


def table(hidden: HidingRow, words: Words) -> str:
    """Ways on the rows, number types on the columns, the four weights in each cell."""
    heads = [words("hide.way"), *(str(dtype).removeprefix("torch.") for dtype in DTYPES)]
    lines = ["| " + " | ".join(heads) + " |", "|:--|" + "--:|" * len(DTYPES)]
    for way in WAYS:
        cells = [_weights(hidden.of(way, dtype), words) for dtype in DTYPES]
        lines.append("| " + " | ".join([words(f"hide.way.{way}"), *cells]) + " |")
    return "\n".join(lines)


def _weights(one: Hidden, words: Words) -> str:
    if one.weights is None:
        return words("hide.refused")
    values = [float(w) for w in one.weights]
    if all(math.isnan(v) for v in values):
        return f"**NaN** × {len(values)}"
    return " · ".join(number(v) for v in values)


def notices(hidden: HidingRow, words: Words) -> list[str]:
    """What to notice: what the ways agree on, what an empty row does to each, and what float16 refuses."""
    refused = hidden.of("fill_large", torch.float16)
    scores = Raw(listed((number(s) for s in hidden.scores), words.lang))
    told = {"i": hidden.row + 1, "query": TOKENS[hidden.row], "scores": scores, "kept": hidden.kept}
    if hidden.kept:
        ours = hidden.of("ours", torch.float64).weights
        others = [
            h.weights
            for h in hidden.results
            if h.weights is not None and h.way != "plain" and h.dtype == torch.float64
        ]
        gap = max(float((w - ours).abs().max()) for w in others)
        sentences = [words("hide.notice.agree", gap=gap, **told)]
    else:
        double = hidden.of("add_large", torch.float64).weights
        plain = hidden.of("plain", torch.float64).weights
        sentences = [
            words("hide.notice.empty", **told),
            words("hide.notice.large", share=float(hidden.of("fill_large", torch.float32).weights[0])),
            words("hide.notice.double", gap=float((double - plain).abs().max())),
        ]
    return [*sentences, words("hide.notice.half", error=refused.error or "")]
