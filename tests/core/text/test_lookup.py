"""The embedding table against PyTorch's own layers."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cosine_similarity
from torch.testing import assert_close

from core.text.lookup import cosines, lookup, neighbours, seeded_table, tied_logits


@given(st.lists(st.integers(0, 8), min_size=1, max_size=12), st.integers(1, 16), st.booleans())
def test_the_product_picks_the_rows_that_pytorch_picks(ids, d, scaled):
    table = seeded_table(3, 9, d)
    trace = lookup(torch.tensor(ids), table, scaled)
    theirs = nn.Embedding.from_pretrained(table)(torch.tensor(ids))
    assert_close(trace.rows, theirs, rtol=0, atol=0)
    assert_close(trace.output, theirs * (math.sqrt(d) if scaled else 1))
    assert trace.one_hot.sum(-1).tolist() == [1.0] * len(ids)


def test_only_rows_that_were_read_get_a_gradient_from_the_look_up():
    table = seeded_table(1, 6, 4).requires_grad_()
    lookup(torch.tensor([1, 4, 1]), table).output.sum().backward()
    assert table.grad.abs().sum(-1).tolist() == [0, 8, 0, 0, 4, 0], (
        "a row that was read twice gets twice the gradient"
    )


def test_a_tied_output_is_a_linear_layer_with_the_same_weight():
    table = seeded_table(2, 7, 5)
    layer = nn.Linear(5, 7, bias=False, dtype=torch.float64)
    layer.weight.data = table
    hidden = torch.randn(3, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert_close(tied_logits(hidden, table), layer(hidden))


def test_another_width_changes_only_the_size_of_the_entries():
    wide, narrow = seeded_table(5, 4, 16), seeded_table(5, 4, 4)
    assert_close(narrow * math.sqrt(4), wide[:, :4] * math.sqrt(16))
    assert seeded_table(0, 4000, 16).std().item() == pytest.approx(1 / 4, rel=0.02)


def test_cosines_are_pytorchs_and_neighbours_are_sorted():
    table = seeded_table(9, 12, 6)
    theirs = cosine_similarity(table[:, None], table[None], dim=-1)
    assert_close(cosines(table), theirs)
    for row in range(12):
        near = neighbours(table, row, 5)
        expected = sorted((i for i in range(12) if i != row), key=lambda i: -theirs[row, i])[:5]
        assert near.ids.tolist() == expected
        assert_close(near.cosines, theirs[row][near.ids])
    assert len(neighbours(table, 0, 99).ids) == 11


def test_a_row_of_zeros_is_like_nothing():
    assert cosines(torch.zeros(2, 3)).tolist() == [[0, 0], [0, 0]]
