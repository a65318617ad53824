"""The worked example 我爱学习: four tokens whose scores are given, and what a page needs to use them like computed ones."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from core.attention.toy import toy_inputs

TOKENS = ("我", "爱", "学", "习")
SCORES = ((0.9, 0.3, 0.1, 0.05), (0.4, 0.8, 0.2, 0.1), (0.2, 0.3, 0.7, 0.25), (0.15, 0.2, 0.3, 0.85))


def given_scores(t: int = len(TOKENS)) -> Tensor:
    """The first t rows and columns of the example's scores, ready for softmax. Returns [t, t], float64."""
    return torch.tensor(SCORES, dtype=torch.float64)[:t, :t]


def mask_inputs(
    tokens: Sequence[str], seed: int, d_k: int, worked: bool
) -> tuple[Tensor, Tensor, Tensor, float]:
    """Queries, keys, values and scale for one sentence: untrained ones, or such that q·k are the given scores.

    Returns q, k, v of [t, d] each and the scale. Raises ValueError for more than four tokens of the example.
    """
    if not worked:
        toy = toy_inputs(tokens, seed, d_k)
        return toy.q, toy.k, toy.v, 1 / math.sqrt(d_k)
    if len(tokens) > len(TOKENS):
        raise ValueError(f"the worked example has {len(TOKENS)} tokens, got {len(tokens)}")
    identity = torch.eye(len(tokens), dtype=torch.float64)  # [t, t]
    return given_scores(len(tokens)), identity, identity, 1.0
