"""Attention as a page shows it, against PyTorch's own function, against autograd, and against the NumPy twin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from core.attention import dot_product, numpy_twin
from ui.checks.check import Check, largest_difference
from ui.result import Result

STEPS = ("scores", "scaled", "masked", "weights", "output")
GRADIENTS = ("d_v", "d_weights", "d_scores", "d_q", "d_k")


def output_by_pytorch(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, scale: float) -> Tensor:
    """PyTorch's own attention; its mask says True = may attend, as ours does."""
    return scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=scale)


def weights_by_pytorch(q: Tensor, k: Tensor, allowed: Tensor, scale: float) -> Tensor:
    """PyTorch does not hand out its weights, but weights times the identity matrix are the weights."""
    identity = torch.eye(k.shape[-2], dtype=k.dtype)  # [T_k, T_k]
    return scaled_dot_product_attention(q, k, identity, attn_mask=allowed, scale=scale)


def gradients_by_pytorch(
    q: Tensor, k: Tensor, v: Tensor, allowed: Tensor, scale: float
) -> tuple[Tensor, ...]:
    """Autograd through PyTorch's attention, for the loss L = ½ Σ output², whose ∂L/∂output is the output."""
    q, k, v = (x.clone().requires_grad_() for x in (q, k, v))
    output = scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=scale)
    return torch.autograd.grad((output**2).sum() / 2, (q, k, v))


def attention_checks(result: Result) -> tuple[Check, ...]:
    """The shown output and weights against PyTorch, the core's backward pass against autograd, the twin against the core.

    The result needs the arrays q, k, v, weights and output, `hidden`, and the fact `scale`.
    """
    q, k, v = (torch.from_numpy(result.values(name)) for name in ("q", "k", "v"))
    allowed, scale = torch.from_numpy(~result.hidden), result.facts["scale"]
    core = dot_product.attention(q, k, v, allowed, scale=scale)
    back = dot_product.attention_backward(core, q, k, v, core.output)
    twin = numpy_twin.attention(q.numpy(), k.numpy(), v.numpy(), allowed.numpy(), scale=scale)
    twin_back = numpy_twin.attention_backward(twin, q.numpy(), k.numpy(), v.numpy(), twin.output)
    autograd = gradients_by_pytorch(q, k, v, allowed, scale)
    return (
        _against(
            "output", output_by_pytorch, (result.values("output"), output_by_pytorch(q, k, v, allowed, scale))
        ),
        _against(
            "weights",
            weights_by_pytorch,
            (result.values("weights"), weights_by_pytorch(q, k, allowed, scale)),
        ),
        _against(
            "backward", gradients_by_pytorch, *zip((back.d_q, back.d_k, back.d_v), autograd, strict=True)
        ),
        _against("twin", None, *((getattr(twin, name), getattr(core, name)) for name in STEPS)),
        _against(
            "twin_backward", None, *((getattr(twin_back, name), getattr(back, name)) for name in GRADIENTS)
        ),
    )


def _against(name: str, theirs, *pairs) -> Check:
    return Check(name, largest_difference(*pairs), theirs)


@dataclass(frozen=True)
class TransposeTrap:
    """What `q @ k.transpose(-2, -1)` does on 2-D NumPy arrays: an error, or a wrong result in silence."""

    shape: tuple[int, int]  # of k and, all the same, of k.transpose(-2, -1)
    error: str  # NumPy's own words; empty if it raised nothing
    difference: float  # largest |q @ k.transpose(-2, -1) − q kᵀ| where it raised nothing, else NaN


def transpose_trap(q: np.ndarray, k: np.ndarray) -> TransposeTrap:
    """Walk into the trap with these very arrays. q [T_q, d], k [T_k, d]."""
    try:
        wrong = q @ k.transpose(-2, -1)
    except ValueError as error:
        return TransposeTrap(k.shape, str(error), float("nan"))
    right = q @ np.swapaxes(k, -2, -1)  # [T_q, T_k]
    return TransposeTrap(k.shape, "", largest_difference((wrong, right)))
