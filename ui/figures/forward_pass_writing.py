"""Writing token by token: each step's draw on the line from 0 to 1, and its cost with and without a cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from core.models.generation import GenerationStep, generate
from core.models.toy import Toy
from ui.figures.charts import LETTERS, Axis, Chart, Curve, bars, curves, series_colours
from ui.figures.forward_pass import sampling_of
from ui.numbers import listed, number
from ui.result import Result
from ui.words import Raw, Words, quote

PIECES = 8  # tokens of the line that are drawn one by one; the others are one piece
_GREY = "#8b8795"  # readable on white and on the dark page
NAMED = 0.05  # a piece of the line shorter than this has no room for its name


@dataclass(frozen=True, eq=False)
class Step:
    """One token written."""

    text: tuple[str, ...]  # before it, END included
    token: str
    drawn: float | None
    probability: float
    begins: float
    ends: float
    kept: int
    pieces: tuple[tuple[str, float], ...]  # the kept tokens and their shares, likeliest first
    logits: np.ndarray  # [V]
    work: int  # multiply-adds
    held: int  # numbers in the cache after it


@dataclass(frozen=True)
class Written:
    """The same text written twice."""

    cached: tuple[Step, ...]
    plain: tuple[Step, ...]
    wanted: int
    room: int  # tokens that the table of positions leaves room for
    per_token: int  # numbers that the cache holds for one token

    @property
    def gap(self) -> float:
        """The largest difference between the logits of the two."""
        pairs = zip(self.cached, self.plain, strict=True)
        return max(float(np.abs(a.logits - b.logits).max()) for a, b in pairs)

    @property
    def ended(self) -> bool:
        """Whether END was written."""
        return self.cached[-1].token == self.cached[0].text[0]


def write(toy: Toy, result: Result, wanted: int) -> Written:
    """Up to `wanted` tokens, as many as the positions allow, with the cache and without; the same draws in both."""
    ids = torch.tensor(result.facts["ids"])
    config = toy.model.config
    room = config.limit - len(ids) + 1
    both = [_write(toy, ids, result.parameters, min(wanted, room), use_cache) for use_cache in (True, False)]
    return Written(*both, wanted, room, 2 * config.d_model * config.layers)


def _write(
    toy: Toy, ids: torch.Tensor, settings: dict[str, Any], count: int, use_cache: bool
) -> tuple[Step, ...]:
    generator = torch.Generator().manual_seed(settings["draw"])
    shape = sampling_of(settings)
    made = generate(toy.model, ids, count, *shape, generator=generator, use_cache=use_cache, stop=(0,))
    return tuple(_step(step, toy.vocabulary) for step in made)


def _step(step: GenerationStep, names: tuple[str, ...]) -> Step:
    distribution, draw = step.distribution, step.draw
    kept = int((distribution.probabilities > 0).sum())
    order = distribution.order[distribution.kept[distribution.order]][:PIECES].tolist()
    shares = distribution.probabilities
    return Step(
        text=tuple(names[i] for i in step.tokens.tolist()),
        token=names[step.token],
        drawn=draw.number,
        probability=draw.probability,
        begins=draw.begins,
        ends=draw.ends,
        kept=kept,
        pieces=tuple((names[i], float(shares[i])) for i in order if shares[i] > 0),
        logits=step.logits.numpy(),
        work=step.cost.total,
        held=step.cache_numbers,
    )


def line(step: Step, words: Words) -> Chart:
    """The pieces of the line from 0 to 1, one for each token, and where the drawn number fell."""
    ends = np.cumsum([share for _, share in step.pieces])
    begins = np.concatenate([[0.0], ends[:-1]])
    names = [name for name, _ in step.pieces]
    if ends[-1] < 1 - 1e-9:
        begins, ends, names = (
            np.append(begins, ends[-1]),
            np.append(ends, 1.0),
            [*names, words.plain("gen.others")],
        )
    table = pd.DataFrame({"layer": "piece", "name": names, "x": begins, "x2": ends})
    table["share"] = [number(float(b - a)) for a, b in zip(begins, ends, strict=True)]
    table["label"] = [
        f"▼ {n}" if n == step.token else n if b - a >= NAMED else ""
        for n, a, b in zip(names, begins, ends, strict=True)
    ]
    table["middle"] = (table["x"] + table["x2"]) / 2
    table["shade"] = np.arange(len(table)) % 2
    if step.drawn is not None:
        mark = {"layer": "drawn", "name": f"u = {number(step.drawn)}", "x": step.drawn}
        table = pd.concat([table, pd.DataFrame([mark])], ignore_index=True)
    across = {
        "field": "x",
        "type": "quantitative",
        "title": words.plain("gen.axis"),
        "scale": {"domain": [0, 1], "nice": False},
        "axis": {"grid": False},
    }
    first, second = series_colours()[:2]
    colour = {
        "field": "shade",
        "type": "nominal",
        "scale": {"domain": [0, 1], "range": [first, second]},
        "legend": None,
    }
    tooltip = [
        {"field": "name", "type": "nominal", "title": " "},
        {"field": "share", "type": "nominal", "title": words.plain("bars.axis")},
    ]
    only = lambda name: [{"filter": f"datum.layer === '{name}'"}]  # noqa: E731
    layers = [
        {
            "transform": only("piece"),
            "mark": {
                "type": "bar",
                "orient": "horizontal",
                "size": 30,
                "opacity": 0.55,
                "stroke": _GREY,
                "strokeWidth": 1,
            },
            "encoding": {
                "x": across,
                "x2": {"field": "x2"},
                "y": at(0.5),
                "color": colour,
                "tooltip": tooltip,
            },
        },
        {
            "transform": only("piece"),
            "mark": {"type": "text", "fontSize": 13, "color": LETTERS},
            "encoding": {"x": across | {"field": "middle"}, "y": at(0.9), "text": {"field": "label"}},
        },
        {
            "transform": only("drawn"),
            "mark": {"type": "rule", "color": _GREY, "strokeWidth": 3},
            "encoding": {"x": across, "y": at(0.22), "y2": {"datum": 0.78}},
        },
        {
            "transform": only("drawn"),
            "mark": {"type": "text", "fontSize": 13, "color": LETTERS},
            "encoding": {"x": across, "y": at(0.08), "text": {"field": "name"}},
        },
    ]
    return Chart(table, {"height": 160, "layer": layers})


def at(height: float) -> dict[str, Any]:
    """A place between the bottom, 0, and the top, 1, of a chart without an upright axis."""
    return {"datum": height, "type": "quantitative", "scale": {"domain": [0, 1]}, "axis": None}


def line_summary(step: Step, words: Words) -> str:
    """The line in one line of plain text."""
    parts = (f"{name} {number(share)}" for name, share in step.pieces)
    return words.plain("gen.summary", listed=listed(parts, words.lang), token=step.token)


def text_so_far(step: Step, words: Words) -> str:
    """The prompt and what has been written, with the new token at the end."""
    return words("gen.text", text=Raw(" ".join(map(quote, step.text))), token=step.token)


def story(step: Step, place: int, result: Result, setting: Raw, words: Words) -> str:
    """How this token came to be written."""
    told = {"n": place + 1, "token": step.token, "p": step.probability, "kept": step.kept, "setting": setting}
    told |= {"begins": step.begins, "ends": step.ends, "vocab": result.facts["vocab"]}
    if step.drawn is None:
        return words("gen.story.only", **told)
    return words("gen.story", u=step.drawn, seed=result.parameters["draw"], **told)


def remarks(written: Written, words: Words) -> list[str]:
    """Where fewer tokens were written than were asked for, and why."""
    said = []
    if written.room < written.wanted:
        said.append(words("gen.room", room=written.room, wanted=written.wanted))
    if written.ended and len(written.cached) < min(written.wanted, written.room):
        said.append(words("gen.ended", count=len(written.cached)))
    return said


def table(written: Written, chosen: int, words: Words) -> str:
    """Every step in a line; the chosen one in bold."""
    lines = [words("gen.table"), "|--:|:--|--:|--:|:--|--:|"]
    for i, step in enumerate(written.cached):
        u = "–" if step.drawn is None else number(step.drawn)
        piece = f"{number(step.begins)} … {number(min(step.ends, 1.0))}"
        cells = [str(i + 1), quote(step.token), number(step.probability), u, piece, str(step.kept)]
        if i == chosen:
            cells = [f"**{cell}**" if j != 1 else cell for j, cell in enumerate(cells)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def notices(written: Written, result: Result, words: Words) -> list[str]:
    """What to notice about the text: how likely it was, and what another seed or setting would do."""
    share = float(np.prod([step.probability for step in written.cached]))
    told = {"count": len(written.cached), "share": share}
    free = sum(step.drawn is not None for step in written.cached)
    best = sum(step.token == step.pieces[0][0] for step in written.cached)
    said = [words("gen.notice.chance" if free else "gen.notice.sure", free=free, **told)]
    if free:
        said.append(words("gen.notice.best", best=best, **told))
    said.append(words("gen.notice.again"))
    return said


def cost_charts(written: Written, words: Words) -> dict[str, Chart]:
    """Multiply-adds of each step with and without the cache, and what the cache holds."""
    places = [str(i + 1) for i in range(len(written.cached))]
    work = {
        words.plain(f"cache.{name}"): np.array([float(step.work) for step in steps])
        for name, steps in (("without", written.plain), ("with", written.cached))
    }
    held = np.array([float(step.held) for step in written.cached])
    most = max(float(values.max()) for values in work.values())
    step_axis = words.plain("gen.step")
    x = np.arange(1, len(held) + 1)
    limits = (0.5, len(held) + 0.5)
    return {
        "work": bars(
            places, work, step_axis, Axis(words.plain("cache.work"), (0.0, most), format="~s"), height=250
        ),
        "held": curves(
            x,
            [Curve(words.plain("cache.held"), held)],
            Axis(step_axis, limits, ticks=tuple(map(float, x)), format="d"),
            Axis(words.plain("cache.held"), (0.0, 1.1 * float(held.max())), format="~s"),
            height=250,
        ),
    }


def cost_summary(name: str, written: Written, words: Words) -> str:
    """One of the charts in one line of plain text."""
    values = [s.held for s in written.cached] if name == "held" else [s.work for s in written.cached]
    told = {"listed": listed((number(v) for v in values), words.lang, long=True)}
    told["other"] = listed((number(s.work) for s in written.plain), words.lang, long=True)
    return words.plain(f"cache.summary.{name}", **told)


def total(steps: Sequence[Step]) -> int:
    """Multiply-adds of all steps."""
    return sum(step.work for step in steps)


def cost_table(written: Written, words: Words) -> str:
    """Every step in a line: tokens read, multiply-adds, numbers held."""
    lines = [words("cache.table"), "|--:|:--|--:|--:|--:|--:|--:|"]
    for i, (a, b) in enumerate(zip(written.cached, written.plain, strict=True)):
        read = len(a.text) if i == 0 else 1
        numbers = (len(b.text), b.work, read, a.work, a.held)
        lines.append(f"| {i + 1} | {quote(a.token)} | {' | '.join(number(v) for v in numbers)} |")
    lines.append(
        f"| | {words('cache.sum')} | | {number(total(written.plain))} | | {number(total(written.cached))} | |"
    )
    return "\n".join(lines)


def cost_notices(written: Written, words: Words) -> list[str]:
    """What to notice: equal tokens, how much arithmetic is saved, and what the cache costs."""
    count, first = len(written.cached), len(written.cached[0].text)
    same = [a.token for a in written.cached] == [b.token for b in written.plain]
    told = {
        "count": count,
        "gap": written.gap,
        "with": total(written.cached),
        "without": total(written.plain),
    }
    told |= {"percent": 100 * told["with"] / told["without"], "first": first, "per": written.per_token}
    told |= {"held": written.cached[-1].held, "tokens": written.cached[-1].held // written.per_token}
    said = [words("cache.notice.same" if same else "cache.notice.other", **told)]
    said.append(words("cache.notice.work" if count > 1 else "cache.notice.one", **told))
    return [*said, words("cache.notice.held", **told)]
