"""Additive attention and the scaled dot product on the same queries and keys, so that only the score differs."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention.additive import AdditiveTrace, AdditiveWeights, additive_attention, additive_weights
from core.attention.dot_product import AttentionTrace, attention
from core.attention.toy import seeded


@dataclass(frozen=True)
class BothKinds:
    """The two computations, and how far their weights lie apart."""

    additive: AdditiveTrace
    dot: AttentionTrace
    difference: Tensor  # [..., T_q, T_k]  additive weights − dot product weights


def both_kinds(
    q: Tensor, k: Tensor, v: Tensor, learned: AdditiveWeights, mask: Tensor | None = None
) -> BothKinds:
    """Both kinds of attention under one mask.

    q [..., T_q, d_k], k [..., T_k, d_k], v [..., T_k, d_v], mask as in `attention`. The outputs are not comparable:
    Bahdanau's averages the keys, the Transformer's the values. Sources: Bahdanau et al. 2015, appendix A.1.2;
    Vaswani et al. 2017, equation 1.
    """
    additive = additive_attention(q, k, learned.w_q, learned.w_k, learned.v, mask)
    dot = attention(q, k, v, mask)
    difference = additive.weights - dot.weights  # [..., T_q, T_k]
    return BothKinds(additive, dot, difference)


def toy_additive(seed: int, d_k: int, d_a: int, max_width: int = 64) -> AdditiveWeights:
    """Untrained W_q, W_k [d_k, d_a] and v [d_a], N(0, 1/fan_in).

    They are drawn at max_width and sliced, so a larger d_k or d_a adds numbers; the others only get the factor that
    keeps the variance. Raises ValueError for a width outside 1..max_width.
    """
    if not (1 <= d_k <= max_width and 1 <= d_a <= max_width):
        raise ValueError(f"widths must lie in 1..{max_width}, got {d_k} and {d_a}")
    drawn = additive_weights(max_width, max_width, max_width, seeded("additive", seed))
    wider, longer = math.sqrt(max_width / d_k), math.sqrt(max_width / d_a)  # from 1/max_width to 1/fan_in
    w_q, w_k = (w[:d_k, :d_a] * wider for w in (drawn.w_q, drawn.w_k))  # [d_k, d_a] each
    return AdditiveWeights(w_q, w_k, drawn.v[:d_a] * longer)


def largest_additive_score(learned: AdditiveWeights) -> float:
    """Σ|v|: tanh lies in −1..1, so no additive score can be larger in size."""
    return float(torch.sum(learned.v.abs()))
