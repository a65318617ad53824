"""The same attention in plain NumPy, forward and backward: nothing happens that is not written here.

Arrays [T, d], or batches of them [..., T, d]. Source: Vaswani et al. 2017, equation 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray


@dataclass(frozen=True)
class NumpyTrace:
    """The steps of one attention, named as in the PyTorch core."""

    scores: ndarray  # [..., T_q, T_k]
    scaled: ndarray  # [..., T_q, T_k]
    masked: ndarray  # [..., T_q, T_k]  the bias added, −inf where the mask forbids
    weights: ndarray  # [..., T_q, T_k]
    output: ndarray  # [..., T_q, d_v]
    scale: float


@dataclass(frozen=True)
class NumpyGradients:
    """∂L/∂ of each quantity, named as in the PyTorch core."""

    d_v: ndarray  # [..., T_k, d_v]
    d_weights: ndarray  # [..., T_q, T_k]
    d_scores: ndarray  # [..., T_q, T_k]  with respect to the scaled scores
    d_q: ndarray  # [..., T_q, d_k]
    d_k: ndarray  # [..., T_k, d_k]


def transposed(x: ndarray) -> ndarray:
    """Swap the last two axes, and only those.

    In PyTorch this is k.transpose(-2, -1). In NumPy the same words mean something else: transpose takes
    the new order of all axes, and (-2, -1) is the order that a 2-D array already has. So
    q @ k.transpose(-2, -1) raises unless T = d, and when T = d it multiplies by k instead of kᵀ in silence.
    """
    return np.swapaxes(x, -2, -1)


def masked_softmax(scores: ndarray, mask: ndarray | None = None) -> ndarray:
    """Softmax over the keys that the mask allows (True = may attend); nothing to attend to gives zeros."""
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)  # [..., T_q, T_k]
    lowest = np.finfo(scores.dtype).min  # stands in for −inf: −inf − (−inf) would be NaN
    top = np.maximum(scores.max(-1, keepdims=True), lowest)  # [..., T_q, 1]
    exps = np.exp(scores - top)  # [..., T_q, T_k]
    return exps / np.maximum(exps.sum(-1, keepdims=True), 1)  # [..., T_q, T_k]


def attention(
    q: ndarray,
    k: ndarray,
    v: ndarray,
    mask: ndarray | None = None,
    *,
    scale: float | None = None,
    bias: ndarray | None = None,
) -> NumpyTrace:
    """softmax(q kᵀ · scale + bias, where the mask allows) v, with every step kept.

    q [..., T_q, d_k], k [..., T_k, d_k], v [..., T_k, d_v]; mask and bias broadcast to [..., T_q, T_k].
    """
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ transposed(k)  # [..., T_q, T_k]
    scaled = scores * scale  # [..., T_q, T_k]
    biased = scaled if bias is None else scaled + bias  # [..., T_q, T_k]
    masked = biased if mask is None else np.where(mask, biased, -np.inf)  # [..., T_q, T_k]
    weights = masked_softmax(masked)  # [..., T_q, T_k]
    return NumpyTrace(scores, scaled, masked, weights, weights @ v, float(scale))


def attention_backward(
    trace: NumpyTrace, q: ndarray, k: ndarray, v: ndarray, grad_output: ndarray
) -> NumpyGradients:
    """From grad_output = ∂L/∂output [..., T_q, d_v] back to v, q and k, which share their leading axes."""
    a = trace.weights  # [..., T_q, T_k]
    d_v = transposed(a) @ grad_output  # [..., T_k, d_v]
    d_weights = grad_output @ transposed(v)  # [..., T_q, T_k]
    # You will also meet d_weights − (d_weights · a.sum(-1)): rows of a sum to 1, so that would always be 0.
    d_scores = a * (d_weights - (d_weights * a).sum(-1, keepdims=True))  # [..., T_q, T_k]
    d_q = d_scores @ k * trace.scale  # [..., T_q, d_k]
    d_k = transposed(d_scores) @ q * trace.scale  # [..., T_k, d_k]
    return NumpyGradients(d_v, d_weights, d_scores, d_q, d_k)


@dataclass(frozen=True)
class NumpyProjections:
    """The four projections of multi-head attention. Weights [d_out, d_in] as in torch.nn.Linear, biases [d_out]."""

    w_q: ndarray  # [d_model, d_model]
    w_k: ndarray  # [G · d_head, d_model]
    w_v: ndarray  # [G · d_head, d_model]
    w_o: ndarray  # [d_model, d_model]
    b_q: ndarray | float = 0.0  # 0 stands for no bias
    b_k: ndarray | float = 0.0
    b_v: ndarray | float = 0.0
    b_o: ndarray | float = 0.0


@dataclass(frozen=True)
class NumpyMultiHeadTrace:
    """The steps of one multi-head attention. H heads, G key-value heads."""

    q: ndarray  # [..., H, T_q, d_head]
    k: ndarray  # [..., H, T_k, d_head]  a shared head written out for every query head
    v: ndarray  # [..., H, T_k, d_head]
    heads: NumpyTrace  # attention in all heads at once
    concatenated: ndarray  # [..., T_q, d_model]
    output: ndarray  # [..., T_q, d_model]


@dataclass(frozen=True)
class NumpyMultiHeadGradients:
    """∂L/∂ of each input; in self-attention x collects both, d_x + d_context."""

    d_x: ndarray  # [..., T_q, d_model]  by way of the queries
    d_context: ndarray  # [..., T_k, d_model]  by way of keys and values
    projections: NumpyProjections  # the gradient of each weight and bias, in its place
    heads: NumpyGradients  # inside the heads


def split_heads(x: ndarray, n_heads: int) -> ndarray:
    """[..., T, n_heads · d_head] → [..., n_heads, T, d_head]. n_heads must divide."""
    return np.swapaxes(x.reshape(*x.shape[:-1], n_heads, -1), -3, -2)


def join_heads(x: ndarray) -> ndarray:
    """[..., n_heads, T, d_head] → [..., T, n_heads · d_head]."""
    apart = np.swapaxes(x, -3, -2)  # [..., T, n_heads, d_head]
    return apart.reshape(*apart.shape[:-2], -1)


def multi_head(
    x: ndarray,
    context: ndarray,
    p: NumpyProjections,
    n_heads: int,
    n_kv_heads: int,
    mask: ndarray | None = None,
    bias: ndarray | None = None,
) -> NumpyMultiHeadTrace:
    """Project, split, attend in each head, join, project; self-attention when context is x.

    x [..., T_q, d_model], context [..., T_k, d_model]; mask and bias broadcast to [..., H, T_q, T_k].
    """
    q = split_heads(x @ p.w_q.T + p.b_q, n_heads)  # [..., H, T_q, d_head]
    k = split_heads(context @ p.w_k.T + p.b_k, n_kv_heads)  # [..., G, T_k, d_head]
    v = split_heads(context @ p.w_v.T + p.b_v, n_kv_heads)  # [..., G, T_k, d_head]
    k, v = (np.repeat(shared, n_heads // n_kv_heads, axis=-3) for shared in (k, v))  # [..., H, T_k, d_head]
    heads = attention(q, k, v, mask, bias=bias)
    concatenated = join_heads(heads.output)  # [..., T_q, d_model]
    return NumpyMultiHeadTrace(q, k, v, heads, concatenated, concatenated @ p.w_o.T + p.b_o)


def multi_head_backward(
    trace: NumpyMultiHeadTrace,
    x: ndarray,
    context: ndarray,
    p: NumpyProjections,
    n_kv_heads: int,
    grad_output: ndarray,
) -> NumpyMultiHeadGradients:
    """From grad_output = ∂L/∂output [..., T_q, d_model] back through w_o, the heads and the projections."""
    n_heads = trace.q.shape[-3]
    d_concatenated = grad_output @ p.w_o  # [..., T_q, d_model]
    d_heads = split_heads(d_concatenated, n_heads)  # [..., H, T_q, d_head]
    inside = attention_backward(trace.heads, trace.q, trace.k, trace.v, d_heads)
    d_q = join_heads(inside.d_q)  # [..., T_q, d_model]
    d_k = join_heads(sum_of_groups(inside.d_k, n_kv_heads))  # [..., T_k, G · d_head]
    d_v = join_heads(sum_of_groups(inside.d_v, n_kv_heads))  # [..., T_k, G · d_head]
    passed = ((d_q, x), (d_k, context), (d_v, context), (grad_output, trace.concatenated))
    weights = [rows(grad).T @ rows(given) for grad, given in passed]  # as p.w_q, p.w_k, p.w_v, p.w_o
    biases = [rows(grad).sum(0) for grad, _ in passed]
    return NumpyMultiHeadGradients(
        d_x=d_q @ p.w_q,
        d_context=d_k @ p.w_k + d_v @ p.w_v,
        projections=NumpyProjections(*weights, *biases),
        heads=inside,
    )


def sum_of_groups(x: ndarray, n_kv_heads: int) -> ndarray:
    """What returns to a shared head is the sum over the query heads that used it: [..., H, …] → [..., G, …]."""
    grouped = x.reshape(*x.shape[:-3], n_kv_heads, -1, *x.shape[-2:])  # [..., G, heads in each, T, d_head]
    return grouped.sum(-3)


def rows(x: ndarray) -> ndarray:
    """All tokens of all sentences one under the other: [..., T, d] → [N, d]. A weight serves every one of them."""
    return x.reshape(-1, x.shape[-1])
