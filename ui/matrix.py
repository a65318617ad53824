"""Linked matrices: one component that draws every matrix of a picture and ties their rows and columns together.

Python owns two things, the matrix in focus and the chosen cell; they go to the browser with the numbers at every
run. A click is shown at once there and reported here. The browser code is static/matrix.js; what it is sent is
made by `encode`, a pure function, and the same bytes feed ui.offline.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import streamlit as st

from ui.browser_code import component
from ui.callbacks import whole
from ui.words import Words

Cell = tuple[str, int, int]  # (name of the matrix, row, column), counted from 0
Rows = Sequence[Sequence["Matrix"]]

FILLS = ("weight", "signed")
U8_STEPS = 254  # of a thumbnail's byte between the limits
IDENTITIES = ("", "q", "k", "v", "residual", "norm")
# What the browser needs to say. "readout" holds {title}, {row_axis}, {row}, {row_label}, {column_axis}, {column},
# {column_label}, {value}; "grid" holds {title}, {rows}, {columns}; the name of every axis is a key of its own.
WORDS = (
    "readout",
    "grid",
    "focus",
    "hidden",
    "nan",
    "point",
    "larger",
    "smaller",
    "table",
    "download",
    "filename",
)
_STATIC = Path(__file__).resolve().parent.parent / "static"
# In the order in which each may use those before it.
_PARTS = ("text", "wire", "style", "colour", "layout", "draw", "extras")
_SCRIPTS = (*(f"matrix/{part}" for part in _PARTS), "matrix")
_IMPORT = re.compile(r"^(const \{[^}]*\} = )?await (Promise\.all|import)\([^\n]*$", re.MULTILINE)
_SURROGATES = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, eq=False)
class Matrix:
    """One matrix of a linked picture; `rows`, `columns` and `title` are shown as text, whatever they contain.

    values [R, C] may hold NaN, drawn with a look of its own; infinity only where `hidden` [R, C] is True.
    `limits` fix the colour scale; a value outside keeps its number and gets the colour of the end.
    Matrices whose `axes` share a name are marked together: the same query row, the same key column.
    wire "u8" makes a thumbnail: a byte a cell, painted as pixels, with an approximate read-out. In focus, with NaN
    or with values outside its limits it is sent in full nevertheless: a byte is not the number to be read.
    Raises ValueError for shapes that do not agree, an unexplained infinity, limits that are not an interval,
    and an unknown fill, identity or wire.
    """

    name: str
    title: str
    values: np.ndarray  # [R, C]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    fill: Literal["weight", "signed"]
    limits: tuple[float, float]
    axes: tuple[str, str] = ("query", "key")
    axis_titles: tuple[str, str] = ("", "")
    identity: Literal["", "q", "k", "v", "residual", "norm"] = ""
    hidden: np.ndarray | None = None  # [R, C] bool, True = masked out
    note: str = ""
    arrow: str = ""
    wire: Literal["f32", "u8"] = "f32"
    large: bool = False  # on a wide screen as large as the matrix in focus, for matrices to be compared
    hidden_as: str = ""  # what a hidden cell means, where it is not "−∞, hidden by the mask"
    # What rows and columns are marked by, where that is not `axes`: matrices of the same things in another order.
    marks: tuple[str, str] | None = None
    order: tuple[
        int, ...
    ] = ()  # the thing in each place of a marked square, or of the rows; empty: as numbered
    draw: bool = False  # a click on a cell toggles it instead of choosing it
    whole: bool = False  # whole numbers, shown without decimals

    def __post_init__(self) -> None:
        # A copy: the picture must not change behind our back.
        values = np.array(self.values, dtype=np.float32)
        shape = (len(self.rows), len(self.columns))
        if values.ndim != 2 or values.shape != shape or 0 in shape:
            raise ValueError(f"{self.name}: values of shape {values.shape} for {shape} labels")
        hidden = None if self.hidden is None else np.array(self.hidden, dtype=bool)
        if hidden is not None and hidden.shape != shape:
            raise ValueError(f"{self.name}: hidden has shape {hidden.shape}, the values {shape}")
        shown = values if hidden is None else values[~hidden]
        if np.isinf(shown).any():
            raise ValueError(f"{self.name}: infinity in a cell that is not hidden")
        low, high = (float(limit) for limit in self.limits)
        if not (np.isfinite([low, high]).all() and low < high):
            raise ValueError(f"{self.name}: limits {self.limits} are not an interval")
        for what, value, known in (
            ("fill", self.fill, FILLS),
            ("identity", self.identity, IDENTITIES),
            ("wire", self.wire, ("f32", "u8")),
        ):
            if value not in known:
                raise ValueError(f"{self.name}: unknown {what} {value!r}")
        values.flags.writeable = False
        for field, value in (
            ("values", values),
            ("hidden", hidden),
            ("limits", (low, high)),
            ("rows", tuple(self.rows)),
            ("columns", tuple(self.columns)),
        ):
            object.__setattr__(self, field, value)

    @property
    def shape(self) -> tuple[int, int]:
        """(R, C)."""
        return len(self.rows), len(self.columns)


@dataclass(frozen=True)
class LinkedEvent:
    """What the reader sees: the matrix in focus and the chosen cell; and the cells toggled since the last report."""

    focus: str
    cell: Cell | None
    toggled: tuple[Cell, ...] = ()  # in the order of the clicks; a cell clicked twice is here twice


def linked(
    key: str,
    rows: Rows,
    *,
    focus: str,
    cell: Cell | None,
    words: Mapping[str, str],
    summary: str,
    on_change: Callable[[LinkedEvent], Any] | None = None,
    lang: str = "en",
) -> LinkedEvent:
    """Draw the matrices as one component under `key`; the last of `rows` is the main row.

    `on_change` is called with the new LinkedEvent before the script (or fragment) runs again, so that it can store
    focus and cell where the page keeps them. Without it, the event that differs from `focus` and `cell` is
    returned once, in the run that the click caused; otherwise what was given is returned.
    A report that names no matrix or cell of the picture is ignored, and so is a `cell` that is no longer in it.
    Raises KeyError for a missing word and ValueError for a focus that is not in the picture.
    """
    seen = f"{key}.seen"

    @whole
    def report() -> None:
        event = _reported(rows, st.session_state.get(key), st.session_state.get(seen, 0))
        if event is not None and on_change is not None:
            st.session_state[seen] = event[0]
            on_change(event[1])

    event = _reported(rows, st.session_state.get(key))
    if event is not None and event[0] > st.session_state.get(seen, 0):
        st.session_state[seen] = event[0]
        focus, cell = event[1].focus, event[1].cell
    if cell is not None and not _is_cell({matrix.name: matrix for row in rows for matrix in row}, cell):
        cell = None
    data = encode(rows, focus, cell, words, summary, lang, seen=st.session_state.get(seen, 0))
    _component()(key=key, data=data, on_event_change=report)
    return LinkedEvent(focus, cell)


def encode(
    rows: Rows,
    focus: str,
    cell: Cell | None,
    words: Mapping[str, str],
    summary: str,
    lang: str = "en",
    *,
    seen: int = 0,
    in_full: bool = False,
) -> bytes:
    """The picture as bytes: [header length, uint32 LE][header, JSON in UTF-8][arrays], arrays at multiples of 4.

    What a matrix has in common with others is said once, in "kinds", so that many small ones stay small.
    A matrix's "at" and "hidden" count bytes from the end of the header. Values are float32 LE in row order, or one
    byte each, 0 to 254 between the limits, so that the middle is one of them; hidden cells are one bit each, lowest
    bit first. `seen` is the number of the last report from the browser that focus and cell already take into
    account. `in_full` is for a picture whose focus changes without a server: the numbers of every thumbnail are
    sent as they are.
    Raises KeyError for a missing word and ValueError for a name used twice and for a focus or cell not in `rows`.
    """
    matrices = {matrix.name: matrix for row in rows for matrix in row}
    if len(matrices) != sum(len(row) for row in rows):
        raise ValueError("two matrices share a name")
    if focus not in matrices:
        raise ValueError(f"no matrix is called {focus!r}")
    if cell is not None and not _is_cell(matrices, cell):
        raise ValueError(f"there is no cell {cell!r}")
    body = bytearray()
    labels: list[list[str]] = []
    kinds: list[dict[str, Any]] = []
    header = {
        "focus": focus,
        "cell": list(cell) if cell is not None else None,
        "seen": seen,
        "lang": "zh-CN" if lang == "zh" else lang,
        "summary": sendable(summary),
        "words": _needed_words(words, matrices.values()),
        "labels": labels,
        "kinds": kinds,
        "rows": [
            [_entry(matrix, in_full or matrix.name == focus, labels, kinds, body) for matrix in row]
            for row in rows
        ],
    }
    head = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    head += b" " * (-len(head) % 4)
    return struct.pack("<I", len(head)) + head + bytes(body)


def spoken(words: Words) -> Mapping[str, str]:
    """The words of the component from strings.toml, section [matrix]; a page adds axes of its own as `matrix.axis.<name>`."""
    return _spoken(words.lang, words.stem)


@cache  # of each page in each language
def _spoken(lang: str, stem: str) -> Mapping[str, str]:
    words = Words(lang, stem)
    marks = ("title", "row_axis", "row", "row_label", "column_axis", "column", "column_label", "value")
    marks += ("rows", "columns")
    keep = {mark: f"{{{mark}}}" for mark in marks}  # filled in by the browser
    texts = {name: words.plain(f"matrix.{name}", **keep) for name in WORDS}
    return MappingProxyType(texts | words.table("matrix.axis"))


def _reported(rows: Rows, state: Any, seen: int = 0) -> tuple[int, LinkedEvent] | None:
    """The browser's last report with its number, if it fits the picture: what comes from outside is checked."""
    event = state.get("event") if isinstance(state, Mapping) else None
    if not isinstance(event, Mapping):
        return None
    number, focus, cell = event.get("n"), event.get("focus"), event.get("cell")
    matrices = {matrix.name: matrix for row in rows for matrix in row}
    if type(number) is not int or not 0 < number < 2**53:
        return None
    if not isinstance(focus, str) or focus not in matrices:
        return None
    cell = tuple(cell) if isinstance(cell, list | tuple) else cell
    if cell is not None and not _is_cell(matrices, cell):
        return None
    return number, LinkedEvent(focus, cell, _toggled(matrices, event.get("toggled"), seen))


