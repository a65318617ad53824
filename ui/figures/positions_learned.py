"""A learned table and its end, beside the sinusoids, which have none."""

from __future__ import annotations

import numpy as np
import torch

from core.block.position_schemes import row_products
from core.block.positions import learned, sinusoidal
from ui.figures.matrices import axis_titles, matrix_of, size
from ui.figures.positions import D_MODEL, SPREAD, learned_table
from ui.formulas import sum_of_products
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Words


def compute(t_max: int, want: int, seed: int) -> Result:
    """The table up to its end and the sinusoids for as many positions, each with the products of its rows."""
    table, n = learned_table(seed)[:t_max], min(t_max, want)
    have, waves = learned(table, n), sinusoidal(want, D_MODEL, dtype=torch.float64)
    padded = torch.zeros(want, D_MODEL, dtype=torch.float64)
    padded[:n] = have
    places = tuple(f"t = {t}" for t in range(want))
    across = {"columns": places, "axes": ("row", "column")}
    arrays = {
        "l_table": Array.of(padded, places, axes=("row", "feature")),
        "s_table": Array.of(waves, places, axes=("row", "feature")),
        "l_dots": Array.of(row_products(padded), places, **across),
        "s_dots": Array.of(row_products(waves), places, **across),
    }
    gone = np.arange(want) >= n  # [want]
    dots = {"learned": arrays["l_dots"].values[:n, :n], "sinusoidal": arrays["s_dots"].values}
    facts = {"gone": gone, "missing": int(gone.sum()), "spread": {k: spread(v) for k, v in dots.items()}}
    shapes = {
        "l_table": (t_max, D_MODEL),
        "l_dots": (n, n),
    }  # drawn with room for the rows that there are not
    return Result({"t_max": t_max, "want": want, "d": D_MODEL, "n": n}, arrays, facts, shapes=shapes)


def spread(dots: np.ndarray) -> float:
    """How far the products of neighbouring rows lie apart: 0, up to rounding, if the distance alone decides."""
    neighbours = np.diagonal(dots, 1)
    return round(float(np.ptp(neighbours)), 12)


def error_of(shown: Result) -> str:
    """What the core says when it is asked for more rows than there are, or nothing."""
    p = shown.parameters
    try:
        learned(torch.zeros(p["t_max"], p["d"]), p["want"])
    except ValueError as error:
        return f"ValueError: {error}"
    return ""


def matrices(shown: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """Each table with the products of its rows."""
    return (tuple(_matrix(name, shown, words) for name in ("l_table", "l_dots", "s_table", "s_dots")),)


def _matrix(name: str, shown: Result, words: Words) -> Matrix:
    gone, dots = shown.facts["gone"], name.endswith("dots")
    hidden = np.broadcast_to(gone[:, None] | gone if dots else gone[:, None], shown.values(name).shape)
    learned = name[0] == "l"
    return matrix_of(
        shown,
        name,
        words,
        limit=SPREAD if name == "l_table" else D_MODEL / 2 if dots else 1.0,
        axis_titles=axis_titles(("position", "position" if dots else "feature"), words),
        hidden=hidden if learned else None,
        hidden_as=words.plain("hidden.no_row") if learned else "",
        note=size(shown.shape(name)),
        large=True,
    )


def why(shown: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One number of a table or of the products; or why there is none."""
    name, row, column = cell
    p, gone = shown.parameters, shown.facts["gone"]
    dots = name.endswith("dots")
    told = {"t": row, "c": column + 1, "u": column, "t_max": p["t_max"], "last": p["t_max"] - 1}
    if name[0] == "l" and (gone[row] or (dots and gone[column])):
        return words("why.no_row", **told | {"t": row if gone[row] else column})
    told["value"] = shown.values(name)[row, column]
    if dots:
        vectors = shown.values(f"{name[0]}_table")
        told["sum"] = sum_of_products(vectors[row], vectors[column])
    return words(f"why.{name}", distance=abs(row - column), **told)


def notices(shown: Result, words: Words) -> list[str]:
    """What to notice: the end, what is not in an untrained table, and what the table costs."""
    p, facts = shown.parameters, shown.facts
    told = {"t_max": p["t_max"], "want": p["want"], "missing": facts["missing"], "last": p["t_max"] - 1}
    told |= {"d": p["d"], "numbers": p["t_max"] * p["d"], "bert": 512 * 768, "gpt2": 1024 * 768}
    told |= facts["spread"]
    ends = "learn.notice.ends" if facts["missing"] else "learn.notice.fits"
    near = ["learn.notice.neighbours"] if p["n"] > 2 else []
    return [words(key, **told) for key in (ends, *near, "learn.notice.cost")]


def summary(shown: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p = shown.parameters
    return words.plain("learn.summary", t_max=p["t_max"], want=p["want"], missing=shown.facts["missing"])


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a number."""
    if name.endswith("dots"):
        return "core.block.position_schemes.row_products", "products"
    if name[0] == "l":
        return "core.block.position_schemes.untrained_table", "rows"
    return "core.block.positions.sinusoidal", "pairs"
