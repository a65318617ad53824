"""Questions of the page on positions; every answer is read off the computed weights and scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.figures.positions import ROUNDING
from ui.predict import Prediction, direction
from ui.result import Result

TWINS = {"s": "the dog bit the man", "tokens": 5, "mask": "none"}


def _same_or_not(gap: float) -> frozenset[str]:
    return frozenset({"same" if gap <= ROUNDING else "differ"})


def _settled(gap: float) -> float:
    return 0.0 if gap <= ROUNDING else gap


def _twins(before: Result, after: Result) -> frozenset[str]:
    return _same_or_not(after.facts["twins"][2])


def _twin_numbers(before: Result, after: Result) -> dict[str, Any]:
    return {"before": _settled(before.facts["twins"][2]), "after": _settled(after.facts["twins"][2])}


def _gap(before: Result, after: Result) -> float:
    return float(np.abs(after.values("weights") - before.values("weights")).max())


def _moves(before: Result, after: Result) -> frozenset[str]:
    return _same_or_not(_gap(before, after))


def _move_numbers(before: Result, after: Result) -> dict[str, Any]:
    told = {"start": before.parameters["start"], "moved": after.parameters["start"]}
    return told | {"gap": _settled(_gap(before, after))}


def _diagonal_gap(before: Result, after: Result) -> float:
    return float(np.abs(np.diagonal(after.values("scores") - before.values("scores"))).max())


def _diagonal(before: Result, after: Result) -> frozenset[str]:
    return _same_or_not(_diagonal_gap(before, after))


def _diagonal_numbers(before: Result, after: Result) -> dict[str, Any]:
    pairs = ~np.eye(len(after.values("scores")), dtype=bool)
    others = np.abs(after.values("scores") - before.values("scores"))[pairs].max(initial=0.0)
    return {"gap": _settled(_diagonal_gap(before, after)), "others": float(others)}


def _distance(before: Result, after: Result) -> frozenset[str]:
    return frozenset({direction(before.facts["distance"], after.facts["distance"])})


def _distance_numbers(before: Result, after: Result) -> dict[str, Any]:
    return {"before": before.facts["distance"], "after": after.facts["distance"]}


PREDICTIONS = (
    Prediction(
        "twins",
        start=TWINS | {"scheme": "none"},
        change={"scheme": "sinusoidal"},
        options=("same", "differ"),
        verdict=_twins,
        measure=_twin_numbers,
    ),
    Prediction(
        "rope_moves",
        start={"scheme": "rope", "start": 0},
        change={"start": 50},
        options=("same", "differ"),
        verdict=_moves,
        measure=_move_numbers,
    ),
    Prediction(
        "sinusoids_move",
        start=TWINS | {"scheme": "sinusoidal", "start": 0},
        change={"start": 50},
        options=("same", "differ"),
        verdict=_moves,
        measure=_move_numbers,
    ),
    Prediction(
        "rope_self",
        start={"scheme": "none", "mask": "none"},
        change={"scheme": "rope"},
        options=("same", "differ"),
        verdict=_diagonal,
        measure=_diagonal_numbers,
    ),
    Prediction(
        "slopes",
        start=TWINS | {"scheme": "alibi", "head": 1},
        change={"head": 8},
        options=("rises", "stays", "falls"),
        verdict=_distance,
        measure=_distance_numbers,
    ),
)
