"""The kinds of parameter a page can have: how each is read from a link, limited, and written back.

Nothing here knows Streamlit. A parameter turns the text of a link into a value that is always usable, and
says when it had to change something. Absent means default, so a link means the same on any day.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.text.tokens import clean

RESERVED = ("lang", "embed", "embed_options")  # belong to the frame and to Streamlit, not to a page


@dataclass(frozen=True)
class Problem:
    """One thing in a link that could not be taken as it stood.

    `reason` is a key of the shared words (`problem.<reason>`); `given` is what the link said, `used` what
    stands there now, `allowed` what would have been accepted, all as text.
    """

    name: str
    reason: str
    given: str
    used: str
    allowed: str = ""
    parts: tuple[Problem, ...] = ()  # of a value that is made of several, what was wrong with each


@dataclass(frozen=True)
class Whole:
    """A whole number between two fixed limits."""

    name: str
    low: int
    high: int
    default: int
    step: int = 1

    def read(self, text: str) -> tuple[int, Problem | None]:
        """The nearest allowed number; a problem if the text was no number or lay outside."""
        number = _number(text)
        if number is None or (math.isfinite(number) and number != int(number)):
            return self.default, self._problem("no_whole_number", text, self.default)
        inside = min(max(number, self.low), self.high)
        value = self.low + round((inside - self.low) / self.step) * self.step
        reason = "out_of_range" if inside != number else "between_steps"
        return value, None if value == number else self._problem(reason, text, value)

    def write(self, value: int) -> str:
        """The value as it stands in a link."""
        return str(value)

    def ends(self) -> tuple[int, ...]:
        """The extreme values, for tests that try every control at both ends."""
        return (self.low, self.high)

    def _problem(self, reason: str, given: str, used: int) -> Problem:
        return Problem(self.name, reason, given, str(used), f"{self.low}–{self.high}")


@dataclass(frozen=True)
class Real:
    """A number between two fixed limits, on a grid of `step`."""

    name: str
    low: float
    high: float
    default: float
    step: float

    def read(self, text: str) -> tuple[float, Problem | None]:
        """The nearest number on the grid; a problem if the text was no number, lay outside or between."""
        number = _number(text)
        if number is None:
            return self.default, self._problem("no_number", text, self.default)
        inside = min(max(number, self.low), self.high)
        value = round(self.low + round((inside - self.low) / self.step) * self.step, 6)
        reason = "out_of_range" if inside != number else "between_steps"
        return value, None if math.isclose(value, number) else self._problem(reason, text, value)

    def write(self, value: float) -> str:
        """The value as it stands in a link."""
        return f"{value:g}"

    def ends(self) -> tuple[float, ...]:
        """The extreme values, for tests that try every control at both ends."""
        return (self.low, self.high)

    def _problem(self, reason: str, given: str, used: float) -> Problem:
        return Problem(self.name, reason, given, self.write(used), f"{self.low:g}–{self.high:g}")


@dataclass(frozen=True)
class Choice:
    """One of a few codes; the codes are the same in every language."""

    name: str
    codes: tuple[str, ...]
    default: str

    def read(self, text: str) -> tuple[str, Problem | None]:
        """The code itself, or the default with a problem."""
        if text in self.codes:
            return text, None
        return self.default, Problem(self.name, "unknown_choice", text, self.default, ", ".join(self.codes))

    def write(self, value: str) -> str:
        """The value as it stands in a link."""
        return value

    def ends(self) -> tuple[str, ...]:
        """Every code."""
        return self.codes


@dataclass(frozen=True)
class Several:
    """Any number of a few codes, written `2.5` in the order of the codes, or `none`."""

    name: str
    codes: tuple[str, ...]
    default: tuple[str, ...] = ()

    def read(self, text: str) -> tuple[tuple[str, ...], Problem | None]:
        """The codes that are known, the default if none is; a problem if any other was named."""
        given = [] if text == "none" else text.split(".")
        value = tuple(code for code in self.codes if code in given)
        if set(given) <= set(self.codes):
            return value, None
        value = value or self.default
        allowed = f"none, {'.'.join(self.codes)}"
        return value, Problem(self.name, "unknown_choice", text, self.write(value), allowed)

    def write(self, value: Sequence[str]) -> str:
        """The value as it stands in a link."""
        return ".".join(code for code in self.codes if code in value) or "none"

    def ends(self) -> tuple[tuple[str, ...], ...]:
        """None and all."""
        return ((), self.codes)


@dataclass(frozen=True)
class Switch:
    """On or off, written 1 or 0."""

    name: str
    default: bool

    def read(self, text: str) -> tuple[bool, Problem | None]:
        """True for 1, False for 0, the default with a problem for anything else."""
        if text in ("0", "1"):
            return text == "1", None
        return self.default, Problem(self.name, "no_switch", text, self.write(self.default), "0, 1")

    def write(self, value: bool) -> str:
        """The value as it stands in a link."""
        return "1" if value else "0"

    def ends(self) -> tuple[bool, ...]:
        """Both positions."""
        return (False, True)


@dataclass(frozen=True)
class Text:
    """Free text from the reader, up to `limit` characters; it is data, never markup.

    What the reader typed stays in the box as it is; `tidy` gives what the page works with and the link holds.
    """

    name: str
    default: str
    limit: int = 200

    def read(self, text: str) -> tuple[str, Problem | None]:
        """The text as given, for the page to judge: it reports cuts where it shows the text."""
        return text, None

    def write(self, value: str) -> str:
        """The tidied text, so that a link stays short and safe to paste."""
        return self.tidy(value)

    def tidy(self, value: str) -> str:
        """Without control characters, at most `limit` characters; the default if nothing is left."""
        return clean(value, self.limit).text or self.default

    def ends(self) -> tuple[str, ...]:
        """Nothing at all, and far too much."""
        return ("", "长 long " * self.limit)


@dataclass(frozen=True)
class Cell:
    """A chosen cell of one of the page's matrices, written `matrix.row.column` and counted from 0; or none."""

    name: str
    matrices: tuple[str, ...]
    default: tuple[str, int, int] | None
    limit: int = 64  # rows and columns that a link may name; a page shows the ones that exist
    # (matrix, rows, columns) at the page's largest setting: a cell beyond is no cell at any setting, and is told.
    sizes: tuple[tuple[str, int, int], ...] = ()

    def read(self, text: str) -> tuple[tuple[str, int, int] | None, Problem | None]:
        """The cell, None for `none`, or the default with a problem."""
        if text == "none":
            return None, None
        matrix, _, place = text.partition(".")
        row, _, column = place.partition(".")
        numbers = [_finite(row), _finite(column)]
        most = next((size[1:] for size in self.sizes if size[0] == matrix), (self.limit, self.limit))
        known = matrix in self.matrices and all(
            n is not None and n == int(n) and 0 <= n < end for n, end in zip(numbers, most, strict=True)
        )
        if known:
            return (matrix, int(numbers[0]), int(numbers[1])), None
        allowed = f"none, {self.matrices[0]}.0.0"
        return self.default, Problem(self.name, "unknown_cell", text, self.write(self.default), allowed)

    def write(self, value: tuple[str, int, int] | None) -> str:
        """The value as it stands in a link."""
        return "none" if value is None else ".".join(map(str, value))

    def ends(self) -> tuple[tuple[str, int, int] | None, ...]:
        """No cell, the first cell of every matrix, and one far outside."""
        last = self.matrices[-1]
        rows = next((size[1] for size in self.sizes if size[0] == last), self.limit)
        return (None, *((name, 0, 0) for name in self.matrices), (last, rows - 1, 0))


