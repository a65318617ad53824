"""A drawn mask as a compact code: every grid comes back, whatever the link says something usable comes out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ui.parameters import Grid

SMALL, LARGE = Grid("own", 4), Grid("own", 24)


@given(hnp.arrays(bool, (24, 24)))
def test_every_grid_survives_the_link(cells):
    code = LARGE.code(cells)
    assert len(code) <= 97
    assert LARGE.read(LARGE.write(code)) == (code, None)
    np.testing.assert_array_equal(LARGE.cells(code), cells)


def test_by_hand():
    # The diagonal of 4 × 4: 100001 000010 000100 (+ the two bits that fill up a letter) are letters 33, 2, 4.
    assert SMALL.code(np.eye(4)) == "mhCE"
    assert SMALL.code(np.zeros((4, 4))) == "m"
    np.testing.assert_array_equal(SMALL.cells("mg"), np.eye(4) * [[1], [0], [0], [0]])


@pytest.mark.parametrize("text", ["", "‽", "hCE", "m" + "A" * 97, "m==", "m hCE", "m\n", "mé"])
def test_what_is_no_grid_is_told(text):
    value, problem = LARGE.read(text)
    assert value is None
    assert (problem.reason, problem.given, problem.used) == ("unreadable_grid", text, "none")


@given(st.text(alphabet="ABCxyz019_-", max_size=120))
def test_what_is_read_can_be_written(text):
    value, _ = LARGE.read("m" + text)
    assert LARGE.read(LARGE.write(value)) == (value, None)


def test_nothing_drawn():
    assert LARGE.read("none") == (None, None)
    assert LARGE.write(None) == "none"
