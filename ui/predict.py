"""Predict first: a question about what a control will do, answered by computing both states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ui.compare import same_value
from ui.result import Result


class Unfinished(Exception):  # noqa: N818 - nothing went wrong
    """Raised by a verdict whose result is still being computed; the question then says so, and waits."""


@dataclass(frozen=True)
class Prediction:
    """One question. Its words are `predict.<name>.question`, `.told`, `.because` and `.<option>`.

    `start` says from which values the question starts, `change` what "Show me" does to them; whatever they do
    not name stays as the reader has it. `verdict` gives the options that turned out right (several where
    they mean the same in this state), `measure` the numbers for the words `told`; both from the results before
    and after the change. Raises ValueError if the start leaves open whether the change changes anything.
    """

    name: str
    start: Mapping[str, Any]
    change: Mapping[str, Any]
    options: tuple[str, ...]
    verdict: Callable[[Result, Result], frozenset[str]]
    measure: Callable[[Result, Result], Mapping[str, Any]]

    def __post_init__(self) -> None:
        unsettled = [n for n, v in self.change.items() if n not in self.start or same_value(self.start[n], v)]
        if unsettled:
            raise ValueError(f"{self.name}: the start must give other values for {unsettled}")

    def missing(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The parameters that stand elsewhere than where the question starts."""
        return tuple(name for name, value in self.start.items() if not same_value(values[name], value))

    def ready(self, values: Mapping[str, Any]) -> bool:
        """Whether the page stands where the question starts."""
        return not self.missing(values)

    def already(self, values: Mapping[str, Any]) -> bool:
        """Whether the page stands where the change would lead."""
        return all(same_value(values[name], value) for name, value in self.change.items())

    def reveals(self, values: Mapping[str, Any]) -> bool:
        """Whether a picture of these values would give the answer away."""
        return any(same_value(values.get(name), value) for name, value in self.change.items())


@dataclass
class Round:
    """What happened to one question in this session."""

    guess: str | None = None
    hands: list[str] = field(default_factory=list)  # one option for every hand, in the order of counting
    counting: bool = False
    before: dict[str, Any] | None = None  # values of the page when the result was shown
    after: dict[str, Any] | None = None

    def count(self, option: str) -> int:
        """How many hands went up for an option."""
        return self.hands.count(option)


@dataclass
class Desk:
    """The questions of one page in one session: not in the link, not kept when the session ends."""

    asked: str  # name of the question on the table
    open: bool = False
    rounds: dict[str, Round] = field(default_factory=dict)
    back: dict[str, Any] = field(default_factory=dict)  # what the questions changed, as the reader had it

    @property
    def round(self) -> Round:
        """The round of the question on the table."""
        return self.rounds.setdefault(self.asked, Round())

    def remember(self, values: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
        """Keep what is about to be changed, unless an earlier question changed it already."""
        self.back = {name: values[name] for name in changes} | self.back


def direction(before: float, after: float, *, same: float = 5e-4) -> str:
    """`rises`, `stays` or `falls`; a change that three digits would not show counts as none."""
    if abs(after - before) < same:
        return "stays"
    return "rises" if after > before else "falls"
