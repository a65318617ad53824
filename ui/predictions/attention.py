"""Questions of the attention page; every answer is computed from the reader's own sentence and seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.predict import Prediction, direction
from ui.result import Result

TWINS = {"s": "the cat saw the cat", "tokens": 5, "tau": 1.0, "scaled": True}
GROWN = 1.5  # a ratio of deviations beyond what untrained projections of another width bring by chance


def _weights(result: Result) -> np.ndarray:
    return result.values("weights")  # [T, T]


def _largest(before: Result, after: Result) -> frozenset[str]:
    return frozenset({direction(_weights(before).max(-1).mean(), _weights(after).max(-1).mean())})


def _entropy(before: Result, after: Result) -> frozenset[str]:
    entropies = [result.facts["statistics"].mean_entropy for result in (before, after)]
    return frozenset({direction(*entropies)})


def _spread(before: Result, after: Result) -> frozenset[str]:
    first, second = (result.facts["statistics"].deviation_after for result in (before, after))
    if second > GROWN * first:
        return frozenset({"grows"})
    return frozenset({"shrinks" if first > GROWN * second else "about_same"})


def _first_row(before: Result, after: Result) -> frozenset[str]:
    """Which of the descriptions fit the first row; with a single token several do."""
    row = _weights(after)[0]  # [T]
    alone = np.eye(1, len(row))[0]  # [T]
    fits = {
        "alone": np.allclose(row, alone),
        "even": np.allclose(row, 1 / len(row)),
        "as_before": np.allclose(row, _weights(before)[0]),
    }
    return frozenset(option for option, fit in fits.items() if fit) or frozenset({"other"})


def _twins(result: Result) -> tuple[int, int]:
    """The places of the first token that comes twice, counted from 0; a token alone is its own twin."""
    tokens = result.arrays["weights"].rows
    again = next((j for j, token in enumerate(tokens) if token in tokens[:j]), 0)
    return tokens.index(tokens[again]), again


def _twin_gap(result: Result) -> float:
    first, second = _twins(result)
    return float(np.abs(_weights(result)[first] - _weights(result)[second]).max())


def _twins_equal(before: Result, after: Result) -> frozenset[str]:
    return frozenset({"equal" if _twin_gap(after) < 1e-9 else "different"})


def _numbers(before: Result, after: Result) -> dict[str, Any]:
    stats = {"before": before.facts["statistics"], "after": after.facts["statistics"]}
    told = {f"entropy_{when}": s.mean_entropy for when, s in stats.items()}
    told |= {f"deviation_{when}": s.deviation_after for when, s in stats.items()}
    return told | {
        "largest_before": _weights(before).max(-1).mean(),
        "largest_after": _weights(after).max(-1).mean(),
    }


def _first_row_numbers(before: Result, after: Result) -> dict[str, Any]:
    return {"before": float(_weights(before)[0, 0]), "after": float(_weights(after)[0, 0])}


def _twin_numbers(before: Result, after: Result) -> dict[str, Any]:
    first, second = _twins(after)
    return {
        "token": after.arrays["weights"].rows[first],
        "i": first + 1,
        "j": second + 1,
        "before": _twin_gap(before),
        "after": _twin_gap(after),
    }


CHANGES = ("rises", "stays", "falls")
PREDICTIONS = (
    Prediction(
        "scaling",
        start={"dk": 64, "tau": 1.0, "scaled": True, "mask": "none"},
        change={"scaled": False},
        options=CHANGES,
        verdict=_largest,
        measure=_numbers,
    ),
    Prediction(
        "width",
        start={"dk": 8, "tau": 1.0, "scaled": True},
        change={"dk": 64},
        options=("grows", "about_same", "shrinks"),
        verdict=_spread,
        measure=_numbers,
    ),
    Prediction(
        "temperature",
        start={"tau": 1.0, "scaled": True},
        change={"tau": 4.0},
        options=CHANGES,
        verdict=_entropy,
        measure=_numbers,
    ),
    Prediction(
        "first_row",
        start={"mask": "none"},
        change={"mask": "causal"},
        options=("alone", "even", "as_before", "other"),
        verdict=_first_row,
        measure=_first_row_numbers,
    ),
    Prediction(
        "twins",
        start=TWINS | {"mask": "causal"},
        change={"mask": "none"},
        options=("equal", "different"),
        verdict=_twins_equal,
        measure=_twin_numbers,
    ),
    Prediction(
        "twins_causal",
        start=TWINS | {"mask": "none"},
        change={"mask": "causal"},
        options=("equal", "different"),
        verdict=_twins_equal,
        measure=_twin_numbers,
    ),
)
