"""How the weights begin: the deviation of every matrix under each scheme, and what a stack makes of it."""

from __future__ import annotations

import numpy as np

from core.block.initialisation import deviation
from ui.figures.charts import Chart, curves
from ui.figures.residual import measure, name_of
from ui.figures.residual_charts import curve, layer_axis, value_axis
from ui.figures.residual_notices import rounding_notice
from ui.numbers import number
from ui.result import Result
from ui.words import Raw, Words

SCHEMES = ("fan_in", "he", "xavier", "gpt2")
MATRICES = ("w_q", "w_o", "w1", "w2")  # W_K and W_V are like W_Q
FORMULAS = {
    "fan_in": "\\sqrt{1/n_{\\text{in}}}",
    "he": "\\sqrt{2/n_{\\text{in}}}",
    "xavier": "\\sqrt{2/(n_{\\text{in}}+n_{\\text{out}})}",
    "gpt2": "0.02,\\; 0.02/\\sqrt{2L}",
}


def deviations(width: int, layers: int) -> dict[str, tuple[float, ...]]:
    """By scheme, the standard deviation of W_Q, W_O, W₁ and W₂ at this width."""
    shapes = {
        "w_q": (width, width),
        "w_o": (width, width),
        "w1": (4 * width, width),
        "w2": (width, 4 * width),
    }
    return {
        scheme: tuple(
            deviation(*shapes[name], scheme, on_stream=name in ("w_o", "w2"), n_layers=layers)
            for name in MATRICES
        )
        for scheme in SCHEMES
    }


def runs(result: Result, side: str) -> dict:
    """The arrangement of one side under every scheme."""
    own = result.facts["settings"][side]
    return {scheme: measure(**own | {"init": scheme}) for scheme in SCHEMES}


def table(result: Result, words: Words) -> str:
    """The deviations as a Markdown table."""
    p = result.parameters
    lines = [
        f"| {words('init.scheme')} | {words('init.formula')} | $W_Q, W_K, W_V$ | $W_O$ | $W_1$ | $W_2$ |"
    ]
    lines.append("|:--|:--|--:|--:|--:|--:|")
    for scheme, values in deviations(p["width"], p["layers"]).items():
        cells = " | ".join(number(value) for value in values)
        lines.append(f"| {words(f'choice.init_a.{scheme}')} | ${FORMULAS[scheme]}$ | {cells} |")
    return "\n".join(lines)


def charts(result: Result, side: str, words: Words) -> dict[str, Chart]:
    """Length and gradient by layer, a line for each scheme."""
    found = runs(result, side)
    drawn = {}
    for name in ("norm", "gradient"):
        lines = [
            curve(words.plain(f"choice.init_a.{scheme}"), name, getattr(run, name))
            for scheme, run in found.items()
        ]
        axes = layer_axis(result.parameters["layers"], words), value_axis(name, lines, words)
        drawn[name] = curves(np.arange(0), lines, *axes, height=260)
    return drawn


def summary(name: str, result: Result, side: str, words: Words) -> str:
    """One chart in one line of plain text."""
    last = {scheme: float(getattr(run, name)[-1]) for scheme, run in runs(result, side).items()}
    what = words.plain(f"axis.{name}")
    return words.plain("init.summary", what=what, name=name_of(side, result, words, weights=False), **last)


def notices(result: Result, side: str, words: Words) -> list[str]:
    """What each scheme is after, with the numbers of this width and depth."""
    p = result.parameters
    found, spread = runs(result, side), deviations(p["width"], p["layers"])
    share = spread["gpt2"][2] / spread["fan_in"][2]
    told = {
        "d": p["width"],
        "layers": p["layers"],
        "branches": 2 * p["layers"],
        "shrunk": (2 * p["layers"]) ** 0.5,
    }
    told |= {"gpt2": spread["gpt2"][1], "w1": spread["fan_in"][2], "share": share}
    start, end = (float(found["gpt2"].norm[place]) for place in (0, -1))
    sentences = [
        words("init.notice.xavier", **told),
        words("init.notice.he", **told),
        words("init.notice.gpt2", **told),
    ]
    own = {"name": Raw(name_of(side, result, words, weights=False)), "start": start, "end": end, **told}
    if result.facts["settings"][side]["res"] and abs(end / start - 1) < 0.02:
        sentences.append(words("init.notice.quiet", **own))
    return sentences + rounding_notice(side, found.values(), result, words)
