"""Questions of the forward pass; every answer is read off the two results."""

from __future__ import annotations

from typing import Any

from ui.figures.forward_pass import entropy, left
from ui.predict import Prediction, direction
from ui.result import Result

KITTEN = "小猫"
EATS, DRINKS = "小猫爱吃", "小猫爱喝"


def _best(result: Result) -> tuple[str, float]:
    last = result.facts["last"]["probabilities"]
    return result.facts["names"][int(last.argmax())], float(last.max())


def _heat(before: Result, after: Result) -> frozenset[str]:
    return frozenset({direction(_best(before)[1], _best(after)[1])})


def _nucleus(before: Result, after: Result) -> frozenset[str]:
    count, half = left(after), after.facts["vocab"] / 2
    return frozenset({"one" if count == 1 else "few" if count <= 10 else "half" if count >= half else "many"})


def _verb(before: Result, after: Result) -> frozenset[str]:
    was, now = _best(before)[0], _best(after)
    return frozenset({"stays" if was == now[0] else "other" if now[1] >= 0.5 else "open"})


def _growth(result: Result, other: Result, cached: bool) -> float:
    which = "with" if cached else "without"
    return other.facts["planned"][which] / result.facts["planned"][which]


def _cache(before: Result, after: Result) -> frozenset[str]:
    times = _growth(before, after, cached=True)
    wanted = after.parameters["new"] / before.parameters["new"]
    return frozenset({"more" if times > 1.02 * wanted else "same" if times > 0.98 * wanted else "less"})


def _measure(before: Result, after: Result) -> dict[str, Any]:
    (a, p), (b, q) = _best(before), _best(after)
    told = {"a": a, "b": b, "p": p, "q": q, "before": entropy(before), "after": entropy(after)}
    told |= {
        "kept": left(after),
        "vocab": after.facts["vocab"],
        "mass": float(after.facts["last"]["kept_mass"]),
    }
    told |= {"new": after.parameters["new"]}
    return told | {"with": _growth(before, after, True), "without": _growth(before, after, False)}


PREDICTIONS = (
    Prediction(
        "temperature",
        start={"s": KITTEN, "temperature": 1.0, "top_k": 0, "top_p": 1.0},
        change={"temperature": 2.0},
        options=("rises", "stays", "falls"),
        verdict=_heat,
        measure=_measure,
    ),
    Prediction(
        "nucleus",
        start={"s": KITTEN, "temperature": 1.0, "top_k": 0, "top_p": 1.0},
        change={"top_p": 0.9},
        options=("one", "few", "many", "half"),
        verdict=_nucleus,
        measure=_measure,
    ),
    Prediction(
        "verb",
        start={"s": EATS, "temperature": 1.0, "top_k": 0, "top_p": 1.0},
        change={"s": DRINKS},
        options=("stays", "other", "open"),
        verdict=_verb,
        measure=_measure,
    ),
    Prediction(
        "cache",
        start={"s": EATS, "new": 1},
        change={"new": 6},
        options=("more", "same", "less"),
        verdict=_cache,
        measure=_measure,
    ),
)
