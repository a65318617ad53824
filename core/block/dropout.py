"""Dropout, drawn many times: what one draw does, and how fast the mean of many comes back to inference.

Source: Srivastava et al. 2014, in the inverted form that PyTorch uses; core.attention.dot_product draws it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention.dot_product import draw_dropout


@dataclass(frozen=True)
class DropoutTrace:
    """N draws of dropout on the same numbers."""

    inference: Tensor  # [...]  without dropout
    draws: Tensor  # [N, ...]  with it: zeros, and the rest multiplied by 1/(1−p)
    running_mean: Tensor  # [N, ...]  of the first n draws
    deviation: Tensor  # [N]  root mean square of running mean − inference
    scale: float  # 1/(1−p), by which kept numbers are multiplied


def many_draws(
    x: Tensor,
    p: float,
    n_draws: int,
    generator: torch.Generator,
    then: Callable[[Tensor], Tensor] | None = None,
) -> DropoutTrace:
    """Draw dropout on x n_draws times, apply `then` to each, and average.

    x of any shape; p is the probability of a zero, 0 ≤ p < 1. Without `then`, or with a linear one, the mean tends
    to inference, its deviation like 1/√n. Where something nonlinear follows, inference is not quite the mean of training.
    Raises ValueError for p outside 0 ≤ p < 1, or n_draws below 1.
    """
    if n_draws < 1:
        raise ValueError(f"n_draws must be at least 1, got {n_draws}")
    copies = x.expand(n_draws, *x.shape)  # [N, ...]
    factors = draw_dropout(copies, p, generator)  # [N, ...] or None
    dropped = copies if factors is None else copies * factors  # [N, ...]
    draws = dropped if then is None else then(dropped)  # [N, ...]
    inference = x if then is None else then(x)  # [...]
    count = torch.arange(1, n_draws + 1, dtype=x.dtype).view(-1, *[1] * inference.dim())  # [N, 1, ...]
    running_mean = draws.cumsum(0) / count  # [N, ...]
    deviation = (running_mean - inference).flatten(1).square().mean(-1).sqrt()  # [N]
    return DropoutTrace(inference, draws, running_mean, deviation, 1 / (1 - p))


def expected_deviation(x: Tensor, p: float, n_draws: int) -> Tensor:
    """What theory says of `deviation` without `then`: rms(x) · √(p/(1−p)) / √n, for n = 1..n_draws. Returns [N].

    A number is 0 or x/(1−p), so its variance is x² · p/(1−p).
    """
    rms = x.square().mean().sqrt()
    n = torch.arange(1, n_draws + 1, dtype=x.dtype)  # [N]
    return rms * math.sqrt(p / (1 - p)) / n.sqrt()  # [N]


def row_sums(weights: Tensor, p: float, n_draws: int, generator: torch.Generator) -> Tensor:
    """The sums of attention rows after dropout, draw by draw: no longer 1, but 1 on the average.

    weights [..., T_q, T_k]; returns [n_draws, ..., T_q].
    """
    return many_draws(weights, p, n_draws, generator).draws.sum(-1)  # [n_draws, ..., T_q]
