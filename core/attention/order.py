"""The order test: shuffle the tokens, attend, and see whether anything but the order has changed."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention.dot_product import AttentionTrace, attention


@dataclass(frozen=True)
class OrderTrace:
    """Attention before and after the shuffle, and how far the second is from the first rearranged."""

    permutation: tuple[int, ...]  # position i of the shuffled sentence holds token permutation[i]
    original: AttentionTrace
    shuffled: AttentionTrace
    expected_weights: Tensor  # [..., T, T]  the original weights, rows and columns rearranged
    expected_output: Tensor  # [..., T, d_v]  the original output, rows rearranged
    weights_deviation: float  # largest |shuffled − expected|: 0 up to rounding when order is invisible
    output_deviation: float


@dataclass(frozen=True)
class PutBack:
    """What a shuffle changed, token by token."""

    back: Tensor  # every token of the shuffled values at its old position
    difference: Tensor  # back − the original: 0 up to rounding where the order is invisible


def shuffled(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    permutation: Sequence[int],
    mask: Tensor | None = None,
    *,
    scale: float | None = None,
    bias: Tensor | None = None,
) -> OrderTrace:
    """Self-attention of the tokens in a new order, against the original in that order.

    q, k [..., T, d_k], v [..., T, d_v]. Mask and bias belong to the positions, not to the tokens, and stay:
    without them, attention is permutation-equivariant and both deviations are 0 up to rounding; a causal
    mask or a bias by distance lets the order show. Raises ValueError if permutation is not one of 0..T−1.
    """
    tokens = q.shape[-2]
    if sorted(permutation) != list(range(tokens)):
        raise ValueError(f"permutation must hold each of 0..{tokens - 1} once, got {list(permutation)}")
    p = torch.tensor(list(permutation))  # [T]
    before = attention(q, k, v, mask, scale=scale, bias=bias)
    after = attention(q[..., p, :], k[..., p, :], v[..., p, :], mask, scale=scale, bias=bias)
    weights = before.weights[..., p, :][..., p]  # [..., T, T]
    output = before.output[..., p, :]  # [..., T, d_v]
    return OrderTrace(
        permutation=tuple(permutation),
        original=before,
        shuffled=after,
        expected_weights=weights,
        expected_output=output,
        weights_deviation=float((after.weights - weights).abs().max()),
        output_deviation=float((after.output - output).abs().max()),
    )


def complete(order: Sequence[int], tokens: int) -> tuple[int, ...]:
    """A permutation of 0..tokens−1 that begins as `order` does; what it leaves out follows in its own order.

    Numbers outside 0..tokens−1 and repetitions are passed over.
    """
    wanted = dict.fromkeys(i for i in order if 0 <= i < tokens)
    return (*wanted, *(i for i in range(tokens) if i not in wanted))


def at_random(tokens: int, generator: torch.Generator) -> tuple[int, ...]:
    """A permutation of 0..tokens−1, each as likely as any other."""
    return tuple(torch.randperm(tokens, generator=generator).tolist())


def put_back(values: Tensor, permutation: Sequence[int], dims: Sequence[int]) -> Tensor:
    """Undo a shuffle along each of `dims`: what stands at position i returns to position permutation[i]."""
    back = torch.tensor(list(permutation)).argsort()  # [T]
    for dim in dims:
        values = values.index_select(dim, back)
    return values


def changed_by_order(
    before: Tensor, after: Tensor, permutation: Sequence[int], dims: Sequence[int]
) -> PutBack:
    """Shuffled weights or outputs against the original ones; `dims` are those that the shuffle rearranged."""
    back = put_back(after, permutation, dims)
    difference = back - before
    return PutBack(back, difference)
