"""What one layer costs, by kind: a table for the reader's sizes, and curves over the length."""

from __future__ import annotations

import numpy as np

from core.attention.complexity import LayerCost, cheaper_than_recurrent, layer_costs
from ui.figures.charts import Axis, Chart, Curve, Marker, curves
from ui.numbers import number
from ui.words import Raw, Words

KINDS = ("recurrent", "convolution", "self_attention", "restricted")
QUANTITIES = ("work", "sequential", "path")
LENGTHS = (*(10**e * m for e in range(6) for m in (1, 2, 5)), 1_000_000)
TICKS = tuple(10.0**e for e in range(7))
FORMULAS = {
    "recurrent": ("n d^2", "n", "n"),
    "convolution": ("k\\,n\\,d^2", "1", "\\log_k n"),
    "self_attention": ("n^2 d", "1", "1"),
    "restricted": ("r\\,n\\,d", "1", "n/r"),
}


def costs(n: int, d: int, kernel: int, near: int) -> dict[str, LayerCost]:
    """The four kinds of layer for these sizes, in the order in which they are told."""
    found = {cost.kind: cost for cost in layer_costs(n, d, kernel, near)}
    return {kind: found[kind] for kind in KINDS}


def table(n: int, d: int, kernel: int, near: int, words: Words) -> str:
    """A Markdown table: every entry as its order of growth and as a number."""
    heads = ("kind", *QUANTITIES)
    lines = [f"| {' | '.join(words(f'costs.{head}') for head in heads)} |", "|:--|--:|--:|--:|"]
    for kind, cost in costs(n, d, kernel, near).items():
        cells = [
            f"${formula}$ = {number(getattr(cost, quantity))}" if formula != "1" else "$1$"
            for quantity, formula in zip(QUANTITIES, FORMULAS[kind], strict=True)
        ]
        lines.append(f"| {words(f'costs.{kind}')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def charts(n: int, d: int, kernel: int, near: int, words: Words) -> dict[str, Chart]:
    """Work, sequential steps and path over the length, all axes logarithmic; a line marks the reader's n."""
    x = np.array(LENGTHS, dtype=float)
    per_length = [costs(length, d, kernel, near) for length in LENGTHS]
    drawn = {}
    for quantity in QUANTITIES:
        series = [
            Curve(
                words.plain(f"costs.{kind}"),
                np.array([float(getattr(c[kind], quantity)) for c in per_length]),
            )
            for kind in KINDS
        ]
        if quantity == "sequential":  # three of the four lie on each other: one line with a name that says so
            series = [series[0], Curve(words.plain("costs.the_others"), series[1].y)]
        drawn[quantity] = curves(
            x,
            series,
            Axis(words.plain("costs.axis.n"), (1, 1e6), log=10, ticks=TICKS, format="~s"),
            Axis(words.plain(f"costs.axis.{quantity}"), _limits(quantity, series), log=10, format="~s"),
            marker=Marker(words.plain("costs.marker", n=n), n),
        )
    return drawn


def _limits(quantity: str, series: list[Curve]) -> tuple[float, float]:
    """From 1, or the decade of the least work, to the decade of the most."""
    low, high = min(curve.y.min() for curve in series), max(curve.y.max() for curve in series)
    if quantity != "work":
        return (0.8, 2e6)
    return (10.0 ** np.floor(np.log10(low)), 10.0 ** np.ceil(np.log10(high) + 0.01))


def notices(n: int, d: int, kernel: int, near: int, words: Words) -> list[str]:
    """What to notice: who does less work, who has to wait, and how far apart the ends are."""
    found = costs(n, d, kernel, near)
    told = {"n": n, "d": d, "k": kernel, "r": min(near, n)}
    told |= {kind: cost.work for kind, cost in found.items()}
    told |= {f"path_{kind}": cost.path for kind, cost in found.items()}
    cheaper = "equal" if n == d else "less" if cheaper_than_recurrent(n, d) else "more"
    ratio = max(n, d) / min(n, d)
    first = words(f"costs.notice.{cheaper}", ratio=ratio, **told)
    if n == 1:
        return [first, words("costs.notice.waits_one")]
    return [first, words("costs.notice.waits", **told), words("costs.notice.path", **told)]


def summary(quantity: str, n: int, d: int, kernel: int, near: int, words: Words) -> str:
    """One chart in one line of plain text."""
    values = {kind: getattr(cost, quantity) for kind, cost in costs(n, d, kernel, near).items()}
    return words.plain("costs.summary", what=Raw(words.plain(f"costs.axis.{quantity}")), n=n, **values)
