"""The picture of attention step by step, and the story of each of its numbers."""

from __future__ import annotations

from dataclasses import replace

from ui.formulas import sum_of_exponentials, sum_of_products
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Result
from ui.words import Raw, Words

INPUTS = ("x", "q", "k", "v")
STEPS = ("scores", "scaled", "masked", "weights", "output")
IDENTITY = {"x": "residual", "q": "q", "k": "k", "v": "v"}
SPREAD = 3.0  # standard deviations that the colours of unit-variance numbers reach
LOGITS = 4.0  # what softmax should meet: beyond it a weight is e⁴ ≈ 55 times another


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
    array = result.arrays[name]
    return Matrix(
        name=name,
        title=words.plain(f"title.{name}"),
        values=array.values,
        rows=array.rows,
        columns=array.columns,
        fill="weight" if name == "weights" else "signed",
        limits=_limits(name),
        axes=array.axes,
        axis_titles=tuple(words.plain(f"axis.{axis}") for axis in array.axes),
        identity=IDENTITY.get(name, ""),
        hidden=result.hidden if name == "masked" else None,
        note=" × ".join(map(str, array.values.shape)),
        arrow=_arrow(name, result, words),
    )


def _limits(name: str) -> tuple[float, float]:
    """A colour scale that a moving slider does not change, and one for all that goes towards softmax.

    So equal numbers have equal colours from step to step, and scores that scaling brings down look it.
    """
    if name == "weights":
        return (0.0, 1.0)
    largest = LOGITS if name in ("scores", "scaled", "masked") else SPREAD
    return (-largest, largest)


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
    told |= {"j": column + 1, "key": result.arrays[name].columns[column], "dk": parameters["dk"]}
    told |= {"tau": parameters["tau"], "score": result.values("scores")[row, column]}
    if name == "scores":
        told["sum"] = sum_of_products(result.values("q")[row], result.values("k")[column])
    if key == "why.weights":
        logits = result.values("masked")[row]
        told |= {
            "score": logits[column],
            "visible": int(seen.sum()),
            "sum": sum_of_exponentials(logits[seen]),
        }
    if not seen[column]:
        told["reason"] = Raw(words(f"reason.{parameters['mask']}"))
    return words(key, **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice, with the numbers of this picture: the scale, the spread, the mask, and an honest word."""
    s, p = result.facts["statistics"], result.parameters
    tokens = result.arrays["weights"].rows
    row, column = s.largest_at
    scaling = words(
        "notice.scaling_on" if p["scaled"] else "notice.scaling_off",
        count=len(tokens) ** 2,
        before=s.deviation_before,
        after=s.deviation_after,
        divided=s.deviation_after / p["dk"] ** 0.5,
        scale=result.facts["scale"],
        dk=p["dk"],
    )
    spread = words(
        "notice.spread",
        effective=s.mean_effective,
        visible=s.mean_visible,
        entropy=s.mean_entropy,
        maximum=s.mean_largest_entropy,
        largest=s.largest,
        i=row + 1,
        query=tokens[row],
        j=column + 1,
        key=tokens[column],
    )
    mask = words(
        "notice.no_padding" if p["mask"] == "padding" and p["pad"] == 0 else f"notice.{p['mask']}",
        first=tokens[0],
        last=len(tokens),
        pad=min(p["pad"], len(tokens)),
        count=len(tokens),
        before=p["window"] - 1,
        kept=s.kept_pairs,
        pairs=len(tokens) ** 2,
    )
    empty = [words("notice.empty", rows=s.empty_rows)] if s.empty_rows else []
    return [scaling, *([] if s.empty_rows == len(tokens) else [spread]), mask, *empty]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    s, p = result.facts["statistics"], result.parameters
    tokens = result.arrays["weights"].rows
    row, column = s.largest_at
    return words.plain(
        "summary",
        tokens=len(tokens),
        dk=p["dk"],
        tau=p["tau"],
        mask=words.plain(f"choice.mask.{p['mask']}"),
        largest=s.largest,
        i=row + 1,
        query=tokens[row],
        j=column + 1,
        key=tokens[column],
        entropy=s.mean_entropy,
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    if name in INPUTS:
        return "core.attention.toy.toy_inputs", name
    return "core.attention.dot_product.attention", "softmaxed" if name == "weights" else name
