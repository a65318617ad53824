"""The gradients of a feed-forward layer as PyTorch's automatic differentiation finds them."""

import torch
from torch import Tensor

from core.block.feed_forward import FeedForwardGradients, feed_forward


def autograd_gradients(
    x: Tensor,
    w1: Tensor,
    b1: Tensor,
    w2: Tensor,
    b2: Tensor,
    grad_output: Tensor,
    activation: str = "relu",
) -> FeedForwardGradients:
    """∂L/∂ of everything from the forward pass alone. Shapes as in `feed_forward`; grad_output [..., d]."""
    x, w1, b1, w2, b2 = (value.detach().clone().requires_grad_() for value in (x, w1, b1, w2, b2))
    trace = feed_forward(x, w1, b1, w2, b2, activation)
    wanted = (b2, w2, trace.hidden, trace.before, b1, w1, x)
    return FeedForwardGradients(*torch.autograd.grad(trace.output, wanted, grad_output))
