import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from core.block.normalization import (
    batch_norm,
    layer_norm,
    moments,
    normalize_with,
    rms_norm,
    running_average,
)

DOUBLE = torch.float64
D = 6


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE) * 3 + 1


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lead", [(), (1,), (4,), (2, 5)])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm_is_that_of_pytorch(lead, eps, affine):
    module = nn.LayerNorm(D, eps=eps, elementwise_affine=affine, dtype=DOUBLE)
    gamma, beta = (random(D, seed=1), random(D, seed=2)) if affine else (None, None)
    if affine:
        module.load_state_dict({"weight": gamma, "bias": beta})
    x = random(*lead, D)
    close(layer_norm(x, gamma, beta, eps).output, module(x))


@pytest.mark.parametrize("lead", [(), (1,), (4,), (2, 5)])
@pytest.mark.parametrize("eps", [1e-6, 0.5])
@pytest.mark.parametrize("affine", [False, True])
def test_rms_norm_is_that_of_pytorch(lead, eps, affine):
    module = nn.RMSNorm(D, eps=eps, elementwise_affine=affine, dtype=DOUBLE)
    gamma = random(D, seed=1) if affine else None
    if affine:
        module.load_state_dict({"weight": gamma})
    x = random(*lead, D)
    close(rms_norm(x, gamma, eps).output, module(x))


@pytest.mark.parametrize("lead", [(4,), (2, 5), (1, 5)])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
@pytest.mark.parametrize("affine", [False, True])
def test_batch_norm_is_that_of_pytorch_in_training(lead, eps, affine):
    module = nn.BatchNorm1d(D, eps=eps, affine=affine, dtype=DOUBLE).train()
    gamma, beta = (random(D, seed=1), random(D, seed=2)) if affine else (None, None)
    if affine:
        module.load_state_dict({"weight": gamma, "bias": beta}, strict=False)
    x = random(*lead, D)
    expected = module(x.mT).mT if len(lead) == 2 else module(x)  # PyTorch wants [B, d, T]
    close(batch_norm(x, gamma, beta, eps).output, expected)


def test_batch_norm_in_inference_uses_what_it_remembers():
    module = nn.BatchNorm1d(D, dtype=DOUBLE).train()
    mean, variance = torch.zeros(D, dtype=DOUBLE), torch.ones(D, dtype=DOUBLE)
    for seed in range(3):
        x = random(4, D, seed=seed)
        module(x)
        trace = batch_norm(x)
        mean = running_average(mean, trace.mean[0])
        variance = running_average(variance, trace.variance[0] * 4 / 3)
    close(mean, module.running_mean)
    close(variance, module.running_var)
    x = random(1, D, seed=9)
    close(normalize_with(x, mean, variance).output, module.eval()(x))


def test_one_token_leaves_nothing_but_beta_where_pytorch_raises():
    x, beta = random(1, D), random(D, seed=1)
    with pytest.raises(ValueError, match="more than 1 value"):
        nn.BatchNorm1d(D, dtype=DOUBLE).train()(x)
    trace = batch_norm(x, random(D, seed=2), beta)
    assert not trace.variance.any()
    assert torch.equal(trace.output[0], beta)
    assert layer_norm(x).output.abs().max() > 0.5  # a single token is all that LayerNorm needs


def test_a_small_case_by_hand():
    x = torch.tensor([[1.0, 3.0], [5.0, 3.0]], dtype=DOUBLE)
    by_token = layer_norm(x, eps=0.0)
    assert by_token.mean.tolist() == [[2], [4]]
    assert by_token.variance.tolist() == [[1], [1]]  # divided by 2, not by 1
    assert by_token.normalized.tolist() == [[-1, 1], [1, -1]]
    root = rms_norm(x, torch.tensor([1.0, 10.0], dtype=DOUBLE), eps=0.0)
    assert root.mean.tolist() == [[0], [0]]
    assert root.variance.tolist() == [[5], [17]]
    close(root.output, torch.tensor([[1 / 5**0.5, 30 / 5**0.5], [5 / 17**0.5, 30 / 17**0.5]], dtype=DOUBLE))
    by_feature = batch_norm(x, beta=torch.tensor([0.5, 0.25], dtype=DOUBLE))
    assert by_feature.mean.tolist() == [[3, 3]]
    assert by_feature.variance.tolist() == [[4, 0]]
    side = 2 / (4 + 1e-5) ** 0.5
    close(by_feature.output, torch.tensor([[0.5 - side, 0.25], [0.5 + side, 0.25]], dtype=DOUBLE))


@given(seed=st.integers(0, 1000), other=st.integers(1, 3))
def test_what_other_tokens_do_matters_to_batch_norm_only(seed, other):
    x = random(4, D, seed=seed)
    changed = x.clone()
    changed[other] += torch.arange(D)
    for norm in (layer_norm, rms_norm):
        assert torch.equal(norm(changed).output[0], norm(x).output[0])
    assert not torch.allclose(batch_norm(changed).output[0], batch_norm(x).output[0])


@given(seed=st.integers(0, 1000), factor=st.floats(0.1, 100), shift=st.floats(-50, 50))
def test_scale_is_forgotten_by_all_and_shift_by_all_but_rms(seed, factor, shift):
    x = random(4, D, seed=seed)
    for norm in (layer_norm, batch_norm):
        torch.testing.assert_close(norm(factor * x + shift, eps=0.0).output, norm(x, eps=0.0).output)
    torch.testing.assert_close(rms_norm(factor * x, eps=0.0).output, rms_norm(x, eps=0.0).output)
    shifted = rms_norm(x + 5, eps=0.0).output
    assert not torch.allclose(shifted, rms_norm(x, eps=0.0).output)


def test_moments_in_both_directions():
    x = random(2, 3, D)
    found = moments(x)
    rows = x.reshape(-1, D)
    close(found.token_mean.flatten(), torch.stack([row.sum() / D for row in rows]))
    close(found.token_variance.flatten(), torch.stack([((row - row.mean()) ** 2).sum() / D for row in rows]))
    close(found.feature_mean, rows.sum(0) / 6)
    close(found.feature_variance, ((rows - rows.mean(0)) ** 2).sum(0) / 6)


def test_a_vector_is_no_batch():
    with pytest.raises(ValueError, match="needs a batch"):
        batch_norm(random(D))
