"""Two stacks side by side: what was measured of each, the numbers layer by layer, and the story of each number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.block.depth import DepthSettings, depth_experiment
from ui.cached import cached
from ui.figures.matrices import axis_titles, matrix_of
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.words import Raw, Words

SIDES = ("a", "b")
QUANTITIES = ("norm", "gradient", "similarity")
ROWS = {"norm": ("A", "B", "B ÷ A"), "gradient": ("A", "B", "B ÷ A"), "similarity": ("A", "B", "B − A")}
OWN = ("norm", "res", "init")  # what each side has for itself; the rest is common to both


@dataclass(frozen=True, eq=False)
class Measured:
    """One run of `depth_experiment`, as plain arrays; state 0 is the embeddings."""

    norm: np.ndarray  # [L + 1]
    gradient: np.ndarray  # [L]
    similarity: np.ndarray  # [L + 1]
    added: np.ndarray  # [L]
    along: np.ndarray  # [L]
    loss: float

    @property
    def finite(self) -> bool:
        """False where a number grew beyond float32, or a stream came down to 0 and has no direction left."""
        return all(np.isfinite(x).all() for x in (self.norm, self.gradient, self.similarity, self.loss))


def settings(norm: str, res: bool, init: str, layers: int, width: int, seed: int, attention=True):
    """The experiment of one side."""
    return DepthSettings(
        norm_place=norm,
        residual=res,
        n_layers=layers,
        init=init,
        d_model=width,
        seeds=(seed,),
        attention=attention,
    )


# Each side by itself: a side that stays as it is, and a state that was seen before, are not computed again.
@cached(max_entries=1024)
def measure(
    norm: str, res: bool, init: str, layers: int, width: int, seed: int, attention: bool = True
) -> Measured:
    """Forward and backward through one stack."""
    trace = depth_experiment(settings(norm, res, init, layers, width, seed, attention))
    parts = (getattr(trace, name)[0] for name in ("norm", "gradient", "similarity", "added", "along"))
    return Measured(*(part.numpy() for part in parts), float(trace.loss[0]))


def of_side(side: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `measure` for side "a" or "b" of the page's values."""
    own = {name: values[f"{name}_{side}"] for name in OWN}
    return own | {"layers": values["layers"], "width": int(values["width"]), "seed": values["seed"]}


def result(values: Mapping[str, Any]) -> Result:
    """Both sides of a state, layer by layer, and how B compares with A."""
    told = {side: of_side(side, values) for side in SIDES}
    measured = {side: measure(**told[side]) for side in SIDES}
    layers = tuple(map(str, range(values["layers"] + 1)))
    arrays = {}
    for name in QUANTITIES:
        pair = [getattr(measured[side], name) for side in SIDES]  # two of [L] or [L + 1]
        with np.errstate(all="ignore"):  # 0 ÷ 0 and ∞ ÷ ∞ are told where they are shown
            compared = pair[1] - pair[0] if name == "similarity" else pair[1] / pair[0]
        columns = layers[1:] if name == "gradient" else layers
        arrays[name] = Array(np.stack([*pair, compared]), ROWS[name], columns, ("setting", "layer"))
    common = {name: told["a"][name] for name in ("layers", "width", "seed")}
    own = {f"{name}_{side}": told[side][name] for side in SIDES for name in OWN}
    example = settings(**told["a"])
    sizes = {"batch": example.batch, "tokens": example.n_tokens, "classes": example.n_classes}
    shapes = {
        name: array.values.shape[1:] for name, array in arrays.items()
    }  # what the core measures of one stack
    return Result(own | common | sizes, arrays, measured | {"settings": told}, shapes=shapes)


def name_of(side: str, result: Result, words: Words, *, weights: bool = True) -> str:
    """A side as a legend names it: "A: Post-LN · no residual"; the weights only where the two sides differ in them."""
    p = result.parameters
    parts = [words.plain(f"choice.norm_{side}.{p[f'norm_{side}']}")]
    if not p[f"res_{side}"]:
        parts.append(words.plain("series.no_residual"))
    if weights and p["init_a"] != p["init_b"]:
        parts.append(words.plain(f"choice.init_{side}.{p[f'init_{side}']}"))
    colon = "：" if words.lang == "zh" else ": "
    return f"{side.upper()}{colon}{' · '.join(parts)}"


