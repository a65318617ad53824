"""The cache answers as the function does, once for each set of arguments, and quickly."""

import numpy as np
import pytest
from streamlit import type_util

from ui.cached import cached

calls: list[tuple] = []


@cached(max_entries=8)
def weighted(a: float, b: float, _unseen: object = None, *, c: float = 1.0) -> np.ndarray:
    calls.append((a, b, c))
    return np.array([a, b, c])


@cached(max_entries=8, shared=True)
def shared_list(a: int, b: int) -> list[int]:
    return [a, b]


@pytest.fixture(autouse=True)
def empty():
    calls.clear()
    weighted.clear()
    shared_list.clear()


def test_it_is_computed_once_however_the_arguments_are_given():
    given = [weighted(1.0, 2.0), weighted(1.0, b=2.0), weighted(a=1.0, b=2.0)]
    assert [list(x) for x in given] == [[1, 2, 1]] * 3
    assert calls == [(1, 2, 1)]
    assert list(weighted(2.0, 1.0, c=3.0)) == [2, 1, 3]
    assert calls[1:] == [(2, 1, 3)]


def test_an_argument_with_an_underscore_is_passed_on_and_makes_no_difference():
    weighted(1.0, 2.0, object())
    weighted(1.0, 2.0, object())
    assert len(calls) == 1


def test_a_copy_may_be_changed_and_a_shared_value_is_the_same_for_all():
    weighted(1.0, 2.0)[0] = 9
    assert weighted(1.0, 2.0)[0] == 1
    assert shared_list(1, 2) is shared_list(1, b=2)


def test_it_can_be_emptied_and_looked_behind():
    weighted(1.0, 2.0)
    weighted.clear()
    weighted(1.0, 2.0)
    assert len(calls) == 2
    assert list(weighted.__wrapped__(5.0, 6.0)) == [5, 6, 1]
    assert weighted.__name__ == "weighted"


@pytest.mark.parametrize("args", [(1.0,), (1.0, 2.0, None, 3.0, 4.0)])
def test_a_wrong_number_of_arguments_is_an_error(args):
    with pytest.raises(TypeError, match="argument"):
        weighted(*args)


def test_no_signature_is_read_in_a_call(monkeypatch):
    weighted(1.0, 2.0)
    monkeypatch.setattr(type_util, "get_func_parameters", lambda f: pytest.fail("it was read"))
    weighted(1.0, 2.0)
