"""A matrix of a picture from an array of a result, in the look that all pages share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ui.matrix import Matrix
from ui.result import Result
from ui.words import Words


def matrix_of(
    result: Result,
    name: str,
    words: Words,
    *,
    limit: float | None = None,
    told: Mapping[str, Any] | None = None,
    **what_differs: Any,
) -> Matrix:
    """The array `name` as a matrix: its labels and axes, the words `title.<name>`, its size as the note.

    With a `limit` the numbers have a sign and colours from −limit to limit; without one they are weights from 0 to 1.
    An arrow stands before it if the page has words `arrow.<name>`. `told` fills the placeholders of both;
    `what_differs` are fields of Matrix, for which no words are looked up then.
    """
    array, told = result.arrays[name], told or {}
    look = {
        "values": array.values,
        "rows": array.rows,
        "columns": array.columns,
        "fill": "weight" if limit is None else "signed",
        "limits": (0.0, 1.0) if limit is None else (-limit, limit),
        "axes": array.axes,
        "note": size(array.values.shape),
    } | what_differs
    if "title" not in look:
        look["title"] = words.plain(f"title.{name}", **told)
    if "axis_titles" not in look:
        look["axis_titles"] = axis_titles(array.axes, words)
    if "arrow" not in look and f"arrow.{name}" in words:
        look["arrow"] = words.plain(f"arrow.{name}", **told)
    return Matrix(name=name, **look)


def axis_titles(axes: Iterable[str], words: Words, section: str = "axis") -> tuple[str, ...]:
    """What rows and columns are called: the words `<section>.<axis>`."""
    return tuple(words.plain(f"{section}.{axis}") for axis in axes)


def size(shape: Iterable[int]) -> str:
    """A shape as it is read: 4 × 16."""
    return " × ".join(map(str, shape))
