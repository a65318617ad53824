import math
from dataclasses import FrozenInstanceError

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention.dot_product import (
    attention,
    attention_backward,
    masked_softmax,
    softmax_jacobian,
)

SHAPES = [  # leading dimensions, T_q, T_k, d_k, d_v
    ((), 4, 4, 8, 8),
    ((), 3, 7, 2, 5),
    ((), 1, 1, 1, 1),
    ((2,), 6, 2, 3, 4),
    ((2, 3), 5, 4, 8, 1),
    ((2, 1, 3), 2, 3, 4, 4),
]
seeds = st.integers(0, 10_000)
modest = settings(max_examples=40, deadline=None)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random(*shape, seed=0, gen=None, grad=False):
    return torch.randn(shape, generator=gen or generator(seed), dtype=torch.float64, requires_grad=grad)


def qkv(lead, t_q, t_k, d_k, d_v, seed=0, grad=False):
    gen = generator(seed)
    return tuple(random(*lead, *s, gen=gen, grad=grad) for s in ((t_q, d_k), (t_k, d_k), (t_k, d_v)))


def some_mask(lead, t_q, t_k, seed=1):
    return torch.rand(*lead, t_q, t_k, generator=generator(seed)) > 0.4


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


# Published and hand-written numbers


def test_softmax_of_the_worked_numbers():
    scores = torch.tensor([5.0, 3.0, 2.0])
    close(masked_softmax(scores), torch.tensor([0.8438, 0.1142, 0.0420]), atol=5e-5)
    close(masked_softmax(scores / 8), torch.tensor([0.4055, 0.3158, 0.2787]), atol=5e-5)


def test_worked_four_token_example_under_a_causal_mask():
    scores = torch.tensor(
        [[0.9, 0.3, 0.1, 0.05], [0.4, 0.8, 0.2, 0.1], [0.2, 0.3, 0.7, 0.25], [0.15, 0.2, 0.3, 0.85]]
    )
    expected = torch.tensor(
        [[1, 0, 0, 0], [0.4013, 0.5987, 0, 0], [0.2664, 0.2944, 0.4392, 0], [0.1913, 0.2011, 0.2223, 0.3853]]
    )
    close(masked_softmax(scores, torch.ones(4, 4).tril().bool()), expected, atol=5e-5)


def test_a_case_small_enough_to_do_by_hand():
    # scores 2·ln 3 and 0, scale 1/2: weights 3/4 and 1/4; output 3/4·8 + 1/4·4 = 7.
    q, k = torch.tensor([[1.0, 0, 0, 0]]), torch.tensor([[2 * math.log(3), 5, 5, 5], [0.0, 1, 2, 3]])
    trace = attention(q, k, torch.tensor([[8.0], [4.0]]))
    assert trace.scale == 0.5
    close(trace.scores, torch.tensor([[2 * math.log(3), 0.0]]), atol=1e-6)
    close(trace.scaled, torch.tensor([[math.log(3), 0.0]]), atol=1e-6)
    close(trace.weights, torch.tensor([[0.75, 0.25]]), atol=1e-6)
    close(trace.output, torch.tensor([[7.0]]), atol=1e-5)


# Against PyTorch


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("masked", [False, True])
def test_output_is_that_of_pytorch(shape, masked):
    lead, t_q, t_k, *_ = shape
    q, k, v = qkv(*shape)
    mask = some_mask(lead, t_q, t_k) if masked else None
    close(attention(q, k, v, mask).output, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))


@pytest.mark.parametrize("scale", [0.0, 0.03, 1.0, 7.5])
def test_scale_is_that_of_pytorch(scale):
    q, k, v = qkv((2,), 4, 5, 8, 3)
    expected = F.scaled_dot_product_attention(q, k, v, scale=scale)
    close(attention(q, k, v, scale=scale).output, expected)


def test_bias_comes_after_scaling_and_before_the_mask():
    q, k, v = qkv((2,), 4, 5, 8, 3)
    bias, mask = random(4, 5, seed=3), some_mask((), 4, 5)
    as_pytorch_takes_it = bias.masked_fill(~mask, -torch.inf)
    trace = attention(q, k, v, mask, bias=bias)
    close(trace.output, F.scaled_dot_product_attention(q, k, v, attn_mask=as_pytorch_takes_it))
    close(trace.biased, q @ k.transpose(-2, -1) / math.sqrt(8) + bias)
    assert torch.equal(trace.masked == -torch.inf, (~mask).expand(2, 4, 5))


def test_a_causal_mask_of_minus_infinity_given_as_bias():
    q, k, v = qkv((), 6, 6, 4, 4)
    bias = torch.full((6, 6), -torch.inf, dtype=torch.float64).triu(1)
    close(attention(q, k, v, bias=bias).output, F.scaled_dot_product_attention(q, k, v, is_causal=True))


