"""Questions of the page on normalisation; every answer is computed from the reader's own batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.figures.normalization import DIGITS, KINDS, inner
from ui.predict import Prediction
from ui.result import Result

SEEN = 5e-3  # a change that two decimals would not show counts as none
PLAIN = {"gamma": 1.0, "eps": "1e-5"}


def _moves(before: Result, after: Result) -> dict[str, np.ndarray]:
    """By how much the outputs of each norm move, [N, d] of the tokens and features that both have."""
    first, second = ({kind: inner(result, kind) for kind in KINDS} for result in (before, after))
    n, d = (min(sizes) for sizes in zip(first["layer"].shape, second["layer"].shape, strict=True))
    return {kind: np.abs(second[kind][:n, :d] - first[kind][:n, :d]) for kind in KINDS}


def _which(before: Result, after: Result) -> frozenset[str]:
    """Which norms answer a change of the whole batch."""
    moved = {kind for kind, change in _moves(before, after).items() if change.max() > SEEN}
    named = {frozenset(): "none", frozenset({"rms"}): "rms", frozenset(KINDS): "all"}
    named[frozenset({"layer", "rms"})] = "rows"
    return frozenset({named.get(frozenset(moved), "other")})


def _where(before: Result, after: Result) -> frozenset[str]:
    """Where BatchNorm's outputs move; with a single row or column several descriptions fit."""
    moved = _moves(before, after)["batch"] > SEEN
    i, j = after.parameters["row"] - 1, after.parameters["col"] - 1
    shapes = {name: np.zeros_like(moved) for name in ("cell", "row", "column", "all")}
    shapes["cell"][i, j] = shapes["row"][i] = shapes["column"][:, j] = shapes["all"][:] = True
    # Some numbers of the column may stay by chance, none outside it may move.
    fits = [name for name, place in shapes.items() if moved.any() and not (moved & ~place).any()]
    return frozenset(fits[:1]) or frozenset({"none"})


def _alone(before: Result, after: Result) -> frozenset[str]:
    batch, layer = (inner(after, kind) for kind in ("batch", "layer"))
    beta = after.parameters["beta"]
    if np.abs(batch - beta).max() > SEEN:
        return frozenset({"usual"})
    return frozenset({"both" if np.abs(layer - beta).max() <= SEEN else "level"})


def _numbers(before: Result, after: Result) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for kind, change in _moves(before, after).items():
        told |= {kind: float(change.max().round(DIGITS)), f"{kind}_count": int((change > SEEN).sum())}
    shape = inner(after, "layer").shape
    told |= {"all": shape[0] * shape[1], "n": shape[0], "beta": after.parameters["beta"]}
    told |= {"i": after.parameters["row"], "c": after.parameters["col"]}
    told["before"] = float(np.abs(inner(before, "batch")).max().round(DIGITS))
    told["after"] = float(np.abs(inner(after, "batch")).max().round(DIGITS))
    told["layer_after"] = float(np.abs(inner(after, "layer")).max().round(DIGITS))
    return told


PREDICTIONS = (
    Prediction(
        "shift",
        start=PLAIN | {"shift": 0.0, "scale": 1.0, "outlier": 0, "d": 4},
        change={"shift": 3.0},
        options=("none", "rms", "rows", "all", "other"),
        verdict=_which,
        measure=_numbers,
    ),
    Prediction(
        "outlier",
        start=PLAIN | {"scale": 1.0, "outlier": 0, "tokens": 8, "d": 4},
        change={"outlier": 20},
        options=("cell", "row", "column", "all", "none"),
        verdict=_where,
        measure=_numbers,
    ),
    Prediction(
        "alone",
        start=PLAIN | {"scale": 1.0, "tokens": 8, "d": 4},
        change={"tokens": 1},
        options=("usual", "level", "both"),
        verdict=_alone,
        measure=_numbers,
    ),
    Prediction(
        "scale",
        start=PLAIN | {"shift": 0.0, "scale": 1.0, "outlier": 0, "d": 4},
        change={"scale": 4.0},
        options=("none", "rms", "rows", "all", "other"),
        verdict=_which,
        measure=_numbers,
    ),
)
