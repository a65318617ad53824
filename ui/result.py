"""What a page computes, as one value; the picture, the table, the check and the exports are functions of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Array:
    """A named matrix with the words for its rows and columns.

    `axes` says what rows and columns stand for ("query", "key", "feature"), so that figures can link them.
    """

    values: np.ndarray  # [R, C]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    axes: tuple[str, str]

    @classmethod
    def of(cls, values: Any, rows: tuple[str, ...], columns: tuple[str, ...] = (), *, axes: tuple[str, str]):
        """From a tensor [R, C]; without labels the columns are numbered from 1, as components are."""
        columns = columns or tuple(str(c + 1) for c in range(values.shape[1]))
        return cls(values.numpy(), rows, columns, axes)


@dataclass(frozen=True)
class Result:
    """The parameters, the arrays by name, and the numbers that the words of the page speak of."""

    parameters: dict[str, Any]
    arrays: dict[str, Array]
    facts: dict[str, Any]
    hidden: np.ndarray | None = None  # [T_q, T_k] bool, True = masked out
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of tensors that are drawn with margins

    def values(self, name: str) -> np.ndarray:
        """The numbers of one array."""
        return self.arrays[name].values

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of the tensor behind one array."""
        return self.shapes.get(name, self.values(name).shape)
