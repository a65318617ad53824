"""Temperature, top-k and top-p on the whole distribution: who is cut, and what temperature does to the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from core.models.sampling import kept_one_after_the_other, next_token_distribution
from ui.figures import forward_pass as figure
from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, curves
from ui.numbers import listed, number
from ui.result import Result
from ui.words import Raw, Words, quote

ROWS = 12  # of the table
ROOM = 4  # the axis of the mass goes on beyond the last token, where the label of p stands
POINTS = 50  # of the curve of the mass
LINES = 4  # tokens whose probability is followed over temperature
GRID = np.round(np.arange(0, 31) / 10, 1)  # temperatures


def charts(result: Result, words: Words) -> dict[str, Chart]:
    """The cumulative mass with both cuts, and the likeliest tokens under every temperature."""
    return {"mass": _mass(result, words), "heat": _heat(result, words)}


def _mass(result: Result, words: Words) -> Chart:
    p, cumulative = result.parameters, result.facts["last"]["cumulative"]
    ranks = np.unique(np.geomspace(1, len(cumulative), POINTS).round().astype(int))
    guides = [] if p["top_p"] == 1 else [Guide(f"p = {number(p['top_p'])}", np.full(2, p["top_p"]))]
    marker = Marker(f"k = {p['top_k']}", p["top_k"]) if p["top_k"] else None
    ticks = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)
    return curves(
        np.array([1, ROOM * len(cumulative)]),
        [Curve(words.plain("sam.mass"), np.clip(cumulative[ranks - 1], 0.0, 1.0), x=ranks)],
        Axis(words.plain("sam.rank"), (1.0, float(ROOM * len(cumulative))), log=10, ticks=ticks, format="d"),
        Axis(words.plain("sam.mass"), (0.0, 1.2), ticks=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        guides=guides,
        marker=marker,
        height=250,
    )


def _heat(result: Result, words: Words) -> Chart:
    logits = torch.from_numpy(result.facts["logits"])
    each = np.stack([next_token_distribution(logits, float(t)).full.numpy() for t in GRID])  # [N, V]
    series = [Curve(result.facts["names"][i], each[:, i]) for i in figure.likeliest(result, LINES)]
    t = result.parameters["temperature"]
    return curves(
        GRID,
        series,
        Axis(words.plain("control.temperature.label"), (0.0, 3.0)),
        Axis(
            words.plain("bars.axis"), (0.0, 1.2), ticks=(0.0, 0.5, 1.0)
        ),  # the marker's label stands above 1
        marker=Marker(f"T = {number(t)}", t),
        height=250,
    )


def chart_summary(name: str, result: Result, words: Words) -> str:
    """One of the charts in one line of plain text."""
    last, told = result.facts["last"], _told(result)
    if name == "mass":
        parts = (f"{n}: {number(float(last['cumulative'][n - 1]))}" for n in (1, 2, 5, 10))
        return words.plain("sam.summary.mass", listed=listed(parts, words.lang), **told)
    return words.plain("sam.summary.heat", listed=listed(_names(result, LINES), words.lang), **told)


def _names(result: Result, count: int) -> list[str]:
    return [result.facts["names"][i] for i in figure.likeliest(result, count)]


def _told(result: Result) -> dict[str, Any]:
    p, last, facts = result.parameters, result.facts["last"], result.facts
    first, second = figure.likeliest(result, 2)
    gap = float(facts["logits"][first] - facts["logits"][second])
    told = {"t": p["temperature"], "k": p["top_k"], "p": p["top_p"], "vocab": facts["vocab"], "gap": gap}
    told |= {"first": facts["names"][first], "second": facts["names"][second]}
    told |= {"by_k": int(last["by_top_k"].sum()), "by_p": int(last["by_top_p"].sum())}
    told |= {"kept": figure.left(result), "mass": float(last["kept_mass"])}
    if p["temperature"]:
        told |= {"plain": float(np.exp(gap)), "ratio": float(np.exp(gap / p["temperature"]))}
    return told


def one_after_the_other(result: Result) -> int:
    """How many tokens are left if top-p is judged on what top-k left, as some libraries do."""
    logits = torch.from_numpy(result.facts["logits"])
    return int(kept_one_after_the_other(logits, *figure.sampling_of(result.parameters)).sum())


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: what temperature does to a ratio, what the cuts left, and why their order matters."""
    told, p = _told(result), result.parameters
    if p["temperature"] == 0:
        return [words("sam.notice.greedy", **told)]
    said = [words("sam.notice.ratio" if p["temperature"] != 1 else "sam.notice.plain", **told)]
    if told["kept"] == told["vocab"]:
        return [*said, words("sam.notice.all", **told)]
    said.append(words("sam.notice.kept", **told))
    if p["top_k"] and p["top_p"] < 1:
        other = one_after_the_other(result)
        key = "sam.notice.order" if other < told["kept"] else "sam.notice.order.same"
        said.append(words(key, other=other, **told))
    return said


def table(result: Result, words: Words) -> str:
    """The likeliest tokens, one a line, from logit to the final probability."""
    facts, last = result.facts, result.facts["last"]
    logits = facts["logits"]
    plain = np.exp(logits - logits.max())
    plain /= plain.sum()
    lines = [words("sam.table"), "|--:|:--|--:|--:|--:|--:|:-:|:-:|--:|"]
    for rank, i in enumerate(figure.likeliest(result, ROWS)):
        values = (logits[i], plain[i], last["full"][i], last["cumulative"][rank])
        if result.parameters["temperature"] == 0:
            values = (*values[:3], 1.0)
        signs = ["✓" if last[name][i] else figure.CUT for name in ("by_top_k", "by_top_p")]
        cells = [str(rank + 1), quote(facts["names"][i]), *(number(float(x)) for x in values), *signs]
        lines.append(f"| {' | '.join([*cells, number(float(last['probabilities'][i]))])} |")
    rest = facts["vocab"] - ROWS
    return "\n".join(lines) + "\n\n" + words("sam.rest", rest=rest)


def setting(result: Result, words: Words) -> Raw:
    """Temperature and cuts in a few words."""
    p = result.parameters
    parts = [words("set.t", t=p["temperature"])]
    parts += [words("set.k", k=p["top_k"])] if p["top_k"] else []
    parts += [words("set.p", p=p["top_p"])] if p["top_p"] < 1 else []
    return Raw(listed(parts, words.lang))
