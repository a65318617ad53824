"""Feed-forward layers and experts for a first look: random, untrained, the same for a seed, cut from one largest draw."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention.toy import embedding, seeded
from core.block.feed_forward import FeedForwardTrace

MOST_D = 16  # the widest token, the widest hidden layer and the most experts that can be asked for
MOST_D_FF = 64
MOST_EXPERTS = 16


@dataclass(frozen=True)
class ToyFeedForward:
    """The weights of one feed-forward layer, float64."""

    w1: Tensor  # [d, d_ff]
    b1: Tensor  # [d_ff]
    w2: Tensor  # [d_ff, d]
    b2: Tensor  # [d]


@dataclass(frozen=True)
class ToyExperts:
    """A router, E SwiGLU experts, and one more that every token may pass through; float64."""

    router: Tensor  # [d, E]
    w1: Tensor  # [E, d, d_expert]
    w3: Tensor  # [E, d, d_expert]
    w2: Tensor  # [E, d_expert, d]
    shared: tuple[Tensor, Tensor, Tensor]  # w1, w3 [d, d_expert], w2 [d_expert, d]


def toy_tokens(tokens: Sequence[str], seed: int, d: int) -> Tensor:
    """An embedding for each token that depends on its text and the seed alone: [T, d], components N(0, 1).

    The same numbers as in core.attention.toy_heads. Raises ValueError for no tokens or a d outside 1..MOST_D.
    """
    if not tokens:
        raise ValueError("at least one token is needed")
    check_width("d", d, MOST_D)
    x = torch.stack([embedding(token, seed, 96)[:d] for token in tokens])  # [T, d]
    return x


def toy_feed_forward(seed: int, d: int, d_ff: int) -> ToyFeedForward:
    """Untrained weights N(0, 1/fan-in) and biases N(0, 1/4), all drawn at the largest widths and cut.

    A larger d_ff adds hidden units and changes no other but for the scale 1/√d_ff of w2. Raises ValueError for
    widths outside 1..MOST_D and 1..MOST_D_FF.
    """
    check_width("d", d, MOST_D)
    check_width("d_ff", d_ff, MOST_D_FF)
    w1 = normal("w1", seed, MOST_D, MOST_D_FF)[:d, :d_ff] / math.sqrt(d)  # [d, d_ff]
    b1 = normal("b1", seed, MOST_D_FF)[:d_ff] / 2  # [d_ff]
    w2 = normal("w2", seed, MOST_D_FF, MOST_D)[:d_ff, :d] / math.sqrt(d_ff)  # [d_ff, d]
    b2 = normal("b2", seed, MOST_D)[:d] / 2  # [d]
    return ToyFeedForward(w1, b1, w2, b2)


def toy_swiglu(seed: int, d: int, d_ff: int) -> tuple[Tensor, Tensor, Tensor]:
    """Untrained w1, w3 [d, d_ff] and w2 [d_ff, d], N(0, 1/fan-in); w1 and w2 are those of `toy_feed_forward`."""
    plain = toy_feed_forward(seed, d, d_ff)
    w1, w2 = plain.w1, plain.w2  # [d, d_ff], [d_ff, d]
    w3 = normal("w3", seed, MOST_D, MOST_D_FF)[:d, :d_ff] / math.sqrt(d)  # [d, d_ff]
    return w1, w3, w2


def toy_experts(seed: int, d: int, n_experts: int, d_expert: int) -> ToyExperts:
    """Untrained experts N(0, 1/fan-in) and a router N(0, 1/d): more experts change none of the others.

    Raises ValueError for sizes outside 1..MOST_D, 1..MOST_EXPERTS and 1..MOST_D_FF.
    """
    check_width("d", d, MOST_D)
    check_width("n_experts", n_experts, MOST_EXPERTS)
    check_width("d_expert", d_expert, MOST_D_FF)
    router = normal("router", seed, MOST_D, MOST_EXPERTS)[:d, :n_experts] / math.sqrt(d)  # [d, E]
    each = [expert_weights(f"expert {e}", seed, d, d_expert) for e in range(n_experts)]
    w1, w3, w2 = (torch.stack(parts) for parts in zip(*each, strict=True))  # [E, …]
    return ToyExperts(router, w1, w3, w2, expert_weights("shared", seed, d, d_expert))


def expert_weights(name: str, seed: int, d: int, d_expert: int) -> tuple[Tensor, Tensor, Tensor]:
    """w1, w3 [d, d_expert] and w2 [d_expert, d] of one expert."""
    inward = normal(f"{name} in", seed, 2, MOST_D, MOST_D_FF)[:, :d, :d_expert] / math.sqrt(d)
    outward = normal(f"{name} out", seed, MOST_D_FF, MOST_D)[:d_expert, :d] / math.sqrt(d_expert)
    return inward[0], inward[1], outward


def toy_batch(seed: int, n_tokens: int, d: int) -> Tensor:
    """A batch of nameless tokens N(0, 1): [n_tokens, d], to see the load of experts over more than a sentence."""
    return normal("batch", seed, n_tokens, MOST_D)[:, :d]  # [n_tokens, d]


def without_activation(trace: FeedForwardTrace, w2: Tensor, b2: Tensor) -> Tensor:
    """What the layer would give if the hidden numbers were not bent: x (W₁ W₂) + b₁ W₂ + b₂, one linear map. [..., d]"""
    return trace.before @ w2 + b2


def normal(name: str, seed: int, *shape: int) -> Tensor:
    """Independent N(0, 1) numbers that belong to this name and seed, float64."""
    return torch.randn(shape, generator=seeded("feed-forward", name, seed), dtype=torch.float64)


def check_width(name: str, value: int, most: int) -> None:
    """Raises ValueError unless 1 ≤ value ≤ most."""
    if not 1 <= value <= most:
        raise ValueError(f"{name} must lie in 1..{most}, got {value}")