def test_one_key_and_value_for_many_heads():
    q, k, v = random(2, 3, 4, 8), random(2, 1, 5, 8, seed=1), random(2, 1, 5, 8, seed=2)
    expected = F.scaled_dot_product_attention(q, k.expand(2, 3, 5, 8), v.expand(2, 3, 5, 8))
    close(attention(q, k, v).output, expected)


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 4, 5)])
def test_softmax_is_that_of_pytorch(shape):
    scores = random(*shape) * 10
    close(masked_softmax(scores), torch.softmax(scores, -1))
    mask = torch.rand(shape, generator=generator(1)) > 0.4
    mask[..., 0] = True
    close(masked_softmax(scores, mask), torch.softmax(scores.masked_fill(~mask, -torch.inf), -1))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_softmax_survives_the_extremes_of_its_type(dtype):
    top = torch.finfo(dtype).max
    scores = torch.tensor(
        [[top, 0, -top], [top, top, 0], [-top, -top, -top], [-torch.inf, 0, 1]], dtype=dtype
    )
    expected = torch.softmax(scores.double(), -1)
    close(masked_softmax(scores).double(), expected, atol=3e-3)


# The fully masked row


def test_nothing_to_attend_to_gives_zeros_where_plain_softmax_gives_nan():
    scores = random(3, 4)
    mask = torch.tensor([[True] * 4, [False] * 4, [False, True, False, False]])
    assert torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)[1].isnan().all()
    weights = masked_softmax(scores, mask)
    assert torch.equal(weights[1], torch.zeros(4, dtype=torch.float64))
    assert torch.equal(weights[2], torch.tensor([0.0, 1, 0, 0], dtype=torch.float64))
    assert torch.equal(masked_softmax(torch.full((2, 3), -torch.inf)), torch.zeros(2, 3))


def test_gradients_through_a_fully_masked_row_are_zeros():
    q, k, v = qkv((2,), 3, 4, 5, 6, grad=True)
    mask = some_mask((2,), 3, 4)
    mask[:, 1] = False
    trace = attention(q, k, v, mask)
    close(trace.output, F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    grads = torch.autograd.grad(trace.output.square().sum(), (q, k, v))
    assert all(g.isfinite().all() for g in grads)
    assert torch.equal(grads[0][:, 1], torch.zeros(2, 5, dtype=torch.float64))


def test_gradients_when_every_row_is_masked():
    q, k, v = qkv((), 3, 4, 5, 6, grad=True)
    trace = attention(q, k, v, torch.zeros(3, 4, dtype=torch.bool))
    for grad in torch.autograd.grad(trace.output.sum(), (q, k, v)):
        assert torch.equal(grad, torch.zeros_like(grad))


def test_a_mask_of_numbers_is_refused():
    q, k, v = qkv((), 3, 3, 2, 2)
    for wrong in (torch.ones(3, 3), torch.ones(3, 3, dtype=torch.int64)):
        with pytest.raises((TypeError, RuntimeError)):
            attention(q, k, v, wrong)


# Backward


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("masked", [False, True])
def test_backward_is_autograd(shape, masked):
    lead, t_q, t_k, _, d_v = shape
    q, k, v = qkv(*shape, grad=True)
    mask = some_mask(lead, t_q, t_k) if masked else None
    trace = attention(q, k, v, mask, scale=0.7)
    grad_output = random(*lead, t_q, d_v, seed=9)
    ours = attention_backward(trace, q, k, v, grad_output)
    expected = torch.autograd.grad(trace.output, (v, trace.weights, trace.scaled, q, k), grad_output)
    for name, value in zip(("d_v", "d_weights", "d_scores", "d_q", "d_k"), expected, strict=True):
        close(getattr(ours, name), value)


def test_backward_is_that_of_pytorchs_own_attention():
    q, k, v = qkv((2, 3), 4, 5, 6, 7, grad=True)
    mask, grad_output = some_mask((), 4, 5), random(2, 3, 4, 7, seed=9)
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    expected = torch.autograd.grad(theirs, (q, k, v), grad_output)
    ours = attention_backward(attention(q, k, v, mask), q, k, v, grad_output)
    for value, wanted in zip((ours.d_q, ours.d_k, ours.d_v), expected, strict=True):
        close(value, wanted)


def test_backward_with_dropout_bias_and_a_shared_key():
    q, k, v = (
        random(2, 3, 4, 8, grad=True),
        random(1, 5, 8, seed=1, grad=True),
        random(5, 6, seed=2, grad=True),
    )
    trace = attention(q, k, v, bias=random(4, 5, seed=3), dropout_p=0.4, generator=generator())
    grad_output = random(2, 3, 4, 6, seed=9)
    ours = attention_backward(trace, q, k, v, grad_output)
    expected = torch.autograd.grad(trace.output, (v, trace.weights, trace.scaled, q, k), grad_output)
    for name, value in zip(("d_v", "d_weights", "d_scores", "d_q", "d_k"), expected, strict=True):
        assert getattr(ours, name).shape == value.shape
        close(getattr(ours, name), value)


def test_gradients_by_finite_differences():
    q, k, v = qkv((2,), 3, 4, 2, 2, grad=True)
    mask = some_mask((2,), 3, 4)
    mask[0, 0] = False
    assert torch.autograd.gradcheck(lambda *x: attention(*x, mask).output, (q, k, v))


def test_softmax_jacobian_is_autograds_and_that_of_two_equal_keys():
    scores = random(5)
    expected = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores)
    close(softmax_jacobian(torch.softmax(scores, -1)), expected)
    close(softmax_jacobian(torch.tensor([0.5, 0.5])), torch.tensor([[0.25, -0.25], [-0.25, 0.25]]))
    rows = torch.softmax(random(2, 3, 4), -1)
    close(softmax_jacobian(rows)[1, 2], softmax_jacobian(rows[1, 2]))


