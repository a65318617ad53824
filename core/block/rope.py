"""RoPE: rotary position embedding. Queries and keys are turned, pair by pair, by an angle that grows with position.

A score then depends on the distance between query and key alone. Source: Su et al. 2021 (RoFormer), section 3.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Layout = Literal["half", "interleaved"]


@dataclass(frozen=True)
class RopeScores:
    """One query and one key at many distances."""

    distances: Tensor  # [D]  query position − key position
    by_pair: Tensor  # [D, d/2]  what each pair adds: |q_i||k_i| cos(angle between them + distance · θ_i)
    scores: Tensor  # [D]  their sum, before scaling


@dataclass(frozen=True)
class LayoutTrace:
    """Scores of the same q and k under two layouts of the pairs, and under two mistakes. Each [..., T, T]."""

    interleaved: Tensor  # weights made for this layout, turned in it: right
    half: Tensor  # columns permuted first, then turned in the other layout: right, and equal
    unpermuted: Tensor  # the permutation forgotten: still a function of distance, but not the trained one
    mixed: Tensor  # queries turned one way, keys the other: not even a function of distance


def apply_rope(
    x: Tensor,
    positions: Tensor,
    inv_freq: Tensor,
    layout: Layout = "half",
    attention_factor: float = 1.0,
) -> Tensor:
    """Turn pair i of each vector by the angle position · inv_freq_i. Returns the shape and type of x.

    x [..., T, d]; positions [T], or [..., T] that broadcasts with x; inv_freq [d/2], or [..., T, d/2] to have
    other frequencies at other positions. "half" pairs column i with i + d/2 (GPT-NeoX, Hugging Face's
    LLaMA), "interleaved" 2i with 2i + 1 (the paper, Meta's LLaMA). attention_factor multiplies cos and sin.
    Raises ValueError for another layout, or a d that is not twice the number of frequencies.
    Source: Su et al. 2021, equation 34.
    """
    if x.shape[-1] != 2 * inv_freq.shape[-1]:
        raise ValueError(f"{x.shape[-1]} columns cannot be turned by {inv_freq.shape[-1]} frequencies")
    # Angles in float64: near position 100 000, float32 can only tell steps of 1/128 radian apart.
    angles = positions.to(torch.float64)[..., None] * inv_freq  # [..., T, d/2]
    cos = (angles.cos() * attention_factor).to(x.dtype)  # [..., T, d/2]
    sin = (angles.sin() * attention_factor).to(x.dtype)  # [..., T, d/2]
    first, second = split_pairs(x, layout)  # [..., T, d/2] each
    turned = first * cos - second * sin, first * sin + second * cos  # [..., T, d/2] each
    return join_pairs(*turned, layout)  # [..., T, d]


def split_pairs(x: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
    """First and second member of every pair, [..., d/2] each, out of x [..., d]."""
    if layout == "half":
        return x.unflatten(-1, (2, -1)).unbind(-2)  # columns i and i + d/2
    if layout == "interleaved":
        return x.unflatten(-1, (-1, 2)).unbind(-1)  # columns 2i and 2i + 1
    raise ValueError(f"layout must be 'half' or 'interleaved', got {layout!r}")


def join_pairs(first: Tensor, second: Tensor, layout: Layout) -> Tensor:
    """What `split_pairs` took apart, put together: [..., d]."""
    axis = -2 if layout == "half" else -1
    return torch.stack([first, second], axis).flatten(-2)  # [..., d]


def half_from_interleaved(d: int) -> Tensor:
    """The columns in the order that turns interleaved pairs into halves: 0, 2, 4, …, 1, 3, 5, …. Returns [d].

    x[..., half_from_interleaved(d)] is for "half" what x is for "interleaved". Converters apply it to the
    rows of W_Q and W_K, head by head, once; scores stay what they were, since q and k are permuted alike.
    """
    return torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])  # [d]


def interleaved_from_half(d: int) -> Tensor:
    """The way back: 0, d/2, 1, d/2 + 1, …. Returns [d]."""
    return half_from_interleaved(d).argsort()  # [d]


def compare_layouts(q: Tensor, k: Tensor, positions: Tensor, inv_freq: Tensor) -> LayoutTrace:
    """Scores q·k of vectors made for interleaved pairs, turned rightly twice and wrongly twice.

    q, k [..., T, d], positions [T], inv_freq [d/2]. No scaling.
    """
    d = q.shape[-1]
    order = half_from_interleaved(d)  # [d]

    def scores(q: Tensor, k: Tensor, q_layout: Layout, k_layout: Layout) -> Tensor:
        turned_q = apply_rope(q, positions, inv_freq, q_layout)  # [..., T, d]
        turned_k = apply_rope(k, positions, inv_freq, k_layout)  # [..., T, d]
        return turned_q @ turned_k.mT  # [..., T, T]

    return LayoutTrace(
        interleaved=scores(q, k, "interleaved", "interleaved"),
        half=scores(q[..., order], k[..., order], "half", "half"),
        unpermuted=scores(q, k, "half", "half"),
        mixed=scores(q, k, "interleaved", "half"),
    )


def scores_by_distance(
    q: Tensor,
    k: Tensor,
    distances: Tensor,
    inv_freq: Tensor,
    layout: Layout = "half",
    attention_factor: float = 1.0,
) -> RopeScores:
    """The score of a fixed query and key when the query stands `distances` positions after the key.

    q, k [d]; distances [D]; inv_freq [d/2]. Only the query is turned: turning both by more changes nothing.
    """
    turned = apply_rope(q, distances, inv_freq, layout, attention_factor**2)  # [D, d]  once for q, once for k
    turned_pairs = split_pairs(turned, layout)  # [D, d/2] each
    key_pairs = split_pairs(k, layout)  # [d/2] each
    by_pair = turned_pairs[0] * key_pairs[0] + turned_pairs[1] * key_pairs[1]  # [D, d/2]
    return RopeScores(distances, by_pair, by_pair.sum(-1))


def decay_bound(distances: Tensor, inv_freq: Tensor) -> Tensor:
    """How far scores can reach at a distance, as the RoFormer paper bounds it: mean over i of |S_i|, [D].

    S_i is the sum of the first i unit vectors e^(j·distance·θ). It falls with distance, not steadily.
    distances [D]; inv_freq [d/2]; float64. Source: Su et al. 2021, section 3.4.3.
    """
    angles = distances.to(torch.float64)[..., None] * inv_freq.to(torch.float64)  # [D, d/2]
    partial_sums = torch.complex(angles.cos(), angles.sin()).cumsum(-1)  # [D, d/2]
    return partial_sums.abs().mean(-1)  # [D]
