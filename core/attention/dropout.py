"""Dropout on attention: after softmax, on the weights. What it does to their sums, and what it would do to scores."""

import torch
from torch import Tensor

from core.attention.dot_product import draw_dropout


def dropout_on_scores(masked: Tensor, factors: Tensor) -> Tensor:
    """Softmax of masked scores that were multiplied by dropout's factors: the wrong place, shown to be wrong.

    −∞ · 0 is NaN, and one NaN makes its whole row NaN. masked and factors [..., T_q, T_k]; returns the same.
    """
    return torch.softmax(masked * factors, -1)  # [..., T_q, T_k]


def mean_row_sums(weights: Tensor, p: float, n_draws: int, generator: torch.Generator) -> Tensor:
    """The sum of each row after dropout with probability p, averaged over n_draws draws: near the sum before.

    weights [T_q, T_k]; returns [T_q]. Raises ValueError as `draw_dropout` says.
    """
    draws = weights.expand(n_draws, *weights.shape)  # [n_draws, T_q, T_k]
    factors = draw_dropout(draws, p, generator)  # [n_draws, T_q, T_k] or None
    return (draws if factors is None else draws * factors).sum(-1).mean(0)  # [T_q]
