"""How alike the heads are, and how widely each looks."""

from __future__ import annotations

import math

import numpy as np

from ui.figures import charts
from ui.figures.matrices import axis_titles, matrix_of
from ui.figures.multi_head import all_equal
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Words

ROUNDING = 1e-9  # entropies that differ by less are equal


def compute(result: Result) -> Result:
    """The cosines between the maps of every two heads, beside what the page computed."""
    labels = tuple(str(h + 1) for h in range(result.parameters["heads"]))
    similarity = Array(result.facts["similarity"], labels, labels, ("head", "head"))
    maps = {name: array for name, array in result.arrays.items() if name[0] == "a"}
    return Result(result.parameters, maps | {"alike": similarity}, result.facts)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """One matrix: heads by heads."""
    values = result.values("alike").clip(0, 1)  # rounding can leave a cosine a hair above 1
    titles = axis_titles(("heads", "heads"), words)
    return ((matrix_of(result, "alike", words, values=values, axis_titles=titles),),)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """The cosine of two maps with its three sums."""
    _, row, column = cell
    one, other = (result.values(f"a{h + 1}") for h in (row, column))
    return words(
        "why.alike",
        h=row + 1,
        g=column + 1,
        product=float((one * other).sum()),
        length=float(np.linalg.norm(one)),
        other=float(np.linalg.norm(other)),
        cells=one.size,
        value=result.values("alike")[row, column],
    )


def notices(result: Result, words: Words) -> list[str]:
    """The mean likeness and where it comes from, the most different pair, the entropies."""
    p, facts = result.parameters, result.facts
    if p["heads"] == 1:
        return [words("alike.notice.one"), _widths(result, words, "width_one")]
    same = bool(np.ptp(facts["entropy"]) < ROUNDING)
    width = _widths(result, words, "width_same" if same else "width")
    likeness = {name: facts[f"{name}_similarity"] for name in ("mean", "even", "sharper")}
    if all_equal(result):
        return [words("notice.one_token", tau=p["tau"], **likeness), width]
    similarity = facts["similarity"] + 2 * np.eye(p["heads"])  # a head is not compared with itself
    a, b = sorted(divmod(int(similarity.argmin()), p["heads"]))
    pair = [words("alike.notice.pair", a=a + 1, b=b + 1, least=similarity[a, b])] if p["heads"] > 2 else []
    return [
        words("alike.notice.toy", **likeness),
        *pair,
        words("alike.notice.sharper", tau=p["tau"], **likeness),
        width,
    ]


def _widths(result: Result, words: Words, case: str) -> str:
    entropy, most = result.facts["entropy"], result.facts["most_entropy"]
    low, high = int(entropy.argmin()), int(entropy.argmax())
    told = {"low": low + 1, "least": entropy[low], "high": high + 1, "largest": entropy[high]}
    return words(f"alike.notice.{case}", most=most, visible=math.exp(most), **told)


def chart(result: Result, words: Words) -> charts.Chart:
    """The entropy of each head, with the most that the mask allows."""
    entropy, most = result.facts["entropy"], result.facts["most_entropy"]
    guide = charts.Guide(words.plain("alike.guide"), np.full(len(entropy), most))
    return charts.bars(
        [str(h + 1) for h in range(len(entropy))],
        {words.plain("alike.series"): entropy},
        words.plain("axis.heads"),
        charts.Axis(words.plain("alike.axis"), (0.0, 3.5)),
        guides=[guide],
        height=240,
    )


def chart_summary(result: Result, words: Words) -> str:
    """The bars as text."""
    told = [words.plain("alike.each", h=h + 1, entropy=e) for h, e in enumerate(result.facts["entropy"])]
    return words.plain("alike.chart", listed=listed(told, words.lang), most=result.facts["most_entropy"])


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    heads, mean = result.parameters["heads"], result.facts["mean_similarity"]
    if heads == 1:
        return words.plain("alike.summary_one")
    return words.plain("alike.summary", heads=heads, mean=mean)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it."""
    return "core.attention.heads.head_similarity", "similarity"
