"""The two layouts of RoPE's pairs, the permutation between them, and what happens when it is forgotten or mixed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from core.attention.toy import ToyInputs
from core.block.frequencies import inverse_frequencies
from core.block.rope import compare_layouts, half_from_interleaved
from ui.figures.matrices import axis_titles, matrix_of
from ui.figures.positions import BASE, FURTHER, LOGITS, ROUNDING
from ui.formulas import bracketed
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words

KINDS = {"y_inter": "interleaved", "y_half": "half", "y_forgot": "unpermuted", "y_mixed": "mixed"}


def compute(result: Result, toy: ToyInputs) -> Result:
    """Scores q·k/√d_k four times, and again with the whole text moved on by ten places."""
    p = result.parameters
    tokens, t = p["tokens"], len(p["tokens"])
    theta = inverse_frequencies(p["dk"], BASE, dtype=torch.float64)
    here, there = (
        compare_layouts(toy.q, toy.k, torch.arange(start, start + t), theta) for start in (0, FURTHER)
    )
    scale = p["dk"] ** -0.5
    arrays = {
        name: Array.of(getattr(here, kind) * scale, tokens, tokens, axes=("query", "key"))
        for name, kind in KINDS.items()
    }
    facts: dict[str, Any] = {"order": [int(c) + 1 for c in half_from_interleaved(p["dk"])]}
    for name, kind in KINDS.items():
        moved = (getattr(there, kind) - getattr(here, kind)).abs().max() * scale
        facts[f"{name}_moved"] = float(moved)
        facts[f"{name}_off"] = float(np.abs(arrays[name].values - arrays["y_inter"].values).max())
    return Result({"tokens": tokens, "dk": p["dk"]}, arrays, facts)


def matrices(shown: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """Right twice, wrong twice."""
    return (tuple(_matrix(name, shown, words) for name in KINDS),)


def _matrix(name: str, shown: Result, words: Words) -> Matrix:
    note = words.plain("note.right" if name in ("y_inter", "y_half") else "note.wrong")
    titles = axis_titles(("query", "key"), words)
    return matrix_of(shown, name, words, limit=LOGITS, axis_titles=titles, note=note, large=True)


def why(shown: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One score, beside the right one."""
    name, row, column = cell
    p = shown.parameters
    told = {"i": row + 1, "query": p["tokens"][row], "j": column + 1, "key": p["tokens"][column]}
    value, right = shown.values(name)[row, column], shown.values("y_inter")[row, column]
    off = value - right if abs(value - right) > ROUNDING else 0.0
    told |= {"value": value, "right": right, "subtracted": bracketed(right), "off": off}
    told |= {"m": row, "n": column, "apart": row - column, "half": p["dk"] // 2}
    return words(f"why.{name}", **told)


def notices(shown: Result, words: Words) -> list[str]:
    """What to notice: equal, up to a permutation; forgotten; mixed; and how a test finds each."""
    p, facts = shown.parameters, shown.facts
    told = {"dk": p["dk"], "order": Raw(listed(facts["order"], words.lang)), "further": FURTHER}
    told |= {name: value if value > ROUNDING else 0.0 for name, value in facts.items() if name != "order"}
    if p["dk"] == 2:
        return [words("layout.notice.one_pair", **told)]
    if len(p["tokens"]) == 1:
        mixed = "layout.notice.one_token"
        return [words("layout.notice.equal", **told), words(mixed, **told)]
    keys = ("layout.notice.equal", "layout.notice.forgot", "layout.notice.mixed")
    return [words(key, **told) for key in keys]


def summary(shown: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    facts = shown.facts
    return words.plain("layout.summary", forgot=facts["y_forgot_off"], mixed=facts["y_mixed_off"])


def code_of(name: str) -> tuple[str, str]:
    """Where the core turns the pairs."""
    return "core.block.rope.apply_rope", "turned"
