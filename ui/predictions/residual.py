"""Questions of the residual page; every answer is measured on the stacks of the reader's seed and width."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.figures.residual import Measured
from ui.predict import Prediction
from ui.result import Result

FAR = 100.0  # a gradient that changes by less neither vanishes nor explodes
CLEAR = 1.25  # a ratio beyond what counts as staying
NEAR = 0.05  # a difference of cosines that counts as none


def _of(side: str, result: Result) -> Measured:
    return result.facts[side]


def _ratio(before: float, after: float, limit: float, names: tuple[str, str, str]) -> frozenset[str]:
    """Which of (falls, stays, rises) `after` does against `before`; without a finite number it is out of range."""
    if not np.isfinite(after):
        return frozenset({"overflows"})
    if after * limit < before:
        return frozenset({names[0]})
    return frozenset({names[2] if after > limit * before else names[1]})


def _bare(before: Result, after: Result) -> frozenset[str]:
    first, second = (float(_of("b", result).gradient[0]) for result in (before, after))
    return _ratio(first, second, FAR, ("vanishes", "holds", "explodes"))


def _bare_numbers(before: Result, after: Result) -> dict[str, Any]:
    told = {"before": float(_of("b", before).gradient[0]), "after": float(_of("b", after).gradient[0])}
    alike = {
        f"alike_{when}": float(_of("b", r).similarity[-1])
        for when, r in (("before", before), ("after", after))
    }
    return told | alike | {"layers": after.parameters["layers"]}


def _last(before: Result, after: Result) -> frozenset[str]:
    first, second = (float(_of("a", result).gradient[-1]) for result in (before, after))
    return _ratio(first, second, CLEAR, ("falls", "stays", "rises"))


def _last_numbers(before: Result, after: Result) -> dict[str, Any]:
    first, second = (float(_of("a", result).gradient[-1]) for result in (before, after))
    depths = {"few": before.parameters["layers"], "many": after.parameters["layers"]}
    root = (depths["many"] / depths["few"]) ** 0.5
    return depths | {"before": first, "after": second, "ratio": first / second, "root": root}


def _alike(before: Result, after: Result) -> frozenset[str]:
    first, second = (float(_of("b", result).similarity[-1]) for result in (before, after))
    if abs(second - first) < NEAR:
        return frozenset({"same"})
    return frozenset({"more" if second > first else "less"})


def _alike_numbers(before: Result, after: Result) -> dict[str, Any]:
    first, second = (float(_of("b", result).similarity[-1]) for result in (before, after))
    return {"before": first, "after": second, "layers": after.parameters["layers"]}


def _length(before: Result, after: Result) -> frozenset[str]:
    measured = _of("b", after)
    if not np.isfinite(measured.norm).all():
        return frozenset({"overflows"})
    return frozenset({"much" if measured.norm[-1] > FAR * _of("b", before).norm[-1] else "little"})


def _length_numbers(before: Result, after: Result) -> dict[str, Any]:
    told = {"before": float(_of("b", before).norm[-1]), "after": float(_of("b", after).norm[-1])}
    missing = int((~np.isfinite(_of("b", after).gradient)).sum())
    return told | {"missing": missing, "layers": after.parameters["layers"]}


PREDICTIONS = (
    Prediction(
        "no_residual",
        start={"norm_b": "post", "res_b": True, "init_b": "fan_in", "layers": 24},
        change={"res_b": False},
        options=("vanishes", "holds", "explodes"),
        verdict=_bare,
        measure=_bare_numbers,
    ),
    Prediction(
        "deeper",
        start={"norm_a": "pre", "res_a": True, "init_a": "fan_in", "layers": 6},
        change={"layers": 48},
        options=("falls", "stays", "rises"),
        verdict=_last,
        measure=_last_numbers,
    ),
    Prediction(
        "alike",
        start={"norm_b": "pre", "res_b": True, "init_b": "fan_in", "layers": 24},
        change={"norm_b": "post"},
        options=("more", "same", "less"),
        verdict=_alike,
        measure=_alike_numbers,
    ),
    Prediction(
        "neither",
        start={"norm_b": "none", "res_b": False, "init_b": "fan_in", "layers": 24},
        change={"init_b": "he"},
        options=("little", "much", "overflows"),
        verdict=_length,
        measure=_length_numbers,
    ),
)
