"""Questions of the training page; every answer is a run of both settings."""

from __future__ import annotations

from typing import Any

from ui.course.training import SIDES
from ui.figures.training_side import Side
from ui.predict import Prediction, Unfinished
from ui.result import Result

CLEAR = 0.03  # nats; a held-out loss that differs by less counts as equal
BELOW = 0.8  # a loss under so much of the frequencies' is clearly below it
SOLVED = 0.9  # share of held-out targets hit
START = {"task": "chinese", "width": "48", "steps": 160}
PLAIN = {"plan": "constant", "clip": "none", "drop": "0", "smooth": "0", "res": True}


def both(**own: Any) -> dict[str, Any]:
    """The same for A and B."""
    return {f"{name}_{side}": value for side in SIDES for name, value in (PLAIN | own).items()}


def _sides(result: Result) -> tuple[Side, Side]:
    if not result.facts["finished"]:
        raise Unfinished
    return tuple(result.facts["sides"][side] for side in SIDES)


def _learns(before: Result, after: Result) -> frozenset[str]:
    """Which of the two got clearly below what frequencies alone give."""
    limit = BELOW * after.facts["frequency"]
    a, b = (not side.failed and side.end < limit for side in _sides(after))
    return frozenset({{(0, 0): "neither", (1, 0): "only_a", (0, 1): "only_b", (1, 1): "both"}[a, b]})


def _ends(before: Result, after: Result) -> dict[str, Any]:
    a, b = _sides(after)
    return {"a": a.end, "b": b.end, "frequency": after.facts["frequency"], "steps": a.settings.steps}


def _held(before: Result, after: Result) -> frozenset[str]:
    a, b = (float(side.held_out[-1]) if len(side.looked) else float("inf") for side in _sides(after))
    if abs(a - b) < CLEAR:
        return frozenset({"same"})
    return frozenset({"lower" if b < a else "higher"})


def _held_numbers(before: Result, after: Result) -> dict[str, Any]:
    a, b = _sides(after)
    told = {"train_a": a.end, "train_b": b.end}
    return told | {f"held_{n}": float(s.held_out[-1]) for n, s in (("a", a), ("b", b)) if len(s.looked)}


def _solves(before: Result, after: Result) -> frozenset[str]:
    _, b = _sides(after)
    return frozenset({"solves" if len(b.looked) and b.accuracy[-1] > SOLVED else "fails"})


def _hits(before: Result, after: Result) -> dict[str, Any]:
    a, b = _sides(after)
    return {f"hits_{n}": 100 * float(s.accuracy[-1]) for n, s in (("a", a), ("b", b)) if len(s.looked)}


PREDICTIONS = (
    Prediction(
        "warm_up",
        start=START | both(layers=12, norm="post", rate="0.003", warm=0),
        change={"warm_b": 90},
        options=("only_b", "both", "neither"),
        verdict=_learns,
        measure=_ends,
    ),
    Prediction(
        "depth",
        start=START | both(layers=12, norm="post", rate="0.003", warm=0),
        change={"layers_b": 6},
        options=("only_b", "both", "neither"),
        verdict=_learns,
        measure=_ends,
    ),
    Prediction(
        "dropout",
        start=START | {"steps": 300} | both(layers=2, norm="pre", rate="0.003", warm=0),
        change={"drop_b": "0.3"},
        options=("lower", "same", "higher"),
        verdict=_held,
        measure=_held_numbers,
    ),
    Prediction(
        "one_layer",
        start=START | {"task": "repeat", "width": "64"} | both(layers=2, norm="pre", rate="0.003", warm=0),
        change={"layers_b": 1},
        options=("solves", "fails"),
        verdict=_solves,
        measure=_hits,
    ),
)
