"""Attention that knows its places, against PyTorch's own attention on inputs made by hand."""

import pytest
import torch
import torch.nn.functional as F

from core.attention.masks import causal
from core.block.position_schemes import attend_at, place_test, untrained_table

T, D, START = 5, 8, 40


def inputs():
    gen = torch.Generator().manual_seed(3)
    x = torch.randn(T, D, generator=gen, dtype=torch.float64)
    weights = torch.randn(3, D, D, generator=gen, dtype=torch.float64) / D**0.5
    table = torch.randn(64, D, generator=gen, dtype=torch.float64)
    return x, weights, table


def by_hand(scheme, x, w, table):
    """q, k and bias of each scheme, written out with complex numbers and distances by cdist."""
    places = torch.arange(START, START + T, dtype=torch.float64)
    omega = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    turn = torch.polar(torch.ones(T, D // 2, dtype=torch.float64), places[:, None] * omega)
    if scheme == "sinusoidal":
        x = x + torch.stack([turn.imag, turn.real], -1).flatten(-2)
    if scheme == "learned":
        x = x + table[START : START + T]
    q, k, v = (x @ m for m in w)
    if scheme == "rope":
        half = D // 2
        turned = [torch.complex(y[:, :half], y[:, half:]) * turn for y in (q, k)]
        q, k = (torch.cat([y.real, y.imag], -1) for y in turned)
    bias = None
    if scheme == "alibi":
        bias = -torch.cdist(places[:, None], places[:, None], p=1) / 8  # head 2 of eight: 2^(−3)
    return q, k, v, bias


@pytest.mark.parametrize("scheme", ["none", "sinusoidal", "learned", "rope", "alibi"])
@pytest.mark.parametrize("masked", [False, True])
def test_each_scheme_is_the_attention_that_pytorch_computes(scheme, masked):
    x, w, table = inputs()
    mask = causal(T) if masked else None
    trace = attend_at(x, *w, scheme, START, mask, table, head=2)
    q, k, v, bias = by_hand(scheme, x, w, table)
    full = torch.zeros(T, T, dtype=torch.float64) if bias is None else bias
    full = full if mask is None else full.masked_fill(~mask, -torch.inf)
    torch.testing.assert_close(trace.attention.output, F.scaled_dot_product_attention(q, k, v, full))
    shown = (trace.q, trace.k) if trace.turned_q is None else (trace.turned_q, trace.turned_k)
    torch.testing.assert_close(shown, (q, k))


@pytest.mark.parametrize(
    ("scheme", "used"),
    [
        ("none", set()),
        ("sinusoidal", {"added"}),
        ("learned", {"added"}),
        ("rope", {"turned_q", "turned_k"}),
        ("alibi", {"bias"}),
    ],
)
def test_only_what_a_scheme_uses_is_there(scheme, used):
    x, w, table = inputs()
    trace = attend_at(x, *w, scheme, table=table)
    parts = ("added", "turned_q", "turned_k", "bias")
    assert {name for name in parts if getattr(trace, name) is not None} == used


def test_only_rope_and_alibi_do_not_care_where_the_text_starts():
    x, w, table = inputs()
    for scheme, cares in (
        ("none", False),
        ("sinusoidal", True),
        ("learned", True),
        ("rope", False),
        ("alibi", False),
    ):
        first, later = (
            attend_at(x, *w, scheme, start, table=table).attention.weights for start in (0, START)
        )
        assert bool((first - later).abs().max() > 1e-3) == cares, scheme


def test_the_table_ends_and_strange_schemes_are_refused():
    x, w, table = inputs()
    with pytest.raises(ValueError, match="64 positions, 65"):
        attend_at(x, *w, "learned", 60, table=table)
    with pytest.raises(ValueError, match="need their table"):
        attend_at(x, *w, "learned")
    with pytest.raises(ValueError, match="no position scheme"):
        attend_at(x, *w, "relative")


def test_an_untrained_row_is_as_long_as_a_sinusoidal_one():
    table = untrained_table(4000, 16, torch.Generator().manual_seed(0))
    assert table.square().sum(-1).mean() == pytest.approx(8, rel=0.03)  # sin² + cos² = 1 for each of 8 pairs
    assert table.dtype == torch.float64


@pytest.mark.parametrize("scheme", ["none", "sinusoidal", "learned", "rope", "alibi"])
def test_the_place_test_subtracts_what_pytorch_computes(scheme):
    x, w, table = inputs()
    test = place_test(x, *w, scheme, START, 3, causal(T), table, head=2)
    full = torch.zeros(T, T, dtype=torch.float64).masked_fill(~causal(T), -torch.inf)
    eye = torch.eye(T, dtype=torch.float64)
    q, k, _, bias = by_hand(scheme, x, w, table)
    with_places = F.scaled_dot_product_attention(q, k, eye, full if bias is None else full + bias)
    without = F.scaled_dot_product_attention(x @ w[0], x @ w[1], eye, full)
    torch.testing.assert_close(test.change, with_places - without)
    there = attend_at(x, *w, scheme, 3, causal(T), table, head=2).attention.weights
    torch.testing.assert_close(test.moved, there - with_places)
