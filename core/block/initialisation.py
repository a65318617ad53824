"""How the weights of blocks begin, drawn from a given generator: PyTorch's global one is never touched."""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from core.block.residual import Norm, Stack

Scheme = Literal["fan_in", "he", "xavier", "gpt2"]


def seeded_stack(
    generator: torch.Generator,
    n_layers: int,
    *sizes: int,
    init: Scheme = "fan_in",
    gain: float = 1.0,
    dtype: torch.dtype = torch.float32,
    **settings: object,
) -> Stack:
    """A `Stack` (sizes and settings are its arguments) whose numbers come from the generator alone.

    Blocks are drawn first to last, norms draw nothing: the same seed gives the same weights to every norm_place, and
    a deeper stack begins with the blocks of a shallower one (but "gpt2" scales with the depth).
    """
    with torch.device("meta"):  # shapes without numbers: nothing is drawn yet
        stack = Stack(n_layers, *sizes, **settings)
    stack = stack.to(dtype).to_empty(device="cpu")  # on "meta" a change of type costs nothing
    begin(stack, generator, init, gain, n_layers)
    return stack


def begin(
    module: nn.Module,
    generator: torch.Generator,
    init: Scheme = "fan_in",
    gain: float = 1.0,
    n_layers: int = 1,
) -> None:
    """Draw every linear layer inside anew, in place: weights by `weight_like`, biases 0; norms to γ 1, β 0.

    n_layers is read by "gpt2" only. Raises ValueError for another scheme.
    """
    with torch.no_grad():
        for name, part in module.named_modules():
            if isinstance(part, nn.Linear):
                on_stream = name.endswith(("w_o", "w2"))  # what is added to the residual stream
                part.weight.copy_(gain * weight_like(part.weight, init, on_stream, n_layers, generator))
                if part.bias is not None:
                    part.bias.zero_()
            if isinstance(part, Norm):
                part.gamma.fill_(1)
                if part.beta is not None:
                    part.beta.zero_()


def weight_like(
    weight: Tensor, init: Scheme, on_stream: bool, n_layers: int, generator: torch.Generator
) -> Tensor:
    """New numbers for one weight [out, in], in float64, with the deviation that `deviation` gives."""
    n_out, n_in = weight.shape
    scale = deviation(n_out, n_in, init, on_stream, n_layers)
    if init == "xavier":  # evenly between ±√3 · deviation, whose variance is that of the deviation
        even = torch.rand(n_out, n_in, generator=generator, dtype=torch.float64)  # [out, in]
        return (2 * even - 1) * math.sqrt(3) * scale
    return torch.randn(n_out, n_in, generator=generator, dtype=torch.float64) * scale  # [out, in]


def deviation(n_out: int, n_in: int, init: Scheme, on_stream: bool = False, n_layers: int = 1) -> float:
    """The standard deviation of the weights [out, in] under a scheme.

    "fan_in": √(1/in), which keeps a variance of 1. "he": √(2/in), as a ReLU behind the layer drops half of it (He et
    al. 2015). "xavier": √(2/(in + out)), between what keeps the signal and what keeps the gradient, drawn evenly
    (Glorot and Bengio 2010, equation 16). "gpt2": 0.02, and for the projections into the residual stream 1/√(2 · layers)
    of it, since 2 · layers of them add up (Radford et al. 2019, section 2.3). Raises ValueError for another scheme.
    """
    if init == "fan_in":
        return math.sqrt(1 / n_in)
    if init == "he":
        return math.sqrt(2 / n_in)
    if init == "xavier":
        return math.sqrt(2 / (n_in + n_out))
    if init == "gpt2":
        return 0.02 / (math.sqrt(2 * n_layers) if on_stream else 1)
    raise ValueError(f"init must be 'fan_in', 'he', 'xavier' or 'gpt2', got {init!r}")
