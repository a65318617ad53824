"""A shown result against one that somebody else computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ROUNDING = 1e-10  # float64 keeps 16 digits; gradients at the ends of the sliders reach 10⁵


@dataclass(frozen=True)
class Check:
    """One comparison. `name` is the word `check.<name>`; `theirs` is the code that made the other value."""

    name: str
    difference: float  # the largest absolute one; NaN if either side has NaN where the other has not
    theirs: Callable | None = None
    tolerance: float = ROUNDING

    @property
    def holds(self) -> bool:
        """Whether the two are equal up to rounding; never with a NaN."""
        return self.difference <= self.tolerance


def largest_difference(*pairs: tuple[Any, Any]) -> float:
    """The largest |ours − theirs| over pairs of arrays; equal infinities and equal NaN count as equal.

    Raises ValueError for arrays of different shapes: broadcasting would compare what nobody meant.
    """
    largest = [0.0]
    for ours, theirs in pairs:
        ours, theirs = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
        if ours.shape != theirs.shape:
            raise ValueError(f"shapes {ours.shape} and {theirs.shape} cannot be compared")
        same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
        with np.errstate(invalid="ignore"):
            largest.append(np.where(same, 0.0, np.abs(ours - theirs)).max(initial=0.0))
    return float(np.max(largest))
