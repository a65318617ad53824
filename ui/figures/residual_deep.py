"""Deeper and again: the gradient at the ends of stacks of many depths, and the same stack from several seeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ui.figures.charts import Axis, Chart, Curve, Guide, curves
from ui.figures.residual import QUANTITIES, SIDES, Measured, measure, name_of
from ui.figures.residual_charts import HEIGHT, curve, layer_axis, long, powers, powers_axis, value_axis
from ui.figures.residual_notices import rounding_notice
from ui.numbers import number
from ui.result import Result
from ui.words import Raw, Words

DEPTHS = (3, 6, 12, 24, 48)
ENDS = ("last", "first")
SEEDS = 5
# 24 layers, width 128, 8 sentences, first weights N(0, 1/n), seeds 0 to 4: gradients in layers 1 and 24, length and
# likeness after layer 24. A test measures it again.
REFERENCE = (
    ("pre", "0.335 [0.326–0.346]", "0.132 [0.111–0.135]", "61.2", "0.793 [0.791–0.820]"),
    ("post", "0.483 [0.333–0.856]", "0.690 [0.653–0.921]", "11.3", "> 0.99"),
    ("no_residual", "0.711 [0.269–0.785]", "1.25 [1.20–1.62]", "11.3", "> 0.99"),
    ("no_norm", "30.7 [1.85–273]", "0.656 [0.623–0.965]", "5.58×10⁶", "> 0.99"),
    ("neither", "0.0549 [0.0270–0.102]", "0.0628 [0.0188–0.115]", "0.00422", "> 0.99"),
)


@dataclass(frozen=True, eq=False)
class Sweep:
    """Gradients of each side at the first and at the last layer of stacks of `DEPTHS` layers."""

    last: dict[str, np.ndarray]  # by side, [depths]
    first: dict[str, np.ndarray]


def sweep(result: Result) -> Sweep:
    """The gradients of both sides at every depth."""
    found: dict[str, dict[str, np.ndarray]] = {end: {} for end in ENDS}
    for side in SIDES:
        runs = at_depths(side, result)
        found["last"][side] = np.array([run.gradient[-1] for run in runs])
        found["first"][side] = np.array([run.gradient[0] for run in runs])
    return Sweep(**found)


def at_depths(side: str, result: Result) -> list[Measured]:
    """One side at every depth; what was measured before comes from the cache."""
    return [measure(**result.facts["settings"][side] | {"layers": depth}) for depth in DEPTHS]


def sweep_chart(end: str, found: Sweep, result: Result, words: Words) -> Chart:
    """One end of the stack against its depth, both axes logarithmic, with 1/√L through A's value at 6 layers."""
    depths = np.array(DEPTHS, dtype=float)
    lines, guides = [], []
    for side in SIDES:
        values = getattr(found, end)[side]
        good = np.isfinite(values) & (values > 0)
        lines.append(Curve(name_of(side, result, words), values[good], x=depths[good]))
    start = getattr(found, end)["a"][1]
    if end == "last" and np.isfinite(start) and start > 0:
        guides = [Guide("1/√L", start * np.sqrt(6 / depths))]
    low, high = powers((-2, 1), [line.y for line in lines] + [guide.y for guide in guides])
    return curves(
        depths,
        lines,
        Axis(words.plain("deep.axis.depth"), (2.5, 58), log=10, ticks=DEPTHS, format="d"),
        powers_axis(words.plain(f"deep.axis.{end}"), low, high),
        guides=guides,
        height=260,
    )


def sweep_summary(end: str, found: Sweep, words: Words) -> str:
    """One chart in one line of plain text."""
    sides = {side: ", ".join(number(float(v)) for v in getattr(found, end)[side]) for side in SIDES}
    depths = ", ".join(map(str, DEPTHS))
    return words.plain("deep.summary", what=words.plain(f"deep.axis.{end}"), depths=depths, **sides)


