"""Statistics of one map, against values written out by hand."""

import math

import pytest
import torch

from core.attention.dot_product import attention
from core.attention.masks import causal
from core.attention.statistics import describe


def one_map(scores, mask):
    """Attention whose scores are the given ones: q = scores, k = identity, scale 1."""
    q = torch.tensor(scores, dtype=torch.float64)
    k = torch.eye(q.shape[1], dtype=torch.float64)
    return attention(q, k, k, mask, scale=1.0)


def test_the_worked_example():
    scores = [[0.9, 0.3, 0.1, 0.05], [0.4, 0.8, 0.2, 0.1], [0.2, 0.3, 0.7, 0.25], [0.15, 0.2, 0.3, 0.85]]
    s = describe(one_map(scores, causal(4)), causal(4))
    # The rows of the causal example: [1], [.4013 .5987], [.2664 .2944 .4392], [.1913 .2011 .2223 .3853].
    rows = [[1.0], [0.4013, 0.5987], [0.2664, 0.2944, 0.4392], [0.1913, 0.2011, 0.2223, 0.3853]]
    entropies = [-sum(a * math.log(a) for a in row) for row in rows]
    assert s.mean_entropy == pytest.approx(sum(entropies) / 4, abs=1e-4)
    assert s.mean_effective == pytest.approx(sum(map(math.exp, entropies)) / 4, abs=1e-3)
    assert s.mean_largest_entropy == pytest.approx(sum(map(math.log, [1, 2, 3, 4])) / 4)
    assert s.mean_visible == 2.5
    assert s.kept_pairs == 10
    assert s.empty_rows == 0
    # Row 1 has no choice, so the largest weight is looked for below it.
    assert s.largest_at == (1, 1)
    assert s.largest == pytest.approx(0.5987, abs=1e-4)


def test_rows_without_keys_are_left_out():
    mask = torch.tensor([[True, True], [False, False]])
    s = describe(one_map([[0.0, 0.0], [5.0, 1.0]], mask), mask)
    assert (s.empty_rows, s.mean_visible) == (1, 2.0)
    assert s.mean_entropy == pytest.approx(math.log(2))


def test_nothing_visible_at_all_is_still_finite():
    mask = torch.zeros(2, 2, dtype=torch.bool)
    s = describe(one_map([[1.0, 2.0], [3.0, 4.0]], mask), mask)
    assert (s.largest, s.mean_entropy, s.mean_visible, s.empty_rows) == (0.0, 0.0, 0.0, 2)


def test_single_keys_everywhere_leave_weight_one():
    mask = torch.eye(3, dtype=torch.bool)
    s = describe(one_map([[1.0, 2.0, 3.0]] * 3, mask), mask)
    assert s.largest == 1.0
