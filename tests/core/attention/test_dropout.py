import torch

from core.attention.dropout import dropout_on_scores, mean_row_sums
from core.attention.masks import causal


def test_minus_infinity_times_zero_makes_a_row_nan():
    masked = torch.zeros(3, 3).masked_fill(~causal(3), -torch.inf)
    factors = torch.tensor([[2.0, 0, 2], [2, 2, 2], [0, 0, 0]])
    weights = dropout_on_scores(masked, factors)
    assert weights[0].isnan().all()  # its one dropped score was hidden
    torch.testing.assert_close(weights[1], torch.tensor([0.5, 0.5, 0]))
    torch.testing.assert_close(weights[2], torch.full((3,), 1 / 3))  # dropped, and yet looked at


def test_the_mean_over_draws_is_the_sum_before():
    weights = torch.softmax(torch.randn(4, 6, generator=torch.Generator().manual_seed(0)), -1)
    sums = mean_row_sums(weights, 0.5, 4000, torch.Generator().manual_seed(1))
    # A sum has variance Σ a² p/(1−p) ≤ 1; five standard errors of 4000 draws are 0.08.
    assert (sums - 1).abs().max() < 0.08
    assert (sums - 1).abs().max() > 0
    assert torch.equal(
        mean_row_sums(weights, 0.0, 10, torch.Generator()), weights.expand(10, 4, 6).sum(-1).mean(0)
    )
