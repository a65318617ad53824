"""Numbers put into formulas: sums written out as far as they stay readable."""

from __future__ import annotations

from collections.abc import Sequence

from ui.numbers import number
from ui.words import Raw


def sum_of_products(left: Sequence[float], right: Sequence[float], shown: int = 3) -> Raw:
    """LaTeX for Σ left·right with its first terms; the others become dots."""
    terms = [rf"{number(a)}\cdot{bracketed(b)}" for a, b in zip(left, right, strict=True)]
    return Raw(_joined(terms, shown))


def sum_of_numbers(terms: Sequence[float], shown: int = 6) -> Raw:
    """LaTeX for a sum of numbers with its first terms; the others become dots."""
    return Raw(_joined([number(float(x)) for x in terms], shown))


def sum_of_exponentials(exponents: Sequence[float], shown: int = 4) -> Raw:
    """LaTeX for Σ e^x with its first terms; the others become dots."""
    return Raw(_joined([f"e^{{{exponent(x)}}}" for x in exponents], shown))


def exponent(value: float, decimals: int = 2) -> Raw:
    """An exponent with as many decimals as its power needs: of a large one, three digits would not give the result."""
    before = len(f"{abs(float(value)):.{decimals}f}") - decimals - 1  # digits in front of the point
    return Raw(number(float(value), digits=max(3, before + decimals) if abs(value) >= 1 else 3))


def bracketed(value: float) -> Raw:
    """A number that may follow a sign: in brackets if it is negative."""
    text = number(value)
    return Raw(f"({text})" if text.startswith("−") else text)


def _joined(terms: list[str], shown: int) -> str:
    rest = [r"\cdots"] if len(terms) > shown else []
    return " + ".join(terms[:shown] + rest).replace("+ −", "− ")
