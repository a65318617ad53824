"""Dropout on the weights: before, the factors drawn, after, and the sums of the rows."""

from __future__ import annotations

import numpy as np
import torch

from core.attention.dot_product import attention
from core.attention.dropout import dropout_on_scores, mean_row_sums
from core.attention.toy import seeded
from ui.figures import attention as forward
from ui.figures.charts import Axis, Chart, Guide, bars
from ui.figures.matrices import matrix_of
from ui.matrix import Matrix
from ui.numbers import listed, number
from ui.result import Array, Result
from ui.words import Raw, Words

STAGES = ("weights", "factors", "after")
DRAWS = 1000  # for the mean over many draws


def compute(result: Result, p: float, draw: int) -> Result:
    """One draw of dropout on the page's weights, its row sums, and what it would do to the scores."""
    q, k, v = (torch.from_numpy(result.values(name)) for name in ("q", "k", "v"))
    allowed = torch.from_numpy(~result.hidden)
    generator = seeded("dropout", draw)
    trace = attention(q, k, v, allowed, scale=result.facts["scale"], dropout_p=p, generator=generator)
    factors = torch.ones_like(trace.weights) if trace.dropout is None else trace.dropout
    misplaced = dropout_on_scores(trace.masked, factors)
    before = trace.weights_before_dropout
    tokens = result.arrays["weights"].rows
    pair = {"factors": factors, "after": trace.weights}
    arrays = result.arrays | {n: Array.of(a, tokens, tokens, axes=("query", "key")) for n, a in pair.items()}
    hit = result.hidden & (factors.numpy() == 0)
    facts = {
        "before": before.sum(-1).numpy(),
        "after": trace.weights.sum(-1).numpy(),
        "many": mean_row_sums(before, p, DRAWS, generator).numpy(),
        "hit": int(hit.sum()),
        # A row with nothing to attend to is NaN without any dropout; it is told elsewhere.
        "nan_rows": int((misplaced.isnan().any(-1) & allowed.any(-1)).sum()),
        "product": float((trace.masked * factors)[torch.from_numpy(hit)][0]) if hit.any() else None,
    }
    return Result(result.parameters | {"p": p}, arrays, result.facts | facts, result.hidden)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """Weights, factors, weights after: one row."""
    return (tuple(_matrix(name, result, words) for name in STAGES),)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    limits = (0.0, 2.0 if name == "factors" else 1.0)
    arrow = words.plain(f"arrow.{name}") if name != "weights" else ""
    return matrix_of(result, name, words, limits=limits, arrow=arrow)


def sums(result: Result, words: Words) -> Chart:
    """The sum of each row before and after dropout."""
    labels = [f"{i + 1} {token}" for i, token in enumerate(result.arrays["weights"].rows)]
    series = {words.plain(f"drop.series.{stage}"): result.facts[stage] for stage in ("before", "after")}
    one = Guide("1", np.ones(len(labels)))
    most = 1 / (1 - result.parameters["p"])  # what a row comes to that loses nothing
    return bars(
        labels,
        series,
        words.plain("axis.query"),
        Axis(words.plain("drop.axis.sum"), (0, 1.05 * most)),
        guides=[one],
    )


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a number of the three matrices was made."""
    name, row, column = cell
    if name == "weights":
        return forward.why(result, cell, words)
    array, factor = result.arrays[name], result.values("factors")[row, column]
    told = {"i": row + 1, "query": array.rows[row], "j": column + 1, "key": array.columns[column]}
    told |= {
        "p": _written(result.parameters["p"]),
        "factor": factor,
        "weight": result.values("weights")[row, column],
    }
    told["value"] = array.values[row, column]
    return words(f"why.{name}" if name == "after" or factor else "why.factors_dropped", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: sums, values above 1, the mean over many draws, and the scores left alone."""
    facts, p = result.facts, result.parameters["p"]
    alive = facts["before"] > 0
    after = result.values("after")
    if not alive.any():
        return [words("drop.notice.empty")]
    if p == 0:
        return [words("drop.notice.off")]
    above = int((after > 1).sum())
    sentences = [
        words(
            "drop.notice.sums",
            low=facts["after"][alive].min(),
            high=facts["after"][alive].max(),
            draws=DRAWS,
            many_low=facts["many"][alive].min(),
            many_high=facts["many"][alive].max(),
        ),
        words(
            "drop.notice.above" if above else "drop.notice.none_above",
            p=_written(p),
            factor=1 / (1 - p),
            above=above,
            limit=_written(1 - p),
            largest=after.max(),
        ),
    ]
    if facts["hit"]:
        product = Raw(number(facts["product"]))
        sentences.append(
            words(
                "drop.notice.nan", hit=facts["hit"], product=product, rows=facts["nan_rows"], count=len(after)
            )
        )
    else:
        sentences.append(words("drop.notice.no_nan"))
    return [*sentences, words("drop.notice.inference")]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    sums_after = result.facts["after"]
    return words.plain(
        "drop.summary", p=_written(result.parameters["p"]), low=sums_after.min(), high=sums_after.max()
    )


def sums_summary(result: Result, words: Words) -> str:
    """The chart of sums in one line of plain text."""
    return words.plain("drop.sums", sums=listed((number(s) for s in result.facts["after"]), words.lang))


def _written(p: float) -> Raw:
    return Raw(f"{p:.1f}")


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    variable = {"weights": "softmaxed", "factors": "dropout", "after": "weights"}[name]
    return "core.attention.dot_product.attention", variable
