"""The backward passes against autograd through PyTorch's own modules, and what they cannot contain."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from core.block.norm_gradients import (
    batch_norm_backward,
    layer_norm_backward,
    part_along,
    rms_norm_backward,
)
from core.block.normalization import batch_norm, layer_norm, rms_norm

DOUBLE = torch.float64
D = 5


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE) * 2 + 1


def close(a, b, tolerance=1e-12):
    torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)


PAIRS = {
    "layer": (nn.LayerNorm, layer_norm, layer_norm_backward),
    "rms": (nn.RMSNorm, rms_norm, rms_norm_backward),
    "batch": (nn.BatchNorm1d, batch_norm, batch_norm_backward),
}


@pytest.mark.parametrize("kind", PAIRS)
@pytest.mark.parametrize("eps", [1e-5, 0.5])
@pytest.mark.parametrize("affine", [False, True])
def test_the_gradients_are_those_of_autograd(kind, eps, affine):
    make, norm, backward = PAIRS[kind]
    module = make(D, eps=eps, dtype=DOUBLE).train()
    gamma, beta = random(D, seed=1), random(D, seed=2)
    with torch.no_grad():
        if affine:
            module.weight.copy_(gamma)
            if kind != "rms":
                module.bias.copy_(beta)
    x, grad = random(4, D).requires_grad_(), random(4, D, seed=3)
    wanted = (x, module.weight) if kind == "rms" else (x, module.weight, module.bias)
    theirs = torch.autograd.grad((module(x) * grad).sum(), wanted)
    used = gamma if affine else None
    with torch.no_grad():
        trace = norm(x, used, eps=eps)
        found = backward(trace, grad, used, eps)
    for ours, their in zip((found.d_x, found.d_gamma, found.d_beta), theirs, strict=False):
        close(ours, their)


def test_a_batch_of_sentences_is_one_batch_of_tokens():
    x, grad = random(2, 3, D), random(2, 3, D, seed=4)
    found = batch_norm_backward(batch_norm(x), grad)
    flat = batch_norm_backward(batch_norm(x.reshape(6, D)), grad.reshape(6, D))
    close(found.d_x.reshape(6, D), flat.d_x)
    close(found.d_gamma, flat.d_gamma)


@given(seed=st.integers(0, 1000))
def test_what_no_gradient_through_a_norm_contains(seed):
    x, grad = random(4, D, seed=seed), random(4, D, seed=seed + 1)
    by_layer = layer_norm_backward(layer_norm(x, eps=0.0), grad, eps=0.0).d_x
    close(by_layer.sum(-1), torch.zeros(4, dtype=DOUBLE), 1e-9)
    close((by_layer * x).sum(-1), torch.zeros(4, dtype=DOUBLE), 1e-9)
    by_rms = rms_norm_backward(rms_norm(x, eps=0.0), grad, eps=0.0).d_x
    close((by_rms * x).sum(-1), torch.zeros(4, dtype=DOUBLE), 1e-9)
    by_batch = batch_norm_backward(batch_norm(x, eps=0.0), grad, eps=0.0).d_x
    close(by_batch.sum(0), torch.zeros(D, dtype=DOUBLE), 1e-9)
    close((by_batch * x).sum(0), torch.zeros(D, dtype=DOUBLE), 1e-9)
    assert by_rms.sum(-1).abs().max() > 1e-3


def test_parts_by_hand():
    direction = torch.tensor([[3.0, 4.0], [1.0, 1.0], [0.0, 0.0]], dtype=DOUBLE)
    vectors = torch.tensor([[4.0, -3.0], [1.0, 2.0], [1.0, 2.0]], dtype=DOUBLE)
    close(part_along(vectors, direction), torch.tensor([0.0, 3 / 2**0.5, 0.0], dtype=DOUBLE))


@given(seed=st.integers(0, 1000), eps=st.sampled_from([1e-3, 0.1, 1.0]))
def test_of_the_part_along_the_token_eps_leaves_its_share(seed, eps):
    x, grad = random(4, D, seed=seed), random(4, D, seed=seed + 1)
    trace = layer_norm(x, eps=eps)
    arrived = grad / (trace.variance + eps).sqrt()
    left = part_along(layer_norm_backward(trace, grad, eps=eps).d_x, x - trace.mean)
    share = (eps / (trace.variance + eps)).squeeze(-1)
    close(left, share * part_along(arrived, x - trace.mean), 1e-9)
