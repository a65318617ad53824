"""What pictures of one attention have in common: the colour scales, the numbers of a pair, and the largest weight."""

from __future__ import annotations

from typing import Any

from ui.formulas import sum_of_exponentials, sum_of_products
from ui.result import Result

SPREAD = 3.0  # standard deviations that the colours of unit-variance numbers reach
LOGITS = 4.0  # what softmax should meet: beyond it a weight is e⁴ ≈ 55 times another


def limit_of(name: str) -> float | None:
    """How far the colours of a matrix reach; None for the weights. No slider changes it.

    There is one for all that goes towards softmax, so that equal numbers have equal colours from step to step, and
    scores that scaling brings down look it.
    """
    if name == "weights":
        return None
    return LOGITS if name in ("scores", "scaled", "masked") else SPREAD


def story_of(result: Result, name: str, row: int, column: int) -> dict[str, Any]:
    """What the words need for a cell of one query and one key: the key, the score, and the sum behind the number."""
    told = {"j": column + 1, "key": result.arrays[name].columns[column], "dk": result.parameters["dk"]}
    told["score"] = result.values("scores")[row, column]
    if name == "scores":
        told["sum"] = sum_of_products(result.values("q")[row], result.values("k")[column])
    seen = ~result.hidden[row]  # [T_k]
    if name == "weights" and seen[column]:
        logits = result.values("masked")[row]  # [T_k]
        told |= {"score": logits[column], "visible": int(seen.sum())}
        told["sum"] = sum_of_exponentials(logits[seen])
    return told


def largest_weight(result: Result) -> dict[str, Any]:
    """The largest weight of a query that has a choice, whose it is, and the mean entropy."""
    s, array = result.facts["statistics"], result.arrays["weights"]
    row, column = s.largest_at
    told = {"largest": s.largest, "entropy": s.mean_entropy, "i": row + 1, "query": array.rows[row]}
    return told | {"j": column + 1, "key": array.columns[column]}


def chooses(result: Result) -> bool:
    """Whether any query sees more than one key; else every weight is 0 or 1 whatever the vectors are."""
    return bool(((~result.hidden).sum(-1) > 1).any())
