"""Looking at heads side by side: how alike their maps are, how widely they look, what each adds to the output."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.attention.saturation import entropy


@dataclass(frozen=True)
class HeadsOff:
    """What switching heads off does to the output."""

    difference: Tensor  # [..., T_q, d_model]  after − before
    change: float  # length of the difference over the length of the output before


def head_similarity(weights: Tensor) -> Tensor:
    """Cosine between the maps of every two heads, each map read as one long vector.

    weights [..., H, T_q, T_k]; returns [..., H, H] in 0..1: 1 for the same map, 0 for maps that share no
    cell, and for a map of zeros. Weights are never negative, so even unrelated heads come out well above 0.
    """
    flat = weights.flatten(-2)  # [..., H, T_q · T_k]
    length = torch.linalg.vector_norm(flat, dim=-1, keepdim=True)  # [..., H, 1]
    unit = flat / length.clamp(min=torch.finfo(flat.dtype).tiny)  # [..., H, T_q · T_k]
    similarity = unit @ unit.mT  # [..., H, H]
    return similarity


def mean_similarity(similarity: Tensor) -> float | None:
    """The mean over all pairs of different heads, [..., H, H]; None with a single head, which has no pair."""
    n_heads = similarity.shape[-1]
    pairs = torch.ones(n_heads, n_heads, dtype=torch.bool).triu(1)  # [H, H]
    return float(similarity[..., pairs].mean()) if n_heads > 1 else None


def even_map(visible: Tensor) -> Tensor:
    """The map that looks at all visible keys alike: visible [..., T_q, T_k], bool, True = may attend.

    A query with nothing to attend to has a row of zeros.
    """
    count = visible.sum(-1, keepdim=True).clamp(min=1)  # [..., T_q, 1]
    return visible.double() / count  # [..., T_q, T_k]


def even_similarity(weights: Tensor, visible: Tensor) -> float:
    """Mean cosine of the maps [H, T_q, T_k] with the even map of one mask [T_q, T_k]."""
    maps = torch.stack([even_map(visible).to(weights.dtype), *weights])  # [1 + H, T_q, T_k]
    return float(head_similarity(maps)[0, 1:].mean())


def head_entropy(weights: Tensor) -> Tensor:
    """How widely each head looks, in nats, on average over its queries.

    weights [..., H, T_q, T_k]; returns [..., H]. Queries with nothing to attend to are left out; a head
    that has no other gives 0.
    """
    alive = (weights.sum(-1) > 0).sum(-1).clamp(min=1)  # [..., H]
    return entropy(weights).sum(-1) / alive  # [..., H]


def head_contributions(kept_outputs: Tensor, w_o: nn.Linear) -> Tensor:
    """What each head adds to the output: its own columns of w_o times what it found.

    kept_outputs [..., H, T_q, d_head]; returns [..., H, T_q, d_model]. Their sum over the heads is
    the output, less w_o's bias: "concatenate, then multiply" is a sum over heads.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits".
    """
    n_heads = kept_outputs.shape[-3]
    per_head = w_o.weight.mT.unflatten(0, (n_heads, -1))  # [H, d_head, d_model]
    return kept_outputs @ per_head  # [..., H, T_q, d_model]


def key_contributions(weights: Tensor, v: Tensor, w_o: nn.Linear) -> Tensor:
    """What each key adds to the output over all heads: its values through w_o, by the weights it is given.

    weights [..., H, T_q, T_k], v [..., H, T_k, d_head]; returns [..., T_q, T_k, d_model]. Their sum over the
    keys is the output, less w_o's bias.
    """
    per_head = w_o.weight.mT.unflatten(0, (weights.shape[-3], -1))  # [H, d_head, d_model]
    return torch.einsum("...hqk,...hkm->...qkm", weights, v @ per_head)  # [..., T_q, T_k, d_model]


def heads_off(before: Tensor, after: Tensor) -> HeadsOff:
    """The output [..., T_q, d_model] with all heads on, and with those that are left."""
    difference = after - before  # [..., T_q, d_model]
    return HeadsOff(difference, float(difference.norm() / before.norm()))


def changes_one_by_one(contributions: Tensor) -> Tensor:
    """How far the output moves when one head alone is off, over the output's length: what that head had added.

    contributions [H, T_q, d_model]; returns [H]. No run with the head off is needed, since the output is a sum.
    """
    output = contributions.sum(0)  # [T_q, d_model]
    return contributions.norm(dim=(1, 2)) / output.norm()  # [H]
