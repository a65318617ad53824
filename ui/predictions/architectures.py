"""Questions of the page on architectures; every answer is counted from the two descriptions."""

from __future__ import annotations

from typing import Any

from ui.figures.architectures_counts import PARTS
from ui.predict import Prediction
from ui.result import Result


def _counts(result: Result) -> tuple[Any, Any]:
    return result.facts["counts"]


def _grows(before: Result, after: Result) -> frozenset[str]:
    a, b = _counts(after)
    most = max(PARTS, key=lambda part: getattr(b, part) - getattr(a, part))
    return frozenset({most if most in ("tokens", "positions", "norms") else "other"})


def _grow_numbers(before: Result, after: Result) -> dict[str, Any]:
    a, b = _counts(after)
    told = {part: getattr(b, part) - getattr(a, part) for part in ("tokens", "positions", "norms")}
    return told | {"all": b.total - a.total}


def _grouped(before: Result, after: Result) -> frozenset[str]:
    old, new = _counts(before)[1].attention, _counts(after)[1].attention
    return frozenset({"rises" if new > old else "falls" if new < old else "stays"})


def _attention_numbers(before: Result, after: Result) -> dict[str, Any]:
    sides = {"old": _counts(before)[1], "new": _counts(after)[1]}
    told = {
        f"{name}_{part}": getattr(count, part)
        for name, count in sides.items()
        for part in ("attention", "ffn")
    }
    return told | {f"{name}_total": count.total for name, count in sides.items()}


def _untied(before: Result, after: Result) -> frozenset[str]:
    grown = _counts(after)[1].total - _counts(before)[1].total
    table = _counts(after)[1].tokens
    fits = {"table": grown == table, "nothing": grown == 0, "two": grown == 2 * table}
    return frozenset(option for option, fit in fits.items() if fit) or frozenset({"other"})


def _untied_numbers(before: Result, after: Result) -> dict[str, Any]:
    old, new = _counts(before)[1], _counts(after)[1]
    return {
        "old": old.total,
        "new": new.total,
        "grown": new.total - old.total,
        "share": 100 * new.head / new.total,
    }


PREDICTIONS = (
    Prediction(
        "grows",
        start={"left": "gpt1", "right": "gpt1"},
        change={"right": "gpt2-small"},
        options=("tokens", "positions", "norms", "other"),
        verdict=_grows,
        measure=_grow_numbers,
    ),
    Prediction(
        "direction",
        start={"left": "bert-base", "right": "bert-base"},
        change={"right": "gpt1"},
        options=("rises", "stays", "falls"),
        verdict=_grouped,
        measure=_attention_numbers,
    ),
    Prediction(
        "grouped",
        start={"left": "llama-7b", "right": "llama-7b"},
        change={"right": "llama3-8b"},
        options=("rises", "stays", "falls"),
        verdict=_grouped,
        measure=_attention_numbers,
    ),
    Prediction(
        "untied",
        start={"right": "own", "own_stack": "decoder", "own_tied": True},
        change={"own_tied": False},
        options=("nothing", "table", "two", "other"),
        verdict=_untied,
        measure=_untied_numbers,
    ),
)
