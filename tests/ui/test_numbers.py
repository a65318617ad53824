"""Numbers for a reader, against values written out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.formulas import exponent
from ui.numbers import fixed, listed, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.40131, "0.401"),
        (-0.40131, "−0.401"),
        (12.345, "12.3"),
        (0.9999, "1.00"),
        (99.96, "100"),
        (1234.5, "1,234"),
        (123456.0, "123,456"),
        (0.00123, "0.00123"),
        (0.00012, "1.20×10⁻⁴"),
        (0.000012, "1.20×10⁻⁵"),
        (-2.5e9, "−2.50×10⁹"),
        (0.0, "0"),
        (-0.0, "0"),
        (7, "7"),
        (-1234567, "−1,234,567"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (float("nan"), "NaN"),
    ],
)
def test_number(value, text):
    assert number(value) == text


def test_a_list_is_set_as_its_language_sets_it():
    assert listed([1, 2, "…"], "en") == "1, 2, …"
    assert listed([1, 2, "…"], "zh") == "1、2、…"
    assert (listed(["a 1,024", "b"], "en", long=True), listed("ab", "zh", long=True)) == (
        "a 1,024; b",
        "a；b",
    )
    assert listed([], "zh") == ""


ORDINARY = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")


def value_of(text: str) -> float:
    """The number that a reader would type into a calculator."""
    return float(text.translate(ORDINARY).replace(",", "").replace("×10", "e"))


@given(st.lists(st.floats(-60, 60), min_size=1, max_size=12))
def test_exponents_are_written_so_that_the_power_can_be_checked(scores):
    """What a calculator makes of the exponents in a formula is the probability beside them, to its three digits."""
    total = max(scores) + math.log(sum(math.exp(x - max(scores)) for x in scores))
    for x in scores:
        by_hand = math.exp(value_of(exponent(x, 3)) - value_of(exponent(total, 3)))
        assert by_hand == pytest.approx(math.exp(x - total), rel=0.0011)


@pytest.mark.parametrize(
    ("value", "text"), [(11.7365, "11.74"), (-104.318, "−104.32"), (1.2345, "1.23"), (0, "0")]
)
def test_large_exponents_keep_their_decimals(value, text):
    assert exponent(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(-0.00004, "0.0000"), (-0.00006, "−0.0001"), (0.5, "0.5000"), (-12.0, "−12.0000")]
)
def test_what_rounds_to_nothing_has_no_sign(value, text):
    assert fixed(value, 4) == text
