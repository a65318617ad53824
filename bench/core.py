"""What keeping every step costs: the core's attention beside the same steps written straight down in torch."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor

from bench.report import Row, of_samples
from core.attention.dot_product import attention
from core.attention.masks import causal

SIZES = ((1, 12, 64), (8, 128, 64), (8, 512, 64))  # heads, tokens, width of a head


def plain(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """softmax(q kᵀ/√d_k + mask) v in four lines, as anyone would write it."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v


def microseconds(call: Callable[[], object], seconds: float = 0.02) -> float:
    """Time of one call, from as many calls as fill about `seconds`."""
    started = time.perf_counter()
    call()
    once = time.perf_counter() - started
    calls = max(1, int(seconds / max(once, 1e-6)))
    started = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - started) / calls * 1e6


def core_rows(repeats: int = 15) -> list[Row]:
    """One row a size, the two ways measured in turns on one thread."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    rows = []
    for heads, tokens, width in SIZES:
        q, k, v = (torch.randn(heads, tokens, width, generator=generator) for _ in range(3))
        mask = causal(tokens)
        torch.testing.assert_close(attention(q, k, v, mask).output, plain(q, k, v, mask))
        ours, floor = [], []
        for _ in range(repeats):
            ours.append(microseconds(lambda: attention(q, k, v, mask)))  # noqa: B023
            floor.append(microseconds(lambda: plain(q, k, v, mask)))  # noqa: B023
        name = f"core attention, {heads} × {tokens} × {width}"
        rows.append(of_samples(name, ours, "µs", yardstick=median(floor), yardstick_name="plain torch"))
    return rows
