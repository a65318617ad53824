"""A link can say anything; a page always gets usable values, and the reader is told what was changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui import course
from ui.parameters import Cell, Choice, Real, Several, Switch, Text, Whole, of_size, read_link, write_link

DK = Whole("dk", 1, 64, 8)
WIDTH = Whole("width", 64, 1024, 512, step=64)
TAU = Real("tau", 0.1, 4.0, 1.0, step=0.1)
MASK = Choice("mask", ("none", "causal"), "causal")
SCALED = Switch("scaled", True)
OFF = Several("off", ("1", "2", "3"))
SOME = Several("some", ("1", "2"), ("2",))
CELL = Cell("cell", ("scores", "weights"), ("weights", 3, 1))


@pytest.mark.parametrize(
    ("parameter", "text", "value", "reason"),
    [
        (DK, "16", 16, None),
        (DK, "65", 64, "out_of_range"),
        (DK, "-3", 1, "out_of_range"),
        (DK, "1e400", 64, "out_of_range"),
        (DK, "nan", 8, "no_whole_number"),
        (DK, "2.5", 8, "no_whole_number"),
        (DK, "", 8, "no_whole_number"),
        (DK, "9" * 5000, 64, "out_of_range"),
        (DK, "1_0", 8, "no_whole_number"),
        (DK, "٣", 8, "no_whole_number"),
        (DK, "<script>", 8, "no_whole_number"),
        (WIDTH, "100", 128, "between_steps"),
        (WIDTH, "10", 64, "out_of_range"),
        (TAU, "0.3", 0.3, None),
        (TAU, "0", 0.1, "out_of_range"),
        (TAU, "0.33", 0.3, "between_steps"),
        (TAU, "inf", 1.0, "no_number"),
        (TAU, "1e999", 4.0, "out_of_range"),
        (MASK, "none", "none", None),
        (MASK, "因果", "causal", "unknown_choice"),
        (OFF, "none", (), None),
        (OFF, "3.1", ("1", "3"), None),
        (OFF, "1.1", ("1",), None),
        (OFF, "2.9", ("2",), "unknown_choice"),
        (OFF, "", (), "unknown_choice"),
        (SOME, "4", ("2",), "unknown_choice"),
        (SOME, "none", (), None),
        (OFF, "1..2", ("1", "2"), "unknown_choice"),
        (SCALED, "0", False, None),
        (SCALED, "yes", True, "no_switch"),
        (CELL, "scores.0.2", ("scores", 0, 2), None),
        (CELL, "none", None, None),
        (CELL, "weights.-1.0", ("weights", 3, 1), "unknown_cell"),
        (CELL, "weights.3", ("weights", 3, 1), "unknown_cell"),
        (CELL, "nothing.0.0", ("weights", 3, 1), "unknown_cell"),
        (CELL, "weights.64.0", ("weights", 3, 1), "unknown_cell"),
    ],
)
def test_reading_by_hand(parameter, text, value, reason):
    read, problem = parameter.read(text)
    assert read == value
    assert (problem.reason if problem else None) == reason


def test_absent_means_default_and_unknown_names_are_reported():
    values, problems = read_link({"dk": "4", "colour": "red", "lang": "zh"}, (DK, MASK))
    assert values == {"dk": 4, "mask": "causal"}
    assert [(p.name, p.reason, p.given) for p in problems] == [("colour", "unknown_name", "red")]


ALL_DECLARED = [(page.stem, p) for page in course.PAGES.values() for p in page.parameters]


@pytest.mark.parametrize(("stem", "parameter"), ALL_DECLARED, ids=[f"{s}.{p.name}" for s, p in ALL_DECLARED])
def test_every_declared_value_survives_the_link(stem, parameter):
    assert parameter.read(parameter.write(parameter.default)) == (parameter.default, None)
    for value in parameter.ends():
        back, problem = parameter.read(parameter.write(value))
        assert problem is None
        assert back == (parameter.tidy(value) if isinstance(parameter, Text) else value)


@given(st.sampled_from(ALL_DECLARED), st.text(max_size=80))
def test_no_text_breaks_a_parameter(declared, text):
    _, parameter = declared
    value, _ = parameter.read(text)
    again, problem = parameter.read(parameter.write(value))
    assert problem is None
    assert again == (parameter.tidy(value) if isinstance(parameter, Text) else value)
    if isinstance(parameter, Whole | Real):
        assert parameter.low <= value <= parameter.high


def test_the_written_link_is_complete_and_in_order():
    page = course.PAGES["attention"]
    values, problems = read_link({}, page.parameters)
    link = write_link(values, page.parameters, "zh")
    assert not problems
    assert list(link) == ["lang", *(p.name for p in page.parameters)]
    assert read_link(link, page.parameters) == (values, [])


def test_text_is_tidied_in_the_link_only():
    text = Text("s", "the default", limit=10)
    assert text.write("a\u0000b\u202e  c" + "d" * 50) == "ab c" + "d" * 6
    assert text.write("\u200b\n ") == "the default"


def test_a_cell_that_no_setting_can_show_is_told_and_one_that_some_setting_can_is_kept():
    cell = Cell(
        "cell", ("x", "weights"), ("weights", 3, 1), sizes=of_size(24, 32, "x") + of_size(24, 24, "weights")
    )
    assert cell.read("x.23.31") == (("x", 23, 31), None)
    assert cell.read("weights.23.23") == (("weights", 23, 23), None)
    for text in ("weights.63.63", "weights.23.24", "x.24.0", "x.0.32"):
        value, problem = cell.read(text)
        assert (value, problem.reason) == (("weights", 3, 1), "unknown_cell")
    assert all(cell.read(cell.write(end)) == (end, None) for end in cell.ends())
