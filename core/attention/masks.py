"""Attention masks: bool tensors, True = may attend; queries on the rows, keys on the columns.

This is the convention of torch.nn.functional.scaled_dot_product_attention. The masks given to
torch.nn.MultiheadAttention and torch.nn.Transformer mean the opposite (True = blocked): negate there.
"""

from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor


def causal(t: int) -> Tensor:
    """Each token sees itself and the past. Returns [t, t], t(t + 1)/2 pairs (Vaswani et al. 2017, 3.2.3)."""
    return distance_back(t) >= 0  # [t, t]


def padding(lengths: Sequence[int] | Tensor, t: int) -> Tensor:
    """Only the first lengths[b] keys of sentence b are real. Returns [B, 1, t], the same for every query.

    The same mask serves cross-attention, where t is the length of the keys. It hides no future:
    a decoder needs combine(causal(t), padding(lengths, t)), which is [B, t, t].
    Raises ValueError for a length outside 0..t.
    """
    lengths = torch.as_tensor(lengths)  # [B]
    if lengths.numel() and not 0 <= int(lengths.min()) <= int(lengths.max()) <= t:
        raise ValueError(f"lengths must lie in 0..{t}, got {lengths.tolist()}")
    return torch.arange(t) < lengths[:, None, None]  # [B, 1, t]


def prefix_lm(t: int, prefix: int) -> Tensor:
    """Everyone sees the first `prefix` tokens, which also see each other; the rest is causal.

    Returns [t, t]. Raises ValueError for a prefix outside 0..t.
    Source: Raffel et al. 2020 (T5), figure 3.
    """
    if not 0 <= prefix <= t:
        raise ValueError(f"prefix must lie in 0..{t}, got {prefix}")
    return causal(t) | (torch.arange(t) < prefix)  # [t, t]


def sliding_window(t: int, window: int, causal: bool = True) -> Tensor:
    """Each token sees its neighbourhood only, whatever t is: about t · window pairs. Returns [t, t].

    Causal: the `window` keys that end with itself. Two-sided: itself and window // 2 keys on each
    side, `window` in all when it is odd. After L layers a token has been reached by L(window − 1) + 1.
    Raises ValueError for a window below 1. Sources: Jiang et al. 2023 (Mistral), Beltagy et al. 2020.
    """
    return dilated(t, window, 1, causal)  # [t, t]


def dilated(t: int, window: int, dilation: int, causal: bool = True) -> Tensor:
    """A sliding window with gaps: as many keys, `dilation` apart, so it reaches further. Returns [t, t].

    Raises ValueError for a window or a dilation below 1. Source: Beltagy et al. 2020, figure 2c.
    """
    each_at_least_one(window=window, dilation=dilation)
    back = distance_back(t)  # [t, t]
    near = (back >= 0) & (back < window * dilation) if causal else back.abs() <= window // 2 * dilation
    return near & (back % dilation == 0)  # [t, t]


def longformer(t: int, window: int, global_positions: Sequence[int]) -> Tensor:
    """A two-sided window, and a few global tokens that see all and are seen by all. Returns [t, t].

    Raises ValueError for a window below 1 or a position outside 0..t−1.
    Source: Beltagy et al. 2020, figure 2d.
    """
    if any(not 0 <= p < t for p in global_positions):
        raise ValueError(f"global positions must lie in 0..{t - 1}, got {list(global_positions)}")
    is_global = torch.zeros(t, dtype=torch.bool)  # [t]
    is_global[list(global_positions)] = True
    return sliding_window(t, window, causal=False) | is_global[:, None] | is_global[None, :]  # [t, t]


def bigbird(t: int, window: int, n_global: int, n_random: int, generator: torch.Generator) -> Tensor:
    """Longformer's pattern (the first n_global tokens global) and n_random more keys for each query.

    Returns [t, t]. The random keys are drawn among those not yet seen, all of them if fewer are left;
    the pairs stay O(t) for fixed window, n_global and n_random. The paper works in blocks of tokens,
    this in single ones. Raises ValueError for a window below 1 or a number outside 0..t.
    Source: Zaheer et al. 2020, figure 1.
    """
    if not (0 <= n_global <= t and 0 <= n_random <= t):
        raise ValueError(f"n_global and n_random must lie in 0..{t}, got {n_global} and {n_random}")
    seen = longformer(t, window, range(n_global))  # [t, t]
    lottery = torch.rand(t, t, generator=generator).masked_fill(seen, -1.0)  # [t, t]  seen keys come last
    drawn = lottery.topk(n_random, dim=-1).indices  # [t, n_random]
    return seen.scatter(-1, drawn, True)  # [t, t]


def strided(t: int, stride: int) -> Tensor:
    """Causal: the last `stride` tokens, and every stride-th before them. Returns [t, t].

    With a stride near √t two layers reach everything at about t·√t pairs. The paper may give the two
    halves to two heads; this is their union. Raises ValueError for a stride below 1.
    Source: Child et al. 2019 (Sparse Transformer), section 4.3, strided attention.
    """
    each_at_least_one(stride=stride)
    back = distance_back(t)  # [t, t]
    return (back >= 0) & ((back < stride) | (back % stride == 0))  # [t, t]


def fixed(t: int, stride: int, summary: int = 1) -> Tensor:
    """Causal: one's own block of `stride` tokens, and the last `summary` tokens of every block before.

    Returns [t, t]. Raises ValueError for a stride or summary below 1.
    Source: Child et al. 2019 (Sparse Transformer), section 4.3, fixed attention.
    """
    each_at_least_one(stride=stride, summary=summary)
    block = torch.arange(t) // stride  # [t]
    is_summary = torch.arange(t) % stride >= stride - summary  # [t]
    return causal(t) & ((block[:, None] == block) | is_summary)  # [t, t]


def combine(*masks: Tensor | None) -> Tensor | None:
    """May attend only where every mask says so; None stands for no mask, alone too. Shapes broadcast."""
    given = [mask for mask in masks if mask is not None]
    return reduce(torch.logical_and, given) if given else None


def kept_pairs(mask: Tensor) -> int:
    """How many (query, key) pairs the mask, of the shape it has, lets through."""
    return int(mask.sum())


def reach(mask: Tensor, layers: int) -> Tensor:
    """Which inputs [j] can have influenced which outputs [i] after so many layers with this mask.

    mask [..., t, t] for one layer; residual connections let every token reach itself as well.
    Returns bool [..., t, t]. Raises ValueError for layers below 1.
    """
    each_at_least_one(layers=layers)
    step = mask | torch.eye(mask.shape[-1], dtype=torch.bool)  # [..., t, t]
    reached = step
    for _ in range(layers - 1):
        reached = (step.float() @ reached.float()) > 0  # [..., t, t]  a path of one more step
    return reached


def distance_back(t: int) -> Tensor:
    """i − j: how far behind query i the key j lies, negative in the future. Returns [t, t]."""
    position = torch.arange(t)
    return position[:, None] - position  # [t, t]


def each_at_least_one(**values: int) -> None:
    """Raise a ValueError that names the first value below 1."""
    for name, value in values.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
