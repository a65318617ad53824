"""Two stacks of 48 blocks, forward and backward: the computation alone, the page's answer, and the answer again."""

from __future__ import annotations

import asyncio
import time
from statistics import median

import torch

from bench.client import Reply, run_apart, session
from bench.report import Row, of_samples
from bench.sessions import checked
from core.block.depth import DepthSettings, depth_experiment
from tests.serving import Server

LAYERS, WIDTH = 48, 64
SLIDER = "Layers"
QUERY = f"lang=en&layers={LAYERS - 1}&width={WIDTH}"
LIMIT = 1.0  # s for both stacks, on two cores


def depth_rows(server: Server, repeats: int = 7) -> list[Row]:
    """The slider reaches 48 layers with a seed that nobody had before; then it goes away and comes back."""
    computed = [computation(seed) for seed in range(repeats + 1)][
        1:
    ]  # the first also loads PyTorch's kernels
    run_apart(to_48(server, seed=100))
    pairs = [run_apart(to_48(server, seed=101 + n)) for n in range(repeats)]
    size = f"2 × {LAYERS} layers, width {WIDTH}, 32 tokens"
    return [
        of_samples(f"{size}: forward and backward", computed, "s", target=LIMIT),
        of_samples(
            "  the page answers",
            [first.seconds for first, _ in pairs],
            "s",
            yardstick=median(computed),
            yardstick_name="computation alone",
            target=LIMIT,
        ),
        of_samples(
            "  and again, from the cache", [second.seconds for _, second in pairs], "s", target=LIMIT / 10
        ),
    ]


def computation(seed: int) -> float:
    """Seconds of both experiments on one thread, as the app runs them."""
    torch.set_num_threads(1)
    started = time.perf_counter()
    for place in ("pre", "post"):
        depth_experiment(DepthSettings(place, n_layers=LAYERS, d_model=WIDTH, seeds=(seed,)))
    return time.perf_counter() - started


async def to_48(server: Server, seed: int) -> tuple[Reply, Reply]:
    """The first and the second time that a reader's slider comes to 48 layers, pictures and words included."""
    async with session(server.url, "residual", f"{QUERY}&seed={seed}") as reader:
        checked(reader.first)
        await asyncio.sleep(0.3)
        first = checked(await reader.move(SLIDER, 1))
        await asyncio.sleep(0.1)
        checked(await reader.move(SLIDER, -1))
        await asyncio.sleep(0.1)
        return first, checked(await reader.move(SLIDER, 1))
