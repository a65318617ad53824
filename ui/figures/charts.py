"""Curves and bars in one look: arrays and labels in, a Vega-Lite chart out; fonts and page colours come from the theme.

Streamlit gives the chart its fonts, its grid and its light or dark. Here are the choices that make two charts look
like one hand's work: colours of the series, the dashed guide, the marker, tooltips with three significant digits.

A chart is a constant description and one table. While a slider moves only the table is sent, and the browser updates
the picture instead of building it anew. `Chart.altair` is the same chart as an Altair object.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import numpy as np
import pandas as pd

from ui.numbers import number

_THEME = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
_TAKEN = 3  # the first colours of the theme stand for queries, keys and values everywhere
_GUIDE = "#8b8795"  # readable on white and on the dark page
# Letters need more contrast than lines: dark on a light page, light on a dark one.
LETTERS = {"expr": "luminance(background) > 0.5 ? '#5d596a' : '#bdb9ca'"}
_BESIDE = 10  # px from a guide to the middle of its name
_SHIFT = {"expr": "datum.shift"}
_LETTER = 7.0  # px that a Latin letter of a guide's name takes
_NARROW = 330.0  # px: the plot of a chart on a phone or of one of three in a row
_LINE = 0.09  # of a plot's height: what a name takes
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")  # so that colour is not the only mark
HEIGHT = 320


@dataclass(frozen=True)
class Axis:
    """Title and fixed limits of an axis; `ticks` places the labels, None leaves that to the chart."""

    title: str
    limits: tuple[float, float]
    log: int = 0  # base of a logarithmic axis, 0 for a linear one
    ticks: tuple[float, ...] | None = None
    format: str = ""  # of the labels, in d3's language: "~s" writes 10,000,000 as 10M


@dataclass(frozen=True, eq=False)
class Curve:
    """A named series over x, with a band from low to high where there is one; `x` where its places are its own."""

    name: str
    y: np.ndarray  # [N]
    low: np.ndarray | None = None  # [N]
    high: np.ndarray | None = None  # [N]
    x: np.ndarray | None = None  # [N]
    thin: bool = False  # a fine line without points, for what is noisy and dense
    colour: int | None = (
        None  # its place among the colours of series, where that is not its place in the list
    )


@dataclass(frozen=True, eq=False)
class Guide:
    """A dashed line to compare with: a theory or a limit. Its label stands at its right end, or where there is room."""

    label: str
    y: np.ndarray  # [N]
    at_start: bool = False  # of curves: the label at the left end


@dataclass(frozen=True)
class Marker:
    """An upright line at one x, with its label."""

    label: str
    x: float


@dataclass(frozen=True, eq=False)
class Chart:
    """A table and the Vega-Lite description of how it is drawn."""

    data: pd.DataFrame
    spec: dict[str, Any]

    def altair(self):
        """The same as an Altair chart, checked against Vega-Lite's schema; for exports and tests."""
        import altair as alt

        values = self.data.replace({np.nan: None}).to_dict("records")
        return alt.Chart.from_dict(self.spec | {"data": {"values": values}})


@cache
def series_colours() -> tuple[str, ...]:
    """The theme's colours for series, without those that stand for queries, keys and values."""
    with _THEME.open("rb") as file:
        return tuple(tomllib.load(file)["theme"]["chartCategoricalColors"][_TAKEN:])


def curves(
    x: np.ndarray,
    series: Sequence[Curve],
    x_axis: Axis,
    y_axis: Axis,
    *,
    guides: Sequence[Guide] = (),
    marker: Marker | None = None,
    height: int = HEIGHT,
    stacked: bool = False,
) -> Chart:
    """Lines with points over x, their bands, guides and a marker; `stacked` puts the legend's names under each other.

    Raises ValueError for a value that is not finite.
    """
    table = _Table()
    for curve in series:
        layer = "thin" if curve.thin else "series"
        table.add(layer, curve.name, x if curve.x is None else curve.x, curve.y, curve.low, curve.high)
    for guide in guides:
        table.add("guide", guide.label, x, guide.y)
        at, y, shift = _named_at(guide, x, series, x_axis, y_axis)
        table.add("guide start" if guide.at_start else "guide end", guide.label, at, y, shift=shift)
    if marker:
        table.add("marker", marker.label, np.array([marker.x]), np.array([y_axis.limits[1]]))
    places = [i if curve.colour is None else curve.colour for i, curve in enumerate(series)]
    colour, shape = _encodings([curve.name for curve in series], stacked, places)
    across, up = _across(x_axis), _up(y_axis)
    right = marker is not None and marker.x > sum(x_axis.limits) / 2  # its label stands where there is room
    band = {"y": up | {"field": "low"}, "y2": {"field": "high"}}
    banded = any(curve.low is not None for curve in series)
    layers = [
        *(
            [_layer("series", {"type": "area", "opacity": 0.2}, x=across, color=colour, **band)]
            if banded
            else []
        ),
        _guide_line(across, up),
        _layer("marker", {"type": "rule", "color": _GUIDE, "strokeWidth": 1.5}, x=across),
        *(
            [
                _layer(
                    "thin", {"type": "line", "strokeWidth": 1.4, "opacity": 0.8}, x=across, y=up, color=colour
                )
            ]
            if any(curve.thin for curve in series)
            else []
        ),
        _layer("series", {"type": "line", "strokeWidth": 2}, x=across, y=up, color=colour),
        *_guide_names(across, up, start=any(guide.at_start for guide in guides)),
        _layer(
            "marker",
            _text("right", -5, 8) if right else _text("left", 5, 8),
            x=across,
            y={"value": 0},
            text={"field": "name"},
        ),
        _layer(
            "series",
            {"type": "point", "filled": True, "size": 42, "opacity": 1},
            x=across,
            y=up,
            color=colour,
            shape=shape,
            tooltip=_tooltip("x_shown", x_axis.title, y_axis.title),
        ),
    ]
    return Chart(table.frame(), {"height": height, "layer": layers})


