"""Where the backward pass begins, what PyTorch's own autograd makes of it, and a misprint that is often copied."""

import torch
from torch import Tensor

from core.attention.dot_product import AttentionGradients, AttentionTrace, attention


def grad_of_sum(output: Tensor) -> Tensor:
    """∂L/∂output for L = Σ output: ones. Returns the shape of output, [..., T_q, d_v]."""
    grad_output = torch.ones_like(output)  # [..., T_q, d_v]
    return grad_output


def grad_of_one(output: Tensor, row: int, column: int) -> Tensor:
    """∂L/∂output for L = output[row, column]: a single 1. output [T_q, d_v]. Raises IndexError outside."""
    grad_output = torch.zeros_like(output)  # [T_q, d_v]
    grad_output[row, column] = 1
    return grad_output


def grad_of_squared_error(output: Tensor, target: Tensor) -> Tensor:
    """∂L/∂output for L = ½ Σ (output − target)². Both [..., T_q, d_v]."""
    grad_output = output - target  # [..., T_q, d_v]
    return grad_output


def grad_at_random(output: Tensor, generator: torch.Generator) -> Tensor:
    """Independent N(0, 1) numbers in the shape of output, as if a later layer had sent them back."""
    grad_output = torch.randn(output.shape, generator=generator, dtype=output.dtype)  # [..., T_q, d_v]
    return grad_output


def value_before(v: Tensor) -> Tensor:
    """A target for the output: at each position the value of the token before it, at the first its own.

    v [..., T, d_v]; returns the same shape. What a "previous token head" would have to give.
    """
    return torch.cat([v[..., :1, :], v[..., :-1, :]], -2)  # [..., T, d_v]


def autograd_gradients(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    grad_output: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
) -> AttentionGradients:
    """The gradients of `attention` as PyTorch's automatic differentiation finds them, from the forward pass alone.

    Shapes as in `attention`; grad_output [..., T_q, d_v].
    """
    q, k, v = (x.detach().clone().requires_grad_() for x in (q, k, v))
    trace = attention(q, k, v, mask, scale=scale)
    wanted = (v, trace.weights, trace.scaled, q, k)
    return AttentionGradients(*torch.autograd.grad(trace.output, wanted, grad_output))


def misprinted_d_scores(trace: AttentionTrace, d_weights: Tensor) -> Tensor:
    """A ⊙ (dA − dA · rowsum(A)), as some notes print softmax's backward pass. It is wrong.

    The rows of A sum to 1, so the bracket is dA − dA: no gradient ever arrives. The product belongs inside
    the sum: A ⊙ (dA − rowsum(dA ⊙ A)). d_weights [..., T_q, T_k]; returns the same shape.
    """
    a = trace.weights  # [..., T_q, T_k]
    return a * (d_weights - d_weights * a.sum(-1, keepdim=True))  # [..., T_q, T_k]