def of_size(rows: int, columns: int, *matrices: str) -> tuple[tuple[str, int, int], ...]:
    """Matrices that never have more than so many rows and columns, as `Cell.sizes` wants them."""
    return tuple((name, rows, columns) for name in matrices)


@dataclass(frozen=True)
class Grid:
    """A square of cells, each on or off, that the reader set by hand; or none.

    The value is its code, `m` and the cells row by row in base64 (URL alphabet, six cells a letter), the ends that
    are off left out; `cells` and `code` translate. In a link `none` stands for a grid that nobody drew.
    """

    name: str
    side: int
    default: None = None

    def read(self, text: str) -> tuple[str | None, Problem | None]:
        """The code as `code` would write it, None for `none`; a problem for anything else."""
        if text == "none":
            return None, None
        if re.fullmatch(rf"m[A-Za-z0-9_-]{{0,{self._letters}}}", text, re.ASCII):
            return self.code(self.cells(text)), None
        return None, Problem(self.name, "unreadable_grid", text, "none", "none, mgDg")

    def write(self, value: str | None) -> str:
        """The value as it stands in a link."""
        return value or "none"

    def cells(self, code: str) -> np.ndarray:
        """The cells [side, side] of a code, bool."""
        letters = code[1:].ljust(self._letters + -self._letters % 4, "A")
        bits = np.unpackbits(np.frombuffer(base64.urlsafe_b64decode(letters), dtype=np.uint8))
        return bits[: self.side**2].reshape(self.side, self.side).astype(bool)

    def code(self, cells: np.ndarray) -> str:
        """The code of cells [side, side]."""
        letters = base64.urlsafe_b64encode(np.packbits(cells.astype(bool)).tobytes()).decode()
        return "m" + letters.rstrip("=").rstrip("A")

    def ends(self) -> tuple[str | None, ...]:
        """Nothing drawn, no cell on, and every cell on."""
        full = np.ones((self.side, self.side), dtype=bool)
        return (None, self.code(~full), self.code(full))

    @property
    def _letters(self) -> int:
        return -(-(self.side**2) // 6)


@dataclass(frozen=True)
class Pinned:
    """A second state of the page, kept whole in one value of the link, or none.

    Written as `s-the cat~tokens-6~dk-64`; a `~` inside a text is doubled. `parameters` are those of the page
    that the state consists of. A part that is absent means its default, as in the link itself.
    """

    name: str
    parameters: tuple[Parameter, ...]
    default: None = None
    limit: int = 4000  # characters that are read; what is written stays far below

    def read(self, text: str) -> tuple[dict[str, Any] | None, Problem | None]:
        """The values by name, None for `none` and for what cannot be read; one problem that holds all parts."""
        if text == "none":
            return None, None
        parts = _split_pinned(text) if len(text) <= self.limit else {}
        known = {p.name: parts[p.name] for p in self.parameters if p.name in parts}
        if not known:
            example = self.write({p.name: p.default for p in self.parameters})
            return None, Problem(self.name, "unreadable_pin", text, "none", f"none, {example}")
        values, problems = read_link(known, self.parameters)
        problems += [
            Problem(p.name, "text_changed", known[p.name], p.tidy(known[p.name]), str(p.limit))
            for p in self.parameters
            if isinstance(p, Text) and p.name in known and p.tidy(known[p.name]) != known[p.name]
        ]
        twice = [name for name, count in Counter(_names_in(text)).items() if count > 1 and name in known]
        problems += [Problem(name, "given_twice", known[name], known[name]) for name in twice]
        if strange := [name for name in parts if name not in known]:
            problems.append(Problem(", ".join(strange), "unknown_name", parts[strange[0]], ""))
        problem = Problem(self.name, "in_pinned", text, "", parts=tuple(problems))
        return self.take(values), problem if problems else None

    def write(self, value: Mapping[str, Any] | None) -> str:
        """The value as it stands in a link."""
        if value is None:
            return "none"
        texts = {p.name: p.write(value[p.name]).replace("~", "~~") for p in self.parameters}
        return "~".join(f"{name}-{text}" for name, text in texts.items())

    def take(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The part of a page's values that is pinned, its texts tidied as the link will hold them."""
        return {
            p.name: p.tidy(values[p.name]) if isinstance(p, Text) else values[p.name] for p in self.parameters
        }

    def ends(self) -> tuple[dict[str, Any] | None, ...]:
        """Nothing pinned, and everything pinned at its first and at its last extreme."""
        low, high = ({p.name: p.ends()[end] for p in self.parameters} for end in (0, -1))
        return (None, self.take(low), self.take(high))


Parameter = Whole | Real | Choice | Several | Switch | Text | Cell | Grid | Pinned


def read_link(
    query: Mapping[str, str], parameters: tuple[Parameter, ...]
) -> tuple[dict[str, Any], list[Problem]]:
    """The value of every parameter under a link, and what had to be changed to make it usable."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for parameter in parameters:
        values[parameter.name] = parameter.default
        if parameter.name in query:
            values[parameter.name], problem = parameter.read(query[parameter.name])
            problems += [problem] if problem else []
    known = {parameter.name for parameter in parameters} | set(RESERVED)
    problems += [Problem(name, "unknown_name", query[name], "") for name in query if name not in known]
    return values, problems


def write_link(values: Mapping[str, Any], parameters: tuple[Parameter, ...], lang: str) -> dict[str, str]:
    """The complete canonical link, defaults included, in the order of the declaration."""
    return {"lang": lang} | {p.name: p.write(values[p.name]) for p in parameters}


def _split_pinned(text: str) -> dict[str, str]:
    """Name and text of every part, the last of those with the same name."""
    return {name: rest for name, _, rest in (part.partition("-") for part in _parts_of(text)) if name}


def _names_in(text: str) -> list[str]:
    """The names of all parts, as often as they come."""
    return [part.partition("-")[0] for part in _parts_of(text)]


def _parts_of(text: str) -> list[str]:
    """The parts of a pinned state; a doubled separator belongs to the text of a part."""
    return [part.replace("~~", "~") for part in re.findall(r"((?:[^~]|~~)*)(?:~|$)", text)]


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


def _number(text: str) -> float | None:
    """The number a link holds, infinite where it is too large for one; None for anything else."""
    return float(text) if _NUMBER.fullmatch(text) else None


def _finite(text: str) -> float | None:
    """A finite number, or None for anything else that a link may hold."""
    number = _number(text)
    return number if number is not None and math.isfinite(number) else None
