"""Which numbers of the batch one output is averaged over: a row for LayerNorm and RMSNorm, a column for BatchNorm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ui.figures import normalization as figure
from ui.figures.normalization import KINDS
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Words


def compute(result: Result, cell: tuple[str, int, int] | None) -> Result:
    """The batch three times, to be drawn without what the chosen output does not read."""
    n, d = result.shape("x")
    i, j = (min(cell[1], n - 1), min(cell[2], d - 1)) if cell else (0, 0)
    x = result.arrays["x"]
    batch = Array(result.facts["x"], x.rows[:-2], x.columns[:-2], ("token", "feature"))
    by_row, by_column = np.ones((n, d), dtype=bool), np.ones((n, d), dtype=bool)
    by_row[i], by_column[:, j] = False, False
    unread = {"layer": by_row, "rms": by_row, "batch": by_column}
    arrays = result.arrays | {f"reads_{kind}": batch for kind in KINDS}
    return replace(result, arrays=arrays, facts=result.facts | {"unread": unread, "at": (i, j)}, shapes={})


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """What each norm reads, side by side; the rest is hidden."""
    return (tuple(_matrix(kind, result, words) for kind in KINDS),)


def _matrix(kind: str, result: Result, words: Words) -> Matrix:
    name = f"reads_{kind}"
    look = {"hidden": result.facts["unread"][kind], "hidden_as": words.plain("reads.unread")}
    return figure.titled(name, result, words, identity="norm", **look)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """The output at this place, with the numbers it was averaged over."""
    name, i, j = cell
    return figure.why_output(result, name.removeprefix("reads_"), i, j, words)


def notices(result: Result, words: Words) -> list[str]:
    """How many numbers are read, and whose they are: other sentences, later tokens."""
    p, (i, j) = result.parameters, result.facts["at"]
    n, d = result.facts["x"].shape
    here = p["sentences"][i]
    told = {"i": i + 1, "token": p["tokens"][i], "c": j + 1, "n": n, "d": d, "sentence": here}
    told["foreign"] = sum(other != here for other in p["sentences"])
    told["later"] = sum(other == here for other in p["sentences"][i + 1 :])
    said = [words("reads.notice.row", **told), words("reads.notice.column", **told)]
    if told["later"]:
        said.append(words("reads.notice.later", **told))
    return [*said, words("reads.notice.lengths")]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    i, j = result.facts["at"]
    n, d = result.facts["x"].shape
    return words.plain("reads.summary", i=i + 1, c=j + 1, n=n, d=d)


def code_of(name: str) -> tuple[str, str]:
    """The line in which the axis of the mean stands; RMSNorm's is that of its mean square."""
    kind = name.removeprefix("reads_")
    return f"core.block.normalization.{kind}_norm", "mean_square" if kind == "rms" else "mean"