def rows(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """The same numbers as three strips: A, B and their comparison by layer."""
    return tuple((_matrix(name, result, words),) for name in QUANTITIES)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    array, similarity = result.arrays[name], name == "similarity"
    values = np.where(np.isfinite(array.values), array.values, np.nan)
    largest = np.nanmax(np.abs(values[:2]), initial=0.0)
    return matrix_of(
        result,
        name,
        words,
        values=values.clip(-3e38, 3e38),  # as far as float32 reaches
        fill="signed" if similarity else "weight",
        limits=(-1.0, 1.0) if similarity else (0.0, float(largest) or 1.0),
        axis_titles=axis_titles(array.axes, words, "matrix.axis"),
        note="",
        large=True,
    )


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    told = {}
    for side in SIDES:
        m = result.facts[side]
        ends = {
            "first": m.gradient[0],
            "last": m.gradient[-1],
            "length": m.norm[-1],
            "alike": m.similarity[-1],
        }
        told |= {f"{key}_{side}": float(value) for key, value in ends.items()}
        told[f"name_{side}"] = Raw(name_of(side, result, words))
    return words.plain("summary", **told, **result.parameters)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How one number was made: the formula, and the formula with this layer's numbers."""
    name, row, column = cell
    value = float(result.values(name)[row, column])
    layer = column + (name == "gradient")
    if row == 2:
        return _compared(result, name, column, layer, words)
    side = SIDES[row]
    p, m = result.parameters, result.facts[side]
    told = {"side": Raw(name_of(side, result, words)), "layer": layer, "value": value}
    told |= {"n": p["batch"] * p["tokens"], "t": p["tokens"], "batch": p["batch"], "d": p["width"]}
    if not np.isfinite(value):
        fallen = name == "similarity" and np.isfinite(m.norm[column])
        return words("why.no_direction" if fallen else "why.not_finite", **told)
    if name == "norm":
        return f"{words('why.norm', sum=value * told['n'], **told)}\n\n{_length(p, side, m, layer, words)}"
    if name == "gradient":
        return words("why.gradient", square=value**2, rows=4 * p["width"], **told)
    square = value * p["tokens"] * (p["tokens"] - 1) + p["tokens"]
    return words("why.similarity", square=square, less=p["tokens"] - 1, **told)


def _compared(result: Result, name: str, column: int, layer: int, words: Words) -> str:
    a, b, compared = (float(v) for v in result.values(name)[:, column])
    key = "why.difference" if name == "similarity" else "why.ratio"
    told = {"what": Raw(words.plain(f"title.{name}")), "a": a, "b": b, "value": compared, "layer": layer}
    return words(key, **told)


def _length(p: Mapping[str, Any], side: str, m: Measured, layer: int, words: Words) -> str:
    """Where the length comes from, by the arrangement of the block."""
    root = {"d": p["width"], "root": p["width"] ** 0.5}
    if layer == 0:
        return words("why.norm_start", **root)
    if p[f"norm_{side}"] == "post":
        held = abs(m.norm[layer] / root["root"] - 1) < 0.02
        return words("why.norm_held" if held else "why.norm_epsilon", **root)
    before, added = float(m.norm[layer - 1]), float(m.added[layer - 1])
    if not p[f"res_{side}"]:
        return words("why.norm_replaced", before=before)
    told = {"before": before, "added": added, "sum": before + added, "along": float(m.along[layer - 1])}
    return words("why.norm_added", **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a quantity: the dotted name of the function, and the variable it assigns."""
    return "core.block.depth.one_seed", name


def numbers(result: Result, words: Words) -> str:
    """A Markdown table: A, B and how B compares, at the ends of the stack."""
    lines = [f"| {words('number.what')} | A | B | {words('number.compared')} |", "|:--|--:|--:|--:|"]
    places = (("gradient", 0), ("gradient", -1), ("norm", -1), ("similarity", -1))
    for name, place in places:
        a, b, compared = (float(v) for v in result.values(name)[:, place])
        label = words(
            f"number.{name}_first" if place == 0 else f"number.{name}", layers=result.parameters["layers"]
        )
        sign = "× " if name != "similarity" else "+" if compared > 0 else ""
        lines.append(f"| {label} | {number(a)} | {number(b)} | {sign}{number(compared)} |")
    return "\n".join(lines)
