"""Two states of a page side by side: what differs between them, and the difference of two matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ui.matrix import Matrix
from ui.parameters import Parameter, Text


@dataclass(frozen=True)
class Differing:
    """A parameter that has one value in state A and another in state B."""

    parameter: Parameter
    a: Any
    b: Any


def differing(parameters: Sequence[Parameter], a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Differing]:
    """The parameters whose values differ, in the order of their declaration; texts are compared as tidied."""
    pairs = [(p, _settled(p, a[p.name]), _settled(p, b[p.name])) for p in parameters]
    return [Differing(p, one, other) for p, one, other in pairs if not same_value(one, other)]


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are the same setting; a slider's 0.3 need not be the link's 0.3."""
    if isinstance(one, float) or isinstance(other, float):
        return math.isclose(one, other, abs_tol=1e-9)
    return one == other


def on_one_scale(a: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
    """The two with the same colours for the same numbers."""
    limits = (min(a.limits[0], b.limits[0]), max(a.limits[1], b.limits[1]))
    return replace(a, limits=limits), replace(b, limits=limits)


def obstacle(a: Matrix, b: Matrix) -> str:
    """Why B − A means nothing: "shape", "labels", or an empty string when it can be taken cell by cell."""
    if a.shape != b.shape:
        return "shape"
    return "" if (a.rows, a.columns) == (b.rows, b.columns) else "labels"


def difference(a: Matrix, b: Matrix, *, title: str, hidden_as: str) -> Matrix:
    """B − A around 0, on a scale of its own that its colour bar tells. A cell that is hidden in either has no difference and is hidden.

    Raises ValueError if `obstacle` names one.
    """
    if why := obstacle(a, b):
        raise ValueError(f"there is no difference of these two: {why}")
    hidden = _hidden(a) | _hidden(b)  # [R, C]
    values = np.where(hidden, 0, b.values) - np.where(hidden, 0, a.values)  # [R, C]
    reach = _reach(
        float(np.abs(np.nan_to_num(values)).max()), max(abs(limit) for limit in (*a.limits, *b.limits))
    )
    return replace(
        b,
        title=title,
        values=values,
        fill="signed",
        limits=(-reach, reach),
        hidden=hidden if hidden.any() else None,
        hidden_as=hidden_as,
        identity="",
        arrow="",
    )


def _reach(largest: float, most: float) -> float:
    """The end of the difference's colours: the next 1, 2 or 5 of a power of ten, so that small changes are seen."""
    if not 0 < largest < most:
        return most
    power = 10.0 ** math.floor(math.log10(largest))
    return min(next(step * power for step in (1, 2, 5, 10) if step * power >= largest * (1 - 1e-9)), most)


def largest_change(difference: Matrix) -> tuple[int, int, float] | None:
    """Row, column and value of the difference farthest from 0; None if there is none to speak of."""
    size = np.where(_hidden(difference) | np.isnan(difference.values), 0, abs(difference.values))  # [R, C]
    row, column = divmod(int(size.argmax()), size.shape[1])
    return (row, column, float(difference.values[row, column])) if size[row, column] > 0 else None


def _hidden(matrix: Matrix) -> np.ndarray:
    return np.zeros(matrix.shape, dtype=bool) if matrix.hidden is None else matrix.hidden


def _settled(parameter: Parameter, value: Any) -> Any:
    return parameter.tidy(value) if isinstance(parameter, Text) else value
