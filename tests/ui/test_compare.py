"""What differs between two states, and the difference of two matrices on their common scale."""

from dataclasses import replace

import numpy as np
import pytest

from ui.compare import difference, differing, largest_change, obstacle, on_one_scale
from ui.matrix import WORDS, Matrix, encode
from ui.parameters import Real, Text, Whole

A = Matrix("m", "M", np.array([[0.5, 0.25], [0.0, 1.0]]), ("a", "b"), ("c", "d"), "weight", (0.0, 1.0))
B = replace(A, values=np.array([[0.25, 0.25], [0.75, 0.5]]), limits=(0.0, 2.0))


def test_a_and_b_share_their_colours():
    a, b = on_one_scale(A, B)
    assert a.limits == b.limits == (0.0, 2.0)


def test_difference_by_hand():
    delta = difference(*on_one_scale(A, B), title="B − A", hidden_as="none")
    assert delta.values.tolist() == [[-0.25, 0.0], [0.75, -0.5]]
    assert (delta.fill, delta.limits) == ("signed", (-1.0, 1.0))
    assert largest_change(delta) == (1, 0, 0.75)
    assert largest_change(difference(A, A, title="", hidden_as="")) is None


@pytest.mark.parametrize(
    ("change", "reach"),
    [(0.75, 1.0), (0.5, 0.5), (0.3, 0.5), (0.012, 0.02), (0.0, 2.0), (1.9, 2.0)],
)
def test_the_colours_of_a_difference_end_just_beyond_it(change, reach):
    a, b = on_one_scale(A, B)
    b = replace(b, values=a.values + np.array([[0.0, 0.0], [0.0, change]]))
    a, b = replace(a, values=np.zeros((2, 2))), replace(b, values=b.values - a.values)
    assert difference(a, b, title="", hidden_as="").limits == pytest.approx((-reach, reach))


def test_a_cell_hidden_in_either_has_no_difference():
    infinite = np.array([[0.5, -np.inf], [-np.inf, 1.0]])
    a = replace(A, values=infinite, hidden=np.array([[False, True], [True, False]]))
    b = replace(B, values=[[0.25, -np.inf], [0.75, 0.5]], hidden=np.array([[False, True], [False, False]]))
    delta = difference(a, b, title="", hidden_as="no difference")
    assert delta.hidden.tolist() == [[False, True], [True, False]]
    assert np.isfinite(delta.values).all()
    assert delta.values[~delta.hidden].tolist() == [-0.25, -0.5]
    assert largest_change(delta) == (1, 1, -0.5)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (replace(A, values=np.zeros((2, 3)), columns=("c", "d", "e")), "shape"),
        (replace(A, rows=("a", "x")), "labels"),
        (replace(A, columns=("c", "x")), "labels"),
        (replace(A, values=np.zeros((2, 2))), ""),
    ],
)
def test_what_stands_in_the_way(other, why):
    assert obstacle(A, other) == why
    if why:
        with pytest.raises(ValueError, match=why):
            difference(A, other, title="", hidden_as="")


def test_settings_are_compared_as_the_reader_means_them():
    parameters = (Text("s", "x"), Whole("dk", 1, 64, 8), Real("tau", 0.1, 4, 1, step=0.1))
    a = {"s": "the  cat ", "dk": 8, "tau": 0.3}
    b = {"s": "the cat", "dk": 9, "tau": 0.1 + 0.2}
    assert [(d.parameter.name, d.a, d.b) for d in differing(parameters, a, b)] == [("dk", 8, 9)]


def test_the_browser_is_told_what_a_hidden_cell_means_and_who_is_large():
    words = dict.fromkeys(WORDS, "")
    row = (replace(A, large=True, hidden_as="no difference"),)
    sent = encode((row,), "m", None, words | {"query": "", "key": ""}, "").decode("utf-8", "replace")
    assert '"large":true' in sent
    assert '"hiddenAs":"no difference"' in sent
