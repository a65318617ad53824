"""The rotation that takes PE(t) to PE(t + δ), and the similarity that depends on δ only."""

from __future__ import annotations

import numpy as np
import torch

from core.block.frequencies import inverse_frequencies
from core.block.positions import shift_matrix, similarity_at, sinusoidal
from ui.figures.charts import Axis, Chart, Curve, Marker, curves
from ui.figures.matrices import matrix_of
from ui.figures.positions import thin
from ui.formulas import sum_of_products
from ui.matrix import Matrix
from ui.numbers import fixed, listed
from ui.result import Array, Result
from ui.words import Raw, Words

WIDTHS = (16, 64, 512)  # of the curves
FARTHEST = 100  # the largest distance of the curves
STARTS = (0, 10, 60, 1000)  # where the pair of positions is tried


def compute(d: int, t: int, delta: int) -> Result:
    """PE(t), the matrix, their product, and the similarity at several places."""
    table = sinusoidal(max(STARTS) + 61, d, dtype=torch.float64)  # [1061, d]
    rotation = shift_matrix(d, delta, dtype=torch.float64)  # [d, d]
    moved = rotation @ table[t]  # [d]
    features = tuple(str(c + 1) for c in range(d))
    column = {"axes": ("output", "column")}
    arrays = {
        "r_shift": Array.of(rotation, features, axes=("output", "feature")),
        "r_from": Array.of(table[t][:, None], features, (f"t = {t}",), axes=("feature", "column")),
        "r_to": Array.of(moved[:, None], features, (f"t = {t + delta}",), **column),
    }
    starts = tuple(sorted({t, *STARTS}))
    facts = {
        "direct": float((table[t + delta] - moved).abs().max()),
        "starts": starts,
        "products": tuple(float(table[s] @ table[s + delta]) for s in starts),
        "similarity": float(similarity_at(torch.tensor(delta), d)),
        "omega": inverse_frequencies(d, dtype=torch.float64).numpy(),
        "curves": {w: (similarity_at(torch.arange(FARTHEST + 1), w) / (w / 2)).numpy() for w in WIDTHS},
    }
    return Result({"d": d, "t": t, "delta": delta}, arrays, facts)


def matrices(shown: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The matrix × the vector = the vector further on."""
    return (tuple(_matrix(name, shown, words) for name in shown.arrays),)


def _matrix(name: str, shown: Result, words: Words) -> Matrix:
    feature = words.plain("axis.feature")
    return matrix_of(
        shown,
        name,
        words,
        limit=1.0,
        axis_titles=(feature, feature if name == "r_shift" else ""),
        arrow={"r_from": "×", "r_to": "="}.get(name, ""),
        large=True,
    )


def why(shown: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One number: of a block, of PE(t), or of the product."""
    name, row, column = cell
    p, value = shown.parameters, shown.values(name)[row, column]
    told = {"c": row + 1, "m": column + 1, "t": p["t"], "delta": p["delta"], "value": value}
    told |= {"there": p["t"] + p["delta"], "pair": row // 2 + 1, "omega": shown.facts["omega"][row // 2]}
    if name == "r_shift":
        if row // 2 != column // 2:
            return words("why.r_zero", **told)
        kind = "cos" if row == column else "sin" if row < column else "minus_sin"
        return words(f"why.r_{kind}", **told)
    if name == "r_from":
        return words("why.r_from_cos" if row % 2 else "why.r_from_sin", **told)
    pair = slice(row // 2 * 2, row // 2 * 2 + 2)
    told["sum"] = sum_of_products(shown.values("r_shift")[row, pair], shown.values("r_from")[pair, 0])
    return words("why.r_to", **told)


def notices(shown: Result, words: Words) -> list[str]:
    """What to notice: one matrix for every t, the same product anywhere, and what that does not promise."""
    p, facts = shown.parameters, shown.facts
    products = listed((fixed(x, 4) for x in facts["products"]), words.lang)
    told = {"d": p["d"], "t": p["t"], "delta": p["delta"], "there": p["t"] + p["delta"], "half": p["d"] // 2}
    told |= {"similarity": facts["similarity"], "spread": float(np.ptp(facts["products"]))}
    starts = listed(facts["starts"], words.lang)
    said = [words("rot.notice.one" if p["delta"] else "rot.notice.identity", **told)]
    said.append(words("rot.notice.same", products=Raw(products), starts=Raw(starts), **told))
    return [*said, words("rot.notice.not_score")]


def chart(shown: Result, words: Words) -> Chart:
    """Similarity by distance, for three widths, as a share of its value at distance 0."""
    series = [Curve(words.plain("rot.series", d=d), y) for d, y in shown.facts["curves"].items()]
    drawn = curves(
        np.arange(FARTHEST + 1),
        series,
        Axis(words.plain("axis.distance"), (0, FARTHEST)),
        Axis(words.plain("rot.axis"), (-0.4, 1.0)),
        marker=Marker(words.plain("rot.marker", delta=shown.parameters["delta"]), shown.parameters["delta"]),
        height=280,
    )
    return thin(drawn)


def chart_summary(shown: Result, words: Words) -> str:
    """The curves in one line of plain text."""
    delta = shown.parameters["delta"]
    values = {f"at_{d}": y[delta] for d, y in shown.facts["curves"].items()}
    return words.plain("rot.chart_summary", delta=delta, **values)


def summary(shown: Result, words: Words) -> str:
    """The product in one line of plain text."""
    p = shown.parameters
    return words.plain("rot.summary", t=p["t"], delta=p["delta"], similarity=shown.facts["similarity"])


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a number."""
    if name == "r_from":
        return "core.block.positions.sinusoidal", "pairs"
    return "core.block.positions.shift_matrix", "blocks"
