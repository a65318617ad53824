import json

import pytest

from bench.report import Row, number, of_samples, save, table


def test_a_relative_target_is_compared_with_the_ratio():
    row = of_samples(
        "r", [30.0, 50.0, 40.0], "ms", yardstick=25.0, yardstick_name="y", target=2.0, relative=True
    )
    assert (row.value, row.ratio, row.good) == (40.0, 1.6, True)
    assert not of_samples("r", [51.0], "ms", yardstick=25.0, target=2.0, relative=True).good


@pytest.mark.parametrize(("value", "good"), [(450.0, True), (450.1, False)])
def test_an_absolute_target_is_compared_with_the_value(value, good):
    assert Row("m", value, "MB", yardstick=1.0, target=450.0).good is good


def test_without_a_target_there_is_no_verdict():
    assert Row("m", 3.0, "s").good is None
    assert Row("m", 3.0, "s").ratio is None


def test_numbers_have_three_digits_and_no_exponent():
    assert [number(v) for v in (None, 0.01234, 4.0, 98.76, 12345.6)] == ["", "0.0123", "4", "98.8", "12346"]


def test_the_table_and_the_file_tell_the_same(tmp_path):
    rows = [
        of_samples(
            "μ", [1.0, 2.0, 3.0, 4.0], "ms", yardstick=1.25, yardstick_name="y", target=2.0, relative=True
        )
    ]
    save(rows, tmp_path / "deep" / "bench.json")
    line = table(rows).splitlines()[2].split()
    assert line == ["μ", "2.5", "ms", "1.25–3.75", "1.25", "(y)", "2", "×", "≤", "2", "×", "ok"]
    (stored,) = json.loads((tmp_path / "deep" / "bench.json").read_text(encoding="utf-8"))["rows"]
    assert (stored["value"], stored["ratio"], stored["good"]) == (2.5, 2.0, True)
    assert stored["samples"] == [1.0, 2.0, 3.0, 4.0]
