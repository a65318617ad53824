"""Questions of the page on masks; every answer is counted or computed from the mask on screen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.predict import Prediction
from ui.result import Result

FOUR = {"text": "four", "sentence": 1, "tokens": 16}
WINDOW = {"mask": "window", "also": "none", "window": 3, "two_sided": False}


def _reached(before: Result, after: Result) -> frozenset[str]:
    name = {3: "three", 9: "nine", 12: "twelve", 16: "all"}.get(after.facts["most_reached"], "all")
    return frozenset({name})


def _future(result: Result) -> float:
    """The weight that the queries give to later keys, on average over the real queries."""
    real = result.parameters["length"]
    return float(np.triu(result.values("weights"), 1)[:real].sum(-1).mean())


def _leaks(before: Result, after: Result) -> frozenset[str]:
    return frozenset({"none" if _future(after) == 0 else "some"})


def _grows(before: Result, after: Result) -> frozenset[str]:
    first, second = before.facts["reach_share"], after.facts["reach_share"]
    return frozenset({"grows" if second > first else "same" if second == first else "shrinks"})


def _ratio(before: Result, after: Result) -> frozenset[str]:
    ratio = after.facts["kept"] / max(before.facts["kept"], 1)
    return frozenset({"same" if ratio < 1.5 else "double" if ratio < 3 else "fourfold"})


def _counts(before: Result, after: Result) -> dict[str, Any]:
    told = {"window": after.parameters["window"], "layers": after.parameters["layers"]}
    return told | {when: r.facts["most_reached"] for when, r in (("before", before), ("after", after))}


def _leak_numbers(before: Result, after: Result) -> dict[str, Any]:
    first = float(after.values("weights")[0, 1:].sum())
    return {"before": _future(before), "after": _future(after), "first": first}


def _reach_numbers(before: Result, after: Result) -> dict[str, Any]:
    pairs = {when: int((r.values("reach") > 0).sum()) for when, r in (("before", before), ("after", after))}
    return pairs | {"layers": after.parameters["layers"]}


def _kept_numbers(before: Result, after: Result) -> dict[str, Any]:
    told = {"before": before.facts["kept"], "after": after.facts["kept"]}
    return told | {"pairs_before": before.facts["pairs"], "pairs_after": after.facts["pairs"]}


PREDICTIONS = (
    Prediction(
        "window_layers",
        start=FOUR | WINDOW | {"layers": 1},
        change={"layers": 4},
        options=("three", "nine", "twelve", "all"),
        verdict=_reached,
        measure=_counts,
    ),
    Prediction(
        "padding_future",
        start={"mask": "causal", "also": "none"},
        change={"mask": "padding"},
        options=("none", "some"),
        verdict=_leaks,
        measure=_leak_numbers,
    ),
    Prediction(
        "causal_layers",
        start={"mask": "causal", "also": "none", "layers": 1},
        change={"layers": 6},
        options=("grows", "same", "shrinks"),
        verdict=_grows,
        measure=_reach_numbers,
    ),
    Prediction(
        "window_length",
        start=FOUR | WINDOW | {"tokens": 8},
        change={"tokens": 16},
        options=("same", "double", "fourfold"),
        verdict=_ratio,
        measure=_kept_numbers,
    ),
)
