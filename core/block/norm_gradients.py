"""The backward pass of the three norms: what is left of a gradient after the mean and the scale were taken out.

Source: Ioffe and Szegedy 2015, section 3, the chain rule through algorithm 1; the same derivation along a token
gives LayerNorm (Ba et al. 2016) and, without the mean, RMSNorm (Zhang and Sennrich 2019).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.block.normalization import NormTrace


@dataclass(frozen=True)
class NormGradients:
    """Gradients of a loss with respect to what went into a norm."""

    d_x: Tensor  # [..., d]
    d_gamma: Tensor  # [d]
    d_beta: Tensor  # [d]  of no use for RMSNorm, which has no β


def layer_norm_backward(
    trace: NormTrace, grad_output: Tensor, gamma: Tensor | None = None, eps: float = 1e-5
) -> NormGradients:
    """Through layer_norm. Each token's d_x sums to 0 and, but for eps, has no part along the token itself.

    trace from `layer_norm` with the same gamma [d] and eps, grad_output = ∂L/∂output [..., d].
    """
    inward = grad_output if gamma is None else grad_output * gamma  # [..., d]  ∂L/∂normalized
    along = (inward * trace.normalized).mean(-1, keepdim=True)  # [..., 1]
    left = inward - inward.mean(-1, keepdim=True) - trace.normalized * along  # [..., d]
    d_layer = left / (trace.variance + eps).sqrt()  # [..., d]
    return _with_parameters(trace, grad_output, d_layer)


def rms_norm_backward(
    trace: NormTrace, grad_output: Tensor, gamma: Tensor | None = None, eps: float = 1e-6
) -> NormGradients:
    """Through rms_norm. No mean was taken out, so only the part along the token itself is missing from d_x.

    trace from `rms_norm` with the same gamma [d] and eps, grad_output = ∂L/∂output [..., d].
    """
    inward = grad_output if gamma is None else grad_output * gamma  # [..., d]
    along = (inward * trace.normalized).mean(-1, keepdim=True)  # [..., 1]
    d_rms = (inward - trace.normalized * along) / (trace.variance + eps).sqrt()  # [..., d]
    return _with_parameters(trace, grad_output, d_rms)


def batch_norm_backward(
    trace: NormTrace, grad_output: Tensor, gamma: Tensor | None = None, eps: float = 1e-5
) -> NormGradients:
    """Through batch_norm in training: as LayerNorm, but along each feature, over all tokens of the batch.

    trace from `batch_norm` with the same gamma [d] and eps, grad_output = ∂L/∂output [..., d].
    """
    tokens = tuple(range(grad_output.dim() - 1))
    inward = grad_output if gamma is None else grad_output * gamma  # [..., d]
    along = (inward * trace.normalized).mean(tokens, keepdim=True)  # [1, …, 1, d]
    left = inward - inward.mean(tokens, keepdim=True) - trace.normalized * along  # [..., d]
    d_batch = left / (trace.variance + eps).sqrt()  # [..., d]
    return _with_parameters(trace, grad_output, d_batch)


def _with_parameters(trace: NormTrace, grad_output: Tensor, d_x: Tensor) -> NormGradients:
    flat = grad_output.flatten(0, -2)  # [tokens, d]
    d_gamma = (flat * trace.normalized.flatten(0, -2)).sum(0)  # [d]
    return NormGradients(d_x, d_gamma, flat.sum(0))


def part_along(vectors: Tensor, direction: Tensor) -> Tensor:
    """The component of each vector along a direction, with its sign: v·u for the unit vector u. Both [..., d] → [...].

    A direction of length 0 has no component: 0.
    """
    length = direction.norm(dim=-1, keepdim=True)  # [..., 1]
    unit = torch.where(length > 0, direction / length, 0.0)  # [..., d]
    part = (vectors * unit).sum(-1)  # [...]
    return part
