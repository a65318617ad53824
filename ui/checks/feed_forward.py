"""The feed-forward page against PyTorch: its activations, nn.Linear, autograd, and SwiGLU and experts from modules."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.block.experts import mixture
from core.block.feed_forward import DERIVATIVES, feed_forward, feed_forward_backward, swiglu, swiglu_width
from core.block.toy_feed_forward import ToyFeedForward, toy_experts, toy_swiglu
from ui.checks.check import Check, largest_difference
from ui.figures.feed_forward import layer_of
from ui.result import Result

PYTORCHS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda z: functional.gelu(z, approximate="tanh"),
    "silu": functional.silu,
}


def linear_with(weight: Tensor, bias: Tensor | None = None) -> nn.Linear:
    """PyTorch's linear layer with given numbers; it keeps its weight transposed, [out, in]."""
    layer = nn.Linear(*weight.shape, bias=bias is not None, dtype=weight.dtype)
    layer.weight = nn.Parameter(weight.mT.clone())
    if bias is not None:
        layer.bias = nn.Parameter(bias.clone())
    return layer


def by_pytorch(x: Tensor, weights: ToyFeedForward, act: str) -> tuple[Tensor, Tensor]:
    """Hidden numbers and output from two nn.Linear and PyTorch's activation."""
    up, down = linear_with(weights.w1, weights.b1), linear_with(weights.w2, weights.b2)
    hidden = PYTORCHS[act](up(x))
    return hidden.detach(), down(hidden).detach()


def gradients_by_pytorch(x: Tensor, weights: ToyFeedForward, act: str) -> tuple[Tensor, ...]:
    """Autograd through the same modules for L = ½ Σ output²: for W₁, b₁, W₂, b₂ and x."""
    up, down = linear_with(weights.w1, weights.b1), linear_with(weights.w2, weights.b2)
    x = x.clone().requires_grad_()
    loss = (down(PYTORCHS[act](up(x))) ** 2).sum() / 2
    d_up, d_b1, d_down, d_b2, d_x = torch.autograd.grad(loss, (up.weight, up.bias, down.weight, down.bias, x))
    return d_up.mT, d_b1, d_down.mT, d_b2, d_x


def derivative_by_pytorch(z: Tensor, act: str) -> Tensor:
    """The slope of PyTorch's activation at every z, by autograd."""
    z = z.clone().requires_grad_()
    return torch.autograd.grad(PYTORCHS[act](z).sum(), z)[0]


def swiglu_by_pytorch(x: Tensor, w1: Tensor, w3: Tensor, w2: Tensor) -> Tensor:
    """SwiGLU from three nn.Linear and functional.silu."""
    return linear_with(w2)(functional.silu(linear_with(w1)(x)) * linear_with(w3)(x)).detach()


def experts_by_pytorch(x: Tensor, experts, k: int) -> Tensor:
    """Mixtral's way with every expert on every token: softmax over all, k kept, divided by their sum."""
    probability = functional.softmax(linear_with(experts.router)(x), -1)
    kept = probability * functional.one_hot(probability.topk(k, -1).indices, probability.shape[-1]).sum(-2)
    gates = kept / kept.sum(-1, keepdim=True)
    each = torch.stack(
        [swiglu_by_pytorch(x, *w) for w in zip(experts.w1, experts.w3, experts.w2, strict=True)]
    )
    return torch.einsum("te,etd->td", gates, each).detach()


def feed_forward_checks(result: Result) -> tuple[Check, ...]:
    """The shown hidden numbers and output, the slopes, the backward pass, SwiGLU and a mixture on the same tokens."""
    p = result.parameters
    x, weights = layer_of(result)
    act, before = p["act"], torch.from_numpy(result.values("before"))
    hidden, output = by_pytorch(x, weights, act)
    core = feed_forward(x, weights.w1, weights.b1, weights.w2, weights.b2, act)
    back = feed_forward_backward(core, x, weights.w1, weights.w2, core.output, act)
    ours = (back.d_w1, back.d_b1, back.d_w2, back.d_b2, back.d_x)
    width = swiglu_width(p["d_model"])
    gated = toy_swiglu(p["seed"], p["d_model"], width)
    experts = toy_experts(p["seed"], p["d_model"], 8, width)
    mixed = mixture(x, experts.router, experts.w1, experts.w3, experts.w2, 2)
    slopes = DERIVATIVES[act](before), derivative_by_pytorch(before, act)
    return (
        Check(
            "ffn_output",
            largest_difference((result.values("hidden"), hidden), (result.values("output"), output)),
            by_pytorch,
        ),
        Check("ffn_slope", largest_difference(slopes), derivative_by_pytorch),
        Check(
            "ffn_backward",
            largest_difference(*zip(ours, gradients_by_pytorch(x, weights, act), strict=True)),
            gradients_by_pytorch,
        ),
        Check(
            "ffn_swiglu",
            largest_difference((swiglu(x, *gated).output, swiglu_by_pytorch(x, *gated))),
            swiglu_by_pytorch,
        ),
        Check(
            "ffn_experts",
            largest_difference((mixed.output, experts_by_pytorch(x, experts, 2))),
            experts_by_pytorch,
        ),
    )
