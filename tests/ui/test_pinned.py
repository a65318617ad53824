"""A pinned state fits into one value of a link, comes back whole, and never breaks what reads it."""

from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.tokens import clean
from ui import course
from ui.parameters import Cell, Choice, Pinned, Real, Switch, Text, Whole, read_link

PARTS = (
    Text("s", "the default", limit=20),
    Whole("dk", 1, 64, 8),
    Real("tau", 0.1, 4.0, 1.0, step=0.1),
    Switch("scaled", True),
    Choice("mask", ("none", "causal"), "causal"),
    Cell("cell", ("weights",), None),
)
PIN = Pinned("a", PARTS)
DEFAULTS = {p.name: p.default for p in PARTS}
STATES = st.fixed_dictionaries(
    {
        "s": st.text(max_size=40),
        "dk": st.integers(1, 64),
        "tau": st.integers(1, 40).map(lambda tenths: tenths / 10),
        "scaled": st.booleans(),
        "mask": st.sampled_from(("none", "causal")),
        "cell": st.none() | st.tuples(st.just("weights"), st.integers(0, 63), st.integers(0, 63)),
    }
)


def reasons(problem) -> list[tuple[str, str]]:
    return [(part.name, part.reason) for part in problem.parts] if problem else []


@given(STATES)
def test_any_state_survives_the_link(state):
    value = PIN.take(state)
    written = PIN.write(value)
    address = urlencode({"a": written})
    assert PIN.read(parse_qs(address)["a"][0]) == (value, None)
    # 20 characters of text, each doubled at worst, and a few short numbers.
    assert len(written) <= 40 + 80


@given(st.text(max_size=300))
def test_no_text_breaks_it_and_what_is_read_can_be_written(text):
    value, _ = PIN.read(text)
    assert PIN.read(PIN.write(value)) == (value, None)


@given(st.lists(st.tuples(st.sampled_from([*DEFAULTS, "~", "-", "x"]), st.text(max_size=20)), max_size=12))
def test_nor_does_text_that_looks_like_a_state(parts):
    value, _ = PIN.read("~".join(f"{name}-{text}" for name, text in parts))
    assert PIN.read(PIN.write(value)) == (value, None)
    if value is not None:
        assert 1 <= value["dk"] <= 64
        assert value["s"] == (clean(value["s"], 20).text or "the default")


@pytest.mark.parametrize(
    ("text", "changes", "told"),
    [
        ("none", None, []),
        ("dk-4", {"dk": 4}, []),
        ("dk-4~mask-none~scaled-0~tau-2.5", {"dk": 4, "mask": "none", "scaled": False, "tau": 2.5}, []),
        ("dk-4~s-a~~b-c", {"dk": 4, "s": "a~b-c"}, []),
        ("s-a~~~dk-4", {"s": "a~", "dk": 4}, []),
        ("dk-99~tau--3", {"dk": 64, "tau": 0.1}, [("dk", "out_of_range"), ("tau", "out_of_range")]),
        ("dk-4~mask-因果", {"dk": 4}, [("mask", "unknown_choice")]),
        ("dk-4~colour-red~x", {"dk": 4}, [("colour, x", "unknown_name")]),
        ("dk", {}, [("dk", "no_whole_number")]),
        ("s-" + "x" * 30, {"s": "x" * 20}, [("s", "text_changed")]),
        ("s-a\u0000b", {"s": "ab"}, [("s", "text_changed")]),
        ("cell-weights.2.1", {"cell": ("weights", 2, 1)}, []),
    ],
)
def test_reading_by_hand(text, changes, told):
    value, problem = PIN.read(text)
    assert value == (None if changes is None else DEFAULTS | changes)
    assert reasons(problem) == told
    assert problem is None or (problem.name, problem.reason) == ("a", "in_pinned")


@pytest.mark.parametrize("text", ["", "‽", "~~~~", "-", "what is this", "s-a" + "~x-y" * 2000])
def test_what_is_no_state_pins_nothing_and_is_told(text):
    value, problem = PIN.read(text)
    assert value is None
    assert (problem.reason, problem.used) == ("unreadable_pin", "none")


def test_the_page_reads_it_like_everything_else():
    values, problems = read_link({"a": "dk-99", "dk": "3"}, (*PARTS, PIN))
    assert (values["dk"], values["a"]["dk"]) == (3, 64)
    assert [p.reason for p in problems] == ["in_pinned"]


@pytest.mark.parametrize("page", [p for p in course.PAGES.values() if p.parameters], ids=lambda p: p.stem)
def test_what_pages_pin_are_parameters_of_theirs_and_stays_short(page):
    for pin in (p for p in page.parameters if isinstance(p, Pinned)):
        assert set(pin.parameters) <= set(page.parameters)
        longest = max((pin.write(value) for value in pin.ends()), key=len)
        assert len(longest) < pin.limit / 2
        assert pin.read(longest)[1] is None


def test_a_part_that_comes_twice_is_told_and_the_last_one_holds():
    value, problem = PIN.read("dk-5~tau-2~dk-9")
    assert (value["dk"], value["tau"]) == (9, 2.0)
    assert reasons(problem) == [("dk", "given_twice")]
    assert problem.parts[0].given == "9"
    assert PIN.read("s-a~~dk-5~dk-9")[1] is None  # a doubled separator is part of the text
