"""ALiBi: the slopes of any number of heads, the bias that one of them adds, and how far it still looks."""

from __future__ import annotations

import math

import numpy as np
import torch

from core.attention.dot_product import masked_softmax
from core.block.positions import alibi_bias, alibi_slopes
from ui.figures.charts import Axis, Chart, Curve, Marker, as_read, curves
from ui.figures.matrices import axis_titles, matrix_of
from ui.figures.positions import LOGITS
from ui.formulas import sum_of_exponentials
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words

FARTHEST = 64
LEAST = 1e-4  # the smallest weight that the chart shows


def compute(result: Result, heads: int, chosen: int) -> Result:
    """All slopes; of the chosen head (counted from 1) the bias on the page's tokens, and the weights of that alone."""
    slopes = alibi_slopes(heads, torch.float64)  # [heads]
    head = min(chosen, heads) - 1
    distances = torch.arange(FARTHEST + 1, dtype=torch.float64)
    picked = {"chosen": head, "steep": int(slopes.argmax()), "flat": int(slopes.argmin())}
    weights = {name: masked_softmax(-slopes[h] * distances).numpy() for name, h in picked.items()}
    facts = {"slopes": slopes.numpy(), "weights": weights, "heads_of": picked}
    # Among endlessly many keys of the same score, weights e^(−m·δ) have the mean distance 1/(e^m − 1).
    facts["mean"] = 1 / math.expm1(float(slopes[head]))
    tokens = result.parameters["tokens"]
    bias = alibi_bias(heads, len(tokens), torch.float64)[head]  # [T, T]
    alone = masked_softmax(bias, torch.from_numpy(~result.hidden))  # [T, T]
    arrays = {"a_bias": bias, "a_weights": alone}
    settings = {"heads": heads, "head": head, "chosen": chosen, "below": 2 ** int(math.log2(heads))}
    return Result(
        settings | {"tokens": tokens},
        {name: Array.of(values, tokens, tokens, axes=("query", "key")) for name, values in arrays.items()},
        facts,
        hidden=result.hidden,
    )


