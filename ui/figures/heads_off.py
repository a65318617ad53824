"""Heads switched off: the output with all heads, with those that are on, and what is missing."""

from __future__ import annotations

import numpy as np

from ui.figures import charts
from ui.figures.matrices import matrix_of
from ui.formulas import sum_of_numbers
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words

STAGES = ("before", "after", "change")
SPREAD = 3.0


def compute(result: Result) -> Result:
    """Outputs before and after the switches of this result, and their difference."""
    tokens = result.parameters["tokens"]
    difference = result.facts["off"].difference.numpy()  # [T, d_model]
    values = dict(zip(STAGES, (result.facts["before"], result.values("output"), difference), strict=True))
    columns = result.arrays["output"].columns
    arrays = {name: Array(value, tokens, columns, ("query", "output")) for name, value in values.items()}
    return Result(result.parameters, arrays, result.facts)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """Before, after and difference in one row on one scale."""
    return (tuple(_matrix(name, result, words) for name in STAGES),)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    values = result.values(name).round(12)  # rounding must not look like a pattern
    return matrix_of(result, name, words, limit=SPREAD, values=values)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """The output as a sum over heads, and the difference as what the heads that are off had added."""
    name, row, column = cell
    p = result.parameters
    each = result.facts["contributions"][:, row, column]  # [H]
    on = np.array([h + 1 not in p["off"] for h in range(p["heads"])])
    value = float(result.values(name)[row, column].round(12))
    told = {"i": row + 1, "query": p["tokens"][row], "c": column + 1, "value": value}
    if name == "change" and on.all():
        return words("why.change_none", **told)
    if name == "after" and not on.any():
        return words("why.after_none", **told)
    if name == "change":
        return words("why.change", sum=sum_of_numbers(each[~on]), **told)
    return words(f"why.{name}", sum=sum_of_numbers(each[on] if name == "after" else each), **told)


def notices(result: Result, words: Words) -> list[str]:
    """How far the output moved, which columns moved, and which head alone would move it most."""
    p, facts = result.parameters, result.facts
    changes = facts["changes"]
    most, least = int(changes.argmax()), int(changes.argmin())
    moved = int((np.abs(result.values("change")).max(0) > 1e-12).sum())
    said = []
    if p["off"]:
        said.append(
            words(
                "off.notice.change",
                off=Raw(listed(p["off"], words.lang)),
                count=len(p["off"]),
                norm=float(np.linalg.norm(result.values("change"))),
                before=float(np.linalg.norm(facts["before"])),
                percent=100 * facts["off"].change,
                moved=moved,
                d_model=p["d_model"],
            )
        )
    else:
        said.append(words("off.notice.all_on"))
    if p["heads"] > 1:
        said.append(
            words(
                "off.notice.each",
                most=most + 1,
                high=100 * changes[most],
                least=least + 1,
                low=100 * changes[least],
                total=100 * changes.sum(),
            )
        )
    return [*said, words("off.notice.trained")]


def chart(result: Result, words: Words) -> charts.Chart:
    """For every head, how far the output moves when this head alone is off."""
    changes = 100 * result.facts["changes"]
    return charts.bars(
        [str(h + 1) for h in range(len(changes))],
        {words.plain("off.series"): changes},
        words.plain("axis.heads"),
        charts.Axis(words.plain("off.axis"), (0.0, 100.0)),
        height=260,
    )


def chart_summary(result: Result, words: Words) -> str:
    """The bars as text."""
    told = [words.plain("off.one", h=h + 1, change=100 * c) for h, c in enumerate(result.facts["changes"])]
    return words.plain("off.chart", listed=listed(told, words.lang))


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    off = listed(result.parameters["off"], words.lang) or words.plain("setting.none")
    return words.plain("off.summary", off=off, change=100 * result.facts["off"].change)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it: the product after all heads, the switch itself, or the subtraction."""
    if name == "change":
        return "core.attention.heads.heads_off", "difference"
    return "core.attention.multi_head.MultiHeadAttention", "output" if name == "before" else "kept"
