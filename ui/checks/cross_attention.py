"""Cross-attention as the page shows it, against PyTorch; additive attention against its other form, one matrix on [q; k]."""

from __future__ import annotations

import torch
from torch import Tensor

from core.attention.both_kinds import both_kinds, toy_additive
from ui.checks.attention import output_by_pytorch, weights_by_pytorch
from ui.checks.check import Check, largest_difference
from ui.figures.cross_attention import tensors
from ui.result import Result


def additive_by_concatenation(
    q: Tensor, k: Tensor, w_q: Tensor, w_k: Tensor, v: Tensor, allowed: Tensor
) -> Tensor:
    """vᵀ tanh(W [q; k]) with q and k joined to one vector, as Luong 2015 writes it; softmax is PyTorch's own."""
    pairs = torch.cartesian_prod(torch.arange(len(q)), torch.arange(len(k)))  # [T_q · T_k, 2]
    joined = torch.cat([q[pairs[:, 0]], k[pairs[:, 1]]], dim=-1)  # [T_q · T_k, 2 d_k]
    weight = torch.cat([w_q, w_k]).T  # [d_a, 2 d_k]
    scores = torch.nn.functional.linear(joined, weight).tanh() @ v  # [T_q · T_k]
    return torch.softmax(scores.reshape(len(q), len(k)).masked_fill(~allowed, -torch.inf), dim=-1)


def cross_attention_checks(result: Result, da: int) -> tuple[Check, ...]:
    """The shown output and weights against PyTorch, and the additive weights of the same state."""
    q, k, v, allowed = tensors(result)
    scale = result.facts["scale"]
    learned = toy_additive(result.parameters["seed"], result.parameters["dk"], da)
    ours = both_kinds(q, k, v, learned, allowed).additive.weights
    theirs = additive_by_concatenation(q, k, learned.w_q, learned.w_k, learned.v, allowed)
    by_pytorch = {
        "output": output_by_pytorch(q, k, v, allowed, scale),
        "weights": weights_by_pytorch(q, k, allowed, scale),
    }
    return (
        Check(
            "output", largest_difference((result.values("output"), by_pytorch["output"])), output_by_pytorch
        ),
        Check(
            "weights",
            largest_difference((result.values("weights"), by_pytorch["weights"])),
            weights_by_pytorch,
        ),
        Check("additive", largest_difference((ours, theirs)), additive_by_concatenation),
    )
