import pytest
import torch
import torch.nn.functional as F

from core.block.dropout import expected_deviation, many_draws, row_sums

DOUBLE = torch.float64


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random(*shape, seed=0):
    return torch.randn(shape, generator=generator(seed), dtype=DOUBLE)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_a_draw_is_zeros_and_the_rest_scaled_as_pytorchs_is(p):
    x = random(4000) + 5
    ours = many_draws(x, p, 1, generator()).draws[0]
    torch.manual_seed(0)
    theirs = F.dropout(x, p)
    for dropped in (ours, theirs):
        kept = dropped != 0
        torch.testing.assert_close(dropped[kept], x[kept] / (1 - p))
        assert kept.double().mean().item() == pytest.approx(1 - p, abs=0.03)


def test_running_means_are_those_of_a_plain_loop():
    trace = many_draws(random(3, 4), 0.4, 10, generator())
    for n in range(10):
        mean = sum(trace.draws[i] for i in range(n + 1)) / (n + 1)
        torch.testing.assert_close(trace.running_mean[n], mean)
        error = ((mean - trace.inference) ** 2).mean() ** 0.5
        torch.testing.assert_close(trace.deviation[n], error)
    assert trace.scale == pytest.approx(1 / 0.6)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
def test_the_mean_comes_back_as_fast_as_theory_says(p):
    x = random(2000)
    trace = many_draws(x, p, 400, generator(1))
    theory = expected_deviation(x, p, 400)
    for n in (1, 10, 100, 400):
        assert trace.deviation[n - 1].item() == pytest.approx(theory[n - 1].item(), rel=0.15)
    assert theory[0].item() == pytest.approx((x.square().mean() * p / (1 - p)).sqrt().item())


def test_a_linear_layer_keeps_the_mean_and_a_bent_one_does_not():
    x, w = random(20), random(20, 30, seed=1)
    linear = many_draws(x, 0.5, 20_000, generator(2), lambda y: y @ w)
    bent = many_draws(x, 0.5, 20_000, generator(2), lambda y: F.relu(y @ w))
    torch.testing.assert_close(bent.inference, F.relu(x @ w))
    assert linear.deviation[-1] < 0.1
    assert bent.deviation[-1] > 0.5
    lifted = bent.running_mean[-1] - bent.inference  # ReLU lets only the upward part through (Jensen)
    assert lifted.min() > -0.1
    assert lifted.mean() > 0.3


def test_p_0_changes_nothing():
    x = random(5)
    trace = many_draws(x, 0.0, 3, generator())
    assert torch.equal(trace.draws, x.expand(3, 5))
    assert trace.deviation.max() < 1e-15
    assert trace.scale == 1


def test_rows_of_attention_no_longer_sum_to_1_but_do_on_the_average():
    weights = torch.softmax(random(3, 6, 8), -1)
    sums = row_sums(weights, 0.3, 5000, generator())
    assert sums.shape == (5000, 3, 6)
    assert ((sums - 1).abs() > 1e-6).double().mean() > 0.9
    torch.testing.assert_close(sums.mean(0), torch.ones(3, 6, dtype=DOUBLE), rtol=0, atol=0.05)


def test_the_generator_alone_decides():
    before = torch.get_rng_state()
    first, again, other = (many_draws(random(9), 0.5, 4, generator(s)).draws for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(("p", "n"), [(1.0, 3), (-0.1, 3), (0.5, 0)])
def test_impossible_values_are_refused(p, n):
    with pytest.raises(ValueError, match="at least"):
        many_draws(random(4), p, n, generator())
