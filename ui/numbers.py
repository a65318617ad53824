"""How a number is written for a reader: at most three significant digits, a real minus sign."""

from __future__ import annotations

import math
import numbers as kinds
from collections.abc import Iterable

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float, digits: int = 3) -> str:
    """The value as text: integers whole with thousands separated, others to `digits` significant digits.

    Very large and very small values are written as a power of ten; infinity as ∞, not-a-number as NaN.
    """
    if isinstance(value, kinds.Integral):
        return f"{int(value):,}".replace("-", "−")
    value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
    if -4 < exponent < 6:
        text = f"{value:,.{max(digits - 1 - exponent, 0)}f}"
    else:
        text = f"{value / 10.0**exponent:.{digits - 1}f}×10{str(exponent).translate(_SUPERSCRIPTS)}"
    return text.replace("-", "−")


def fixed(value: float, decimals: int) -> str:
    """The value with that many decimals; what rounds to nothing has no sign."""
    text = f"{value:.{decimals}f}"
    return (text if text.strip("-0.") else text.lstrip("-")).replace("-", "−")


def listed(parts: Iterable[object], lang: str, *, long: bool = False) -> str:
    """The parts one after the other as the language sets a list; `long` ones, with commas inside, by semicolons."""
    between = ("；" if long else "、") if lang == "zh" else ("; " if long else ", ")
    return between.join(map(str, parts))
