"""Tokens becoming alike: the cosine of every pair after a layer, and how fast the differences go, with attention or without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from core.block.depth import cosines_of, token_products
from ui.cached import cached
from ui.figures.charts import Chart, Curve, curves
from ui.figures.matrices import axis_titles, matrix_of
from ui.figures.residual import SIDES, measure, name_of, settings
from ui.figures.residual_charts import layer_axis, powers, powers_axis
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

LOWEST = 1e-13  # below it 1 − cosine is rounding of float32 inputs


@cached(max_entries=64)
def pairs(norm: str, res: bool, init: str, layers: int, width: int, seed: int, layer: int) -> np.ndarray:
    """x_i · x_j for every two tokens of the first sentence after a layer, [T, T]."""
    return token_products(settings(norm, res, init, layers, width, seed), layer).numpy()


def cosines(products: np.ndarray) -> np.ndarray:
    """The cosines of these products, [T, T]."""
    return cosines_of(torch.from_numpy(products)).numpy()


def compute(result: Result, layer: int) -> Result:
    """The cosines of both sides after the layer, or after the last one where there are fewer."""
    layer = min(layer, result.parameters["layers"])
    arrays, products = {}, {}
    for side in SIDES:
        products[side] = pairs(**result.facts["settings"][side], layer=layer)
        labels = tuple(map(str, range(1, len(products[side]) + 1)))
        arrays[f"cos_{side}"] = Array(cosines(products[side]), labels, labels, ("token", "token"))
    return Result(result.parameters | {"layer": layer}, arrays, result.facts | {"products": products})


def matrices(shown: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """Both in one row, on one scale."""
    return (tuple(_matrix(side, shown, words) for side in SIDES),)


def _matrix(side: str, shown: Result, words: Words) -> Matrix:
    return matrix_of(
        shown,
        f"cos_{side}",
        words,
        limit=1.0,
        title=words.plain("alike.title", name=name_of(side, shown, words), layer=shown.parameters["layer"]),
        axes=("token", "token"),
        axis_titles=axis_titles(("token", "token"), words, "matrix.axis"),
        note="",
        large=True,
    )


def why(shown: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One cosine: two tokens after the layer."""
    name, row, column = cell
    told = {"side": Raw(name_of(name[-1], shown, words)), "i": row + 1, "j": column + 1}
    told |= {"value": float(shown.values(name)[row, column]), "layer": shown.parameters["layer"]}
    products = shown.facts["products"][name[-1]]
    lengths = np.sqrt(products.diagonal()[[row, column]])
    told |= {"product": float(products[row, column]), "one": float(lengths[0]), "other": float(lengths[1])}
    if row == column:
        return words("why.cosine_self", **told)
    before = cosines(pairs(**shown.facts["settings"][name[-1]], layer=0))
    return words("why.cosine", start=float(before[row, column]), **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes the cosines."""
    return "core.block.depth.cosines_of", "cosines"


def summary(shown: Result, words: Words) -> str:
    """Both matrices in one line of plain text."""
    told = {side: _off_diagonal(shown.values(f"cos_{side}")) for side in SIDES}
    return words.plain("alike.summary", layer=shown.parameters["layer"], **told)


def _off_diagonal(cosines: np.ndarray) -> float:
    return float(cosines[~np.eye(len(cosines), dtype=bool)].mean())


def curves_of(result: Result) -> dict[str, np.ndarray]:
    """1 − similarity by layer [L + 1]: each side as it is, and with attention's output switched off."""
    found = {side: 1 - result.facts[side].similarity for side in SIDES}
    for side in SIDES:
        found[f"{side}_off"] = 1 - measure(**result.facts["settings"][side], attention=False).similarity
    return found


def chart(result: Result, words: Words) -> Chart:
    """The differences that are left, on a logarithmic axis: a straight line is a loss by the same factor each layer."""
    lines = []
    for key, values in curves_of(result).items():
        good = np.isfinite(values) & (values > LOWEST)
        name = name_of(key[0], result, words)
        label = words.plain("alike.series_off", name=name) if key.endswith("off") else name
        lines.append(Curve(label, values[good], x=np.flatnonzero(good)))
    low, high = powers((-3, 0), [line.y[line.y <= 1] for line in lines])
    layers = result.parameters["layers"]
    axis = replace(powers_axis(words.plain("alike.axis"), low, high), limits=(10.0**low, 1.6 * 10.0**high))
    return curves(np.arange(0), lines, layer_axis(layers, words), axis, height=300)


def chart_summary(result: Result, words: Words) -> str:
    """The chart in one line of plain text."""
    last = {key: float(values[-1]) for key, values in curves_of(result).items()}
    return words.plain("alike.chart_summary", layers=result.parameters["layers"], **last)


def notices(shown: Result, words: Words) -> list[str]:
    """How alike, where, and what attention has to do with it."""
    found = curves_of(shown)
    layers = shown.parameters["layers"]
    sentences = [
        words(
            "alike.notice.pairs",
            layer=shown.parameters["layer"],
            **{s: _off_diagonal(shown.values(f"cos_{s}")) for s in SIDES},
        )
    ]
    for side in SIDES:
        last, without = float(found[side][-1]), float(found[f"{side}_off"][-1])
        told = {"side": Raw(name_of(side, shown, words)), "layers": layers, "last": last, "without": without}
        if not np.isfinite([last, without]).all():
            sentences.append(words("alike.notice.broken", **told))
        elif without > 1.5 * last:
            sentences.append(words("alike.notice.attention", **told))
        else:
            sentences.append(words("alike.notice.either", **told))
    return [*sentences, words("alike.notice.dong")]
