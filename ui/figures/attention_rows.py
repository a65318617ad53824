"""Two queries beside each other: their rows of weights, and the two combined."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from core.attention.saturation import entropy
from ui.figures.charts import Axis, Chart, Curve, bars
from ui.result import Result
from ui.words import Words


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rows of weights [T_k], counted from 0, and their mean."""

    first: int
    second: int
    a: np.ndarray  # [T_k]
    b: np.ndarray  # [T_k]
    mean: np.ndarray  # [T_k]


def pair(result: Result, first: int, second: int) -> Pair:
    """The rows of two queries, counted from 0 and cut to those that there are."""
    weights = result.values("weights")
    first, second = min(first, len(weights) - 1), min(second, len(weights) - 1)
    a, b = weights[first], weights[second]
    return Pair(first, second, a, b, (a + b) / 2)


def chart(result: Result, rows: Pair, words: Words) -> Chart:
    """Bars of both rows over the keys, and a tick at their mean."""
    tokens = result.arrays["weights"].rows
    series = {
        _named(f"rows.series.{n}", i, tokens, words): row
        for n, i, row in (("a", rows.first, rows.a), ("b", rows.second, rows.b))
    }
    labels = [f"{j + 1} {token}" for j, token in enumerate(tokens)]
    mean = Curve(words.plain("rows.series.mean"), rows.mean)
    return bars(
        labels, series, words.plain("axis.key"), Axis(words.plain("rows.axis.weight"), (0, 1)), ticks=mean
    )


def _named(key: str, i: int, tokens: tuple[str, ...], words: Words) -> str:
    return words.plain(key, i=i + 1, query=tokens[i])


def notices(result: Result, rows: Pair, words: Words) -> list[str]:
    """What to notice: what the two have in common, where each looks, and that averaging commutes with × V."""
    tokens = result.arrays["weights"].rows
    told = {
        "i": rows.first + 1,
        "first": tokens[rows.first],
        "j": rows.second + 1,
        "second": tokens[rows.second],
    }
    if rows.first == rows.second:
        return [words("rows.notice.same", **told)]
    told |= {"common": np.minimum(rows.a, rows.b).sum(), "a": rows.a.max(), "b": rows.b.max()}
    told |= {"k": int(rows.a.argmax()) + 1, "l": int(rows.b.argmax()) + 1}
    told |= {"key_a": tokens[rows.a.argmax()], "key_b": tokens[rows.b.argmax()]}
    three = entropy(torch.from_numpy(np.stack([rows.a, rows.b, rows.mean])))  # [3]
    spread = dict(zip(("a", "b", "mean"), three.exp().tolist(), strict=True))
    v, output = result.values("v"), result.values("output")
    difference = np.abs(rows.mean @ v - (output[rows.first] + output[rows.second]) / 2).max()
    empty = [i for i, row in ((rows.first, rows.a), (rows.second, rows.b)) if not row.any()]
    if empty:
        return [words("rows.notice.empty", i=empty[0] + 1, query=tokens[empty[0]])]
    return [
        words("rows.notice.most", **told),
        words("rows.notice.common", **told),
        words(
            "rows.notice.mean",
            difference=difference,
            spread_a=spread["a"],
            spread_b=spread["b"],
            spread=spread["mean"],
        ),
    ]


def summary(result: Result, rows: Pair, words: Words) -> str:
    """The chart in one line of plain text."""
    tokens = result.arrays["weights"].rows
    return words.plain(
        "rows.summary",
        i=rows.first + 1,
        first=tokens[rows.first],
        j=rows.second + 1,
        second=tokens[rows.second],
        common=np.minimum(rows.a, rows.b).sum(),
    )
