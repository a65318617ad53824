"""Sinusoids: a few dimensions as curves over the positions, and the whole table as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from core.block.extrapolation import wavelengths
from core.block.frequencies import inverse_frequencies
from core.block.positions import sinusoidal
from ui.figures.charts import Axis, Chart, Curve, curves
from ui.figures.matrices import axis_titles, matrix_of
from ui.figures.positions import pe_formula
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words

CURVE = 64  # positions of the curves
HEAT = 32  # positions of the heat map
STILL = 0.1  # a column of the heat map that changes by less hardly changes


def compute(d: int, base: int, chosen: Sequence[int]) -> Result:
    """The table of width d, and the chosen dimensions, counted from 1; those beyond d become the last."""
    table = sinusoidal(CURVE, d, base, torch.float64)  # [64, d]
    used = tuple(dict.fromkeys(min(dim, d) for dim in chosen))
    rows = tuple(f"t = {t}" for t in range(HEAT))
    arrays = {"heat": Array.of(table[:HEAT], rows, axes=("row", "feature"))}
    waves = wavelengths(inverse_frequencies(d, base, dtype=torch.float64)).numpy()
    facts = {"table": table.numpy(), "waves": waves, "twice": nearest(table.numpy())}
    return Result({"d": d, "base": base, "chosen": tuple(chosen), "used": used}, arrays, facts)


def nearest(table: np.ndarray) -> float:
    """The smallest distance between two rows: how well any two of the positions are told apart."""
    apart = np.linalg.norm(table[:, None] - table, axis=-1)
    return float(apart[~np.eye(len(table), dtype=bool)].min())


def remark(shown: Result, words: Words) -> str:
    """What is said when a chosen dimension does not exist, or two are the same."""
    p = shown.parameters
    if max(p["chosen"]) > p["d"]:
        return words("curve.beyond", d=p["d"])
    return words("curve.same") if len(p["used"]) < len(p["chosen"]) else ""


def chart(shown: Result, words: Words) -> Chart:
    """The chosen dimensions over 64 positions."""
    series = [
        Curve(words.plain("curve.series", dim=dim, wave=_wave(dim)), shown.facts["table"][:, dim - 1])
        for dim in shown.parameters["used"]
    ]
    x = np.arange(CURVE)
    return curves(
        x,
        series,
        Axis(words.plain("axis.position"), (0, CURVE)),
        Axis(words.plain("curve.axis"), (-1.0, 1.0)),
        height=260,
    )


def _wave(dim: int) -> str:
    return "sin" if dim % 2 else "cos"


def matrices(shown: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The heat map."""
    titles = axis_titles(("position", "feature"), words)
    return ((matrix_of(shown, "heat", words, limit=1.0, axis_titles=titles),),)


def why(shown: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One number of the table: its wave, its frequency, its wavelength."""
    _, row, column = cell
    p = shown.parameters
    told = {"t": row, "c": column + 1, "pair": column // 2 + 1, "value": shown.values("heat")[row, column]}
    told |= {"pe": pe_formula(row, column, p["d"], p["base"]), "wave": shown.facts["waves"][column // 2]}
    return words("why.heat", **told)


def notices(shown: Result, words: Words) -> list[str]:
    """What to notice: wavelengths of the first and the last pair, position 0, and that no two rows are equal."""
    p, waves = shown.parameters, shown.facts["waves"]
    told = {"d": p["d"], "base": Raw(f"{p['base']:,}"), "first": waves[0], "last": waves[-1]}
    still = np.ptp(shown.values("heat"), axis=0) < STILL  # [d]
    told |= {"pairs": len(waves), "slow": int(still.sum()), "shown": HEAT, "still": STILL}
    said = [words("curve.notice.waves", **told), words("curve.notice.slow", **told)]
    said.append(words("curve.notice.apart", apart=shown.facts["twice"], count=CURVE))
    return [*said, words("curve.notice.added")]


def chart_summary(shown: Result, words: Words) -> str:
    """The curves in one line of plain text."""
    dims = listed(shown.parameters["used"], words.lang)
    return words.plain("curve.chart_summary", dims=dims, d=shown.parameters["d"], count=CURVE)


def summary(shown: Result, words: Words) -> str:
    """The heat map in one line of plain text."""
    waves = shown.facts["waves"]
    return words.plain("curve.summary", d=shown.parameters["d"], shown=HEAT, first=waves[0], last=waves[-1])


def code_of(_: str) -> tuple[str, str]:
    """Where the core makes the table."""
    return "core.block.positions.sinusoidal", "pairs"