def _toggled(matrices: Mapping[str, Matrix], clicks: Any, seen: int) -> tuple[Cell, ...]:
    """The cells of the clicks [number, name, row, column] after report `seen`, of matrices to draw in."""
    given = (
        [c for c in clicks if isinstance(c, list | tuple) and len(c) == 4] if isinstance(clicks, list) else []
    )
    cells = [tuple(c[1:]) for c in given if type(c[0]) is int and c[0] > seen]
    return tuple(cell for cell in cells if _is_cell(matrices, cell) and matrices[cell[0]].draw)


def _is_cell(matrices: Mapping[str, Matrix], cell: Any) -> bool:
    if not (isinstance(cell, tuple) and len(cell) == 3 and isinstance(cell[0], str) and cell[0] in matrices):
        return False
    return all(
        isinstance(index, int) and not isinstance(index, bool) and 0 <= index < size
        for index, size in zip(cell[1:], matrices[cell[0]].shape, strict=True)
    )


def _needed_words(words: Mapping[str, str], matrices: Sequence[Matrix] | Any) -> dict[str, str]:
    axes = {axis for matrix in matrices for axis in matrix.axes}
    return {name: sendable(words[name]) for name in (*WORDS, *sorted(axes))}


def _entry(
    matrix: Matrix, in_full: bool, labels: list[list[str]], kinds: list[dict[str, Any]], body: bytearray
) -> dict[str, Any]:
    """The header's part for one matrix, without what is empty; its numbers are appended to `body`."""
    wire, numbers = _numbers(matrix, in_full)
    kind = {
        "rows": _place(labels, [sendable(text) for text in matrix.rows]),
        "columns": _place(labels, [sendable(text) for text in matrix.columns]),
        "note": sendable(matrix.note),
        "fill": matrix.fill,
        "limits": list(matrix.limits),
        "axes": list(matrix.axes),
        "axisTitles": [sendable(title) for title in matrix.axis_titles],
        "identity": matrix.identity,
        "wire": wire,
        "pixels": matrix.wire == "u8",
        "large": matrix.large,
        "hiddenAs": sendable(matrix.hidden_as),
        "draw": matrix.draw,
        "whole": matrix.whole,
    }
    if matrix.marks:
        kind |= {"marks": list(matrix.marks), "order": list(matrix.order)}
    entry = {"name": matrix.name, "title": sendable(matrix.title), "kind": _place(kinds, kind)}
    entry["at"] = _append(body, numbers)
    if matrix.arrow:
        entry["arrow"] = sendable(matrix.arrow)
    if matrix.hidden is not None and matrix.hidden.any():
        entry["hidden"] = _append(body, np.packbits(matrix.hidden, bitorder="little").tobytes())
    return entry


