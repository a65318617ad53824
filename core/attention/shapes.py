"""The shapes that a batch goes through, from the embeddings to heads and back, with real tensors."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention.dot_product import attention
from core.attention.multi_head import head_width


@dataclass(frozen=True)
class ShapeStep:
    """One tensor on the way, what made it, and what its axes are."""

    name: str
    operation: str  # the line of PyTorch that gave it; empty for what is given
    axes: tuple[str, ...]  # batch, tokens, d_model, heads, d_head, queries, keys
    tensor: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(self.tensor.shape)


def batch_shapes(
    generator: torch.Generator, batch: int = 4, tokens: int = 16, d_model: int = 512, n_heads: int = 8
) -> tuple[ShapeStep, ...]:
    """X [B, T, d] → Q, K, V → heads apart → heads first → weights → output → heads joined, step by step.

    Components of x, q, k and v have variance about 1 (float32). Raises ValueError unless n_heads divides
    d_model, or for a size below 1.
    """
    d_head = head_width(d_model, n_heads)
    if min(batch, tokens) < 1:
        raise ValueError(f"batch and tokens must be at least 1, got {batch} and {tokens}")
    x = torch.randn(batch, tokens, d_model, generator=generator)  # [B, T, d]
    steps = [ShapeStep("x", "", ("batch", "tokens", "d_model"), x)]
    heads: dict[str, Tensor] = {}
    for name in "qkv":
        w = torch.randn(d_model, d_model, generator=generator) / math.sqrt(d_model)  # [d, d]
        flat = x @ w  # [B, T, d]
        apart = flat.view(batch, tokens, n_heads, d_head)  # [B, T, H, d_head]
        heads[name] = apart.transpose(1, 2)  # [B, H, T, d_head]
        steps += [
            ShapeStep(f"w_{name}", "", ("d_model", "d_model"), w),
            ShapeStep(name, f"x @ w_{name}", ("batch", "tokens", "d_model"), flat),
            ShapeStep(
                f"{name}_apart",
                f"{name}.view(B, T, H, d_head)",
                ("batch", "tokens", "heads", "d_head"),
                apart,
            ),
            ShapeStep(
                f"{name}_heads",
                f"{name}_apart.transpose(1, 2)",
                ("batch", "heads", "tokens", "d_head"),
                heads[name],
            ),
        ]
    a = attention(heads["q"], heads["k"], heads["v"])
    back = a.output.transpose(1, 2)  # [B, T, H, d_head]
    pair = ("batch", "heads", "queries", "keys")
    scores = "q_heads @ k_heads.transpose(-2, -1) / math.sqrt(d_head)"
    steps += [
        ShapeStep("scores", scores, pair, a.scaled),
        ShapeStep("weights", "scores.softmax(-1)", pair, a.weights),
        ShapeStep("head_outputs", "weights @ v_heads", ("batch", "heads", "tokens", "d_head"), a.output),
        ShapeStep("back", "head_outputs.transpose(1, 2)", ("batch", "tokens", "heads", "d_head"), back),
        ShapeStep("joined", "back.reshape(B, T, d_model)", ("batch", "tokens", "d_model"), back.flatten(-2)),
    ]
    return tuple(steps)


def heads_by_view_alone(flat: Tensor, n_heads: int) -> Tensor:
    """A mistake to recognise: [B, T, d] viewed as [B, H, T, d_head] at once, without the transpose.

    The shape is right and nothing is raised, but numbers of several tokens end up in one row.
    """
    batch, tokens, d_model = flat.shape
    wrong = flat.view(batch, n_heads, tokens, d_model // n_heads)  # [B, H, T, d_head]
    return wrong
