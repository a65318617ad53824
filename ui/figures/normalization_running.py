"""BatchNorm in training and in inference: statistics of the batch against what is remembered of earlier ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from core.block.normalization import normalize_with
from core.block.running import RunningStatistics, running_statistics
from core.block.toy_batch import random_batches
from ui.cached import cached
from ui.figures import charts
from ui.figures import normalization as figure
from ui.figures.normalization import DIGITS
from ui.formulas import bracketed
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Words

STEPS = ("training", "inference", "gap")
MOST = 100  # batches


@cached(max_entries=64)
def remembered(
    seed: int, size: int, d: int, shift: float, scale: float, momentum: float
) -> RunningStatistics:
    """The statistics of all the batches that the slider can show."""
    return running_statistics(random_batches(seed, MOST, size, d, shift, scale), momentum)


def compute(result: Result, seen: int, momentum: float, size: int) -> Result:
    """The batch on screen normalised both ways after `seen` batches of `size` tokens."""
    p = result.parameters
    history = remembered(p["seed"], size, p["d"], p["shift"], p["scale"], momentum)
    gamma, beta = (torch.full((p["d"],), p[name], dtype=torch.float64) for name in ("gamma", "beta"))
    mean, variance = history.mean[seen], history.variance[seen]  # [d] each
    output = normalize_with(torch.from_numpy(result.facts["x"]), mean, variance, gamma, beta, p["eps"]).output
    training = figure.inner(result, "batch")
    values = {"training": training, "inference": output.numpy(), "gap": output.numpy() - training}
    x = result.arrays["x"]
    arrays = {
        name: Array(value, x.rows[:-2], x.columns[:-2], ("token", "feature"))
        for name, value in values.items()
    }
    told = p | {"seen": seen, "momentum": momentum, "size": size}
    facts = result.facts | {"history": history, "now": (mean.numpy(), variance.numpy())}
    return replace(result, parameters=told, arrays=arrays, facts=facts, hidden=None, shapes={})


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The batch as it comes out in training, in inference, and the difference."""
    return (tuple(figure.titled(name, result, words, identity="norm") for name in result.arrays),)


def charts_of(result: Result, words: Words) -> dict[str, charts.Chart]:
    """Mean and variance of one feature: of each batch, and what is remembered after it."""
    p, history = result.parameters, result.facts["history"]
    c, scale = p["col"] - 1, max(p["scale"], 0.1)
    x = np.arange(1, MOST + 1)
    of_batch = {"mean": history.batch_mean, "variance": history.batch_variance}
    running = {"mean": history.mean, "variance": history.variance}
    truth = {"mean": p["shift"], "variance": p["scale"] ** 2}
    limits = {
        "mean": (min(0.0, p["shift"] - 2.5 * scale), max(0.0, p["shift"] + 2.5 * scale)),
        "variance": (0.0, max(1.2, 3 * scale**2)),
    }
    marker = charts.Marker(words.plain("run.marker", seen=p["seen"]), float(p["seen"]))
    return {
        what: charts.curves(
            x,
            [
                charts.Curve(words.plain("run.each"), of_batch[what][:, c].numpy()),
                charts.Curve(words.plain("run.running"), running[what][1:, c].numpy()),
            ],
            charts.Axis(words.plain("run.axis"), (0.0, float(MOST))),
            charts.Axis(words.plain(f"run.axis_{what}", c=p["col"]), limits[what]),
            guides=[charts.Guide("", np.full(MOST, truth[what]))],
            marker=marker,
            height=260,
        )
        for what in ("mean", "variance")
    }


def chart_summary(result: Result, what: str, words: Words) -> str:
    """A chart as text: where the remembered value ends up, and what it should be."""
    p, history = result.parameters, result.facts["history"]
    running = history.mean if what == "mean" else history.variance
    truth = p["shift"] if what == "mean" else p["scale"] ** 2
    told = {"now": float(running[p["seen"], p["col"] - 1]), "last": float(running[MOST, p["col"] - 1])}
    return words.plain(f"run.chart_{what}", c=p["col"], seen=p["seen"], truth=truth, most=MOST, **told)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One number of the batch, normalised with its own statistics or with the remembered ones."""
    name, i, j = cell
    p, facts = result.parameters, result.facts
    value = round(float(result.values(name)[i, j]), DIGITS)
    told = {"i": i + 1, "token": p["tokens"][i], "c": j + 1, "value": value, "seen": p["seen"]}
    if name == "gap":
        parts = {n: round(float(result.values(n)[i, j]), DIGITS) for n in STEPS[:2]}
        return words(
            "run.why_gap", inference=parts["inference"], training=bracketed(parts["training"]), **told
        )
    own = facts["mean"]["batch"], facts["variance"]["batch"]
    mean, variance = own if name == "training" else facts["now"]
    told |= {"x": facts["x"][i, j], "mean": bracketed(mean[j]), "variance": variance[j], "n": len(facts["x"])}
    told |= {"gamma": p["gamma"], "beta": bracketed(p["beta"]), "eps": figure.power(p["eps"])}
    return words(f"run.why_{name}", **told)


def notices(result: Result, words: Words) -> list[str]:
    """How far the memory has come, which variance is remembered, and what a single token gets."""
    p, facts = result.parameters, result.facts
    n, c, size = len(facts["x"]), p["col"] - 1, p["size"]
    mean, variance = facts["now"]
    told = {"seen": p["seen"], "c": p["col"], "momentum": p["momentum"], "mean": mean[c], "n": n}
    told |= {"variance": variance[c], "shift": p["shift"], "square": p["scale"] ** 2, "size": size}
    told |= {"left": 100 * (1 - p["momentum"]) ** p["seen"], "factor": size / (size - 1), "less": size - 1}
    told["gap"] = round(float(np.abs(result.values("gap")).max()), DIGITS)
    told["beta"] = p["beta"]
    return [
        words("run.notice.memory", **told),
        words("run.notice.unbiased", **told),
        words(f"run.notice.{'alone' if n == 1 else 'gap' if told['gap'] else 'same'}", **told),
        words("run.notice.others"),
    ]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    gap = round(float(np.abs(result.values("gap")).max()), DIGITS)
    p = result.parameters
    return words.plain("run.summary", seen=p["seen"], size=p["size"], momentum=p["momentum"], gap=gap)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it: the same line, with other statistics."""
    return "core.block.normalization.normalize_with", "normalized"
