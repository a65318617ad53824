"""Batch after batch: the load of experts under no balancing, under the auxiliary loss, and under the bias."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.attention.toy import seeded
from core.block.balancing import Balancing, balanced_by_bias, balanced_by_loss, unbalanced
from core.block.experts import uneven_logits
from ui.cached import cached
from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, as_read, bars, curves
from ui.formulas import sum_of_products
from ui.numbers import listed, number
from ui.words import Raw, Words

BATCHES = 60
TOKENS = 256
WAYS = ("none", "loss", "bias")
LAST = 20  # batches at the end that are averaged


@dataclass(frozen=True, eq=False)
class Balanced:
    """The same batches under the three ways, and the settings."""

    ways: dict[str, Balancing]
    experts: int
    k: int
    speed: float
    alpha: float


@cached(max_entries=64, shared=True)
def compute(experts: int, k: int, favour: float, speed: float, alpha: float, seed: int) -> Balanced:
    """Sixty batches of 256 tokens whose router has favourites."""
    k = min(k, experts)
    logits = uneven_logits(BATCHES, TOKENS, experts, favour, seeded("balance", seed))
    ways = {
        "none": unbalanced(logits, k),
        "loss": balanced_by_loss(logits, k, alpha),
        "bias": balanced_by_bias(logits, k, speed),
    }
    return Balanced(ways, experts, k, speed, alpha)


def charts(balanced: Balanced, batch: int, words: Words) -> dict[str, Chart]:
    """The load in the chosen batch (from 1), and how uneven every batch was."""
    even = TOKENS * balanced.k / balanced.experts  # of each
    names = {way: words.plain(f"bal.way.{way}") for way in WAYS}
    labels = [str(e + 1) for e in range(balanced.experts)]
    loads = {names[way]: balanced.ways[way].load[batch - 1].numpy() for way in WAYS}
    x = np.arange(1, BATCHES + 1, dtype=float)
    series = [Curve(names[way], balanced.ways[way].violation.numpy()) for way in WAYS]
    most = balanced.experts / balanced.k - 1  # one expert in every choice
    return {
        "load": bars(
            labels,
            loads,
            words.plain("axis.expert"),
            Axis(words.plain("moe.axis"), (0.0, float(TOKENS))),
            guides=[Guide("", np.full(len(labels), even))],  # told above: a name would lie on the bars
        ),
        "violation": curves(
            x,
            series,
            Axis(words.plain("bal.axis.batch"), (1.0, float(BATCHES)), ticks=(1, 10, 20, 30, 40, 50, 60)),
            Axis(words.plain("bal.axis.violation"), (0.0, max(most, 0.5))),
            marker=Marker(words.plain("bal.marker", batch=batch), batch),
        ),
    }


def chart_summary(name: str, balanced: Balanced, batch: int, words: Words) -> str:
    """One chart in one line of plain text."""
    if name == "load":
        told = {way: listed(balanced.ways[way].load[batch - 1].tolist(), words.lang) for way in WAYS}
    else:
        told = {way: float(balanced.ways[way].violation[batch - 1]) for way in WAYS}
    return words.plain(f"bal.summary.{name}", batch=batch, **told)


def story(balanced: Balanced, batch: int, words: Words) -> str:
    """Both ways at work after the chosen batch, with its numbers."""
    return f"{_story_loss(balanced, batch, words)}\n\n{_story_bias(balanced, batch, words)}"


def _story_loss(balanced: Balanced, batch: int, words: Words) -> str:
    way = balanced.ways["loss"]
    load, p = way.load[batch - 1].numpy(), way.probability[batch - 1].numpy()
    f = load / load.sum()
    told = {"batch": batch, "alpha": balanced.alpha, "experts": balanced.experts}
    told |= {"sum": sum_of_products(f, p, shown=2), "value": balanced.alpha * balanced.experts * float(f @ p)}
    return words("bal.story.loss" if balanced.alpha else "bal.story.loss_off", **told)


def _story_bias(balanced: Balanced, batch: int, words: Words) -> str:
    way = balanced.ways["bias"]
    load, bias = way.load[batch - 1].numpy(), way.offset[batch - 1].numpy()
    even = float(load.mean())
    busiest, idlest = int(load.argmax()), int(load.argmin())
    told = {"batch": batch, "speed": balanced.speed, "even": Raw(as_read(even))}
    for name, e in (("busy", busiest), ("idle", idlest)):
        sign = int(np.sign(even - load[e]))
        told |= {name: e + 1, f"{name}_load": int(load[e]), f"{name}_bias": float(bias[e])}
        told[f"{name}_step"] = Raw({1: "+", 0: r"+ 0\cdot", -1: "−"}[sign] + " " + number(balanced.speed))
        told[f"{name}_after"] = Raw(number(round(float(bias[e] + sign * balanced.speed), 9)))
    if busiest == idlest:
        return words("bal.story.bias_even", **told)
    return words("bal.story.bias" if balanced.speed else "bal.story.bias_off", **told)


def notices(balanced: Balanced, batch: int, words: Words) -> list[str]:
    """How uneven it is at the end under each way, and what each way costs."""
    ways = balanced.ways
    told = {way: float(ways[way].violation[-LAST:].mean()) for way in WAYS}
    told |= {"last": LAST, "k": balanced.k, "experts": balanced.experts}
    told |= {"speed": balanced.speed, "alpha": balanced.alpha}
    told |= {"shift": round(ways["loss"].gate_shift, 12), "kept": round(ways["bias"].gate_shift, 12)}
    if balanced.k == balanced.experts:
        return [words("bal.notice.all", **told)]
    gates = "one_gate" if balanced.k == 1 else "gates" if balanced.alpha else "gates_off"
    return [words(f"bal.notice.{name}", **told) for name in ("end", gates, "scale")]
