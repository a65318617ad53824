"""A chart in the offline file: drawn by Vega itself, readable without a network and by a screen reader."""

import re

import numpy as np

from ui.figures.charts import Axis, Curve, curves
from ui.offline import offline_html


def chart(values):
    x = np.arange(float(len(values)))
    series = [Curve("前 <b>", np.array(values)), Curve("后", np.array(values[::-1]))]
    return curves(x, series, Axis("层 layer", (0, len(values) - 1)), Axis("norm", (0, 10)))


def page_of(**more):
    return offline_html((), focus="", words={}, summary="One & two", title="T", **more)


def test_a_chart_is_there_as_a_drawing_with_its_axes_and_every_point():
    page = page_of(charts=[chart([1.0, 4.0, 9.0])])
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert "层 layer" in page
    assert "norm" in page
    assert "前 &lt;b&gt;" in page
    heights = set(re.findall(r'role="graphics-symbol"[^>]*transform="translate\(360,([\d.]+)\)"', page))
    assert heights == {"192"}  # the middle point of both curves: 4 of 10, in a chart 320 high


def test_without_charts_nothing_is_drawn_and_nothing_is_fetched():
    page = page_of()
    assert "<svg" not in page
    assert "<figure>" not in page
    assert not re.search(r"""(src|href)=["']http""", page_of(charts=[chart([1.0, 2.0])]))
