"""Questions of the feed-forward page; every answer is computed from the layer as it stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.attention.toy_heads import toy_heads
from core.block.one_token import change_of
from ui.figures.feed_forward import layer_of
from ui.predict import Prediction
from ui.result import Result

CHANGED = 1e-9  # a larger difference is not rounding


def _zeros(before: Result, after: Result) -> frozenset[str]:
    old, new = (r.facts["statistics"].zeros for r in (before, after))
    fits = {"none": new == 0, "same": new == old, "fewer": 0 < new < old}
    return frozenset(option for option, fit in fits.items() if fit) or frozenset({"other"})


def _zero_numbers(before: Result, after: Result) -> dict[str, Any]:
    s = after.facts["statistics"]
    told = {"before": before.facts["statistics"].zeros, "after": s.zeros, "count": s.count}
    return told | {"smallest": s.smallest, "negative": s.negative}


def _rows_moved(before: Result, after: Result) -> list[int]:
    """The tokens whose output is another one."""
    return [
        i
        for i, row in enumerate(after.values("output") - before.values("output"))
        if np.abs(row).max() > CHANGED
    ]


def _neighbours(before: Result, after: Result) -> frozenset[str]:
    old, new = before.parameters["tokens"], after.parameters["tokens"]
    changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    moved = _rows_moved(before, after)
    fits = {"own": moved == changed, "later": moved == list(range(changed[0], len(new)))}
    fits["all"] = moved == list(range(len(new)))
    return frozenset(option for option, fit in fits.items() if fit) or frozenset({"other"})


def _neighbour_numbers(before: Result, after: Result) -> dict[str, Any]:
    p, (x, _), (new, _) = after.parameters, layer_of(before), layer_of(after)
    _, attend = toy_heads(p["tokens"], p["seed"], p["d_model"], 1)
    attention = change_of(lambda h: attend(h).output, x, new)
    noticed = int((attention.moved > CHANGED).sum())
    return {"ffn": len(_rows_moved(before, after)), "attention": noticed, "count": len(p["tokens"])}


def _width(before: Result, after: Result) -> frozenset[str]:
    factor = after.facts["weights"] / before.facts["weights"]
    return frozenset({{2: "two", 4: "four", 8: "eight"}.get(factor, "other")})


def _width_numbers(before: Result, after: Result) -> dict[str, Any]:
    sides = {"old": before, "new": after}
    told = {f"{n}_{name}": r.parameters[name] for n, r in sides.items() for name in ("d_model", "d_ff")}
    return told | {f"{name}_weights": r.facts["weights"] for name, r in sides.items()}


PREDICTIONS = (
    Prediction(
        "zeros",
        start={"act": "relu"},
        change={"act": "gelu"},
        options=("same", "fewer", "none", "other"),
        verdict=_zeros,
        measure=_zero_numbers,
    ),
    Prediction(
        "neighbours",
        start={"s": "the cat sat on the mat", "tokens": 6},
        change={"s": "the dog sat on the mat"},
        options=("own", "later", "all", "other"),
        verdict=_neighbours,
        measure=_neighbour_numbers,
    ),
    Prediction(
        "width",
        start={"d_model": "4"},
        change={"d_model": "8"},
        options=("two", "four", "eight", "other"),
        verdict=_width,
        measure=_width_numbers,
    ),
)
