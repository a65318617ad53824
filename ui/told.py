"""What the browser has been told of the values that the server set, and what it sends because it was not told yet.

Streamlit's browser sends the values of all widgets with every click. A click made before it has taken a new value
still carries the old one, and that looks just like a reader who moves the widget back. Two things tell them apart:
when the new value was sent, and whether the reader did something else in the same moment. Nobody does two things
at once.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

# In s after a value was sent. Up to the first it is sent again, and an old value is never a move; up to the second,
# by which a busy browser can lag, an old value that comes with another act is none.
RESENT = 1.0
LATE = 10.0
MOST_HELD = 16  # old values remembered of one widget


@dataclass
class Told:
    """One session's record, under the keys of its widgets; times are those of one steady clock, in seconds."""

    sent: dict[str, float | None] = field(default_factory=dict)  # when a finished run first sent the value
    replaced: dict[str, list[Any]] = field(default_factory=dict)  # the values that the browser may still hold
    doubted: dict[Hashable, Any] = field(default_factory=dict)  # old values that may be a reader's move
    acts: int = 0  # of the reader since the last run began

    def put(self, key: str) -> None:
        """The browser has to be told a value: no run has sent it yet."""
        self.sent[key] = None

    def replace(self, key: str, old: Any, now: float) -> None:
        """The same, and until it is told the browser may send `old`."""
        held = self.replaced.get(key, []) if self.age(key, now) <= LATE else []
        self.replaced[key] = [*held, old][-MOST_HELD:]
        self.put(key)

    def finished(self, keys: Iterable[str], now: float) -> None:
        """A run that drew these widgets has ended."""
        self.sent |= {key: now for key in keys if self.sent.get(key, now) is None}

    def age(self, key: str, now: float) -> float:
        """Seconds since the value was sent: 0 before that, infinity if there was nothing to tell."""
        sent = self.sent.get(key, -math.inf)
        return 0.0 if sent is None else now - sent

    def is_to_be_sent(self, key: str, now: float) -> bool:
        """Whether a run that begins now has to send the value once more.

        A run that is interrupted before it draws the widget tells nobody, and Streamlit does not try again. Nor does
        the browser listen if the next run follows at once: a click made while the widgets were on their way starts
        one. So a value is sent by every run until one begins that leaves the browser time to take it.
        """
        return self.age(key, now) <= RESENT

    def is_old(self, key: str, value: Any, now: float) -> bool:
        """Whether the browser may have sent the value only because it was not told yet."""
        return self.age(key, now) <= LATE and value in self.replaced.get(key, ())

    def settle(self) -> tuple[dict[Hashable, Any], dict[Hashable, Any]]:
        """As a run begins: the doubted values that are moves after all, and those that are not."""
        doubted, acts = self.doubted, self.acts
        self.doubted, self.acts = {}, 0
        return ({}, doubted) if acts else (doubted, {})
