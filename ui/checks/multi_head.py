"""Multi-head attention as a page shows it, against nn.MultiheadAttention, autograd and the NumPy twin."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from core.attention import numpy_twin
from core.attention.multi_head import MultiHeadAttention
from core.attention.pytorch_multi_head import as_pytorch
from core.attention.toy_heads import with_weights
from ui.checks.check import Check, largest_difference
from ui.result import Result

PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")


def by_pytorch(layer: nn.MultiheadAttention, x: Tensor, blocked: Tensor) -> tuple[Tensor, Tensor]:
    """PyTorch's own layer on a batch of one; its mask means the opposite of ours: True = blocked."""
    output, weights = layer(
        x[None], x[None], x[None], attn_mask=blocked, need_weights=True, average_attn_weights=False
    )
    return output[0].detach(), weights[0].detach()  # [T, d_model], [H, T, T]


def gradients_by_autograd(
    layer: nn.MultiheadAttention, x: Tensor, blocked: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Autograd through PyTorch's layer for L = ½ Σ output²: with respect to x, in_proj_weight, out_proj.weight."""
    x = x.clone().requires_grad_()
    output, _ = layer(x[None], x[None], x[None], attn_mask=blocked, need_weights=False)
    return torch.autograd.grad((output**2).sum() / 2, (x, layer.in_proj_weight, layer.out_proj.weight))


def module_of(result: Result) -> MultiHeadAttention:
    """The module that made a result of the page."""
    weights = {name: torch.from_numpy(value) for name, value in result.facts["projections"].items()}
    return with_weights(weights, result.parameters["heads"], result.parameters["kv"])


def multi_head_checks(result: Result) -> tuple[Check, ...]:
    """The result with all heads on against PyTorch's layer with the same weights, the twin against core and autograd."""
    module, heads, kv = module_of(result), result.parameters["heads"], result.parameters["kv"]
    layer, x = as_pytorch(module), torch.from_numpy(result.values("x"))
    blocked = torch.from_numpy(result.hidden)
    output, weights = by_pytorch(layer, x, blocked)
    core = module(x, mask=~blocked)
    p = numpy_twin.NumpyProjections(*(result.facts["projections"][name] for name in PROJECTIONS))
    array = x.numpy()
    twin = numpy_twin.multi_head(array, array, p, heads, kv, ~result.hidden)
    back = numpy_twin.multi_head_backward(twin, array, array, p, kv, twin.output)
    d_x, d_in, d_out = gradients_by_autograd(as_pytorch(module), x, blocked)
    shown = np.stack([result.values(f"a{h + 1}") for h in range(heads)])  # [H, T, T]
    inward = np.concatenate([back.projections.w_q, back.projections.w_k, back.projections.w_v])
    mine = (back.d_x + back.d_context, inward, back.projections.w_o)
    pairs = (
        (twin.heads.weights, core.weights),
        (twin.heads.output, core.head_outputs),
        (twin.concatenated, core.concatenated),
        (twin.output, core.output),
    )
    return (
        Check("mha_output", largest_difference((result.facts["before"], output)), by_pytorch),
        Check("mha_weights", largest_difference((shown, weights))),
        Check("mha_twin", largest_difference(*pairs)),
        Check(
            "mha_backward",
            largest_difference(*zip(mine, (d_x, _grouped(d_in, heads, kv), d_out), strict=True)),
            gradients_by_autograd,
        ),
    )


def _grouped(d_in: Tensor, heads: int, kv: int) -> Tensor:
    """PyTorch's gradients of its three matrices; those of a shared head are the sum over its copies."""
    d_q, d_k, d_v = d_in.chunk(3)  # [d_model, d_model] each
    shared = [w.unflatten(0, (kv, heads // kv, -1)).sum(1).flatten(0, 1) for w in (d_k, d_v)]
    return torch.cat([d_q, *shared])
