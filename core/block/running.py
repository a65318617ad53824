"""What BatchNorm remembers: running averages of its batches' statistics, which stand in for them in inference.

Source: Ioffe and Szegedy 2015, algorithm 2, with the exponential average that PyTorch takes.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.block.normalization import batch_norm, running_average


@dataclass(frozen=True)
class RunningStatistics:
    """The statistics of every batch, and what was remembered before the first and after each."""

    batch_mean: Tensor  # [steps, d]
    batch_variance: Tensor  # [steps, d]  biased: what each batch was normalised with
    mean: Tensor  # [steps + 1, d]  begins with 0
    variance: Tensor  # [steps + 1, d]  begins with 1


def running_statistics(batches: Tensor, momentum: float = 0.1) -> RunningStatistics:
    """Send batches [steps, tokens, d] through BatchNorm in training and record what it remembers.

    momentum is the share of the newest batch, as in PyTorch. Raises ValueError for batches of one token: their
    variance divided by n − 1 does not exist, and PyTorch refuses them as well.
    """
    steps, n, d = batches.shape
    if n < 2:
        raise ValueError("a batch of one token has no unbiased variance")
    mean, variance = [torch.zeros(d, dtype=batches.dtype)], [torch.ones(d, dtype=batches.dtype)]
    traces = [batch_norm(batch) for batch in batches]
    for trace in traces:
        mean.append(running_average(mean[-1], trace.mean[0], momentum))  # [d]
        unbiased = trace.variance[0] * n / (n - 1)  # [d]
        variance.append(running_average(variance[-1], unbiased, momentum))  # [d]
    empty = torch.zeros(0, d, dtype=batches.dtype)
    return RunningStatistics(
        batch_mean=torch.cat([trace.mean for trace in traces]) if steps else empty,
        batch_variance=torch.cat([trace.variance for trace in traces]) if steps else empty,
        mean=torch.stack(mean),
        variance=torch.stack(variance),
    )
