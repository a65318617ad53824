"""Mean and variance of every token or of every feature, before and after the three norms."""

from __future__ import annotations

from ui.figures import charts
from ui.figures.normalization import DIGITS, STEPS, margin, power, span
from ui.numbers import number
from ui.result import Result
from ui.words import Raw, Words, quote

WHAT = ("mean", "variance")
LIMITS = {"mean": (-6.0, 6.0), "variance": (0.0, 6.0)}


def charts_of(result: Result, by: str, words: Words) -> dict[str, charts.Chart]:
    """Two groups of bars: the means and the variances, four bars a token or feature."""
    array = result.arrays["x"]
    labels = [f"{i + 1} {label.partition('·')[2]}" for i, label in enumerate(array.rows[:-2])]
    labels = labels if by == "token" else list(array.columns[:-2])
    return {
        what: charts.bars(
            labels,
            {words.plain(f"title.{name}"): margin(result, name, by, which) for name in STEPS},
            words.plain(f"stats.axis.{by}"),
            charts.Axis(words.plain(f"stats.axis.{what}"), LIMITS[what]),
        )
        for which, what in enumerate(WHAT)
    }


def summary(result: Result, by: str, what: str, words: Words) -> str:
    """A chart as text: the range of each of its four series."""
    ranges = {name: span(margin(result, name, by, WHAT.index(what))) for name in STEPS}
    return words.plain(f"stats.chart_{by}_{what}", **ranges)


def table(result: Result, by: str, words: Words) -> str:
    """Every mean and every variance as a Markdown table."""
    names = [words(f"title.{name}") for name in STEPS]
    head = [words(f"stats.{by}"), *(f"μ · {name}" for name in names), *(f"σ² · {name}" for name in names)]
    lines = ["| " + " | ".join(head) + " |", "|:--" + "|--:" * 8 + "|"]
    for place in range(len(margin(result, "x", by, 0))):
        label = f"{place + 1}"
        label += f" {quote(result.parameters['tokens'][place])}" if by == "token" else ""
        values = (margin(result, name, by, which)[place] for which in (0, 1) for name in STEPS)
        cells = [number(round(float(value), DIGITS)) for value in values]
        lines.append("| " + " | ".join([label, *cells]) + " |")
    return "\n".join(lines)


def notices(result: Result, by: str, words: Words) -> list[str]:
    """Which of the series are level, whichever way the page stands."""
    told = {f"{n}_{w}": span(margin(result, n, by, i)) for n in STEPS for i, w in enumerate(WHAT)}
    p = result.parameters
    told |= {"beta": p["beta"], "square": p["gamma"] ** 2, "eps": Raw(f"${power(p['eps'])}$")}
    return [words(f"stats.notice_{by}", **told), words("stats.level", **told), words("stats.clipped")]
