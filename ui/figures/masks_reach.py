"""Layer by layer: how many tokens have reached one, counted, and by the formula of a sliding window."""

from __future__ import annotations

import numpy as np

from core.attention.receptive import window_reach
from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, curves
from ui.figures.masks import MOST_LAYERS, is_window, percent, reached
from ui.numbers import listed
from ui.result import Result
from ui.words import Raw, Words

LAYERS = np.arange(1, MOST_LAYERS + 1)
MOST_TOKENS = 24


def chart(result: Result, words: Words) -> Chart:
    """The most and the mean number of tokens that reached one, over the layers."""
    counts, t = result.facts["counts"], len(result.hidden)  # [layers, T]
    series = [
        Curve(words.plain("reach.series.most"), counts.max(-1)),
        Curve(words.plain("reach.series.mean"), counts.mean(-1)),
    ]
    guides = [Guide(words.plain("reach.guide.all", t=t), np.full(MOST_LAYERS, float(t)))]
    layers = result.parameters["layers"]
    return curves(
        LAYERS,
        series,
        Axis(words.plain("reach.axis.layers"), (1, MOST_LAYERS), ticks=tuple(LAYERS.tolist())),
        Axis(words.plain("reach.axis.tokens"), (0, MOST_TOKENS + 2)),
        guides=guides,
        marker=Marker(words.plain("reach.marker", layers=layers), layers),
    )


def formula_of(result: Result) -> np.ndarray | None:
    """L(w − 1) + 1 for every number of layers, where the mask is one that it holds for."""
    p = result.parameters
    if not is_window(p):
        return None
    return np.array([window_reach(p["window"], int(n), p["two_sided"]) for n in LAYERS])


def notices(result: Result, words: Words) -> list[str]:
    """The sentence of the page, and when everything has reached some token."""
    counts, t = result.facts["counts"], len(result.hidden)
    full = np.nonzero(counts.max(-1) == t)[0]
    told = {"t": t, "share": Raw(percent(result.facts["connected"])), "layers": MOST_LAYERS}
    sentences = [reached(result, words)]
    if len(full):
        sentences.append(words("reach.notice.full", needed=int(full[0]) + 1, **told))
    else:
        sentences.append(words("reach.notice.never_full", most=int(counts[-1].max()), **told))
    return sentences


def table(result: Result, words: Words) -> str:
    """Layers on the columns; the formula where there is one, and the number counted."""
    rows = {"reach.axis.layers": LAYERS, "reach.row.counted": result.facts["counts"].max(-1)}
    formula = formula_of(result)
    if formula is not None:
        rows["reach.guide.formula"] = formula
    lines = [f"| {words(key)} | " + " | ".join(map(str, numbers)) + " |" for key, numbers in rows.items()]
    return "\n".join([lines[0], "|:--|" + "--:|" * MOST_LAYERS, *lines[1:]])


def summary(result: Result, words: Words) -> str:
    """The chart in one line of plain text."""
    most = result.facts["counts"].max(-1)
    return words.plain("reach.summary", numbers=listed(most.tolist(), words.lang), layers=MOST_LAYERS)
