"""Normalisation: LayerNorm and RMSNorm look at one token, BatchNorm at one feature over all tokens.

Sources: Ba et al. 2016 (LayerNorm), Zhang and Sennrich 2019 (RMSNorm), Ioffe and Szegedy 2015 (BatchNorm).
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class NormTrace:
    """Every step of one normalisation. normalized = (x − mean) / √(variance + eps), whichever it is.

    The shape of mean and variance says over what they were taken: [..., 1] over each token's features,
    [1, …, 1, d] over all tokens, feature by feature.
    """

    mean: Tensor  # what was subtracted: zeros for RMSNorm
    variance: Tensor  # biased: divided by n, not n − 1; for RMSNorm the mean square
    normalized: Tensor  # [..., d]
    output: Tensor  # [..., d]  γ · normalized + β


@dataclass(frozen=True)
class Moments:
    """Mean and biased variance in both directions."""

    token_mean: Tensor  # [...]
    token_variance: Tensor  # [...]
    feature_mean: Tensor  # [d]
    feature_variance: Tensor  # [d]


def layer_norm(
    x: Tensor, gamma: Tensor | None = None, beta: Tensor | None = None, eps: float = 1e-5
) -> NormTrace:
    """Each token on its own: mean 0 and variance 1 over its d features, then γ and β.

    x [..., d], gamma and beta [d], 1 and 0 without them. The same in training and inference, whatever the
    batch. Source: Ba et al. 2016, section 3, with eps inside the root as everywhere today.
    """
    mean = x.mean(-1, keepdim=True)  # [..., 1]
    variance = x.var(-1, correction=0, keepdim=True)  # [..., 1]
    return normalize_with(x, mean, variance, gamma, beta, eps)


def rms_norm(x: Tensor, gamma: Tensor | None = None, eps: float = 1e-6) -> NormTrace:
    """Each token divided by its root mean square: no mean is subtracted, no β is added.

    x [..., d], gamma [d], 1 without it. Source: Zhang and Sennrich 2019, equation 4; eps as in LLaMA's code.
    """
    mean_square = x.square().mean(-1, keepdim=True)  # [..., 1]
    return normalize_with(x, torch.zeros_like(mean_square), mean_square, gamma, None, eps)


def batch_norm(
    x: Tensor, gamma: Tensor | None = None, beta: Tensor | None = None, eps: float = 1e-5
) -> NormTrace:
    """Each feature on its own: mean 0 and variance 1 over all tokens of the batch, then γ and β.

    x [..., d] with at least one axis before d; gamma and beta [d]. This is its training mode; in inference
    `normalize_with` uses running averages instead. With a single token the variance is 0 and nothing but β is
    left (PyTorch raises there). Raises ValueError for a single vector [d].
    Source: Ioffe and Szegedy 2015, algorithm 1.
    """
    if x.dim() < 2:
        raise ValueError("batch_norm needs a batch: at least one axis before the features")
    tokens = tuple(range(x.dim() - 1))
    mean = x.mean(tokens, keepdim=True)  # [1, …, 1, d]
    variance = x.var(tokens, correction=0, keepdim=True)  # [1, …, 1, d]
    return normalize_with(x, mean, variance, gamma, beta, eps)


def normalize_with(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    eps: float = 1e-5,
) -> NormTrace:
    """γ (x − mean) / √(variance + eps) + β, with a mean and a variance from anywhere.

    Both broadcast with x [..., d]; gamma and beta [d].
    """
    normalized = (x - mean) / (variance + eps).sqrt()  # [..., d]
    scaled = normalized if gamma is None else normalized * gamma  # [..., d]
    output = scaled if beta is None else scaled + beta  # [..., d]
    return NormTrace(mean, variance, normalized, output)


def running_average(old: Tensor, new: Tensor, momentum: float = 0.1) -> Tensor:
    """(1 − momentum) · old + momentum · new: what BatchNorm remembers of its batches for inference.

    For the variance PyTorch feeds the unbiased one in, n/(n − 1) times that of `batch_norm`.
    """
    return (1 - momentum) * old + momentum * new


def moments(x: Tensor) -> Moments:
    """Mean and variance of each token over its features, and of each feature over all tokens. x [..., d]."""
    flat = x.flatten(0, -2)  # [tokens, d]
    token_mean = x.mean(-1)  # [...]
    token_variance = x.var(-1, correction=0)  # [...]
    feature_mean = flat.mean(0)  # [d]
    feature_variance = flat.var(0, correction=0)  # [d]
    return Moments(token_mean, token_variance, feature_mean, feature_variance)
