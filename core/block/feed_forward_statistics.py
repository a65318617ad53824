"""What an activation did to the hidden numbers, and the shapes of the activations themselves in a few numbers."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from core.block.feed_forward import ACTIVATIONS, DERIVATIVES, FeedForwardTrace, gelu, gelu_tanh


@dataclass(frozen=True)
class HiddenStatistics:
    """Counts over the hidden numbers of a layer."""

    count: int  # tokens · d_ff
    negative: int  # below 0 before the activation
    zeros: int  # exactly 0 after it
    silent: int  # units that are exactly 0 for every token
    smallest: float  # after the activation


@dataclass(frozen=True)
class Extreme:
    """Where a function is smallest or largest, on a grid."""

    at: float
    value: float


@dataclass(frozen=True)
class Shape:
    """One activation in three numbers."""

    lowest: Extreme  # of the function
    steepest: Extreme  # of its derivative
    flattest: Extreme  # of its derivative


def describe_hidden(trace: FeedForwardTrace) -> HiddenStatistics:
    """Counts for one layer, trace.before and trace.hidden [T, d_ff]."""
    zero = trace.hidden == 0  # [T, d_ff]
    return HiddenStatistics(
        count=zero.numel(),
        negative=int((trace.before < 0).sum()),
        zeros=int(zero.sum()),
        silent=int(zero.all(0).sum()),
        smallest=float(trace.hidden.min()),
    )


def describe_activation(name: str) -> Shape:
    """The extremes of an activation and its derivative on a grid of 0.001 from −8 to 8."""
    z = torch.linspace(-8, 8, 16001, dtype=torch.float64)  # [N]
    value, slope = ACTIVATIONS[name](z), DERIVATIVES[name](z)  # [N]
    lowest, steepest, flattest = int(value.argmin()), int(slope.argmax()), int(slope.argmin())
    return Shape(
        *(
            Extreme(float(z[n]), float(y[n]))
            for n, y in ((lowest, value), (steepest, slope), (flattest, slope))
        )
    )


def largest_gap(
    one: Callable[[Tensor], Tensor] = gelu, other: Callable[[Tensor], Tensor] = gelu_tanh
) -> Extreme:
    """Where two activations differ most on that grid, and by how much; the two GELUs unless others are given."""
    z = torch.linspace(-8, 8, 16001, dtype=torch.float64)  # [N]
    gap = (one(z) - other(z)).abs()  # [N]
    most = int(gap.argmax())
    return Extreme(float(z[most]), float(gap[most]))
