"""The plane: grids, filled shapes and arrows on fixed, equal axes, as a Vega-Lite chart that only its table changes.

The height of the picture stands for a fixed number of units, and its width for as many units as fit, so a unit is
equally long both ways at every width of the screen and a moving slider is comparable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ui.figures.charts import Chart, as_read, series_colours

GREY = "#8b8795"  # readable on white and on the dark page
HEIGHT = 390
_LABEL_AT = 13  # px beyond the tip of an arrow, and as many sideways for each letter:
_LETTER = 4


@dataclass(frozen=True, eq=False)
class Shape:
    """A closed outline, lightly filled."""

    name: str
    points: np.ndarray  # [N, 2], the first point is also the last


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight lines, such as a grid."""

    name: str
    points: np.ndarray  # [L, P, 2]


@dataclass(frozen=True)
class Arrow:
    """From `start` to `tip`; its label stands beyond the tip."""

    name: str
    tip: tuple[float, float]
    start: tuple[float, float] = (0.0, 0.0)
    label: str | None = None  # by default the name
    aside: bool = False  # the label stands beside the tip, where other arrows run on beyond it


def plane(
    parts: Sequence[Shape | Lines | Arrow],
    colours: Mapping[str, str],
    *,
    half: float,
    legend: Sequence[str] = (),
    dashed: Sequence[str] = (),
    height: int = HEIGHT,
) -> Chart:
    """`half` units above and below the origin. `colours` by name, `dashed` the names drawn with dashes.

    Raises ValueError for a coordinate that is not finite.
    """
    rows = [row for part, drawn in enumerate(parts) for row in _rows(part, drawn, half, height)]
    data = pd.DataFrame(rows, columns=["layer", "name", "part", "order", "x", "y", "angle", "label", "read"])
    if not np.isfinite(data[["x", "y"]].to_numpy(dtype=float)).all():
        raise ValueError("the plane was given a coordinate that is not finite")
    return Chart(data, _spec(colours, half, tuple(legend), tuple(dashed), height))


def accent(place: int) -> str:
    """A colour for things on the plane, by its place among the theme's series."""
    return series_colours()[place]


def coordinates(point: Sequence[float]) -> str:
    """A point or vector as text: (1.20, −0.400)."""
    return f"({', '.join(as_read(settled(x)) for x in point)})"


def settled(value: float) -> float:
    """The value without the rounding error of a sum of a few products of tenths."""
    return round(float(value), 12) + 0.0


def _rows(part: int, drawn: Shape | Lines | Arrow, half: float, height: int) -> list[tuple]:
    if isinstance(drawn, Shape):
        return [("shape", drawn.name, str(part), i, x, y, 0, "", "") for i, (x, y) in enumerate(drawn.points)]
    if isinstance(drawn, Lines):
        return [
            ("lines", drawn.name, f"{part}.{line}", i, x, y, 0, "", "")
            for line, points in enumerate(drawn.points)
            for i, (x, y) in enumerate(points)
        ]
    return _arrow_rows(str(part), drawn, 2 * half / height)


def _arrow_rows(part: str, arrow: Arrow, unit: float) -> list[tuple]:
    """Shaft, head and label; `unit` is the length of a px. An arrow of length 0 is a dot."""
    (x0, y0), (x1, y1) = arrow.start, arrow.tip
    dx, dy = x1 - x0, y1 - y0
    length = math.hypot(dx, dy)
    # Beyond the tip; an arrow without a length gets its label to the upper right.
    sideways, upwards = (dx / length, dy / length) if length > unit else (0.7, 0.7)
    if arrow.aside:
        sideways, upwards = (
            upwards,
            -abs(sideways),
        )  # to the right of an arrow that points right, and below it
    angle = math.degrees(math.atan2(dx, dy))  # clockwise from straight up, as Vega turns its marks
    read = coordinates(arrow.tip if arrow.start == (0.0, 0.0) else (dx, dy))
    label = arrow.name if arrow.label is None else arrow.label
    at = (x1 + sideways * (_LABEL_AT + _LETTER * len(label)) * unit, y1 + upwards * _LABEL_AT * unit)
    return [
        ("shaft", arrow.name, part, 0, x0, y0, 0, "", read),
        ("shaft", arrow.name, part, 1, x1, y1, 0, "", read),
        ("head" if length > unit else "dot", arrow.name, part, 0, x1, y1, angle, "", read),
        ("label", arrow.name, part, 0, *at, 0, label, read),
    ]