def bars(
    labels: Sequence[str],
    series: Mapping[str, np.ndarray],
    axis_title: str,
    y_axis: Axis,
    *,
    ticks: Curve | None = None,
    guides: Sequence[Guide] = (),
    height: int = HEIGHT,
) -> Chart:
    """Bars side by side for each label; `ticks` lays a short line across each group.

    Raises ValueError for a value that is not finite and for two equal labels, which a chart would merge.
    """
    if len(set(labels)) != len(labels):
        raise ValueError("two groups of bars share a label")
    x = np.array(labels, dtype=object)
    table = _Table()
    for name, values in series.items():
        table.add("series", name, x, values)
    if ticks:
        table.add("tick", ticks.name, x, ticks.y)
    for guide in guides:
        table.add("guide", guide.label, x, guide.y)
        table.add("guide end", guide.label, x[-1:], guide.y[-1:], shift=-_BESIDE)
    colour, _ = _encodings([*series, *([ticks.name] if ticks else [])])
    across = {"field": "x", "type": "nominal", "title": axis_title, "sort": list(labels)}
    few = len(labels) <= 6 or max(map(_wide, labels)) <= 4  # short enough to stand upright
    across |= {
        "axis": {"labelAngle": 0 if few else -45, "labelLimit": 45 if few else 110, "labelOverlap": False}
    }
    up, tooltip = _up(y_axis), _tooltip("x", axis_title, y_axis.title)
    beside = {"field": "name", "sort": list(series), "scale": {"paddingInner": 0.1, "domain": list(series)}}
    layers = [
        _layer("series", {"type": "bar"}, x=across, y=up, color=colour, xOffset=beside, tooltip=tooltip),
        _layer(
            "tick",
            {"type": "tick", "thickness": 3, "bandSize": 22, "opacity": 1},
            x=across,
            y=up,
            color=colour,
            tooltip=tooltip,
        ),
        _guide_line(across, up),
        *_guide_names(across, up),
    ]
    return Chart(table.frame(), {"height": height, "layer": layers})


class _Table:
    """All numbers of a chart under each other, with the layer that draws them."""

    def __init__(self) -> None:
        self.parts: list[pd.DataFrame] = []

    def add(
        self, layer: str, name: str, x: np.ndarray, y: np.ndarray, low=None, high=None, shift=None
    ) -> None:
        y = np.asarray(y, dtype=float)
        for values in (y, low, high):
            if values is not None and not np.isfinite(values).all():
                raise ValueError(f"{name}: a chart was given a value that is not finite")
        columns = {"layer": layer, "name": name, "x": x, "y": y, "low": low, "high": high, "shift": shift}
        shown = {"y_shown": [as_read(value) for value in y]}
        if x.dtype != object:
            shown["x_shown"] = [as_read(value) for value in x]
        self.parts.append(pd.DataFrame({k: v for k, v in (columns | shown).items() if v is not None}))

    def frame(self) -> pd.DataFrame:
        return pd.concat(self.parts, ignore_index=True)


def as_read(value: float) -> str:
    """A number as a reader sees it: Vega's own formats know no three significant digits without zeros."""
    return number(int(value) if float(value).is_integer() and abs(value) < 1e6 else float(value))


def _layer(name: str, mark: dict[str, Any], **encoding: Any) -> dict[str, Any]:
    return {
        "transform": [{"filter": f"datum.layer === '{name}'"}],
        "mark": mark | {"clip": True},
        "encoding": encoding,
    }


def _guide_line(across: dict, up: dict) -> dict[str, Any]:
    line = {"type": "line", "strokeDash": [5, 4], "strokeWidth": 1.5, "color": _GUIDE}
    return _layer("guide", line, x=across, y=up, detail={"field": "name"})


