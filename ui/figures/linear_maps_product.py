"""The product rule: shapes that the reader types, what decides whether the product exists, and small numbers to check."""

from __future__ import annotations

import re

import numpy as np

from core.attention.linear_maps import ProductShape, product_shape, small_factors, small_product
from ui.figures.matrices import matrix_of
from ui.formulas import sum_of_products
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

DEFAULTS = ((3, 4), (4, 2))
MOST_AXES = 5
LARGEST = 100_000
DRAWN = 8  # the longest axis of a matrix whose numbers are shown
# What stands between the numbers of a shape, and around them: [4, 16, 512], 4×16×512, （4，16）.
_SHAPE = re.compile(r"\s*[\[(（【]?\s*(\d+(?:\s*[,，、×xX*·\s]\s*\d+)*)\s*[\])）】]?\s*")
PRESETS = {
    name: {"shape_a": a, "shape_b": b}
    for name, (a, b) in {
        "plain": ("3, 4", "4, 2"),
        "vector": ("2, 3", "3, 1"),
        "row": ("1, 3", "3, 4"),
        "mismatch": ("3, 4", "2, 4"),
        "batch": ("4, 16, 512", "512, 512"),
        "forgotten": ("4, 8, 16, 64", "4, 8, 16, 64"),
        "scores": ("4, 8, 16, 64", "4, 8, 64, 16"),
        "clash": ("4, 16, 64", "3, 64, 16"),
    }.items()
}


def shape_of(text: str) -> tuple[int, ...] | None:
    """The sizes in a typed shape, or None if it is none that can be used."""
    match = _SHAPE.fullmatch(text)
    sizes = re.findall(r"\d+", match[1]) if match else []
    if not 2 <= len(sizes) <= MOST_AXES or any(len(n) > 7 or not 1 <= int(n) <= LARGEST for n in sizes):
        return None
    return tuple(map(int, sizes))


def read(typed: tuple[str, str], words: Words) -> tuple[ProductShape, list[str]]:
    """The two shapes, each replaced by its default where it cannot be read, with a remark on that."""
    shapes, remarks = [], []
    for name, text, default in zip("AB", typed, DEFAULTS, strict=True):
        shape = shape_of(text)
        if shape is None:
            told = {"name": Raw(name), "given": text, "most": MOST_AXES, "largest": LARGEST}
            remarks.append(words("product.unreadable", **told, used=_listed(default)))
        shapes.append(shape or default)
    return product_shape(*shapes), remarks


def verdict(found: ProductShape, words: Words) -> str:
    """The shape of the product and what it costs, or which two numbers do not fit and what would."""
    told = {"a": _listed(found.a), "b": _listed(found.b)}
    if found.shape is not None:
        told |= {"c": _listed(found.shape), "inner": found.inner, "count": found.multiply_adds}
        key = "product.fits" if len(found.shape) == 2 else "product.fits_batch"
        return words(key, **told, rows=found.shape[-2], columns=found.shape[-1])
    left, right = found.differ
    told |= {"left": left, "right": right}
    if found.differ_at[0] < -2:
        return words("product.clash", **told)
    return f"{words('product.mismatch', **told)} {_advice(found, words)}"


def _advice(found: ProductShape, words: Words) -> str:
    """Which transpose, or which order, would make a product of these two."""
    a, b = found.a, found.b
    at, bt = (*a[:-2], a[-1], a[-2]), (*b[:-2], b[-1], b[-2])
    for name, left, right in (("b_transposed", a, bt), ("a_transposed", at, b), ("swapped", b, a)):
        shape = product_shape(left, right).shape
        if shape is not None:
            told = {"a": _listed(left), "b": _listed(right), "c": _listed(shape)}
            return words(f"product.{name}", **told)
    return words("product.no_way")


def compute(found: ProductShape) -> Result | None:
    """Two matrices of whole numbers with these shapes, and their product if there is one; None if they are too large."""
    if len(found.a) != 2 or len(found.b) != 2 or max(*found.a, *found.b) > DRAWN:
        return None
    a, b = small_factors(found.a, found.b)
    rows, left, right, columns = (tuple(str(i + 1) for i in range(n)) for n in (*found.a, *found.b))
    arrays = {
        "pa": Array.of(a, rows, left, axes=("row", "inner")),
        "pb": Array.of(b, right, columns, axes=("inner", "column")),
    }
    if found.shape is not None:
        product = small_product(*found.a, found.b[1])
        arrays["pc"] = Array.of(product.c, rows, columns, axes=("row", "column"))
    return Result({}, arrays, {})


def _unpaired(result: Result) -> dict[str, np.ndarray]:
    """Which numbers of A and B have no partner, where a row of A and a column of B are not equally long."""
    a, b = result.values("pa"), result.values("pb")
    paired = min(a.shape[1], b.shape[0])
    over = {"pa": np.arange(a.shape[1])[None, :] >= paired, "pb": np.arange(b.shape[0])[:, None] >= paired}
    return {name: np.broadcast_to(one, result.values(name).shape) for name, one in over.items() if one.any()}


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """A × B = C, all of one size; without a product A and B alone, with what has no partner hatched."""
    unpaired = _unpaired(result)
    return (
        tuple(
            matrix_of(
                result,
                name,
                words,
                limit=60.0 if name == "pc" else 6.0,
                axis_titles=("", ""),
                note=_note(array.values.shape, name in unpaired, words),
                hidden=unpaired.get(name),
                hidden_as=words.plain("product.unpaired") if name in unpaired else "",
                arrow={"pb": "×", "pc": "="}.get(name, ""),
                large=True,
                whole=True,
            )
            for name, array in result.arrays.items()
        ),
    )


def _note(shape: tuple[int, ...], unpaired: bool, words: Words) -> str:
    size = " × ".join(map(str, shape))
    return f"{size} · {words.plain('product.hatched')}" if unpaired else size


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """A number of the product is a row of A times a column of B, written out whole."""
    name, row, column = cell
    told = {"i": row + 1, "j": column + 1, "value": result.values(name)[row, column]}
    if name == "pc":
        a, b = result.values("pa")[row], result.values("pb")[:, column]
        told |= {"sum": sum_of_products(a, b, shown=DRAWN), "inner": len(a)}
    return words(f"why.{name}", **told)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    key = "product.summary" if "pc" in result.arrays else "product.summary_none"
    return words.plain(key, **{name: _listed(array.values.shape) for name, array in result.arrays.items()})


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    function = "small_product" if name == "pc" else "small_factors"
    return f"core.attention.linear_maps.{function}", name.removeprefix("p")


def _listed(shape: tuple[int, ...]) -> Raw:
    return Raw(f"[{', '.join(map(str, shape))}]")
