"""The toy layers: the same for a seed, cut from one draw, with the variance that keeps a layer's numbers in range."""

import pytest
import torch

from core.attention.toy_heads import toy_heads
from core.block.feed_forward import feed_forward
from core.block.toy_feed_forward import (
    toy_batch,
    toy_experts,
    toy_feed_forward,
    toy_swiglu,
    toy_tokens,
    without_activation,
)


def test_tokens_are_those_of_the_multi_head_page_and_equal_words_are_equal():
    words = ("the", "cat", "saw", "the")
    x = toy_tokens(words, 7, 16)
    assert torch.equal(x, toy_heads(words, 7, 16, 1)[0])
    assert torch.equal(x[0], x[3])
    assert not torch.equal(x, toy_tokens(words, 8, 16))


def test_other_widths_cut_the_same_draw():
    small, large = toy_feed_forward(3, 4, 8), toy_feed_forward(3, 8, 32)
    torch.testing.assert_close(small.w1 * 4**0.5, large.w1[:4, :8] * 8**0.5)
    torch.testing.assert_close(small.w2 * 8**0.5, large.w2[:8, :4] * 32**0.5)
    assert torch.equal(small.b1, large.b1[:8])
    assert torch.equal(toy_swiglu(3, 4, 8)[0], small.w1)
    assert torch.equal(toy_swiglu(3, 4, 8)[2], small.w2)


def test_more_experts_leave_the_others_as_they_are():
    few, many = toy_experts(5, 8, 2, 10), toy_experts(5, 8, 16, 10)
    for name in ("w1", "w3", "w2"):
        assert torch.equal(getattr(few, name), getattr(many, name)[:2])
    assert torch.equal(few.router, many.router[:, :2])
    assert not torch.equal(many.w1[0], many.w1[1])
    assert many.shared[2].shape == (10, 8)


def test_variances_are_those_announced():
    ffn, x = toy_feed_forward(1, 16, 64), toy_batch(1, 4096, 16)
    assert x.var().item() == pytest.approx(1, rel=0.03)
    assert ffn.w1.var().item() * 16 == pytest.approx(1, rel=0.1)
    assert ffn.w2.var().item() * 64 == pytest.approx(1, rel=0.1)
    assert ffn.b1.var().item() == pytest.approx(1 / 4, rel=0.5)


def test_without_activation_the_layer_is_one_linear_layer_of_pytorch():
    ffn, x = toy_feed_forward(2, 4, 16), toy_tokens(("a", "b", "c"), 2, 4)
    trace = feed_forward(x, ffn.w1, ffn.b1, ffn.w2, ffn.b2)
    one = torch.nn.Linear(4, 4, dtype=torch.float64)
    with torch.no_grad():
        one.weight.copy_((ffn.w1 @ ffn.w2).T)
        one.bias.copy_(ffn.b1 @ ffn.w2 + ffn.b2)
        torch.testing.assert_close(without_activation(trace, ffn.w2, ffn.b2), one(x))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: toy_tokens((), 1, 4),
        lambda: toy_tokens(("a",), 1, 17),
        lambda: toy_feed_forward(1, 0, 4),
        lambda: toy_feed_forward(1, 4, 65),
        lambda: toy_experts(1, 4, 17, 8),
        lambda: toy_experts(1, 4, 4, 0),
    ],
)
def test_what_was_not_drawn_is_refused(ask):
    with pytest.raises(ValueError, match=r"must lie in|at least one"):
        ask()
