"""Numbers for a reader, against values written out by hand."""

import pytest

from ui.numbers import listed, number


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
