"""Curves and bars: what is given arrives, the look is one, and Vega-Lite's own schema accepts every chart."""

import json
import re

import numpy as np
import pytest

from ui.chart_image import svgs
from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, as_read, bars, curves, series_colours

X = np.array([1.0, 2, 4, 8])
X_AXIS = Axis("d_k", (1, 8), log=2, ticks=(1, 8))
Y_AXIS = Axis("entropy", (0, 3))


def some_curves() -> Chart:
    series = [
        Curve("plain", np.array([1, 2, 2.5, 1 / 3]), np.array([0.5, 1, 2, 0]), np.array([2, 3, 3, 1])),
        Curve("scaled", np.array([1, 1, 1, 1])),
    ]
    guides = [Guide("limit", np.full(4, 2.8))]
    return curves(X, series, X_AXIS, Y_AXIS, guides=guides, marker=Marker("here", 4))


def some_bars() -> Chart:
    series = {"a": np.array([0.1, 0.9]), "b": np.array([0.5, 0.5])}
    mean = Curve("mean", np.array([0.3, 0.7]))
    return bars(
        ["1 the", "2 the"],
        series,
        "keys",
        Axis("weight", (0, 1)),
        ticks=mean,
        guides=[Guide("1", np.ones(2))],
    )


@pytest.mark.parametrize("make", [some_curves, some_bars], ids=["curves", "bars"])
def test_a_chart_is_accepted_by_the_schema_and_serialises(make):
    written = json.loads(make().altair().to_json())
    assert len(written["layer"]) == len(make().spec["layer"])
    assert len(next(iter(written["datasets"].values()))) == len(make().data)


def test_curves_carry_their_numbers():
    data = some_curves().data
    plain = data[(data.layer == "series") & (data.name == "plain")]
    assert plain.x.tolist() == X.tolist()
    assert plain.y.tolist() == [1, 2, 2.5, 1 / 3]
    assert plain.low.tolist() == [0.5, 1, 2, 0]
    assert plain.y_shown.tolist() == ["1", "2", "2.50", "0.333"]
    assert data[data.layer == "marker"].x.tolist() == [4]
    assert data[data.layer == "guide"].y.tolist() == [2.8] * 4


def layers_with(chart: Chart, mark: str) -> list[dict]:
    return [layer for layer in chart.spec["layer"] if layer["mark"]["type"] == mark]


def test_scales_are_fixed_and_titled():
    for layer in some_curves().spec["layer"]:
        x = layer["encoding"]["x"]
        assert (x["title"], x["scale"]["domain"], x["scale"]["type"]) == ("d_k", [1, 8], "log")
    (line,) = [layer for layer in layers_with(some_curves(), "line") if "strokeDash" not in layer["mark"]]
    assert line["encoding"]["y"]["scale"]["domain"] == [0, 3]
    assert line["encoding"]["y"]["title"] == "entropy"


def test_bands_are_drawn_only_where_there_are_some():
    without = curves(X, [Curve("only", np.ones(4))], X_AXIS, Y_AXIS)
    assert layers_with(some_curves(), "area")
    assert not layers_with(without, "area")
    assert without.spec["layer"][-1]["encoding"]["color"]["legend"] is None


def test_series_never_wear_the_colours_of_queries_keys_and_values():
    (points,) = layers_with(some_curves(), "point")
    used = points["encoding"]["color"]["scale"]["range"]
    assert used == list(series_colours()[:2])
    assert not {"#0072b2", "#d55e00", "#009e73"} & set(series_colours())
    assert len(set(points["encoding"]["shape"]["scale"]["range"])) == 2


def test_groups_of_bars_keep_their_order_and_twins_stay_two():
    chart = some_bars()
    (drawn,) = layers_with(chart, "bar")
    assert drawn["encoding"]["x"]["sort"] == ["1 the", "2 the"]
    assert chart.data[chart.data.layer == "tick"].y.tolist() == [0.3, 0.7]


