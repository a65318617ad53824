"""Counts of hidden numbers by hand, extremes of activations against PyTorch's own functions and a bisection."""

import pytest
import torch
from torch.nn import functional

from core.block.feed_forward import FeedForwardTrace
from core.block.feed_forward_statistics import describe_activation, describe_hidden, largest_gap

THEIRS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda z: functional.gelu(z, approximate="tanh"),
    "silu": functional.silu,
}


def test_counts_by_hand():
    before = torch.tensor([[-1.0, 2, 0], [-3, -4, 5]])
    found = describe_hidden(FeedForwardTrace(before, before.relu(), before))
    assert (found.count, found.negative, found.zeros, found.silent, found.smallest) == (6, 3, 4, 1, 0.0)


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh", "silu"])
def test_the_lowest_point_is_where_autograd_finds_no_slope(name):
    shape = describe_activation(name)
    z = torch.tensor(shape.lowest.at, dtype=torch.float64, requires_grad=True)
    value = THEIRS[name](z)
    assert abs(torch.autograd.grad(value, z)[0].item()) < 1e-3
    assert value.item() == pytest.approx(shape.lowest.value, abs=1e-12)
    assert shape.lowest.value < -0.1


def test_the_steepest_point_of_gelu_is_at_the_root_of_two():
    shape = describe_activation("gelu")  # Φ + xφ has the derivative (2 − x²) φ
    assert shape.steepest.at == pytest.approx(2**0.5, abs=1e-3)
    assert shape.flattest.at == pytest.approx(-(2**0.5), abs=1e-3)
    assert shape.steepest.value == pytest.approx(1.12890, abs=1e-5)
    assert shape.flattest.value == pytest.approx(-0.12890, abs=1e-5)


def test_relu_is_never_below_0_and_its_slope_0_or_1():
    shape = describe_activation("relu")
    assert (shape.lowest.value, shape.steepest.value, shape.flattest.value) == (0.0, 1.0, 0.0)


def test_the_two_gelus_differ_as_pytorchs_do():
    gap = largest_gap()
    z = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    theirs = (functional.gelu(z) - functional.gelu(z, approximate="tanh")).abs().max().item()
    assert gap.value == pytest.approx(theirs, rel=1e-4)
    assert 4e-4 < gap.value < 5e-4
