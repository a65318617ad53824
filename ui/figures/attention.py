"""The picture of attention step by step, and the story of each of its numbers."""

from __future__ import annotations

from dataclasses import replace

from ui.figures import pairs
from ui.figures.matrices import matrix_of
from ui.formulas import sum_of_products
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Result
from ui.words import Raw, Words

INPUTS = ("x", "q", "k", "v")
STEPS = ("scores", "scaled", "masked", "weights", "output")
IDENTITY = {"x": "residual", "q": "q", "k": "k", "v": "v"}


def steps(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """The inputs above, the linked row of steps below."""
    return tuple(_matrix(n, result, words) for n in INPUTS), tuple(_matrix(n, result, words) for n in STEPS)


def one_step(name: str, result: Result, words: Words) -> Matrix:
    """One matrix under its short name, to be set beside the same matrix of another result."""
    return replace(_matrix(name, result, words), title=words.plain(f"choice.step.{name}"))


def numbers(result: Result, words: Words) -> dict[str, float]:
    """The numbers by which two results are compared, under their labels."""
    s = result.facts["statistics"]
    values = {
        "largest": s.largest,
        "entropy": s.mean_entropy,
        "before": s.deviation_before,
        "after": s.deviation_after,
        "kept": s.kept_pairs,
    }
    return {words(f"number.{name}"): value for name, value in values.items()}


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    return matrix_of(
        result,
        name,
        words,
        limit=pairs.limit_of(name),
        identity=IDENTITY.get(name, ""),
        hidden=result.hidden if name == "masked" else None,
        arrow=_arrow(name, result, words),
    )


def _arrow(name: str, result: Result, words: Words) -> str:
    if f"arrow.{name}" not in words:
        return ""
    tau, scaled = result.parameters["tau"], result.parameters["scaled"]
    factors = [number(tau)] if tau != 1 or not scaled else []
    factors += [f"√{result.parameters['dk']}"] if scaled else []
    return words.plain(f"arrow.{name}", divisor="".join(factors))


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made: the formula, then the formula with the numbers on screen."""
    name, row, column = cell
    array = result.arrays[name]
    told = {"i": row + 1, "query": array.rows[row], "value": array.values[row, column]}
    if array.axes[1] == "key":
        return _why_pair(result, name, row, column, words, told)
    told["c"] = column + 1
    if name in ("q", "k", "v"):
        told["sum"] = sum_of_products(result.values("x")[row], result.facts[f"w_{name}"][:, column])
    if name == "output":
        told["sum"] = sum_of_products(result.values("weights")[row], result.values("v")[:, column])
    return words(f"why.{name}", **told)


def _why_pair(result: Result, name: str, row: int, column: int, words: Words, told: dict) -> str:
    """The story of a cell that belongs to one query and one key."""
    parameters = result.parameters
    seen = ~result.hidden[row]  # [T_k]
    key = {
        "scores": "why.scores",
        "scaled": "why.scaled" if parameters["scaled"] else "why.unscaled",
        "masked": "why.masked" if seen[column] else "why.hidden",
        "weights": "why.weights"
        if seen[column]
        else "why.weights_hidden"
        if seen.any()
        else "why.weights_empty",
    }[name]
    told |= pairs.story_of(result, name, row, column) | {"tau": parameters["tau"]}
    if not seen[column]:
        told["reason"] = Raw(words(f"reason.{parameters['mask']}"))
    return words(key, **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice, with the numbers of this picture: the scale, the spread, the mask, rows without a key."""
    s = result.facts["statistics"]
    tokens = result.arrays["weights"].rows
    if len(tokens) == 1 and not s.empty_rows:
        return [words("notice.one_token")]
    empty = [words("notice.empty", rows=s.empty_rows)] if s.empty_rows else []
    spread = [] if s.empty_rows == len(tokens) else [_spread(result, words)]
    scaling = [] if len(tokens) == 1 else [_scaling(result, words)]
    return [*scaling, *spread, _masking(result, words), *empty]


def _scaling(result: Result, words: Words) -> str:
    s, p = result.facts["statistics"], result.parameters
    key = "on" if p["scaled"] else "off" if p["dk"] > 1 else "same"
    return words(
        f"notice.scaling_{key}",
        count=len(result.arrays["weights"].rows) ** 2,
        before=s.deviation_before,
        after=s.deviation_after,
        divided=s.deviation_after / p["dk"] ** 0.5,
        scale=result.facts["scale"],
        dk=p["dk"],
    )


def _spread(result: Result, words: Words) -> str:
    s = result.facts["statistics"]
    told = {"effective": s.mean_effective, "visible": s.mean_visible, "maximum": s.mean_largest_entropy}
    key = "notice.spread" if pairs.chooses(result) else "notice.spread_alone"
    return words(key, **told, **pairs.largest_weight(result))


def _masking(result: Result, words: Words) -> str:
    s, p = result.facts["statistics"], result.parameters
    tokens = result.arrays["weights"].rows
    key = p["mask"]
    if key == "padding" and p["pad"] == 0:
        key = "no_padding"
    if key == "window" and p["window"] == 1:
        key = "window_one"
    elif key == "window" and p["window"] >= len(tokens):
        key = "window_wide"
    return words(
        f"notice.{key}",
        first=tokens[0],
        last=len(tokens),
        pad=min(p["pad"], len(tokens)),
        count=len(tokens),
        before=p["window"] - 1,
        kept=s.kept_pairs,
        pairs=len(tokens) ** 2,
    )


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p = result.parameters
    return words.plain(
        "summary" if pairs.chooses(result) else "summary_alone",
        tokens=len(result.arrays["weights"].rows),
        dk=p["dk"],
        tau=p["tau"],
        mask=words.plain(f"choice.mask.{p['mask']}"),
        **pairs.largest_weight(result),
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    if name in INPUTS:
        return "core.attention.toy.toy_inputs", name
    return "core.attention.dot_product.attention", "softmaxed" if name == "weights" else name