# Dropout


def test_dropout_keeps_the_mean_and_shows_both_sides():
    q, k, v = qkv((), 200, 100, 4, 4)
    plain = attention(q, k, v)
    trace = attention(q, k, v, dropout_p=0.25, generator=generator(1))
    close(trace.weights_before_dropout, plain.weights)
    assert set(trace.dropout.unique().tolist()) == {0.0, 1 / 0.75}
    assert abs((trace.dropout == 0).double().mean().item() - 0.25) < 0.015  # five deviations of 20 000 draws
    close(trace.weights, plain.weights * trace.dropout)
    close(trace.output, trace.weights @ v)


def test_dropout_repeats_with_its_seed_and_leaves_the_global_state_alone():
    q, k, v = qkv((), 8, 8, 4, 4)
    before = torch.get_rng_state()
    first, again, other = (
        attention(q, k, v, dropout_p=0.5, generator=generator(s)).weights for s in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_dropout_of_a_row_with_hidden_keys_has_no_nan():
    q, k, v = qkv((), 4, 4, 2, 2)
    mask = torch.ones(4, 4).tril(-1).bool()  # the first query sees nothing
    trace = attention(q, k, v, mask, dropout_p=0.5, generator=generator())
    assert trace.output.isfinite().all()
    assert torch.equal(trace.output[0], torch.zeros(2, dtype=torch.float64))


@pytest.mark.parametrize("p", [-0.1, 1.0, 1.5, math.nan])
def test_dropout_outside_its_range_is_refused(p):
    with pytest.raises(ValueError, match="dropout_p"):
        attention(*qkv((), 2, 2, 2, 2), dropout_p=p, generator=generator())


def test_dropout_without_a_generator_is_refused():
    with pytest.raises(ValueError, match="generator"):
        attention(*qkv((), 2, 2, 2, 2), dropout_p=0.5)


# Traces and inputs


def test_the_trace_is_frozen_and_the_inputs_are_untouched():
    q, k, v = qkv((), 3, 3, 2, 2)
    mask = torch.ones(3, 3).tril().bool()
    copies = [x.clone() for x in (q, k, v, mask)]
    trace = attention(q, k, v, mask)
    assert all(torch.equal(x, c) for x, c in zip((q, k, v, mask), copies, strict=True))
    with pytest.raises(FrozenInstanceError):
        trace.scale = 1.0


# Properties


@modest
@given(seeds, st.integers(1, 6), st.integers(1, 7), st.floats(0, 200))
def test_rows_sum_to_one_and_hidden_keys_weigh_nothing(seed, t_q, t_k, size):
    mask = some_mask((), t_q, t_k, seed)
    weights = masked_softmax(random(t_q, t_k, seed=seed) * size, mask)
    close(weights.sum(-1), mask.any(-1).double())
    assert torch.equal(weights[~mask], torch.zeros(int((~mask).sum()), dtype=torch.float64))
    assert weights.min() >= 0


@modest
@given(seeds, st.floats(-1000, 1000))
def test_softmax_does_not_notice_a_shift(seed, shift):
    scores, mask = random(3, 5, seed=seed), some_mask((), 3, 5, seed)
    close(masked_softmax(scores + shift, mask), masked_softmax(scores, mask), atol=1e-11)


@modest
@given(seeds, st.permutations(range(5)))
def test_permuting_the_tokens_permutes_the_output(seed, order):
    q, k, v = qkv((2,), 5, 5, 4, 3, seed=seed)
    plain, moved = attention(q, k, v), attention(q[:, order], k[:, order], v[:, order])
    close(moved.output, plain.output[:, order])
    close(moved.weights, plain.weights[:, order][:, :, order])


@modest
@given(seeds)
def test_a_hidden_key_and_value_change_nothing(seed):
    q, k, v = qkv((), 3, 4, 2, 2, seed=seed)
    mask = torch.tensor([True, True, False, True])
    seen = attention(q, k[mask], v[mask]).output
    close(attention(q, k, v, mask).output, seen)
