"""The three charts of the residual page: length, gradient and likeness by layer, A and B in each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, curves
from ui.figures.residual import QUANTITIES, SIDES, name_of
from ui.result import Result
from ui.words import Words

HEIGHT = 268
# Where the values of a stack that behaves lie; an axis is widened only where one does not, so that it stays put
# while a slider moves.
CALM = {"norm": (0, 3), "gradient": (-2, 1)}  # powers of ten
STEP = 3  # by so many powers of ten an axis is widened
DEPTHS = (12, 24, 48)  # ends of the layer axis
LIKENESS = (-0.05, 1.15)  # room above 1 for the marker's label
COMPARED = (-1, 1)  # powers of ten for B ÷ A


def charts(result: Result, words: Words, layer: int | None) -> dict[str, Chart]:
    """One chart for each quantity; `layer` is marked. Values that are not finite, and zeros, have no point."""
    return {name: _chart(name, result, words, layer) for name in QUANTITIES}


def _chart(name: str, result: Result, words: Words, layer: int | None) -> Chart:
    lines = [curve(name_of(side, result, words), name, getattr(result.facts[side], name)) for side in SIDES]
    shown = layer is not None and layer <= result.parameters["layers"]
    return curves(
        np.arange(0),
        lines,
        layer_axis(result.parameters["layers"], words),
        value_axis(name, lines, words),
        marker=Marker(words.plain("chart.marker", layer=layer), layer) if shown else None,
        height=HEIGHT,
        stacked=long(lines),
    )


def compared(result: Result, words: Words, layer: int | None) -> dict[str, Chart]:
    """How B compares with A by layer: ratios on logarithmic axes, the difference of the cosines as it is."""
    return {f"compared {name}": _compared(name, result, words, layer) for name in QUANTITIES}


def _compared(name: str, result: Result, words: Words, layer: int | None) -> Chart:
    title, same = words.plain(f"axis.compared_{name}"), float(name != "similarity")
    line = curve(title, name, result.values(name)[2])
    across = layer_axis(result.parameters["layers"], words)
    up = Axis(title, (-1.1, 1.1), ticks=(-1, -0.5, 0, 0.5, 1), format=".2~f")
    shown = layer is not None and layer <= result.parameters["layers"]
    return curves(
        np.array(across.limits, dtype=float),
        [line],
        across,
        up if name == "similarity" else powers_axis(title, *powers(COMPARED, [line.y])),
        guides=[Guide("", np.full(2, same))],
        marker=Marker(words.plain("chart.marker", layer=layer), layer) if shown else None,
        height=HEIGHT - 40,
    )


def compared_summary(name: str, result: Result, words: Words) -> str:
    """One chart of differences in one line of plain text."""
    values = result.values(name)[2]
    told = {"first": float(values[0]), "last": float(values[-1]), "layers": result.parameters["layers"]}
    return words.plain("chart.compared_summary", what=words.plain(f"axis.compared_{name}"), **told)


def long(lines: Sequence[Curve]) -> bool:
    """Whether the names are too long to stand beside each other over a third of the page; Chinese is twice as wide."""
    return sum(1 + (sign > "\u2e7f") for line in lines for sign in line.name) > 34


def curve(label: str, name: str, values: np.ndarray, low=None, high=None) -> Curve:
    """The values [L] or [L + 1] over their layers, without those that a chart cannot show."""
    layers = np.arange(len(values)) + (name == "gradient")
    good = np.isfinite(values) & ((values > 0) | (name == "similarity"))
    band = [None if edge is None else edge[good] for edge in (low, high)]
    return Curve(label, values[good], *band, x=layers[good])


def layer_axis(layers: int, words: Words) -> Axis:
    """From 0 to the smallest of a few ends that holds all layers."""
    end = next(depth for depth in DEPTHS if layers <= depth)
    return Axis(words.plain("axis.layer"), (0, end), ticks=tuple(range(0, end + 1, end // 6)))


def value_axis(name: str, lines: Sequence[Curve], words: Words) -> Axis:
    """Logarithmic for lengths and gradients; likeness has its own fixed ends."""
    title = words.plain(f"axis.{name}")
    if name == "similarity":
        return Axis(title, LIKENESS, ticks=(0, 0.25, 0.5, 0.75, 1), format=".2~f")
    return powers_axis(title, *powers(CALM[name], [line.y for line in lines]))


def powers_axis(title: str, low: int, high: int) -> Axis:
    """A logarithmic axis between two powers of ten, with a label for each, or for every few of them."""
    every = max(1, math.ceil((high - low) / 6))
    ticks = tuple(10.0**power for power in range(low, high + 1, every))
    return Axis(
        title, (10.0**low, 10.0**high), log=10, ticks=ticks, format="~g" if low >= -4 and high <= 5 else "~e"
    )


def powers(calm: tuple[int, int], values: Sequence[np.ndarray]) -> tuple[int, int]:
    """The powers of ten between which an axis holds all values: the calm ones, widened in steps."""
    low, high = calm
    joined = np.concatenate([*values, [10.0**low, 10.0**high]])
    while joined.min() < 10.0**low:
        low -= STEP
    while joined.max() > 10.0**high:
        high += STEP
    return low, high


def chart_summary(name: str, result: Result, words: Words) -> str:
    """One chart in one line of plain text."""
    ends = {}
    for side in SIDES:
        values = getattr(result.facts[side], name)
        ends |= {f"first_{side}": float(values[0]), f"last_{side}": float(values[-1])}
    return words.plain(
        "chart.summary", what=words.plain(f"axis.{name}"), layers=result.parameters["layers"], **ends
    )


def pointed(label: str, name: str, x: float, result: Result, words: Words) -> tuple[str, int, int] | None:
    """The cell behind a point of a chart, given the point's series and layer; None for a point that is not there."""
    names = [name_of(side, result, words) for side in SIDES]
    column = int(x) - (name == "gradient")
    if label not in names or not 0 <= column < result.values(name).shape[1]:
        return None
    return (name, names.index(label), column)
