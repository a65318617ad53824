"""Additive attention beside the scaled dot product on the same queries and keys, every intermediate shown."""

from __future__ import annotations

import math

import numpy as np

from core.attention.both_kinds import both_kinds, largest_additive_score, toy_additive
from core.attention.saturation import entropy
from ui.figures import cross_attention as forward
from ui.figures.matrices import matrix_of
from ui.figures.pairs import LOGITS, chooses
from ui.formulas import bracketed, sum_of_exponentials, sum_of_products
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

ABOVE = ("pq", "pk", "summed", "hidden", "e", "s")
BELOW = ("add", "dot", "kinds_diff")
WEIGHTS = ("add", "dot")
PRECISION = 1e-12


def compute(result: Result, row: int, da: int) -> Result:
    """Both kinds under the page's mask; `row`, counted from 0, is the query whose hidden layer is shown."""
    q, k, v, allowed = forward.tensors(result)
    target, source = result.arrays["weights"].rows, result.arrays["weights"].columns
    row = min(row, len(target) - 1)
    learned = toy_additive(result.parameters["seed"], result.parameters["dk"], da)
    both = both_kinds(q, k, v, learned, allowed)
    additive, dot = both.additive, both.dot
    arrays = {
        "pq": Array.of(additive.projected_query, target, axes=("query", "feature")),
        "pk": Array.of(additive.projected_keys, source, axes=("key", "feature")),
        "summed": Array.of(additive.summed[row], source, axes=("key", "feature")),
        "hidden": Array.of(additive.hidden[row], source, axes=("key", "feature")),
    }
    pairs = {"e": additive.scores, "s": dot.scaled, "add": additive.weights, "dot": dot.weights}
    pairs["kinds_diff"] = both.difference
    arrays |= {
        name: Array.of(values, target, source, axes=("query", "key")) for name, values in pairs.items()
    }
    facts = {
        "row": row,
        "learned": {n: getattr(learned, n).numpy() for n in ("w_q", "w_k", "v")},
        "q": result.values("q"),
        "k": result.values("k"),
        "bound": largest_additive_score(learned),
        "entropies": {n: float(entropy(pairs[n]).mean()) for n in WEIGHTS},
    }
    return Result(result.parameters | {"da": da}, arrays, facts, hidden=result.hidden)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """What additive attention computes and both scores above; both weights and their difference below."""
    return tuple(_matrix(n, result, words) for n in ABOVE), tuple(_matrix(n, result, words) for n in BELOW)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    limit = {"hidden": 1.0, "kinds_diff": 1.0, "e": LOGITS, "s": LOGITS}.get(name, 4.0)
    return matrix_of(
        result,
        name,
        words,
        limit=None if name in WEIGHTS else limit,
        title=_title(name, result, words),
        identity={"pq": "q", "pk": "k"}.get(name, ""),
        large=name in BELOW,
    )


def _title(name: str, result: Result, words: Words) -> str:
    """The hidden layer has a matrix for every query; the title says whose is shown."""
    title = words.plain(f"title.{name}")
    if name not in ("summed", "hidden"):
        return title
    return words.plain("add.title_row", title=title, i=result.facts["row"] + 1)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made, for both kinds."""
    name, row, column = cell
    array, facts = result.arrays[name], result.facts
    told = {"i": row + 1, "query": array.rows[row], "c": column + 1, "value": array.values[row, column]}
    told |= {"j": column + 1, "key": array.columns[column]}
    if name in ("pq", "pk"):
        side = name[1]
        told["sum"] = sum_of_products(facts[side][row], facts["learned"][f"w_{side}"][:, column])
        return words(f"why.{name}", **told)
    if name in ("summed", "hidden"):
        return words(f"why.{name}", **told | _of_hidden(result, row, column))
    return _why_pair(result, name, row, column, words, told)


def _of_hidden(result: Result, j: int, c: int) -> dict:
    """What the story of one number of the hidden layer needs; its rows are the source's tokens."""
    i = result.facts["row"]
    return {
        "i": i + 1,
        "query": result.arrays["pq"].rows[i],
        "j": j + 1,
        "key": result.arrays["pk"].rows[j],
        "a": result.values("pq")[i, c],
        "b": bracketed(result.values("pk")[j, c]),
        "summed": result.values("summed")[j, c],
    }


def _why_pair(result: Result, name: str, row: int, column: int, words: Words, told: dict) -> str:
    facts, seen = result.facts, ~result.hidden[row]  # [S]
    if name == "e":
        both = result.values("pq")[row] + result.values("pk")[column]  # [d_a]
        told["sum"] = sum_of_products(facts["learned"]["v"], np.tanh(both))
    if name == "s":
        told |= {"sum": sum_of_products(facts["q"][row], facts["k"][column]), "dk": result.parameters["dk"]}
    if name == "kinds_diff":
        told |= {"add": result.values("add")[row, column], "dot": result.values("dot")[row, column]}
    if name in WEIGHTS:
        logits = result.values("e" if name == "add" else "s")[row]  # [S]
        told |= {"score": logits[column], "sum": sum_of_exponentials(logits[seen])}
        told["kind"] = Raw(words(f"title.{name}"))
        return words("why.kind_weight" if seen[column] else "why.kind_hidden", **told)
    return words(f"why.{name}", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: the bound on one score and none on the other, how alike the rows are, and the cost."""
    facts, p, row = result.facts, result.parameters, result.facts["row"]
    add, dot, target = result.values("add"), result.values("dot"), result.arrays["add"].rows
    source = result.arrays["add"].columns
    t, s = add.shape
    first, second = int(add[row].argmax()), int(dot[row].argmax())
    agreeing = int((add.argmax(-1) == dot.argmax(-1)).sum())
    told = {"i": row + 1, "query": target[row], "t": t, "s": s, "da": p["da"], "dk": p["dk"]}
    told |= {
        "a": add[row, first],
        "b": dot[row, second],
        "largest": np.abs(result.values("kinds_diff")).max(),
    }
    told |= {"j": first + 1, "key_a": source[first], "l": second + 1, "key_b": source[second]}
    return [
        words("add.notice.row" if chooses(result) else "add.notice.row_alone", agreeing=agreeing, **told),
        words(
            "add.notice.bound",
            bound=facts["bound"],
            da=p["da"],
            highest=np.abs(result.values("e")).max(),
            dot=np.abs(result.values("s")).max(),
            spread_add=math.exp(facts["entropies"]["add"]),
            spread_dot=math.exp(facts["entropies"]["dot"]),
        ),
        words(
            "add.notice.cost",
            numbers=t * s * p["da"],
            scores=t * s,
            learned=(2 * p["dk"] + 1) * p["da"],
            **told,
        ),
    ]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    difference = np.abs(result.values("kinds_diff"))
    row, column = divmod(int(difference.argmax()), difference.shape[1])
    array = result.arrays["kinds_diff"]
    return words.plain(
        "add.summary",
        da=result.parameters["da"],
        largest=difference.max(),
        i=row + 1,
        query=array.rows[row],
        j=column + 1,
        key=array.columns[column],
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    if name == "kinds_diff":
        return "core.attention.both_kinds.both_kinds", "difference"
    if name in ("s", "dot"):
        return "core.attention.dot_product.attention", "scaled" if name == "s" else "softmaxed"
    variable = {"pq": "projected_query", "pk": "projected_keys", "e": "scores", "add": "weights"}
    return "core.attention.additive.additive_attention", variable.get(name, name)
