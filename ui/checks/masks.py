"""The page on masks against PyTorch: weights, reach, and the causal mask that its own Transformer makes."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from core.attention import masks
from core.attention.worked import mask_inputs
from ui.checks.check import Check, largest_difference
from ui.result import Result


def weights_by_pytorch(q: Tensor, k: Tensor, allowed: Tensor, scale: float) -> Tensor:
    """PyTorch's attention with the identity matrix as values, so that its output is the weights."""
    identity = torch.eye(k.shape[-2], dtype=k.dtype)  # [T, T]
    return scaled_dot_product_attention(q, k, identity, attn_mask=allowed, scale=scale)


def reach_by_power(allowed: Tensor, layers: int) -> Tensor:
    """The L-th power of (mask or identity), in 64-bit numbers: how many paths there are; more than none is reached."""
    step = (allowed | torch.eye(len(allowed), dtype=torch.bool)).double()  # [T, T]
    return torch.linalg.matrix_power(step, layers) > 0  # [T, T]


def causal_by_pytorch(t: int) -> Tensor:
    """The mask that nn.Transformer makes for itself: 0 where a pair may attend, −∞ where not."""
    return nn.Transformer.generate_square_subsequent_mask(t) == 0  # [T, T]


def mask_checks(result: Result) -> tuple[Check, ...]:
    """What the page shows against what PyTorch computes from the same mask."""
    p = result.parameters
    allowed = torch.from_numpy(~result.hidden)
    q, k, _, scale = mask_inputs(p["tokens"], p["seed"], p["dk"], p["worked"])
    weights = weights_by_pytorch(q, k, allowed, scale)
    reached = reach_by_power(allowed, p["layers"])
    t = len(allowed)
    return (
        Check("mask_weights", largest_difference((result.values("weights"), weights)), weights_by_pytorch),
        Check("reach", largest_difference((result.values("reach") > 0, reached)), reach_by_power),
        Check("causal", largest_difference((masks.causal(t), causal_by_pytorch(t))), causal_by_pytorch),
    )
