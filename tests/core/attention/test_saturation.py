import math
import statistics
import time

import pytest
import torch

from core.attention.saturation import entropy, largest_gradient, nested_scores, saturation

D_KS = (1, 4, 16, 64, 256, 1024)


@pytest.fixture(scope="module")
def plain():
    return saturation(D_KS, n_draws=200, n_keys=16, seed=0, scaled=False)


@pytest.fixture(scope="module")
def scaled():
    return saturation(D_KS, n_draws=200, n_keys=16, seed=0, scaled=True)


def test_variance_is_the_theorys(plain, scaled):
    assert plain.theory_variance.tolist() == list(D_KS)
    assert scaled.theory_variance.tolist() == [1] * len(D_KS)
    for trace in (plain, scaled):  # d_k = 1 is the wildest: kurtosis 9, so a deviation of about 0.1
        ratio = trace.variance.mean / trace.theory_variance
        assert (ratio[0] - 1).abs() < 0.35
        assert (ratio[1:] - 1).abs().max() < 0.15
    torch.testing.assert_close(
        plain.variance.mean / torch.tensor(D_KS), scaled.variance.mean, rtol=1e-9, atol=0
    )


def test_without_scaling_softmax_saturates_and_with_it_does_not(plain, scaled):
    assert (plain.entropy.mean.diff() < 0).all()
    assert plain.entropy.mean[-1] < 0.2
    assert plain.largest_gradient.mean[-1] < 0.05
    assert scaled.entropy.mean.min() > 0.8 * math.log(16)
    assert scaled.largest_gradient.mean[-1] > 3 * plain.largest_gradient.mean[-1]
    assert (scaled.largest_gradient.mean[2:] - scaled.largest_gradient.mean[-1]).abs().max() < 0.02


def test_limits_and_spread(plain, scaled):
    for trace in (plain, scaled):
        assert trace.entropy.mean.min() >= 0
        assert trace.entropy.high.max() <= math.log(16) + 1e-12
        assert trace.largest_gradient.high.max() <= 0.25
        for quantity in (trace.variance, trace.entropy, trace.largest_gradient):
            assert (quantity.low <= quantity.high).all()
            assert torch.stack([quantity.mean, quantity.low, quantity.high]).isfinite().all()


def test_scores_are_dot_products_of_the_first_components():
    gen = torch.Generator().manual_seed(4)
    q = torch.randn(3, 8, 1, generator=gen, dtype=torch.float64)
    k = torch.randn(3, 5, 8, generator=gen, dtype=torch.float64)
    scores = nested_scores((8, 2, 2, 5), n_draws=3, n_keys=5, seed=4)
    for row, d_k in zip(scores, (8, 2, 2, 5), strict=True):
        expected = torch.einsum("nd,nkd->nk", q[:, :d_k, 0], k[..., :d_k])
        torch.testing.assert_close(row, expected)


def test_variance_and_quartiles_are_those_of_the_standard_library():
    scores = nested_scores((4, 9), n_draws=7, n_keys=5, seed=2)
    trace = saturation((4, 9), n_draws=7, n_keys=5, seed=2, scaled=False)
    for i, draws in enumerate(scores.tolist()):
        variances = [statistics.variance(draw) for draw in draws]
        low, _, high = statistics.quantiles(variances, n=4, method="inclusive")
        assert trace.variance.mean[i].item() == pytest.approx(statistics.mean(variances))
        assert trace.variance.low[i].item() == pytest.approx(low)
        assert trace.variance.high[i].item() == pytest.approx(high)


def test_entropy_and_largest_gradient_against_independent_ones():
    scores = torch.randn(50, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 4
    weights = torch.softmax(scores, -1)
    torch.testing.assert_close(entropy(weights), torch.distributions.Categorical(weights).entropy())
    for row, largest in zip(scores, largest_gradient(weights), strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), row)
        torch.testing.assert_close(largest, jacobian.abs().max())
    assert entropy(torch.tensor([1.0, 0, 0])) == 0
    assert largest_gradient(torch.tensor([1.0, 0, 0])) == 0
    assert largest_gradient(torch.tensor([0.5, 0.5])) == 0.25


def test_same_seed_same_numbers_and_no_global_state():
    before = torch.get_rng_state()
    first, again, other = (saturation((2, 8), 5, 3, seed, True).entropy.mean for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_it_is_quick_enough_for_a_slider():
    start = time.process_time()  # not of the clock: others may be at work on this machine
    saturation([2**n for n in range(11)], n_draws=200, n_keys=16, seed=1, scaled=False)
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize("arguments", [((), 5, 5), ((0, 4), 5, 5), ((4,), 0, 5), ((4,), 5, 1)])
def test_impossible_values_are_refused(arguments):
    with pytest.raises(ValueError, match="at least"):
        saturation(*arguments, seed=0, scaled=True)