def _guide_names(across: dict, up: dict, start: bool = False) -> list[dict[str, Any]]:
    return [
        _layer("guide end", _text("right", -2, _SHIFT), x=across, y=up, text={"field": "name"}),
        *(
            [_layer("guide start", _text("left", 2, _SHIFT), x=across, y=up, text={"field": "name"})]
            if start
            else []
        ),
    ]


def _named_at(
    guide: Guide, x: np.ndarray, series: Sequence[Curve], x_axis: Axis, y_axis: Axis
) -> tuple[np.ndarray, np.ndarray, int]:
    """Where a guide's name stands, over or under its line, so that few lines run through it: x, y, shift in px."""
    at = slice(0, 1) if guide.at_start else slice(-1, None)
    end = float(_share(x[at], x_axis)[0])
    covered = np.linspace(0, _wide(guide.label) * _LETTER / _NARROW, 9) * (1 if guide.at_start else -1)

    def heights(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.interp(end + covered, _share(x, x_axis), _share(y, y_axis))

    own = heights(x, guide.y)
    drawn = [(x if c.x is None else c.x, c.y) for c in series if len(c.y)]  # all its points may be left out
    others = np.array([heights(*curve) for curve in drawn])

    def crowded(low: float, high: float, edge: float) -> float:
        outside = low < 0 or high > 1
        return 100 * outside + ((others > low) & (others < high)).sum() + 3 * abs(edge - own[0]) / _LINE

    top, bottom = own.max(), own.min()
    below = crowded(bottom - _LINE, bottom, bottom) < crowded(top, top + _LINE, top)
    y = np.interp(bottom if below else top, (0, 1), _scaled(y_axis.limits, y_axis))
    y = guide.y[at] if top == bottom else np.array([y_axis.log**y if y_axis.log else y])
    return x[at], y, _BESIDE if below else -_BESIDE


def _scaled(values: Any, axis: Axis) -> np.ndarray:
    """Values as the axis measures them; what is not above 0 has no place on a logarithmic one."""
    values = np.asarray(values, float)
    return np.log(np.maximum(values, np.finfo(float).tiny)) / np.log(axis.log) if axis.log else values


def _share(values: np.ndarray, axis: Axis) -> np.ndarray:
    """Where values stand between the limits of an axis: 0 at the lower, 1 at the upper."""
    low, high = _scaled(axis.limits, axis)
    return np.clip((_scaled(values, axis) - low) / (high - low), 0, 1)


def _text(align: str, dx: int, dy: int | dict) -> dict[str, Any]:
    return {"type": "text", "align": align, "dx": dx, "dy": dy, "color": LETTERS, "fontSize": 12}


def _encodings(
    names: Sequence[str], stacked: bool = False, places: Sequence[int] | None = None
) -> tuple[dict, dict]:
    legend = (
        {"title": None, "orient": "top", "symbolOpacity": 1, "labelLimit": 320} if len(names) > 1 else None
    )
    if legend and (stacked or len(names) > 3):  # one row would run out of a narrow chart
        legend["columns"] = 1 if stacked else 2
    colours = [series_colours()[i % len(series_colours())] for i in places or range(len(names))]
    shapes = [_SHAPES[i % len(_SHAPES)] for i in range(len(names))]
    return tuple(
        {
            "field": "name",
            "type": "nominal",
            "scale": {"domain": list(names), "range": chosen},
            "legend": legend,
        }
        for chosen in (colours, shapes)
    )


def _across(axis: Axis) -> dict[str, Any]:
    return {
        "field": "x",
        "type": "quantitative",
        "title": axis.title,
        "scale": _scale(axis),
        "axis": _ticks(axis),
    }


def _wide(text: str) -> int:
    """How wide a label is in half-widths: a Chinese character is as wide as two Latin letters."""
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def _up(axis: Axis) -> dict[str, Any]:
    return {
        "field": "y",
        "type": "quantitative",
        "title": axis.title,
        "scale": _scale(axis),
        "axis": _ticks(axis),
    }


def _scale(axis: Axis) -> dict[str, Any]:
    kind = {"type": "log", "base": axis.log} if axis.log else {"type": "linear"}
    return kind | {"domain": list(axis.limits), "nice": False, "clamp": True}


def _ticks(axis: Axis) -> dict[str, Any]:
    placed = {} if axis.ticks is None else {"values": list(axis.ticks)}
    if (
        axis.format and not axis.log
    ):  # as an expression: an axis's own format gives all labels one unit, even the 0
        placed |= {"labelExpr": f"format(datum.value, '{axis.format}')"}
    elif axis.format:
        placed |= {"format": axis.format}
    return {"labelOverlap": "greedy"} | placed


def _tooltip(x_field: str, x_title: str, y_title: str) -> list[dict[str, str]]:
    fields = {"name": " ", x_field: x_title, "y_shown": y_title}
    return [{"field": field, "type": "nominal", "title": title} for field, title in fields.items()]
