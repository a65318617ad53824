"""The feed-forward layer: widen each token, bend it, narrow it again. Tokens do not see each other here.

Sources: Vaswani et al. 2017, equation 2; Shazeer 2020, "GLU Variants Improve Transformer", for SwiGLU.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class FeedForwardTrace:
    """Every step of one feed-forward layer."""

    before: Tensor  # [..., d_ff]  x W₁ + b₁
    hidden: Tensor  # [..., d_ff]  the activation of it
    output: Tensor  # [..., d]  hidden W₂ + b₂


@dataclass(frozen=True)
class FeedForwardGradients:
    """∂L/∂ of each quantity, in the order in which the backward pass reaches it."""

    d_b2: Tensor  # [d]
    d_w2: Tensor  # [d_ff, d]
    d_hidden: Tensor  # [..., d_ff]
    d_before: Tensor  # [..., d_ff]
    d_b1: Tensor  # [d_ff]
    d_w1: Tensor  # [d, d_ff]
    d_x: Tensor  # [..., d]


@dataclass(frozen=True)
class SwiGLUTrace:
    """Every step of one SwiGLU layer."""

    before: Tensor  # [..., d_ff]  x W₁
    gate: Tensor  # [..., d_ff]  SiLU of it
    value: Tensor  # [..., d_ff]  x W₃
    hidden: Tensor  # [..., d_ff]  gate ⊙ value
    output: Tensor  # [..., d]  hidden W₂


def relu(x: Tensor) -> Tensor:
    """x where it is positive, else 0."""
    return x.clamp(min=0)


def relu_derivative(x: Tensor) -> Tensor:
    """1 where x is positive, else 0; 0 at x = 0 itself, as in PyTorch."""
    return (x > 0).to(x.dtype)


def gelu(x: Tensor) -> Tensor:
    """x · Φ(x), with Φ the distribution function of N(0, 1). Source: Hendrycks and Gimpel 2016."""
    return x * normal_cdf(x)


def gelu_derivative(x: Tensor) -> Tensor:
    """Φ(x) + x φ(x). It dips below 0 and rises above 1."""
    density = (-(x**2) / 2).exp() / math.sqrt(2 * math.pi)  # φ(x)
    return normal_cdf(x) + x * density


def normal_cdf(x: Tensor) -> Tensor:
    """Φ(x), the share of N(0, 1) below x."""
    return (1 + torch.erf(x / math.sqrt(2))) / 2


def gelu_tanh(x: Tensor) -> Tensor:
    """The approximation of GELU that GPT-2 uses: x/2 · (1 + tanh(√(2/π)(x + 0.044715 x³)))."""
    return x / 2 * (1 + gelu_inner(x).tanh())


def gelu_tanh_derivative(x: Tensor) -> Tensor:
    """(1 + tanh u)/2 + x/2 · (1 − tanh² u) · u′, with u = √(2/π)(x + 0.044715 x³)."""
    tanh = gelu_inner(x).tanh()
    slope = math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x**2)  # u′
    return (1 + tanh) / 2 + x / 2 * (1 - tanh**2) * slope


def gelu_inner(x: Tensor) -> Tensor:
    """u = √(2/π)(x + 0.044715 x³)."""
    return math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)


def silu(x: Tensor) -> Tensor:
    """x · σ(x), also called Swish. Sources: Hendrycks and Gimpel 2016; Ramachandran et al. 2017."""
    return x * x.sigmoid()


def silu_derivative(x: Tensor) -> Tensor:
    """σ(x) (1 + x (1 − σ(x)))."""
    sigma = x.sigmoid()
    return sigma * (1 + x * (1 - sigma))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
}
DERIVATIVES: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": relu_derivative,
    "gelu": gelu_derivative,
    "gelu_tanh": gelu_tanh_derivative,
    "silu": silu_derivative,
}


def feed_forward(
    x: Tensor, w1: Tensor, b1: Tensor | None, w2: Tensor, b2: Tensor | None, activation: str = "relu"
) -> FeedForwardTrace:
    """σ(x W₁ + b₁) W₂ + b₂, for each token on its own.

    x [..., d], w1 [d, d_ff], b1 [d_ff], w2 [d_ff, d], b2 [d]; biases may be None. activation is a name of
    ACTIVATIONS: "relu", "gelu", "gelu_tanh" or "silu". Raises ValueError for another.
    Source: Vaswani et al. 2017, equation 2.
    """
    bend = activation_named(activation, ACTIVATIONS)
    before = x @ w1 if b1 is None else x @ w1 + b1  # [..., d_ff]
    hidden = bend(before)  # [..., d_ff]
    output = hidden @ w2 if b2 is None else hidden @ w2 + b2  # [..., d]
    return FeedForwardTrace(before, hidden, output)


def feed_forward_backward(
    trace: FeedForwardTrace, x: Tensor, w1: Tensor, w2: Tensor, grad_output: Tensor, activation: str = "relu"
) -> FeedForwardGradients:
    """From grad_output = ∂L/∂output [..., d] back to the weights and to x, by the chain rule.

    trace is what `feed_forward` returned for these. Gradients of weights are summed over all tokens.
    """
    derivative = activation_named(activation, DERIVATIVES)(trace.before)  # [..., d_ff]
    d_b2 = over_tokens(grad_output).sum(0)  # [d]
    d_w2 = over_tokens(trace.hidden).mT @ over_tokens(grad_output)  # [d_ff, d]
    d_hidden = grad_output @ w2.mT  # [..., d_ff]
    d_before = d_hidden * derivative  # [..., d_ff]
    d_b1 = over_tokens(d_before).sum(0)  # [d_ff]
    d_w1 = over_tokens(x).mT @ over_tokens(d_before)  # [d, d_ff]
    d_x = d_before @ w1.mT  # [..., d]
    return FeedForwardGradients(d_b2, d_w2, d_hidden, d_before, d_b1, d_w1, d_x)


def swiglu(x: Tensor, w1: Tensor, w3: Tensor, w2: Tensor) -> SwiGLUTrace:
    """(SiLU(x W₁) ⊙ x W₃) W₂: one half of the widened token decides how much of the other passes.

    x [..., d], w1 and w3 [d, d_ff], w2 [d_ff, d]; no biases, as in LLaMA. Source: Shazeer 2020, equation 6.
    """
    before = x @ w1  # [..., d_ff]
    gate = silu(before)  # [..., d_ff]
    value = x @ w3  # [..., d_ff]
    hidden = gate * value  # [..., d_ff]
    output = hidden @ w2  # [..., d]
    return SwiGLUTrace(before, gate, value, hidden, output)


def feed_forward_parameters(d: int, d_ff: int, bias: bool = True) -> int:
    """2 d d_ff weights, and d_ff + d biases: 8d² weights when d_ff = 4d."""
    return 2 * d * d_ff + (d_ff + d if bias else 0)


def swiglu_parameters(d: int, d_ff: int) -> int:
    """3 d d_ff: three matrices, so 8d² again when d_ff = 8d/3."""
    return 3 * d * d_ff


def swiglu_width(d: int, multiple_of: int = 1) -> int:
    """d_ff = 8d/3, cut to a whole number and rounded up to a multiple, as LLaMA's code does: 4096 → 11008 by 256.

    Raises ValueError for a d or a multiple below 1. Source: Shazeer 2020, section 3.1; Touvron et al. 2023.
    """
    if d < 1 or multiple_of < 1:
        raise ValueError(f"needs d ≥ 1 and a multiple ≥ 1, got {d} and {multiple_of}")
    return math.ceil((8 * d // 3) / multiple_of) * multiple_of


def over_tokens(x: Tensor) -> Tensor:
    """All leading axes made one: [..., d] → [tokens, d]."""
    return x.reshape(-1, x.shape[-1])


def activation_named(
    activation: str, among: dict[str, Callable[[Tensor], Tensor]]
) -> Callable[[Tensor], Tensor]:
    """The function of that name. Raises ValueError with the names there are."""
    if activation not in among:
        raise ValueError(f"no activation is called {activation!r}; there are {', '.join(among)}")
    return among[activation]
