"""T5's relative positions: a learned number for each head and range of distances, added to the scores.

Source: Raffel et al. 2020, section 2.1; the ranges as in the authors' code (mesh_tensorflow).
"""

import math

import torch
from torch import Tensor, nn


def relative_buckets(
    t_q: int, t_k: int, buckets: int = 32, farthest: int = 128, causal: bool = False
) -> Tensor:
    """Which bucket the distance from query i to key j falls into. Returns int64 [t_q, t_k] in 0..buckets − 1.

    Causal: all buckets for the past, the future falls into bucket 0 and a mask hides it. Otherwise the first half
    for the past, the second for the future. Of these, one half holds a single distance each, the rest grow
    like a logarithm up to `farthest`, from which on all distances are alike.
    Raises ValueError for fewer than 4 buckets, or farthest not above the single distances.
    """
    ahead = torch.arange(t_k) - torch.arange(t_q)[:, None]  # [t_q, t_k]  j − i
    n = buckets if causal else buckets // 2
    single = n // 2
    if single < 1 or farthest <= single:
        raise ValueError(
            f"needs at least 4 buckets and farthest above {single}, got {buckets} and {farthest}"
        )
    distance = (-ahead).clamp(min=0) if causal else ahead.abs()  # [t_q, t_k]
    # In float32, like the authors' code: at the ends of a range a rounding decides.
    growth = torch.log(distance.float().clamp(min=1) / single) / math.log(farthest / single)  # [t_q, t_k]
    ranged = (single + (growth * (n - single)).long()).clamp(max=n - 1)  # [t_q, t_k]
    bucket = torch.where(distance < single, distance, ranged)  # [t_q, t_k]
    return bucket if causal else bucket + n * (ahead > 0)  # [t_q, t_k]


class RelativeBias(nn.Module):
    """One table for a whole stack: all its layers add the same bias."""

    def __init__(self, n_heads: int, buckets: int = 32, farthest: int = 128, causal: bool = False):
        super().__init__()
        self.farthest, self.causal = farthest, causal
        self.table = nn.Embedding(buckets, n_heads)

    def forward(self, t_q: int, t_k: int) -> Tensor:
        """The bias for queries and keys that both begin at position 0. Returns [n_heads, t_q, t_k]."""
        buckets = relative_buckets(t_q, t_k, self.table.num_embeddings, self.farthest, self.causal)
        return self.table(buckets).movedim(-1, 0)  # [n_heads, t_q, t_k]
