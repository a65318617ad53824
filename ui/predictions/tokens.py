"""Questions of the page on tokens; every answer is counted in the tokens on screen."""

from __future__ import annotations

from typing import Any

from ui.predict import Prediction
from ui.result import Result

MIXED = "the kitten eats fish 小猫爱吃鱼 🙂"


def _n(result: Result) -> int:
    return result.values("pairs").shape[1]


def _length(before: Result, after: Result) -> frozenset[str]:
    return frozenset({{1: "one", 2: "two", 3: "three"}.get(_n(after), "four")})


def _change(before: Result, after: Result) -> frozenset[str]:
    change = _n(before) - _n(after)
    return frozenset(
        {"more" if change < 0 else "same" if change == 0 else "one" if change == 1 else "several"}
    )


def _last_word(result: Result) -> tuple[int, int]:
    """Letters of the last word, and tokens that lie in it."""
    start, end = result.facts["spans"]["words"][-1]
    return end - start, sum(to > start for _, to in result.facts["spans"]["pairs"])


def _strangers(before: Result, after: Result) -> frozenset[str]:
    letters, tokens = _last_word(after)
    return frozenset({"letters" if tokens >= letters else "parts" if tokens > 1 else "one"})


def _emoji(before: Result, after: Result) -> frozenset[str]:
    return frozenset({"one" if _n(after) == 1 else "few" if _n(after) < 10 else "many"})


def _counts(before: Result, after: Result) -> dict[str, Any]:
    told = {"before": _n(before), "after": _n(after), "bytes": after.facts["bytes"]}
    told |= {"text": after.parameters["text"], "merges": after.parameters["n_merges"]}
    told["pieces"] = _last_word(after)[1]
    return told | {"unknown": after.facts["unknown"]["words"], "words": after.values("words").shape[1]}


PREDICTIONS = (
    Prediction(
        "fish",
        start={"s": "fish", "merges": 0},
        change={"s": "鱼"},
        options=("one", "two", "three", "four"),
        verdict=_length,
        measure=_counts,
    ),
    Prediction(
        "merge",
        start={"s": MIXED, "merges": 300},
        change={"merges": 301},
        options=("more", "same", "one", "several"),
        verdict=_change,
        measure=_counts,
    ),
    Prediction(
        "strangers",
        start={"s": "the kitten reads", "merges": 600},
        change={"s": "the kitten glassforms"},
        options=("one", "parts", "letters"),
        verdict=_strangers,
        measure=_counts,
    ),
    Prediction(
        "emoji",
        start={"s": "🙂", "merges": 600},
        change={"s": "👨\u200d👩\u200d👧"},
        options=("one", "few", "many"),
        verdict=_emoji,
        measure=_counts,
    ),
)
