"""What one layer costs: work, steps that must wait for each other, and the longest way between two tokens.

Source: Vaswani et al. 2017, table 1. The formulas are orders of growth: constants are left out.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerCost:
    """One row of the table: the numbers for given sizes, and the formulas they come from."""

    kind: str  # self_attention, recurrent, convolution, restricted
    work: int  # multiply-adds
    sequential: int  # steps that cannot run at once
    path: int  # layers or steps that a signal passes between the two tokens farthest apart
    work_formula: str
    sequential_formula: str
    path_formula: str


def layer_costs(n: int, d: int, kernel: int = 3, neighbourhood: int = 64) -> tuple[LayerCost, ...]:
    """The four rows of the table for n tokens of width d.

    kernel is the convolution's k, at least 2; its path counts dilated layers, log_k n of them (without
    dilation n/k). neighbourhood is the r keys that restricted attention looks at; more than n are as
    n. Numbers are rounded up. Raises ValueError for a size below 1 or a kernel below 2.
    """
    if min(n, d, neighbourhood) < 1 or kernel < 2:
        raise ValueError(f"sizes must be at least 1 and kernel 2, got {n}, {d}, {neighbourhood} and {kernel}")
    k, r = kernel, min(neighbourhood, n)
    return (
        LayerCost("self_attention", n * n * d, 1, 1, "n²·d", "1", "1"),
        LayerCost("recurrent", n * d * d, n, n, "n·d²", "n", "n"),
        LayerCost("convolution", k * n * d * d, 1, dilated_layers(n, k), "k·n·d²", "1", "log_k n"),
        LayerCost("restricted", r * n * d, 1, -(-n // r), "r·n·d", "1", "n/r"),
    )


def dilated_layers(n: int, kernel: int) -> int:
    """How many layers with dilations 1, k, k², … until one token can reach n: log_k n, rounded up, at least 1."""
    layers, reached = 1, kernel
    while reached < n:  # counted, not by logarithms: log(125, 5) is slightly more than 3 in floating point
        layers, reached = layers + 1, reached * kernel
    return layers


def cheaper_than_recurrent(n: int, d: int) -> bool:
    """Self-attention does less work than a recurrent layer while the sentence is shorter than d."""
    return n < d
