"""The picture of the linear maps page: the plane before and after, the matrices, and the story of each number."""

from __future__ import annotations

import numpy as np
import torch

from core.attention.linear_maps import apply, describe, grid, letter
from ui.figures.charts import Chart, as_read
from ui.figures.matrices import matrix_of
from ui.figures.plane import GREY, HEIGHT, Arrow, Lines, Shape, accent, coordinates, plane, settled
from ui.formulas import bracketed, sum_of_products
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Result
from ui.words import Raw, Words

STEPS = ("m", "x", "b", "y")
HALF = 4.0  # units above and below the origin that are drawn
REACH = 5.0  # half the colour scale: entries and coordinates from the sliders give images up to 10
LETTER = 2.0  # its height
NEAR = (0.8, 0.4)  # across and up: tips of arrows that are no further apart share a label
FLAT = 1e-9  # below this a determinant is 0: entries are tenths
NO_BIAS = {"b1": 0.0, "b2": 0.0}
PRESETS = {
    name: dict(zip(("m11", "m12", "m21", "m22"), entries, strict=True)) | NO_BIAS
    for name, entries in {
        "identity": (1.0, 0.0, 0.0, 1.0),
        "rotation": (0.8, -0.6, 0.6, 0.8),
        "quarter": (0.0, -1.0, 1.0, 0.0),
        "shear": (1.0, 1.0, 0.0, 1.0),
        "reflection": (0.6, 0.8, 0.8, -0.6),
        "projection": (0.8, 0.4, 0.4, 0.2),
        "scaling": (1.5, 0.0, 0.0, 0.5),
    }.items()
}


def chart(result: Result, words: Words) -> Chart:
    """The letter and the grid before and after, the vector u and its image, the images of the unit vectors."""
    m, b = torch.from_numpy(result.values("m")), torch.from_numpy(result.values("b")[:, 0])
    before, after, vector = (words.plain(f"plane.{name}") for name in ("before", "after", "vector"))
    outline, origin = letter(LETTER), tuple(b.tolist())
    x, y = result.values("x"), result.values("y")
    labels = shared_labels(
        {"u": x[:, 0]} | {name: y[:, c] for c, name in enumerate(result.arrays["y"].columns)}
    )
    images = [labels[name] for name in result.arrays["y"].columns]
    parts = [
        Lines(after, apply(m, grid(9), b).numpy()),
        Shape(before, outline.numpy()),
        Shape(after, apply(m, outline, b).numpy()),
        *(Arrow(after, tuple(y[:, c]), origin, images[c]) for c in (1, 2)),
        Arrow(vector, tuple(x[:, 0]), label=labels["u"]),
        Arrow(vector, tuple(y[:, 0]), label=images[0]),
    ]
    colours = {before: GREY, after: accent(0), vector: accent(1)}
    return plane(parts, colours, half=HALF, legend=(before, after, vector), height=HEIGHT)


def shared_labels(tips: dict[str, np.ndarray]) -> dict[str, str]:
    """What to write at each tip: one label for tips at one place, such as u = T(u), where two would overprint."""
    groups: list[list[str]] = []
    for name, tip in tips.items():
        near = (group for group in groups if (np.abs(tips[group[0]] - tip) < NEAR).all())
        group = next(near, None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    written = dict.fromkeys(tips, "")
    for first, *others in groups:
        equal = all(np.allclose(tips[first], tips[name], rtol=0, atol=1e-9) for name in others)
        written[first] = (" = " if equal else ", ").join((first, *others))
    return written


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """M · X + b = Y, all of one size."""
    return (tuple(_matrix(name, result, words) for name in STEPS),)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    return matrix_of(
        result,
        name,
        words,
        limit=REACH,
        values=np.round(result.values(name), 12) + 0.0,  # without the rounding error of a sum of tenths
        axis_titles=("", ""),
        arrow={"x": "×", "b": "+", "y": "="}.get(name, ""),
        large=True,
    )


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made; an image is a row of M times a column of X, plus the bias."""
    name, row, column = cell
    array = result.arrays[name]
    told = {"i": row + 1, "j": column + 1, "value": _raw(array.values[row, column])}
    told |= {"vector": Raw(array.columns[column])}
    if name == "y":
        told["vector"] = Raw(result.arrays["x"].columns[column])
        told["sum"] = sum_of_products(result.values("m")[row], result.values("x")[:, column])
        told["offset"] = bracketed(result.values("b")[row, 0])
    if name == "x":
        return words("why.x_given" if column == 0 else "why.x_unit", **told)
    return words(f"why.{name}", **told)


def area(points: np.ndarray) -> float:
    """The area inside a closed outline [N, 2], by the shoelace formula."""
    x, y = points[:, 0], points[:, 1]
    return float(abs(x[:-1] @ y[1:] - x[1:] @ y[:-1]) / 2)


def notices(result: Result, words: Words) -> list[str]:
    """Areas, columns, the bias, and what is outside the picture."""
    facts, y = result.facts, result.values("y")
    told = {"determinant": _raw(facts["determinant"]), "factor": _raw(abs(facts["determinant"]))}
    told |= {"before": _raw(facts["area_before"]), "after": _raw(facts["area_after"])}
    columns = words(
        "notice.columns",
        first=_point(result.values("m")[:, 0]),
        second=_point(result.values("m")[:, 1]),
        u1=_raw(result.values("x")[0, 0]),
        u2=_factor(result.values("x")[1, 0]),
        image=_point(result.values("m") @ result.values("x")[:, 0]),
    )
    offset = result.values("b")[:, 0]
    kind = _kind(facts)
    grid = f"_{kind}" if kind in ("line", "point") else ""
    bias = words(f"notice.{'bias' if offset.any() else 'no_bias'}{grid}", offset=_point(offset))
    sentences = [words(f"notice.{kind}", **told), columns, bias]
    if np.abs(y[1, 0]) > HALF or np.abs(y[0, 0]) > 1.4 * HALF:
        sentences.append(words("notice.outside", image=_point(y[:, 0])))
    return sentences


def _kind(facts: dict) -> str:
    """What happens to areas: kept upright, turned over, flattened to a line or to a point."""
    if facts["rank"] < 2:
        return "line" if facts["rank"] else "point"
    return "upright" if facts["determinant"] > 0 else "mirrored"


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    m, x, y, b = (result.values(name) for name in ("m", "x", "y", "b"))
    return words.plain(
        "summary",
        m="; ".join(" ".join(number(float(v)) for v in row) for row in m),
        b=coordinates(b[:, 0]),
        u=coordinates(x[:, 0]),
        image=coordinates(y[:, 0]),
        determinant=as_read(settled(result.facts["determinant"])),
    )


def facts_of(m: torch.Tensor, b: torch.Tensor) -> dict[str, float | int]:
    """Determinant, rank, singular values, and the area of the letter before and after."""
    told = describe(m)
    flat = abs(told.determinant) < FLAT
    outline = letter(LETTER)
    return {
        "determinant": 0.0 if flat else told.determinant,
        "rank": told.rank,
        "singular_values": told.singular_values,
        "area_before": area(outline.numpy()),
        "area_after": area(apply(m, outline, b).numpy()),
    }


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    return "core.attention.linear_maps.worked_map", name


def _raw(value: float) -> Raw:
    return Raw(as_read(settled(value)))


def _factor(value: float) -> Raw:
    """A number that may follow a sign: in brackets if it is negative."""
    return _raw(value) if settled(value) >= 0 else Raw(f"({_raw(value)})")


def _point(values: np.ndarray) -> Raw:
    return Raw(coordinates(values))
