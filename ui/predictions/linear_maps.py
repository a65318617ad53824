"""Questions of the linear maps page, answered from the map as it is computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.figures.charts import as_read
from ui.figures.plane import coordinates, settled
from ui.predict import Prediction
from ui.result import Result
from ui.words import Raw

IDENTITY = {"m11": 1.0, "m12": 0.0, "m21": 0.0, "m22": 1.0}
TURN = {"m11": 0.8, "m12": -0.6, "m21": 0.6, "m22": 0.8}
NO_BIAS = {"b1": 0.0, "b2": 0.0}
SAME = 1e-9


def _gap(before: Result, after: Result) -> frozenset[str]:
    """Which descriptions of T(u + v) − T(u) − T(v) fit."""
    gap, b = after.facts["additivity"], after.values("b")[:, 0]
    fits = {"zero": np.zeros(2), "plus": b, "minus": -b}
    return frozenset(name for name, value in fits.items() if np.abs(gap - value).max() < SAME)


def _area(before: Result, after: Result) -> frozenset[str]:
    ratio = after.facts["area_after"] / before.facts["area_after"]
    options = {"same": 1, "twice": 2, "four": 4, "zero": 0, "half": 0.5}
    return frozenset(name for name, value in options.items() if abs(ratio - value) < SAME)


def _length(before: Result, after: Result) -> frozenset[str]:
    first, second = (float(np.linalg.norm(r.values("y")[:, 0])) for r in (before, after))
    if abs(second - first) < SAME:
        return frozenset({"equal"})
    return frozenset({"longer" if second > first else "shorter"})


def _gap_numbers(before: Result, after: Result) -> dict[str, Any]:
    told = {"b": after.values("b")[:, 0], "before": before.facts["additivity"]}
    told["after"] = after.facts["additivity"]
    return {name: Raw(coordinates(value)) for name, value in told.items()}


def _area_numbers(before: Result, after: Result) -> dict[str, Any]:
    told = {"before": before.facts["area_after"], "after": after.facts["area_after"]}
    told["determinant"] = after.facts["determinant"]
    return {name: Raw(as_read(settled(value))) for name, value in told.items()}


def _length_numbers(before: Result, after: Result) -> dict[str, Any]:
    lengths = {
        name: np.linalg.norm(r.values("y")[:, 0]) for name, r in (("before", before), ("after", after))
    }
    told = lengths | {"d_before": before.facts["determinant"], "d_after": after.facts["determinant"]}
    return {name: Raw(as_read(settled(value))) for name, value in told.items()}


PREDICTIONS = (
    Prediction(
        "bias",
        start=NO_BIAS,
        change={"b1": 1.0, "b2": 0.5},
        options=("zero", "plus", "minus"),
        verdict=_gap,
        measure=_gap_numbers,
    ),
    Prediction(
        "double",
        start=IDENTITY | NO_BIAS,
        change={"m11": 2.0, "m22": 2.0},
        options=("same", "twice", "four"),
        verdict=_area,
        measure=_area_numbers,
    ),
    Prediction(
        "shadow",
        start=IDENTITY | NO_BIAS,
        change={"m11": 0.8, "m12": 0.4, "m21": 0.4, "m22": 0.2},
        options=("same", "half", "zero"),
        verdict=_area,
        measure=_area_numbers,
    ),
    Prediction(
        "mirror",
        start=TURN | NO_BIAS,
        change={"m11": 0.6, "m12": 0.8, "m21": 0.8, "m22": -0.6},
        options=("longer", "equal", "shorter"),
        verdict=_length,
        measure=_length_numbers,
    ),
)
