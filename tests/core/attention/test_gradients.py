import pytest
import torch

from core.attention import gradients
from core.attention.dot_product import attention, attention_backward
from core.attention.masks import causal

NAMES = ("d_v", "d_weights", "d_scores", "d_q", "d_k")


def qkv(t=5, seed=0):
    gen = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(t, d, generator=gen, dtype=torch.float64) for d in (4, 4, 3))


@pytest.mark.parametrize("mask", [None, causal(5)], ids=["no mask", "causal"])
def test_autograd_agrees_with_pytorchs_own_attention(mask):
    q, k, v = qkv()
    grad = torch.randn(5, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ours = gradients.autograd_gradients(q, k, v, grad, mask, scale=0.3)
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    out = torch.nn.functional.scaled_dot_product_attention(*leaves, attn_mask=mask, scale=0.3)
    for found, expected in zip(
        (ours.d_q, ours.d_k, ours.d_v), torch.autograd.grad(out, leaves, grad), strict=True
    ):
        torch.testing.assert_close(found, expected)


def test_every_loss_has_the_gradient_that_finite_differences_find():
    _, _, v = qkv()
    output = torch.randn(5, 3, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    target = gradients.value_before(v)
    losses = [
        (lambda o: o.sum(), gradients.grad_of_sum(output)),
        (lambda o: o[2, 1], gradients.grad_of_one(output, 2, 1)),
        (lambda o: ((o - target) ** 2).sum() / 2, gradients.grad_of_squared_error(output, target)),
    ]
    for loss, expected in losses:
        for i in range(5):
            for j in range(3):
                step = torch.zeros_like(output)
                step[i, j] = 1e-5
                slope = (loss(output + step) - loss(output - step)) / 2e-5
                assert slope.item() == pytest.approx(expected[i, j].item(), abs=1e-8)


def test_the_target_is_the_value_before():
    v = torch.arange(8.0).view(4, 2)
    assert gradients.value_before(v).tolist() == [[0, 1], [0, 1], [2, 3], [4, 5]]
    assert gradients.value_before(v[:1]).tolist() == [[0, 1]]


def test_the_same_seed_gives_the_same_random_gradient():
    output = torch.zeros(3, 2, dtype=torch.float64)
    first, again, other = (
        gradients.grad_at_random(output, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_the_misprint_gives_nothing_where_there_is_a_gradient():
    q, k, v = qkv()
    grad = torch.randn(5, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    trace = attention(q, k, v, causal(5))
    right = attention_backward(trace, q, k, v, grad)
    wrong = gradients.misprinted_d_scores(trace, right.d_weights)
    assert wrong.abs().max() < 1e-14
    assert right.d_scores.abs().max() > 0.05


def test_a_row_with_nothing_to_look_at_gets_zeros_from_both():
    q, k, v = qkv()
    mask = causal(5).clone()
    mask[2] = False
    grad = gradients.grad_of_sum(v)
    auto = gradients.autograd_gradients(q, k, v, grad, mask)
    ours = attention_backward(attention(q, k, v, mask), q, k, v, grad)
    for name in NAMES:
        torch.testing.assert_close(getattr(ours, name), getattr(auto, name))
    assert not auto.d_scores[2].any()
    assert not auto.d_q[2].any()
