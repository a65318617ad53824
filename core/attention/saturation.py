"""Why the scores are divided by √d_k: what softmax does as d_k grows, measured over random draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from core.attention.dot_product import masked_softmax


@dataclass(frozen=True)
class Spread:
    """A quantity over many draws, for each d_k."""

    mean: Tensor  # [D]
    low: Tensor  # [D]  first quartile
    high: Tensor  # [D]  third quartile


@dataclass(frozen=True)
class SaturationTrace:
    """One row of attention, drawn many times, for each d_k."""

    d_ks: tuple[int, ...]
    scaled: bool
    variance: Spread  # of q·k over the keys of a draw, divided by √d_k first when scaled
    theory_variance: Tensor  # [D]  d_k, or 1 when scaled
    entropy: Spread  # of the weights, in nats: log n_keys when even, 0 when one key takes all
    largest_gradient: Spread  # largest |∂ weight / ∂ score|: at most 1/4, 0 when saturated


def saturation(d_ks: Sequence[int], n_draws: int, n_keys: int, seed: int, scaled: bool) -> SaturationTrace:
    """Draw q and n_keys keys with independent N(0, 1) components; see variance, entropy and gradient.

    All d_k look at the first components of the same draws, so curves over d_k are smooth and a change
    is due to d_k alone. Memory: 8 bytes · n_draws · (n_keys + 1) · max(d_ks).
    Raises ValueError for no d_k or one below 1, n_draws below 1, n_keys below 2.
    Source: Vaswani et al. 2017, section 3.2.1, footnote 4.
    """
    if not d_ks or min(d_ks) < 1 or n_draws < 1 or n_keys < 2:
        raise ValueError("needs d_k ≥ 1, at least one draw and at least two keys")
    widths = torch.tensor(d_ks, dtype=torch.float64)  # [D]
    scores = nested_scores(d_ks, n_draws, n_keys, seed)  # [D, n_draws, n_keys]
    if scaled:
        scores = scores / widths.sqrt()[:, None, None]  # [D, n_draws, n_keys]
    weights = masked_softmax(scores)  # [D, n_draws, n_keys]
    return SaturationTrace(
        d_ks=tuple(d_ks),
        scaled=scaled,
        variance=spread(scores.var(-1)),
        theory_variance=torch.ones_like(widths) if scaled else widths,  # [D]
        entropy=spread(entropy(weights)),
        largest_gradient=spread(largest_gradient(weights)),
    )


def nested_scores(d_ks: Sequence[int], n_draws: int, n_keys: int, seed: int) -> Tensor:
    """q·k over the first d_k components, for each d_k. Returns [D, n_draws, n_keys], float64."""
    generator = torch.Generator().manual_seed(seed)
    q = torch.randn(n_draws, max(d_ks), 1, generator=generator, dtype=torch.float64)
    k = torch.randn(n_draws, n_keys, max(d_ks), generator=generator, dtype=torch.float64)
    ends = sorted(set(d_ks))
    # A longer dot product is the shorter one and what the further components add to it.
    added = [k[..., a:b] @ q[:, a:b] for a, b in pairwise([0, *ends])]  # [n_draws, n_keys, 1] each
    running = torch.stack(added).cumsum(0).squeeze(-1)  # [len(ends), n_draws, n_keys]
    return running[[ends.index(d_k) for d_k in d_ks]]  # [D, n_draws, n_keys]


def entropy(weights: Tensor) -> Tensor:
    """−Σ a log a over the keys, in nats, with 0 log 0 = 0. weights [..., T_k]; returns [...]."""
    return torch.special.entr(weights).sum(-1)


def largest_gradient(weights: Tensor) -> Tensor:
    """The largest |entry| of softmax's Jacobian. weights [..., T_k]; returns [...].

    It lies on the diagonal, a (1 − a): off it, a_i a_j ≤ a_i (1 − a_i), since a_j is part of 1 − a_i.
    """
    return (weights * (1 - weights)).amax(-1)


def spread(values: Tensor) -> Spread:
    """Mean and quartiles over the draws. values [D, n_draws]."""
    low, high = torch.quantile(values, torch.tensor([0.25, 0.75], dtype=values.dtype), dim=-1)
    return Spread(values.mean(-1), low, high)
