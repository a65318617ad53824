"""From token numbers to the vectors that the first block gets: token, position and segment, summed.

Sources: Vaswani et al. 2017, sections 3.4 and 3.5; Devlin et al. 2019, figure 2, for segments.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.block.positions import sinusoidal
from core.block.residual import Norm, drop
from core.models.description import ModelConfig


@dataclass(frozen=True)
class EmbeddingTrace:
    """Every summand. None where the family has no such part."""

    token: Tensor  # [..., T, d_model]  rows of the table, times √d_model where the family scales
    position: Tensor | None  # [T, d_model]
    segment: Tensor | None  # [..., T, d_model]
    summed: Tensor  # [..., T, d_model]
    output: Tensor  # [..., T, d_model]  normalised where there is a norm, after dropout in training


class Embeddings(nn.Module):
    """The tables of one stack. An encoder and a decoder may share the token table and nothing else.

    RoPE, ALiBi and relative biases act inside attention: nothing is added for them here.
    """

    def __init__(self, config: ModelConfig, table: nn.Embedding | None = None):
        super().__init__()
        d = config.d_model
        self.config = config
        self.token = nn.Embedding(config.vocab, d) if table is None else table
        learned = config.positions == "learned"
        self.position = nn.Embedding(config.limit + config.unused_rows, d) if learned else None
        self.segment = nn.Embedding(config.segments, d) if config.segments else None
        self.norm = Norm(d, config.norm_kind, config.norm_eps) if config.embedding_norm else None

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        past: int = 0,
        generator: torch.Generator | None = None,
    ) -> EmbeddingTrace:
        """tokens and segments are whole numbers [..., T]; the first token stands at position `past`.

        Segments are all 0 unless given. With a generator dropout is drawn. Raises ValueError for a token outside the
        vocabulary, a segment outside those there are, or a text longer than the learned table.
        """
        check_numbers("tokens", tokens, self.config.vocab)
        if segments is not None:
            check_numbers("segments", segments, self.config.segments)
        token = self.token(tokens)  # [..., T, d_model]
        if self.config.scale_embeddings:
            token = token * math.sqrt(self.config.d_model)
        position = self.positions(past, tokens.shape[-1], token.dtype)  # [T, d_model] or None
        segment = None
        if self.segment is not None:
            segment = self.segment(torch.zeros_like(tokens) if segments is None else segments)
        summed = sum((part for part in (position, segment) if part is not None), token)
        normed = summed if self.norm is None else self.norm(summed).output  # [..., T, d_model]
        return EmbeddingTrace(token, position, segment, summed, drop(normed, self.config.dropout, generator))

    def positions(self, past: int, t: int, dtype: torch.dtype) -> Tensor | None:
        """What is added at positions past..past + t − 1, [t, d_model], or None."""
        if self.config.positions == "sinusoidal":
            return sinusoidal(past + t, self.config.d_model, dtype=dtype)[past:]
        if self.position is None:
            return None
        if past + t > self.config.table_length:
            raise ValueError(
                f"{self.config.name} has learned {self.config.limit} positions, {past + t} were asked for"
            )
        return self.position(torch.arange(past, past + t) + self.config.unused_rows)


def check_numbers(name: str, numbers: Tensor, n: int) -> None:
    """Raise ValueError for none at all, or one that is not a whole number in 0..n − 1."""
    if n == 0:
        raise ValueError(f"this model has no {name}")
    if numbers.dtype not in (torch.int64, torch.int32) or numbers.dim() < 1 or numbers.numel() == 0:
        raise ValueError(f"{name} must be whole numbers (int64 or int32), at least one")
    lowest, highest = int(numbers.min()), int(numbers.max())
    if not 0 <= lowest <= highest < n:
        raise ValueError(f"{name} must lie in 0..{n - 1}, got {lowest}..{highest}")