def test_what_would_be_drawn_wrongly_is_refused():
    with pytest.raises(ValueError, match="share a label"):
        bars(["the", "the"], {"a": np.ones(2)}, "keys", Y_AXIS)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="finite"):
            curves(X, [Curve("a", np.array([1, 2, 3, bad]))], X_AXIS, Y_AXIS)


@pytest.mark.parametrize(
    ("value", "text"), [(1024.0, "1,024"), (0.00012345, "1.23×10⁻⁴"), (8.0, "8"), (-0.5, "−0.500")]
)
def test_tooltips_have_three_significant_digits(value, text):
    assert as_read(value) == text


@pytest.mark.parametrize(
    ("labels", "upright"),
    [
        ([str(n + 1) for n in range(16)], True),
        ([f"{n + 1} the" for n in range(6)], True),
        ([f"{n + 1} the" for n in range(7)], False),
    ],
)
def test_labels_of_bars_stand_upright_where_they_have_room(labels, upright):
    chart = bars(labels, {"a": np.ones(len(labels))}, "experts", Y_AXIS)
    angles = [
        layer["encoding"]["x"]["axis"]["labelAngle"]
        for layer in chart.spec["layer"]
        if layer["encoding"].get("x", {}).get("axis")
    ]
    assert angles
    assert all((angle == 0) == upright for angle in angles)


def test_a_zero_has_no_unit_and_every_label_its_own():
    drawn = svgs(
        [
            curves(
                np.array([1.0, 2]),
                [Curve("held", np.array([960.0, 1344]))],
                X_AXIS,
                Axis("n", (0, 1400), ticks=(0, 400, 1200), format="~s"),
            )
        ]
    )[0]
    assert set(re.findall(r">([\d.]+k?)</text>", drawn)) >= {"0", "400", "1.2k"}


def test_a_guide_is_named_at_the_end_that_was_asked_for():
    x = np.arange(1.0, 5.0)
    limits = Axis("x", (1.0, 4.0)), Axis("y", (0.0, 1.0))
    guides = [Guide("left", np.full(4, 0.25), at_start=True), Guide("right", np.full(4, 0.75))]
    chart = curves(x, [Curve("c", x / 4)], *limits, guides=guides)
    named = {layer: chart.data[chart.data["layer"] == layer] for layer in ("guide start", "guide end")}
    assert named["guide start"][["name", "x", "y"]].values.tolist() == [["left", 1.0, 0.25]]
    assert named["guide end"][["name", "x", "y"]].values.tolist() == [["right", 4.0, 0.75]]
    aligned = {
        layer["transform"][0]["filter"]: layer["mark"].get("align")
        for layer in chart.spec["layer"]
        if layer["mark"]["type"] == "text"
    }
    assert aligned["datum.layer === 'guide start'"] == "left"


@pytest.mark.parametrize(
    ("guide", "curve", "height", "shift"),
    [
        (
            np.linspace(0.9, 0.1, 9),
            np.linspace(0.9, 0.3, 9),
            0.1,
            10,
        ),  # falls, its curve above: under its end
        (np.linspace(0.1, 0.9, 9), np.linspace(0.1, 0.5, 9), 0.9, -10),  # rises: over its end
        (np.full(9, 0.98), np.full(9, 0.5), 0.98, 10),  # no room above
        (np.full(9, 0.02), np.full(9, 0.5), 0.02, -10),  # no room below
        (np.full(9, 0.5), np.full(9, 0.55), 0.5, 10),  # a curve runs just above
    ],
)
def test_a_guide_is_named_where_no_line_runs(guide, curve, height, shift):
    x = np.arange(9.0)
    limits = Axis("x", (0.0, 8.0)), Axis("y", (0.0, 1.0))
    data = curves(x, [Curve("c", curve)], *limits, guides=[Guide("1/√L", guide)]).data
    named = data[data["layer"] == "guide end"]
    assert named.y.tolist() == pytest.approx([height])
    assert named["shift"].tolist() == [shift]


def test_a_chart_as_a_drawing_keeps_a_margin_around_its_letters():
    drawn = svgs([some_curves()])[0]
    assert drawn.count("paint-order:stroke") == 1
    assert re.search(r'class="mark-text role-mark[^>]*>', drawn)
