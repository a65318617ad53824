"""Scaled dot-product attention, forward and backward, one step a line.

Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class AttentionTrace:
    """Every step of one attention, in the order in which it is computed."""

    scores: Tensor  # [..., T_q, T_k]  q·k
    scaled: Tensor  # [..., T_q, T_k]  scores · scale
    biased: Tensor  # [..., T_q, T_k]  scaled + bias; the scaled scores themselves without one
    masked: Tensor  # [..., T_q, T_k]  −inf where the mask forbids
    weights_before_dropout: Tensor  # [..., T_q, T_k]  a row sums to 1, or to 0 with nothing to attend to
    dropout: Tensor | None  # [..., T_q, T_k]  the factors drawn, 0 or 1/(1−p); None when p is 0
    weights: Tensor  # [..., T_q, T_k]  what multiplies v
    output: Tensor  # [..., T_q, d_v]
    scale: float  # 1/√d_k unless another was asked for


@dataclass(frozen=True)
class AttentionGradients:
    """∂L/∂ of each quantity, in the order in which the backward pass reaches it."""

    d_v: Tensor  # [..., T_k, d_v]
    d_weights: Tensor  # [..., T_q, T_k]
    d_scores: Tensor  # [..., T_q, T_k]  with respect to the scaled scores
    d_q: Tensor  # [..., T_q, d_k]
    d_k: Tensor  # [..., T_k, d_k]


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Softmax over the keys that the mask allows; a row with nothing to attend to gives zeros.

    scores [..., T_q, T_k], T_k ≥ 1, finite or −inf; mask bool, True = may attend, of a shape that
    broadcasts with scores. Returns weights [..., T_q, T_k] in 0..1.
    """
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)  # [..., T_q, T_k]
    lowest = torch.finfo(scores.dtype).min  # stands in for −inf: −inf − (−inf) would be NaN
    top = scores.detach().amax(-1, keepdim=True).clamp(min=lowest)  # [..., T_q, 1]
    exps = (scores - top).exp()  # [..., T_q, T_k]  the largest is exp(0) = 1: no overflow
    total = exps.sum(-1, keepdim=True).clamp(min=1)  # [..., T_q, 1]  below 1 only if all are hidden
    return exps / total  # [..., T_q, T_k]


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float | None = None,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
    generator: torch.Generator | None = None,
) -> AttentionTrace:
    """softmax(q kᵀ · scale + bias, where the mask allows) v, with every step kept.

    q [..., T_q, d_k], k [..., T_k, d_k], v [..., T_k, d_v]; mask (bool, True = may attend) and bias
    broadcast to [..., T_q, T_k]. Raises ValueError for a dropout_p outside 0 ≤ p < 1, or one above 0
    without a generator; TypeError or RuntimeError (PyTorch's own) for a mask that is not bool.
    Source: Vaswani et al. 2017, equation 1.
    """
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.mT  # [..., T_q, T_k]
    scaled = scores * scale  # [..., T_q, T_k]
    biased = scaled if bias is None else scaled + bias  # [..., T_q, T_k]
    masked = biased if mask is None else biased.masked_fill(~mask, -torch.inf)  # [..., T_q, T_k]
    softmaxed = masked_softmax(masked)  # [..., T_q, T_k]
    dropout = draw_dropout(softmaxed, dropout_p, generator)  # [..., T_q, T_k] or None
    weights = softmaxed if dropout is None else softmaxed * dropout  # [..., T_q, T_k]
    output = weights @ v  # [..., T_q, d_v]
    return AttentionTrace(scores, scaled, biased, masked, softmaxed, dropout, weights, output, scale)


def draw_dropout(like: Tensor, p: float, generator: torch.Generator | None) -> Tensor | None:
    """The factors by which dropout multiplies: 0 with probability p, else 1/(1−p), so the mean stays.

    Shape of `like`; None when p is 0. Raises ValueError as `attention` says.
    Source: Srivastava et al. 2014, in the inverted form that PyTorch uses.
    """
    if not 0 <= p < 1:
        raise ValueError(f"dropout_p must be at least 0 and below 1, got {p}")
    if p == 0:
        return None
    if generator is None:
        raise ValueError("dropout_p above 0 needs a generator, so that the same seed gives the same numbers")
    keep = torch.full_like(like, 1 - p, requires_grad=False)
    return torch.bernoulli(keep, generator=generator) / (1 - p)


def attention_backward(
    trace: AttentionTrace, q: Tensor, k: Tensor, v: Tensor, grad_output: Tensor
) -> AttentionGradients:
    """From grad_output = ∂L/∂output [..., T_q, d_v] back to ∂L/∂v, ∂L/∂q and ∂L/∂k, by the chain rule.

    trace is what `attention` returned for these q, k, v. Source: equation 1 of Vaswani et al. 2017,
    differentiated; the row sum is softmax's Jacobian applied without building it.
    """
    a = trace.weights_before_dropout  # [..., T_q, T_k]
    d_v = trace.weights.mT @ grad_output  # [..., T_k, d_v]
    d_weights = grad_output @ v.mT  # [..., T_q, T_k]
    d_a = d_weights if trace.dropout is None else d_weights * trace.dropout  # [..., T_q, T_k]
    d_scores = a * (d_a - (d_a * a).sum(-1, keepdim=True))  # [..., T_q, T_k]
    d_q = d_scores @ k * trace.scale  # [..., T_q, d_k]
    d_k = d_scores.mT @ q * trace.scale  # [..., T_k, d_k]
    # A tensor that was shared over the batch or the heads collects what comes back from each of them.
    d_v, d_q, d_k = (g.sum_to_size(x.shape) for g, x in ((d_v, v), (d_q, q), (d_k, k)))
    return AttentionGradients(d_v, d_weights, d_scores, d_q, d_k)


def softmax_jacobian(weights_row: Tensor) -> Tensor:
    """∂ weights_i / ∂ scores_j = a_i (δ_ij − a_j), for a row of softmax weights a.

    weights_row [..., T_k]; returns [..., T_k, T_k], symmetric, each row summing to 0.
    """
    column, row = weights_row[..., :, None], weights_row[..., None, :]  # [..., T_k, 1], [..., 1, T_k]
    jacobian = torch.diag_embed(weights_row) - column * row  # [..., T_k, T_k]
    return jacobian
