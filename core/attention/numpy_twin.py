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
