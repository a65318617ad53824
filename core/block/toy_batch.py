"""A small batch to be normalised: embeddings that stay the same for a seed, shifted, scaled and spoiled."""

from collections.abc import Sequence

import torch
from torch import Tensor

from core.attention.toy import embedding, seeded

WIDEST = 12  # features that are drawn; a narrower batch is a slice


def toy_batch(
    tokens: Sequence[str],
    seed: int,
    d: int,
    shift: float = 0.0,
    scale: float = 1.0,
    outlier: float = 0.0,
    row: int = 0,
    column: int = 0,
) -> Tensor:
    """scale · e + shift for the embedding e of every token, plus `outlier` at one place. Returns [tokens, d], float64.

    Equal tokens are equal rows. row and column count from 0. Raises IndexError for a place outside, and ValueError
    for no tokens and for d outside 1..WIDEST.
    """
    if not tokens or not 1 <= d <= WIDEST:
        raise ValueError(f"at least one token and 1 to {WIDEST} features are needed")
    drawn = torch.stack([embedding(token, seed, WIDEST)[:d] for token in tokens])  # [tokens, d]
    x = scale * drawn + shift  # [tokens, d]
    spoiled = torch.zeros_like(x)  # [tokens, d]
    spoiled[row, column] = outlier
    x = x + spoiled  # [tokens, d]
    return x


def changed(
    x: Tensor,
    shift: float,
    scale: float,
    *,
    row: int | None = None,
    column: int | None = None,
) -> Tensor:
    """scale · x + shift for all of x [tokens, d], or for one row or one column of it (counted from 0)."""
    touched = torch.zeros(x.shape, dtype=torch.bool)  # [tokens, d]
    touched[slice(None) if row is None else row, slice(None) if column is None else column] = True
    after = torch.where(touched, scale * x + shift, x)  # [tokens, d]
    return after


def random_batches(seed: int, steps: int, tokens: int, d: int, shift: float, scale: float) -> Tensor:
    """Batches for training: independent N(shift, scale²) numbers [steps, tokens, d]; fewer steps are the first ones."""
    drawn = torch.zeros(steps, tokens, WIDEST, dtype=torch.float64)
    for step in range(steps):
        drawn[step].normal_(generator=seeded("batch", seed, step))
    return scale * drawn[..., :d] + shift  # [steps, tokens, d]
