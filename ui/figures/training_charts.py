"""The curves of the training page: loss, learning rate, gradient by layer, and how heads form."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.models.tasks import Task
from ui.course.training import SIDES
from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, curves
from ui.figures.training import name_of
from ui.figures.training_side import Side, kind_of, scores, shown
from ui.result import Result
from ui.words import Words

HEIGHT = 285
FINDS = ("mirror", "induction", "previous", "sharpest")  # kinds of heads; never all of them at once
MOST = 200  # points of a fine line; a longer run is thinned out
ROOM = 1.4  # times the loss of an even guess: a run that behaves stays below
DECADES = (-4, 1)  # powers of ten between which gradients of layers usually lie


def charts(result: Result, words: Words) -> dict[str, Chart]:
    """The three of the main picture, as far as there is anything to draw; the first names what A and B are."""
    drawn = {"loss": loss(result, words)} if "train" in result.arrays else {}
    if any(f"grad_{side}" in result.arrays for side in SIDES):
        drawn["layers"] = layers(result, words)
    return drawn | {"rate": rate(result, words)}


def loss(result: Result, words: Words) -> Chart:
    """Training loss thin, held-out loss with points, frequencies alone as a dashed guide."""
    lines = []
    for place, side in enumerate(SIDES):
        run: Side = result.facts["sides"][side]
        kept = np.unique(np.linspace(0, max(run.done - 1, 0), min(run.done, MOST)).astype(int))
        name = name_of(side, result, words)
        fine = run.losses[kept] if run.done else run.losses
        lines.append(
            Curve(
                words.plain("series.train", name=name), fine, x=kept[: len(fine)] + 1, thin=True, colour=place
            )
        )
        good = np.isfinite(run.held_out)
        label = words.plain("series.held_out", side=side.upper())
        lines.append(Curve(label, run.held_out[good], x=run.looked[good], colour=place))
    steps = result.parameters["steps"]
    return curves(
        np.array([1, steps]),
        lines,
        step_axis(steps, words),
        loss_axis(lines, result, words),
        guides=[Guide(words.plain("series.frequency"), np.full(2, result.facts["frequency"]))],
        marker=marker(result, words),
        height=HEIGHT,
    )


def step_axis(steps: int, words: Words) -> Axis:
    """From 0 to the last step."""
    return Axis(words.plain("axis.step"), (0, steps))


def loss_axis(lines: Sequence[Curve], result: Result, words: Words) -> Axis:
    """Linear up to a little more than an even guess; logarithmic where a run leaves that."""
    title = words.plain("axis.loss")
    task: Task = result.facts["task"]
    top = math.ceil(2 * ROOM * math.log(len(task.vocabulary))) / 2
    values = np.concatenate([line.y for line in lines])
    if not values.size or values.max() <= top:
        return Axis(title, (0, top))
    low, high = math.floor(math.log10(max(values.min(), 1e-6))), math.ceil(math.log10(values.max()))
    return powers(title, min(low, 0), high)


def powers(title: str, low: int, high: int) -> Axis:
    """A logarithmic axis with a label for each power of ten, or every few."""
    every = max(1, math.ceil((high - low) / 6))
    ticks = tuple(10.0**power for power in range(low, high + 1, every))
    form = "~g" if low >= -4 and high <= 5 else "~e"
    return Axis(title, (10.0**low, 10.0**high), log=10, ticks=ticks, format=form)


def marker(result: Result, words: Words) -> Marker | None:
    """The step whose map and gradients are shown."""
    steps = [result.parameters[f"map_step_{side}"] for side in SIDES]
    there = [step for step in steps if step]
    return Marker(words.plain("chart.marker", step=max(there)), max(there)) if there else None


def rate(result: Result, words: Words) -> Chart:
    """The learning rate of every step, as the schedule has it: known before anything is trained."""
    values, steps = result.values("rate"), result.parameters["steps"]
    kept = np.unique(np.linspace(0, steps - 1, min(steps, 60)).astype(int))
    lines = [Curve(side.upper(), values[i, kept], x=kept + 1, thin=True) for i, side in enumerate(SIDES)]
    top = max(float(values.max()), 1e-9)
    return curves(
        kept + 1,
        lines,
        step_axis(steps, words),
        Axis(words.plain("axis.rate"), (0, 1.08 * top), format="~g"),
        height=HEIGHT,
    )


def layers(result: Result, words: Words) -> Chart:
    """The gradient's norm by layer at the step that is shown; zeros and what is not finite have no point."""
    lines, deepest = [], 1
    for side in SIDES:
        run: Side = result.facts["sides"][side]
        values = run.gradients[shown(run, result.facts["at"])] if len(run.looked) else np.zeros(0)
        good = np.isfinite(values) & (values > 0)
        deepest = max(deepest, len(values))
        lines.append(Curve(side.upper(), values[good], x=np.arange(1, len(values) + 1)[good]))
    low, high = DECADES
    values = np.concatenate([line.y for line in lines])
    if values.size:
        low = min(low, math.floor(math.log10(values.min())))
        high = max(high, math.ceil(math.log10(values.max())))
    source = result.facts["task"].has_source
    ticks = tuple(range(1, deepest + 1, math.ceil(deepest / 12)))
    axis = Axis(words.plain("axis.layer_source" if source else "axis.layer"), (0, deepest + 1), ticks=ticks)
    return curves(
        np.arange(0),
        lines,
        axis,
        powers(words.plain("axis.gradient"), low, high),
        height=HEIGHT,
    )


def chart_summary(name: str, result: Result, words: Words) -> str:
    """One chart in one line of plain text."""
    if name == "rate":
        values = result.values("rate")
        told = {f"high_{s}": float(values[i].max()) for i, s in enumerate(SIDES)}
        told |= {f"first_{s}": float(values[i, 0]) for i, s in enumerate(SIDES)}
        return words.plain("summary.rate", **told)
    if name == "loss":
        ends = {f"end_{s}": result.facts["sides"][s].end for s in SIDES}
        return words.plain("summary.loss", frequency=result.facts["frequency"], **ends)
    told = {}
    for s in SIDES:
        run: Side = result.facts["sides"][s]
        ends = run.gradients[shown(run, result.facts["at"])] if len(run.looked) else [np.nan]
        told |= {f"first_{s}": float(ends[0]), f"last_{s}": float(ends[-1])}
    return words.plain("summary.layers", step=result.facts["at"], **told)


def pointed(label: str, x: float, result: Result, words: Words) -> tuple[str, int, int] | None:
    """The held-out loss behind a point of the loss chart; None for a point that is not there."""
    names = [words.plain("series.held_out", side=side.upper()) for side in SIDES]
    looks = result.facts["looks"]
    if label not in names or int(x) not in looks:
        return None
    return ("held_out", names.index(label), len(looks) - 1 - looks[::-1].index(int(x)))


def forming(find: str, result: Result, words: Words) -> Chart | None:
    """The score of the best head at every look: how a kind of head comes to be. None where it has no meaning."""
    lines, task = [], result.facts["task"]
    kind = kind_of(result.parameters, task)
    for side in SIDES:
        run: Side = result.facts["sides"][side]
        best = []
        for k in range(len(run.looked)):
            found = scores(run, k, kind, task, find)
            if found is None:
                return None
            best.append(float(found.max()))
        values = np.array(best)
        good = np.isfinite(values)
        lines.append(Curve(side.upper(), values[good], x=run.looked[good]))
    return curves(
        np.arange(0),
        lines,
        step_axis(result.parameters["steps"], words),
        Axis(words.plain(f"axis.score.{find}"), (0, 1)),
        height=HEIGHT,
    )