def _spec(
    colours: Mapping[str, str], half: float, legend: tuple[str, ...], dashed: tuple[str, ...], height: int
) -> dict[str, Any]:
    across, up = _axis("x", half, f"{half} * width / height"), _axis("y", half, f"{half}")
    colour = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": list(colours), "range": list(colours.values())},
        "legend": {"title": None, "orient": "top", "values": list(legend), "symbolType": "square"}
        | {"symbolOpacity": 1, "symbolStrokeWidth": 0, "labelLimit": 320}
        if legend
        else None,
    }
    order = {"field": "order", "type": "quantitative"}
    one_line = {"x": across, "y": up, "color": colour, "detail": {"field": "part"}, "order": order}
    dash = {"condition": {"test": _among(dashed), "value": [5, 4]}, "value": [1, 0]}
    tooltip = [{"field": "name", "title": " "}, {"field": "read", "title": "(x₁, x₂)"}]
    tip = {"x": across, "y": up, "color": colour, "tooltip": tooltip}
    closed = {"type": "line", "interpolate": "linear-closed", "strokeJoin": "round"}
    return {
        "height": height,
        "layer": [
            _zero("x", across, up),
            _zero("y", across, up),
            _layer("lines", {"type": "line", "strokeWidth": 1, "opacity": 0.45}, **one_line),
            _layer(
                "shape",
                closed | {"filled": True, "fillOpacity": 0.25, "strokeOpacity": 0},
                **one_line,
            ),
            _layer("shape", closed | {"strokeWidth": 2}, **one_line),
            _layer("shaft", {"type": "line", "strokeWidth": 2.5}, strokeDash=dash, **one_line),
            _layer(
                "head",
                {"type": "point", "shape": "triangle", "filled": True, "size": 110, "opacity": 1},
                angle={"field": "angle", "type": "quantitative", "scale": None},
                **tip,
            ),
            _layer("dot", {"type": "point", "filled": True, "size": 70, "opacity": 1}, **tip),
            _layer(
                "label",
                {"type": "text", "fontSize": 14, "fontWeight": 600},
                x=across,
                y=up,
                color=colour,
                text={"field": "label"},
            ),
        ],
    }


def _layer(name: str, mark: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    return {
        "transform": [{"filter": f"datum.layer === '{name}'"}],
        "mark": mark | {"clip": True},
        "encoding": encoding,
    }


def _zero(which: str, across: dict, up: dict) -> dict[str, Any]:
    """The line on which the other coordinate is 0."""
    mark = {"type": "rule", "color": GREY, "strokeWidth": 1}
    datum = {"x": {"y": up | {"datum": 0}}, "y": {"x": across | {"datum": 0}}}[which]
    for channel in datum.values():
        channel.pop("field")
    return {"data": {"values": [{}]}, "mark": mark, "encoding": datum}


def _axis(field: str, half: float, end: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [{"expr": f"-({end})"}, {"expr": end}], "nice": False, "zero": False},
        "axis": {"values": list(range(-20, 21)), "grid": True, "domain": False, "ticks": False}
        | {"labelOverlap": "greedy", "labelExpr": "datum.value % 2 ? '' : format(datum.value, 'd')"},
    }


def _among(names: Sequence[str]) -> str:
    return " || ".join(f"datum.name === {name!r}" for name in names) or "false"
