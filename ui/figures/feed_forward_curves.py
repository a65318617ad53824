"""Activations and their derivatives as curves, with a marker at the z that the reader chose."""

from __future__ import annotations

import numpy as np
import torch

from core.block.feed_forward import ACTIVATIONS, DERIVATIVES
from core.block.feed_forward_statistics import describe_activation, largest_gap
from ui.figures.charts import Axis, Chart, Curve, Marker, curves
from ui.numbers import listed, number
from ui.words import Raw, Words

ENDS = (-4.0, 3.0)  # of the axis of z
# Where the curves have their points; the one just right of 0 keeps ReLU's step upright.
GRID = np.sort(np.append(np.round(np.arange(ENDS[0], ENDS[1] + 0.01, 0.25), 2), 0.001))
KINDS = {"function": ACTIVATIONS, "slope": DERIVATIVES}
LIMITS = {"function": (-0.5, 3.0), "slope": (-0.2, 1.2)}


def at(kind: str, name: str, z: float) -> float:
    """An activation or its derivative at one z."""
    return float(KINDS[kind][name](torch.tensor(z, dtype=torch.float64)))


def charts(z: float, words: Words) -> dict[str, Chart]:
    """The functions and, on the same z, their derivatives."""
    x = torch.from_numpy(GRID)
    marker = Marker(f"z = {number(z)}", z)
    return {
        kind: curves(
            GRID,
            [Curve(words.plain(f"choice.act.{name}"), f(x).numpy()) for name, f in functions.items()],
            Axis(words.plain("curves.axis.z"), ENDS, ticks=tuple(range(-4, 4))),
            Axis(words.plain(f"curves.axis.{kind}"), LIMITS[kind]),
            marker=marker,
        )
        for kind, functions in KINDS.items()
    }


def chart_summary(kind: str, z: float, words: Words) -> str:
    """One chart in one line of plain text."""
    values = (f"{words.plain(f'choice.act.{name}')} {number(at(kind, name, z))}" for name in ACTIVATIONS)
    return words.plain(f"curves.summary.{kind}", z=z, listed=listed(values, words.lang))


def table(z: float, act: str, words: Words) -> str:
    """Every activation at the chosen z, its slope there, and its extremes."""
    lines = []
    for name in ACTIVATIONS:
        mark, shape = ("**" if name == act else ""), describe_activation(name)
        cells = [f"{mark}{words.plain(f'choice.act.{name}')}{mark}", Raw(words(f"curves.formula.{name}"))]
        cells += [number(at(kind, name, z)) for kind in KINDS]
        cells += [number(round(shape.lowest.value, 6)), number(round(shape.steepest.value, 6))]
        lines.append("| " + " | ".join(cells) + " |")
    return words("curves.table", z=z, rows=Raw("\n".join(lines)))


def notices(z: float, words: Words) -> list[str]:
    """What the curves differ in, with numbers at the chosen z."""
    gelu, silu, gap = describe_activation("gelu"), describe_activation("silu"), largest_gap()
    slopes = {name: at("slope", name, z) for name in ACTIVATIONS}
    kink = "zero" if z == 0 else "below" if z < 0 else "above"
    return [
        words(f"curves.notice.{kink}", z=z, gelu=slopes["gelu"], silu=slopes["silu"], relu=slopes["relu"]),
        words(
            "curves.notice.dip",
            gelu=gelu.lowest.value,
            gelu_at=gelu.lowest.at,
            silu=silu.lowest.value,
            silu_at=silu.lowest.at,
            steepest=gelu.steepest.value,
            steepest_at=gelu.steepest.at,
        ),
        words("curves.notice.gap", gap=gap.value, at=abs(gap.at)),
    ]