def _numbers(matrix: Matrix, in_full: bool) -> tuple[str, bytes]:
    """The wire format that loses nothing but digits, and the values in it."""
    low, high = matrix.limits
    values = matrix.values if matrix.hidden is None else np.where(matrix.hidden, low, matrix.values)
    if matrix.wire == "u8" and not in_full and ((values >= low) & (values <= high)).all():
        scaled = np.clip((values.astype(np.float64) - low) / (high - low), 0, 1) * U8_STEPS
        return "u8", np.rint(scaled).astype(np.uint8).tobytes()
    return "f32", values.astype("<f4").tobytes()


def _append(body: bytearray, data: bytes) -> int:
    at = len(body)
    body += data + b"\0" * (-len(data) % 4)
    return at


def _place(known: list, one: Any) -> int:
    """The place of `one` in the list: most matrices of a picture have the same labels and the same look."""
    if one not in known:
        known.append(one)
    return known.index(one)


def sendable(text: str) -> str:
    """The text as UTF-8 can hold it: half a surrogate pair becomes the replacement character."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", str(text))


@cache
def _component() -> Callable:
    digest = hashlib.sha256(b"".join(_source(name).encode() for name in _SCRIPTS)).hexdigest()[:12]
    return component("matrix", digest)


def _source(name: str) -> str:
    return (_STATIC / f"{name}.js").read_text(encoding="utf-8")


def one_script() -> str:
    """The component's code: all modules in one: their imports removed, so that the names of each are simply there for the next."""
    whole = "\n".join(_IMPORT.sub("", _source(name)) for name in _SCRIPTS)
    return re.sub(r"^export (default )?", "", whole, flags=re.MULTILINE)
