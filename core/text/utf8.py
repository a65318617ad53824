"""From characters to bytes: UTF-8, and tokens that are only part of a character.

Source: The Unicode Standard, section 3.9 (UTF-8), table 3-6 for the bits.
"""

import unicodedata
from dataclasses import dataclass

from core.text.tokens import graphemes

_LEADS = {1: "0", 2: "110", 3: "1110", 4: "11110"}  # the first byte of a character says how many there are
_FOLLOWS = "10"


@dataclass(frozen=True)
class CodePoint:
    """One number of Unicode and its bytes."""

    number: int
    name: str  # of the standard, or "" where it has none
    encoded: bytes
    bits: tuple[tuple[str, str], ...]  # of each byte: the mark of its place, then the bits of the number


@dataclass(frozen=True)
class Character:
    """What a reader takes for one character: one or several code points."""

    text: str
    points: tuple[CodePoint, ...]

    @property
    def n_bytes(self) -> int:
        """Its length in UTF-8."""
        return sum(len(point.encoded) for point in self.points)


@dataclass(frozen=True)
class Stretch:
    """A piece of a token: whole characters, or bytes that are only part of one."""

    text: str  # whole characters; or bytes as hexadecimal numbers, "E9 B1"
    whole: bool


def characters(text: str) -> tuple[Character, ...]:
    """Every character of a text down to its bits."""
    return tuple(Character(sign, tuple(code_point(ord(c)) for c in sign)) for sign in graphemes(text))


def code_point(number: int) -> CodePoint:
    """One code point in UTF-8. Raises ValueError for a surrogate, and for what lies outside Unicode."""
    if not 0 <= number < 0x110000 or 0xD800 <= number < 0xE000:
        raise ValueError(f"U+{number:04X} is no character")
    encoded = utf8(number)
    marks = [_LEADS[len(encoded)], *[_FOLLOWS] * (len(encoded) - 1)]
    bits = tuple((mark, f"{byte:08b}"[len(mark) :]) for mark, byte in zip(marks, encoded, strict=True))
    return CodePoint(number, unicodedata.name(chr(number), ""), encoded, bits)


def utf8(number: int) -> bytes:
    """The bits of a code point, six to a byte from the end; what is left goes into the first byte."""
    if number < 0x80:
        return bytes([number])
    n = 2 if number < 0x800 else 3 if number < 0x10000 else 4
    rest = [0x80 | (number >> 6 * place) & 0x3F for place in reversed(range(n - 1))]  # 10xxxxxx
    first = int(_LEADS[n].ljust(8, "0"), 2) | number >> 6 * (n - 1)
    return bytes([first, *rest])


def stretches(token: bytes) -> tuple[Stretch, ...]:
    """A token as it may be shown: its whole characters as text, every other byte as a number, in their order."""
    text = token.decode(
        "utf-8", "surrogateescape"
    )  # a byte that belongs to no whole character becomes U+DCxx
    found: list[Stretch] = []
    for sign in text:
        whole = not 0xDC80 <= ord(sign) <= 0xDCFF
        shown = sign if whole else f"{ord(sign) - 0xDC00:02X}"
        if found and found[-1].whole == whole:
            found[-1] = Stretch(found[-1].text + ("" if whole else " ") + shown, whole)
        else:
            found.append(Stretch(shown, whole))
    return tuple(found)


def is_whole(token: bytes) -> bool:
    """Whether a token consists of whole characters."""
    return all(stretch.whole for stretch in stretches(token))


def hexadecimal(token: bytes) -> str:
    """The bytes of a token: E9 B1 BC."""
    return token.hex(" ").upper()
