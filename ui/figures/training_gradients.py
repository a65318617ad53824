"""The gradient of every block at every look, A and B as heat maps; the module behind one tab."""

from __future__ import annotations

import numpy as np

from ui.course.training import GRADIENTS
from ui.figures.matrices import axis_titles, matrix_of
from ui.figures.training import name_of
from ui.figures.training_side import Side
from ui.matrix import Matrix
from ui.result import Result
from ui.words import Raw, Words

FLAT = 3.0  # largest over smallest below this counts as even


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """One map for each run that has begun: layers down, looks across, the logarithm as colour."""
    there = [name for name in GRADIENTS if name in result.arrays]
    return (tuple(_matrix(name, result, words, there) for name in there),)


def _matrix(name: str, result: Result, words: Words, there: list[str]) -> Matrix:
    together = np.concatenate([logged(result.values(other)).ravel() for other in there])
    finite = together[np.isfinite(together)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (-1.0, 0.0)
    return matrix_of(
        result,
        name,
        words,
        title=words.plain("grad.title", side=Raw(name[-1].upper())),
        values=logged(result.values(name)),
        limits=(low, high if high > low else low + 1),
        axis_titles=axis_titles(result.arrays[name].axes, words, "matrix.axis"),
        note="",
        large=True,
    )


def logged(values: np.ndarray) -> np.ndarray:
    """The power of ten; NaN for zeros and for what has not come yet."""
    with np.errstate(all="ignore"):
        powers = np.log10(values)
    return np.where(np.isfinite(powers), powers, np.nan)


def summary(result: Result, words: Words) -> str:
    """Both maps in one line of plain text."""
    told = {}
    for name in GRADIENTS:
        side: Side = result.facts["sides"][name[-1]]
        finite = side.gradients[np.isfinite(side.gradients)]
        told |= {f"low_{name[-1]}": float(finite.min()) if finite.size else np.nan}
        told |= {f"high_{name[-1]}": float(finite.max()) if finite.size else np.nan}
    return words.plain("grad.summary", **told)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One block's gradient at one step: the formula, its share of the whole."""
    name, row, column = cell
    side: Side = result.facts["sides"][name[-1]]
    value, step = float(result.values(name)[row, column]), result.facts["looks"][column]
    told = {"side": Raw(name_of(name[-1], result, words)), "layer": Raw(result.arrays[name].rows[row])}
    told |= {"step": step, "value": value}
    if not np.isfinite(value):
        return words("why.grad_missing", **told)
    whole = float(side.norms[step - 1])
    told |= {"whole": whole, "share": 100 * (value / whole) ** 2 if whole else 0.0}
    told["power"] = float(logged(np.array([value]))[0])
    return words("why.grad", **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it."""
    return "core.models.training.look", "gradients"


def notices(result: Result, words: Words) -> list[str]:
    """How even the blocks are at the first and at the last look, and how the whole has changed."""
    sentences = []
    for name in GRADIENTS:
        side: Side = result.facts["sides"][name[-1]]
        if not len(side.looked) or not np.isfinite(side.gradients).all():
            continue
        told = {"side": Raw(name[-1].upper()), "first": float(side.norms[0]), "last": float(side.norms[-1])}
        told |= {"step": side.done, "layers": side.gradients.shape[1]}
        if side.done > 1:
            sentences.append(words("grad.notice.whole", **told))
        if side.gradients.shape[1] < 2:
            continue
        for place, when in ((0, "first"), (-1, "last")):
            values = side.gradients[place]
            if values.min() <= 0:
                sentences.append(words("grad.notice.zero", step=int(side.looked[place]), **told))
                continue
            ratio = float(values.max() / values.min())
            names = result.arrays[name].rows
            told |= {
                "ratio": ratio,
                "large": Raw(names[values.argmax()]),
                "small": Raw(names[values.argmin()]),
            }
            key = "even" if ratio < FLAT else "uneven"
            if len(side.looked) > 1 or when == "first":
                told["step"] = int(side.looked[place])
                sentences.append(words(f"grad.notice.{key}", **told))
    return sentences or [words("grad.notice.none")]