def matrices(shown: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The bias, and the weights if nothing but the bias spoke."""
    return (tuple(_matrix(name, shown, words) for name in shown.arrays),)


def _matrix(name: str, shown: Result, words: Words) -> Matrix:
    head, is_bias = shown.parameters["head"], name == "a_bias"
    return matrix_of(
        shown,
        name,
        words,
        limit=LOGITS if is_bias else None,
        axis_titles=axis_titles(("query", "key"), words),
        note=words.plain("slope.series.head", head=head + 1, slope=shown.facts["slopes"][head]),
        arrow="" if is_bias else words.plain("arrow.weights"),
        large=True,
    )


def why(shown: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One penalty, with the rule that gave its slope; or one weight that comes of penalties alone."""
    name, row, column = cell
    p, head = shown.parameters, shown.parameters["head"]
    told = {"i": row + 1, "query": p["tokens"][row], "j": column + 1, "key": p["tokens"][column]}
    told |= {"head": head + 1, "heads": p["heads"], "value": shown.values(name)[row, column]}
    if name == "a_bias":
        told |= {"slope": shown.facts["slopes"][head], "power": _power(head + 1, p["below"])}
        return words("why.a_bias", distance=abs(row - column), **told)
    if shown.hidden[row, column]:
        return words("why.hidden", **told)
    bias = shown.values("a_bias")[row]
    seen = bias[~shown.hidden[row]]
    return words(
        "why.a_weights", score=bias[column], sum=sum_of_exponentials(seen), visible=len(seen), **told
    )


def _power(head: int, below: int) -> Raw:
    """The exponent of 2 that is a head's slope: −8 times its place in the rule for a power of two, over that power."""
    place, among = (head, below) if head <= below else (2 * (head - below) - 1, 2 * below)
    return Raw(rf"-8\cdot {place}/{among}")


def chart(shown: Result, words: Words) -> Chart:
    """The slope of each head, on a logarithmic scale: those of the lower power of two, and those that were added."""
    p, slopes = shown.parameters, shown.facts["slopes"]
    x, below = np.arange(1, p["heads"] + 1), p["below"]
    series = [Curve(words.plain("slope.series.first", n=below), slopes[:below], x=x[:below])]
    if p["heads"] > below:
        more = words.plain("slope.series.more", n=2 * below)
        series.append(Curve(more, slopes[below:], x=x[below:]))
    return curves(
        x,
        series,
        Axis(words.plain("slope.axis.head"), (0.5, p["heads"] + 0.5), format="d"),
        Axis(words.plain("slope.axis.slope"), (2.0**-9, 1.0), log=2, format=".2~g"),
        marker=Marker(words.plain("slope.marker", head=p["head"] + 1), p["head"] + 1),
        height=340,
        stacked=True,  # two names side by side are cut off on a phone
    )


def reach(shown: Result, words: Words) -> Chart:
    """The weight by distance when all keys score alike: of the chosen head, the steepest and the flattest."""
    facts = shown.facts
    named: dict[int, str] = {}
    for name in ("chosen", "steep", "flat"):
        named.setdefault(facts["heads_of"][name], name)
    series = []
    for head, name in named.items():
        label = words.plain("slope.series.head", head=head + 1, slope=facts["slopes"][head])
        weights = facts["weights"][name]
        seen = weights >= LEAST  # the rest lies below the chart
        series.append(Curve(label, weights[seen], x=np.arange(FARTHEST + 1)[seen]))
    return curves(
        np.arange(FARTHEST + 1),
        series,
        Axis(words.plain("axis.distance"), (0, FARTHEST)),
        Axis(words.plain("slope.axis.weight"), (LEAST, 1.0), log=10, format="~g"),
        height=340,
        stacked=True,  # three names side by side are cut off at the edge
    )


def notices(shown: Result, words: Words) -> list[str]:
    """What to notice: the rule for this number of heads, the reach of a head, and what was and was not shown."""
    p, slopes = shown.parameters, shown.facts["slopes"]
    told = {"heads": p["heads"], "below": p["below"], "above": 2 * p["below"], "head": p["head"] + 1}
    told |= {"slope": slopes[p["head"]], "first": slopes[0], "last": slopes[p["below"] - 1]}
    told |= {"mean": shown.facts["mean"], "more": p["heads"] - p["below"]}
    if p["heads"] == p["below"]:
        rule = "slope.notice.single" if p["heads"] == 1 else "slope.notice.power"
    else:
        rule = "slope.notice.other"
        added = [as_read(m) for m in slopes[p["below"] :]]
        told["added"] = Raw(_first(added, 4, words))
    return [words(key, **told) for key in (rule, "slope.notice.reach", "slope.notice.claim")]


def _first(numbers: list[str], most: int, words: Words) -> str:
    return listed(numbers[:most] + (["…"] if len(numbers) > most else []), words.lang)


def remark(shown: Result, words: Words) -> str:
    """What is said when the chosen head does not exist."""
    p = shown.parameters
    return words("slope.beyond", heads=p["heads"], chosen=p["chosen"]) if p["chosen"] > p["heads"] else ""


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a number."""
    if name == "a_bias":
        return "core.block.positions.alibi_bias", "bias"
    return "core.attention.dot_product.attention", "softmaxed"


def summary(shown: Result, words: Words) -> str:
    """Both matrices in one line of plain text."""
    p, slopes = shown.parameters, shown.facts["slopes"]
    told = {"head": p["head"] + 1, "heads": p["heads"], "slope": slopes[p["head"]]}
    far, last = shown.values("a_bias")[-1, 0], shown.values("a_weights")[-1, -1]
    return words.plain("slope.summary", far=far, last=last, tokens=len(p["tokens"]), **told)


def chart_summary(shown: Result, words: Words) -> str:
    """The slopes in one line of plain text."""
    slopes = [as_read(m) for m in shown.facts["slopes"]]
    return words.plain("slope.chart_summary", heads=len(slopes), slopes=_first(slopes, 16, words))


def reach_summary(shown: Result, words: Words) -> str:
    """The weights by distance in one line of plain text."""
    p, facts = shown.parameters, shown.facts
    weights = facts["weights"]["chosen"]
    return words.plain("slope.reach_summary", head=p["head"] + 1, here=weights[0], ten=weights[10])