def sweep_notices(found: Sweep, result: Result, words: Words) -> list[str]:
    """How each side's last gradient goes from 6 to 48 layers, beside √8."""
    sentences = []
    for side in SIDES:
        at_6, at_48 = (float(found.last[side][DEPTHS.index(depth)]) for depth in (6, 48))
        told = {"side": Raw(name_of(side, result, words)), "at_6": at_6, "at_48": at_48}
        if not (np.isfinite([at_6, at_48]).all() and min(at_6, at_48) > 0):
            sentences.append(words("deep.notice.broken", **told))
        elif at_6 > 1.25 * at_48:
            sentences.append(words("deep.notice.falls", ratio=at_6 / at_48, root=8**0.5, **told))
        elif at_48 > 1.25 * at_6:
            sentences.append(words("deep.notice.rises", ratio=at_48 / at_6, **told))
        else:
            sentences.append(words("deep.notice.stays", **told))
        sentences += rounding_notice(side, at_depths(side, result), result, words)
    return [*sentences, words("deep.notice.xiong")]


def again(result: Result) -> dict[str, list[Measured]]:
    """Both sides from the page's seed and the four after it."""
    return {
        side: [measure(**of | {"seed": (of["seed"] + n) % 1000}) for n in range(SEEDS)]
        for side, of in result.facts["settings"].items()
    }


def seeds_chart(name: str, runs: dict[str, list[Measured]], result: Result, words: Words) -> Chart:
    """Median and range over the seeds, by layer; layers where any of the seeds has no number are left out."""
    lines = []
    for side in SIDES:
        values = np.stack([getattr(run, name) for run in runs[side]])  # [seeds, layers]
        good = np.isfinite(values).all(0) & ((values > 0).all(0) | (name == "similarity"))  # [layers]
        low, middle, high = np.sort(np.where(good, values, np.nan), axis=0)[[0, SEEDS // 2, -1]]
        lines.append(curve(name_of(side, result, words), name, middle, low, high))
    return curves(
        np.arange(0),
        lines,
        layer_axis(result.parameters["layers"], words),
        value_axis(name, [Curve("", np.concatenate([line.low, line.high])) for line in lines], words),
        height=HEIGHT,
        stacked=long(lines),
    )


def seeds_charts(runs: dict[str, list[Measured]], result: Result, words: Words) -> dict[str, Chart]:
    """One chart for each quantity."""
    return {name: seeds_chart(name, runs, result, words) for name in QUANTITIES}


def seeds_table(runs: dict[str, list[Measured]], result: Result, words: Words) -> str:
    """Median and range at the ends of the stack, as a Markdown table."""
    layers = result.parameters["layers"]
    lines = [f"| {words('seeds.median')} | A | B |", "|:--|--:|--:|"]
    for name, place in (("gradient", 0), ("gradient", -1), ("norm", -1), ("similarity", -1)):
        cells = []
        for side in SIDES:
            values = sorted(float(getattr(run, name)[place]) for run in runs[side])
            cells.append(f"{number(values[SEEDS // 2])} [{number(values[0])}–{number(values[-1])}]")
        label = words(f"number.{name}_first" if place == 0 else f"number.{name}", layers=layers)
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def seeds_notices(runs: dict[str, list[Measured]], result: Result, words: Words) -> list[str]:
    """What all seeds agree on, and what they do not."""
    sentences = []
    for side in SIDES:
        ends = [(float(run.gradient[0]), float(run.gradient[-1])) for run in runs[side]]
        falls = sum(first > last for first, last in ends)
        key = (
            "seeds.notice.falls"
            if falls == SEEDS
            else "seeds.notice.rises"
            if falls == 0
            else "seeds.notice.mixed"
        )
        if result.parameters["layers"] == 1 or not np.isfinite(ends).all() or not np.all(np.array(ends) > 0):
            key = "seeds.notice.none"
        told = {"side": Raw(name_of(side, result, words)), "falls": falls, "seeds": SEEDS}
        sentences += [words(key, **told), *rounding_notice(side, runs[side], result, words)]
    return sentences


def reference_table(words: Words) -> str:
    """The measurement at a larger size, as a Markdown table."""
    heads = ("setting", "first", "last", "norm", "similarity")
    lines = [f"| {' | '.join(words(f'seeds.head.{head}') for head in heads)} |", "|:--|--:|--:|--:|--:|"]
    lines += [f"| {words(f'seeds.row.{name}')} | {' | '.join(cells)} |" for name, *cells in REFERENCE]
    return "\n".join(lines)
