"""Additive attention: a small network scores each pair of query and key, before the dot product took over.

Source: Bahdanau, Cho and Bengio 2015, "Neural Machine Translation by Jointly Learning to Align and
Translate", section 3.1 and appendix A.1.2. There the query is the decoder's last state s_{i−1}, the keys
are the encoder's states h_j, and what is averaged are the keys themselves.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention.dot_product import masked_softmax


@dataclass(frozen=True)
class AdditiveTrace:
    """Every step of one additive attention, in the order in which it is computed."""

    projected_query: Tensor  # [..., T_q, d_a]  W_q q
    projected_keys: Tensor  # [..., T_k, d_a]  W_k k, the same for all queries: computed once
    summed: Tensor  # [..., T_q, T_k, d_a]  one vector for every pair
    hidden: Tensor  # [..., T_q, T_k, d_a]  tanh of it, in −1..1
    scores: Tensor  # [..., T_q, T_k]  v·hidden: at most Σ|v| in size, so nothing is scaled
    masked: Tensor  # [..., T_q, T_k]
    weights: Tensor  # [..., T_q, T_k]
    output: Tensor  # [..., T_q, d_key]  the context vectors: keys averaged by the weights


@dataclass(frozen=True)
class AdditiveWeights:
    """What additive attention learns."""

    w_q: Tensor  # [d_query, d_a]
    w_k: Tensor  # [d_key, d_a]
    v: Tensor  # [d_a]


def additive_attention(
    query: Tensor, keys: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor, mask: Tensor | None = None
) -> AdditiveTrace:
    """softmax over the keys of vᵀ tanh(W_q q + W_k k), and the keys averaged by it.

    query [..., T_q, d_query], keys [..., T_k, d_key], w_q [d_query, d_a], w_k [d_key, d_a], v [d_a]; mask
    (bool, True = may attend) broadcasts to [..., T_q, T_k]. Memory: T_q · T_k · d_a numbers, d_a times
    what the dot product needs. Source: Bahdanau et al. 2015, appendix A.1.2.
    """
    projected_query = query @ w_q  # [..., T_q, d_a]
    projected_keys = keys @ w_k  # [..., T_k, d_a]
    summed = projected_query[..., :, None, :] + projected_keys[..., None, :, :]  # [..., T_q, T_k, d_a]
    hidden = summed.tanh()  # [..., T_q, T_k, d_a]
    scores = hidden @ v  # [..., T_q, T_k]
    masked = scores if mask is None else scores.masked_fill(~mask, -torch.inf)  # [..., T_q, T_k]
    weights = masked_softmax(masked)  # [..., T_q, T_k]
    output = weights @ keys  # [..., T_q, d_key]
    return AdditiveTrace(projected_query, projected_keys, summed, hidden, scores, masked, weights, output)


def additive_weights(
    d_query: int, d_key: int, d_attention: int, generator: torch.Generator, dtype: torch.dtype = torch.float64
) -> AdditiveWeights:
    """Untrained weights, N(0, 1/fan_in): inputs of variance 1 give projections of variance 1.

    Raises ValueError for a width below 1.
    """
    if min(d_query, d_key, d_attention) < 1:
        raise ValueError(f"widths must be at least 1, got {d_query}, {d_key} and {d_attention}")
    shapes = ((d_query, d_attention), (d_key, d_attention), (d_attention,))
    drawn = (torch.randn(s, generator=generator, dtype=torch.float64) / math.sqrt(s[0]) for s in shapes)
    return AdditiveWeights(*(w.to(dtype) for w in drawn))
