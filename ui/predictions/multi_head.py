"""Questions of the multi-head page; every answer is computed from the reader's own sentence and seed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.predict import Prediction, direction
from ui.result import Result

CHANGED = 1e-9  # a larger difference is not rounding


def _parameters(before: Result, after: Result) -> frozenset[str]:
    return frozenset({direction(before.facts["parameters"], after.facts["parameters"])})


def _count_numbers(before: Result, after: Result) -> dict[str, Any]:
    width = {
        f"d_head_{when}": r.parameters["d_model"] // r.parameters["heads"]
        for when, r in (("before", before), ("after", after))
    }
    return width | {"before": before.facts["parameters"], "after": after.facts["parameters"]}


def _cache(before: Result, after: Result) -> frozenset[str]:
    named = {1: "same", 2: "half", 8: "eighth"}
    return frozenset({named.get(before.facts["cache"] / after.facts["cache"], "other")})


def _cache_numbers(before: Result, after: Result) -> dict[str, Any]:
    told = {"before": before.facts["cache"], "after": after.facts["cache"]}
    sizes = {"parameters_before": before.facts["parameters"], "parameters_after": after.facts["parameters"]}
    return told | sizes


def _moved(before: Result, after: Result, name: str) -> int:
    """How many columns of a matrix differ anywhere."""
    return int((np.abs(after.values(name) - before.values(name)).max(0) > CHANGED).sum())


def _mixed(before: Result, after: Result) -> frozenset[str]:
    moved, p = _moved(before, after, "output"), after.parameters
    d_head = p["d_model"] // p["heads"]
    fits = {"all": moved == p["d_model"], "own": moved == d_head, "none": moved == 0}
    return frozenset(option for option, fit in fits.items() if fit) or frozenset({"other"})


def _mix_numbers(before: Result, after: Result) -> dict[str, Any]:
    moved = {"joined": _moved(before, after, "concat"), "output": _moved(before, after, "output")}
    return moved | {"d_model": after.parameters["d_model"], "change": 100 * after.facts["off"].change}


PREDICTIONS = (
    Prediction(
        "count",
        start={"heads": "8", "kv": "all"},
        change={"heads": "1"},
        options=("rises", "stays", "falls"),
        verdict=_parameters,
        measure=_count_numbers,
    ),
    Prediction(
        "share",
        start={"heads": "8", "kv": "all"},
        change={"kv": "1"},
        options=("same", "half", "eighth", "other"),
        verdict=_cache,
        measure=_cache_numbers,
    ),
    Prediction(
        "mix",
        start={"heads": "4", "off": ()},
        change={"off": ("1",)},
        options=("all", "own", "none", "other"),
        verdict=_mixed,
        measure=_mix_numbers,
    ),
)
