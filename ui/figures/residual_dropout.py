"""Dropout drawn many times on attention weights: one draw, the mean of many, sums of rows, and how fast the mean settles."""

from __future__ import annotations

import math

import numpy as np
import torch

from core.attention.masks import causal
from core.block.dropout import DropoutTrace, expected_deviation, many_draws, row_sums
from core.block.normalization import layer_norm
from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, curves
from ui.figures.matrices import axis_titles, matrix_of
from ui.formulas import sum_of_numbers
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

TOKENS = 8
MOST = 1000  # draws
SHOWN = ("inference", "draw", "mean")
SUM = "Σ"  # the last column: the sum of each row


def weights(seed: int) -> torch.Tensor:
    """Causal attention weights of a small random head, [T, T], float64."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(TOKENS, TOKENS, generator=generator, dtype=torch.float64)
    return torch.softmax(scores.masked_fill(~causal(TOKENS), -torch.inf), -1)


def compute(seed: int, p: float, draws: int) -> Result:
    """Weights in inference, the last of the draws, and the mean of all draws."""
    before = weights(seed)
    trace = many_draws(before, p, MOST, torch.Generator().manual_seed(seed))
    bent = many_draws(
        before, p, MOST, torch.Generator().manual_seed(seed), then=lambda x: layer_norm(x).output
    )
    parts = {
        "inference": trace.inference,
        "draw": trace.draws[draws - 1],
        "mean": trace.running_mean[draws - 1],
    }
    sums = row_sums(before, p, MOST, torch.Generator().manual_seed(seed))[:draws]  # [draws, T]
    rows = tuple(map(str, range(1, TOKENS + 1)))
    arrays = {n: Array(with_sums(x), rows, (*rows, SUM), ("query", "key")) for n, x in parts.items()}
    facts = {
        "trace": _plain(trace),
        "bent": bent.deviation.numpy(),
        "expected": expected_deviation(before, p, MOST).numpy(),
        "sums": sums.numpy(),
        "scale": trace.scale,
    }
    hidden = np.pad(~causal(TOKENS).numpy(), ((0, 0), (0, 1)))
    shapes = dict.fromkeys(SHOWN, (TOKENS, TOKENS))
    return Result({"p": p, "draws": draws, "seed": seed}, arrays, facts, hidden, shapes)


def with_sums(x: torch.Tensor) -> np.ndarray:
    """x [T, T] with the sum of each row behind it."""
    return torch.cat([x, x.sum(-1, keepdim=True)], -1).numpy()


def _plain(trace: DropoutTrace) -> dict[str, np.ndarray]:
    return {
        "draws": trace.draws.numpy(),
        "mean": trace.running_mean.numpy(),
        "deviation": trace.deviation.numpy(),
    }


def matrices(shown: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """Inference, one draw, the mean of the draws so far: one row, one scale."""
    return (tuple(_matrix(name, shown, words) for name in SHOWN),)


def _matrix(name: str, shown: Result, words: Words) -> Matrix:
    return matrix_of(
        shown,
        name,
        words,
        told={"draws": shown.parameters["draws"]},
        axis_titles=axis_titles(shown.arrays[name].axes, words, "matrix.axis"),
        hidden=shown.hidden,
        hidden_as=words.plain("drop.hidden"),
        note="",
        large=True,
    )


def why(shown: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One weight: as it is, as one draw has it, or as the mean of all draws has it."""
    name, row, column = cell
    p, facts = shown.parameters, shown.facts
    told = {
        "i": row + 1,
        "j": column + 1,
        "p": Raw(f"{p['p']:.2f}"),
        "draws": p["draws"],
        "scale": facts["scale"],
    }
    told |= {
        "weight": float(shown.values("inference")[row, column]),
        "value": float(shown.values(name)[row, column]),
    }
    if shown.hidden[row, column]:
        return words("why.drop_hidden", **told)
    if column == TOKENS:
        terms = shown.values(name)[row, : row + 1]
        return words("why.row_sum", matrix=Raw(words(f"title.{name}")), sum=sum_of_numbers(terms, 8), **told)
    kept = int((facts["trace"]["draws"][: p["draws"], row, column] != 0).sum())
    key = f"why.{name}"
    if name == "draw" and told["value"] == 0:
        key = "why.draw_zero"
    return words(key, kept=kept, **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes them."""
    variable = {"inference": "inference", "draw": "draws", "mean": "running_mean"}[name]
    return "core.block.dropout.many_draws", variable


def chart(shown: Result, words: Words) -> Chart:
    """Distance of the running mean from inference against the number of draws, both axes logarithmic."""
    facts, p = shown.facts, shown.parameters
    places = np.unique(np.geomspace(1, MOST, 40).round().astype(int)) - 1
    x = places + 1.0
    lines = [
        curve_of(words.plain("drop.series.linear"), facts["trace"]["deviation"][places], x),
        curve_of(words.plain("drop.series.bent"), facts["bent"][places], x),
    ]
    guides = [Guide(words.plain("drop.guide"), facts["expected"][places])] if p["p"] else []
    return curves(
        x,
        lines,
        Axis(words.plain("drop.axis.draws"), (1, MOST), log=10, ticks=(1, 10, 100, 1000), format="d"),
        Axis(words.plain("drop.axis.deviation"), (1e-3, 3), log=10, ticks=(0.001, 0.01, 0.1, 1), format="~g"),
        guides=guides,
        height=280,
    )


def curve_of(name: str, y: np.ndarray, x: np.ndarray) -> Curve:
    """Without the places where the mean is exact, which a logarithmic axis cannot show."""
    good = y > 1e-12
    return Curve(name, y[good], x=x[good])


def path_chart(shown: Result, cell: tuple[str, int, int] | None, words: Words) -> Chart:
    """The running mean of one weight, or of the sum of a row, against what inference has there."""
    path, inference, what = _path(shown, cell, words)
    places = np.unique(np.geomspace(1, MOST, 40).round().astype(int)) - 1
    draws = shown.parameters["draws"]
    highest = inference * shown.facts["scale"]  # what a draw gives that drops nothing
    return curves(
        places + 1.0,
        [Curve(what, path[places])],
        Axis(words.plain("drop.axis.draws"), (1, MOST), log=10, ticks=(1, 10, 100, 1000), format="d"),
        Axis(words.plain("drop.axis.mean"), (0, 1.15 * highest)),
        guides=[Guide("", np.full(len(places), inference))],
        marker=Marker(words.plain("drop.marker", draws=draws), float(draws)),
        height=280,
    )


def path_title(shown: Result, cell: tuple[str, int, int] | None, words: Words) -> str:
    """Which number the chart of the running mean is about."""
    return words("drop.path_title", what=Raw(_path(shown, cell, words)[2]))


def path_summary(shown: Result, cell: tuple[str, int, int] | None, words: Words) -> str:
    """The chart in one line of plain text."""
    path, inference, what = _path(shown, cell, words)
    draws = shown.parameters["draws"]
    told = {"one": float(path[0]), "now": float(path[draws - 1]), "many": float(path[-1])}
    return words.plain(
        "drop.path_summary", what=what, draws=draws, most=MOST, inference=float(inference), **told
    )


def _path(shown: Result, cell: tuple[str, int, int] | None, words: Words) -> tuple[np.ndarray, float, str]:
    """Running mean [draws] at the chosen place, its value in inference, its name; hidden places stand for their row."""
    _, row, column = cell or ("", TOKENS - 1, TOKENS)
    row, mean = min(row, TOKENS - 1), shown.facts["trace"]["mean"]
    if column >= TOKENS or shown.hidden[row, column]:
        what = words.plain("drop.axis.row_sum", i=row + 1)
        return mean[:, row].sum(-1), float(shown.values("inference")[row, TOKENS]), what
    what = words.plain("drop.axis.weight", i=row + 1, j=column + 1)
    return mean[:, row, column], float(shown.values("inference")[row, column]), what


def chart_summary(shown: Result, words: Words) -> str:
    """The chart in one line of plain text."""
    deviation, bent = shown.facts["trace"]["deviation"], shown.facts["bent"]
    told = {"one": float(deviation[0]), "many": float(deviation[-1]), "bent": float(bent[-1])}
    return words.plain("drop.chart_summary", most=MOST, **told)


def summary(shown: Result, words: Words) -> str:
    """The matrices in one line of plain text."""
    sums = shown.facts["sums"]
    told = {"low": float(sums[-1].min()), "high": float(sums[-1].max())}
    return words.plain(
        "drop.summary", p=Raw(f"{shown.parameters['p']:.2f}"), draws=shown.parameters["draws"], **told
    )


def notices(shown: Result, words: Words) -> list[str]:
    """Sums of rows, the factor, the running mean and its law, and what comes behind a norm."""
    p, facts = shown.parameters, shown.facts
    if p["p"] == 0:
        return [words("drop.notice.off")]
    sums, deviation = facts["sums"], facts["trace"]["deviation"]
    count = p["draws"]
    told = {"p": Raw(f"{p['p']:.2f}"), "scale": facts["scale"], "draws": count, "most": MOST}
    mean = sums.mean(0)
    return [
        words("drop.notice.scale", kept=Raw(f"{1 - p['p']:.2f}"), **told),
        words(
            "drop.notice.sums",
            low=float(sums[-1].min()),
            high=float(sums[-1].max()),
            mean_low=float(mean.min()),
            mean_high=float(mean.max()),
            **told,
        ),
        words(
            "drop.notice.root",
            at=float(deviation[count - 1]),
            expected=float(facts["expected"][count - 1]),
            root=math.sqrt(count),
            **told,
        ),
        words("drop.notice.bent", bent=float(facts["bent"][-1]), linear=float(deviation[-1]), **told),
        words("drop.notice.inference"),
    ]
