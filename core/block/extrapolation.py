"""RoPE past the length it was trained on: which pairs reach angles they never saw, and what a head's scores do there.

Source of the idea: Chen et al. 2023, section 2.2 and figure 2. Lengths and distances in positions, angles in radians.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.block.rope import Layout, scores_by_distance

LAYOUT: Layout = "half"


@dataclass(frozen=True)
class Head:
    """One query and one key: all that a score by distance needs."""

    q: Tensor  # [d]
    k: Tensor  # [d]


@dataclass(frozen=True)
class RangeTest:
    """Scores beyond the trained length, against those that occurred in training."""

    low: float  # smallest score in training, with the frequencies of the training
    high: float  # largest
    least: float  # smallest score beyond, with the frequencies used now
    most: float  # largest
    outside: float  # share of the distances beyond whose score is below low or above high
    near: float  # by how much the score falls over the first 8 positions: how well neighbours are told apart


def wavelengths(inv_freq: Tensor) -> Tensor:
    """How many positions a full turn of each pair takes: 2π/θ_i. inv_freq [d/2]; returns the same."""
    return 2 * math.pi / inv_freq  # [d/2]


def unseen_angles(plain: Tensor, stretched: Tensor, trained_length: int, longest: float) -> Tensor:
    """The pairs that reach angles they never had in training. Returns bool [d/2].

    plain [d/2] are the frequencies of the training, over trained_length positions; stretched [d/2] those used on a
    text of `longest` positions. A pair that made a full turn in training has seen every angle.
    """
    before = plain * trained_length  # [d/2]  the largest angle in training
    after = stretched * longest  # [d/2]
    turned_fully = before >= 2 * math.pi  # [d/2]
    return ~turned_fully & (after > before * (1 + 1e-9))  # [d/2]  equal up to rounding is not beyond


def nearer_is_better(distances: Tensor, trained_length: int) -> Tensor:
    """What the head is to score: 1 at distance 0, −1 at the trained length, falling with the logarithm. [D], float64."""
    return 1 - 2 * distances.to(torch.float64).log1p() / math.log1p(trained_length)  # [D]


def even_head(d: int) -> Head:
    """A query equal to its key, equally strong in all pairs, that scores 1 at distance 0. Vectors [d], float64."""
    y = torch.full((d,), d**-0.5, dtype=torch.float64)  # [d]
    return Head(y, y)


def fit_head(inv_freq: Tensor, trained_length: int, ridge: float = 1e-6) -> Head:
    """The query that, with the key (1, 0) in every pair, scores the trained distances as `nearer_is_better` asks.

    Least squares over at most 1024 distances 0..trained_length−1, with a small penalty on the size of q: what
    training can do with one query and one key, and nothing is asked about longer distances. inv_freq [d/2].
    Raises ValueError for a trained_length below 2.
    """
    if trained_length < 2:
        raise ValueError(f"the trained length must be at least 2, got {trained_length}")
    theta = inv_freq.to(torch.float64)  # [d/2]
    distances = torch.arange(0, trained_length, -(-trained_length // 1024), dtype=torch.float64)  # [N]
    angles = distances[:, None] * theta  # [N, d/2]
    # Turned by an angle, the pair (q1, q2) has q1 cos − q2 sin along the key (1, 0).
    design = torch.cat([angles.cos(), -angles.sin()], -1)  # [N, d]
    target = nearer_is_better(distances, trained_length)  # [N]
    normal = design.mT @ design / len(distances)  # [d, d]
    penalty = ridge * torch.eye(len(normal), dtype=torch.float64)  # [d, d]
    q = torch.linalg.solve(normal + penalty, design.mT @ target / len(distances))  # [d]
    return Head(q, torch.cat([torch.ones_like(theta), torch.zeros_like(theta)]))  # [d] each


def scores_of(head: Head, distances: Tensor, inv_freq: Tensor, attention_factor: float = 1.0) -> Tensor:
    """The head's scores [D] at any distances [D], with the frequencies [d/2] that are used now."""
    return scores_by_distance(head.q, head.k, distances, inv_freq, LAYOUT, attention_factor).scores  # [D]


def range_test(
    head: Head,
    plain: Tensor,
    stretched: Tensor,
    trained_length: int,
    longest: int,
    attention_factor: float = 1.0,
    samples: int = 4096,
) -> RangeTest:
    """Do the scores stay in the range that training knew?

    plain [d/2] are the frequencies of the training; stretched [d/2] and attention_factor what is used now, on a text
    of `longest` positions. At most `samples` distances on either side of the trained length, evenly spread.
    Raises ValueError for a longest that is not above trained_length.
    """
    if longest <= trained_length:
        raise ValueError(f"{longest} is not beyond the trained length {trained_length}")
    inside = torch.arange(0, trained_length, -(-trained_length // samples))  # [I]
    beyond = torch.arange(trained_length, longest, -(-(longest - trained_length) // samples))  # [O]
    known = scores_of(head, inside, plain)  # [I]
    now = scores_of(head, beyond, stretched, attention_factor)  # [O]
    slack = 1e-9 * float(known.abs().max())  # rounding is not beyond
    is_outside = (now < known.min() - slack) | (now > known.max() + slack)  # [O]
    first, eighth = scores_of(head, torch.tensor([0, 8]), stretched, attention_factor)
    ends = (float(x) for x in (known.min(), known.max(), now.min(), now.max()))
    return RangeTest(*ends, float(is_outside.double().mean()), float(first - eighth))
