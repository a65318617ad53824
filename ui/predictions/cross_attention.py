"""Questions of the cross-attention page; every answer is computed from the state that the reader has."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.predict import Prediction, direction
from ui.result import Result

SHORT = {"src": "我爱学习", "tgt": "I love learning"}
LONGER_TARGET = "I love learning English"
LONGER_SOURCE = "我爱学习英语"
SAME = 1e-9


def _common(before: Result, after: Result) -> tuple[np.ndarray, np.ndarray]:
    """The weights on the tokens that both pictures have, [rows, real source tokens of the shorter]."""
    first, second = before.values("weights"), after.values("weights")
    rows = min(len(first), len(second))
    columns = min(before.facts["real"], after.facts["real"])
    return first[:rows, :columns], second[:rows, :columns]


def _on_real(result: Result) -> float:
    return 1 - result.facts["on_padding"]


def _real_weight(before: Result, after: Result) -> frozenset[str]:
    return frozenset({direction(_on_real(before), _on_real(after))})


def _unchanged(before: Result, after: Result) -> frozenset[str]:
    first, second = _common(before, after)
    return frozenset({"unchanged" if np.abs(first - second).max() < SAME else "changed"})


def _shared_out(before: Result, after: Result) -> frozenset[str]:
    first, second = _common(before, after)
    if np.abs(first - second).max() < SAME:
        return frozenset({"unchanged"})
    return frozenset({"all_fall" if (second < first).all() else "some_rise"})


def _numbers(before: Result, after: Result) -> dict[str, Any]:
    first, second = _common(before, after)
    ratio = second.sum(-1) / first.sum(-1)  # [rows]
    return {
        "difference": np.abs(first - second).max(),
        "real_before": _on_real(before),
        "real_after": _on_real(after),
        "s_before": before.values("weights").shape[1],
        "s_after": after.values("weights").shape[1],
        "t_before": before.values("weights").shape[0],
        "t_after": after.values("weights").shape[0],
        "low": ratio.min(),
        "high": ratio.max(),
    }


PREDICTIONS = (
    Prediction(
        "longer_batch",
        start={"pad": 0, "masked": True},
        change={"pad": 5},
        options=("unchanged", "changed"),
        verdict=_unchanged,
        measure=_numbers,
    ),
    Prediction(
        "unmasked",
        start={"pad": 5, "masked": True},
        change={"masked": False},
        options=("rises", "stays", "falls"),
        verdict=_real_weight,
        measure=_numbers,
    ),
    Prediction(
        "longer_target",
        start=SHORT,
        change={"tgt": LONGER_TARGET},
        options=("unchanged", "changed"),
        verdict=_unchanged,
        measure=_numbers,
    ),
    Prediction(
        "longer_source",
        start=SHORT | {"pad": 0, "masked": True},
        change={"src": LONGER_SOURCE},
        options=("unchanged", "all_fall", "some_rise"),
        verdict=_shared_out,
        measure=_numbers,
    ),
)
