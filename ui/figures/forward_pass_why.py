"""How each number of the forward pass was made: the formula, then the formula with the numbers on screen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ui.course.forward_pass import HEADS
from ui.formulas import bracketed, exponent, sum_of_exponentials, sum_of_products
from ui.result import Result
from ui.words import Raw, Words

DECIMALS = 3  # of a logit in an exponent: with them the power comes out as the probability that is shown


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """The story of one cell."""
    name, row, column = cell
    array, facts = result.arrays[name], result.facts
    layer = int(result.parameters["layer"])
    told: dict[str, Any] = {"place": row + 1, "c": column + 1, "value": float(array.values[row, column])}
    told |= {"token": array.rows[row], "layer": layer, "before": layer - 1, "vocab": facts["vocab"]}
    if name in HEADS:
        return _weight(result, HEADS.index(name), row, column, told, words)
    if name == "normed":
        return _normed(result, row, column, told, words)
    if name == "logits":
        told |= {"candidate": array.columns[column], "d": facts["columns"].shape[1]}
        terms = sum_of_products(result.values("normed")[row], facts["columns"][column])
        return words("why.logits", sum=terms, **told)
    if name == "probs":
        return _probability(result, row, column, told, words)
    return _vector(result, name, row, column, told, words)


def _vector(result: Result, name: str, row: int, column: int, told: dict, words: Words) -> str:
    facts, layer = result.facts, told["layer"]
    values, updates = result.values, facts["updates"]
    if name == "token":
        entry = float(facts["rows"][row, column])
        d = facts["rows"].shape[1]
        return words("why.token", id=facts["ids"][row], d=d, entry=bracketed(entry), root=d**0.5, **told)
    if name == "position":
        return words("why.position", limit=facts["limit"], **told)
    if name == "x" and layer == 1:
        a, b = (float(values(n)[row, column]) for n in ("token", "position"))
        return words("why.x", a=a, b=bracketed(b), **told)
    at = layer - 1
    if name == "x":
        parts = (facts["states"][at - 1], updates["attention"][at - 1], updates["ffn"][at - 1])
    else:
        parts = (
            (values("x"), updates["attention"][at]) if name == "mid" else (values("mid"), updates["ffn"][at])
        )
    first, *rest = (float(part[row, column]) for part in parts)
    terms = dict(zip(("b", "f"), map(bracketed, rest), strict=False))
    return words("why.x.late" if name == "x" else f"why.{name}", a=first, **terms, **told)


def _weight(result: Result, head: int, row: int, column: int, told: dict, words: Words) -> str:
    tokens = result.arrays["x"].rows
    told |= {"head": head + 1, "key": tokens[column], "key_place": column + 1}
    if column > row:
        return words("why.future", **told)
    scores = result.facts["masked"][told["layer"] - 1, head, row, : row + 1]
    told |= {
        "score": exponent(scores[column]),
        "sum": sum_of_exponentials(scores),
        "visible": row + 1,
    }
    return words("why.weight", **told)


def _normed(result: Result, row: int, column: int, told: dict, words: Words) -> str:
    facts = result.facts
    x = facts["states"][-1, row]
    told |= {"x": float(x[column]), "mean": bracketed(float(x.mean())), "variance": float(x.var())}
    told |= {
        "gamma": bracketed(float(facts["gamma"][column])),
        "beta": bracketed(float(facts["beta"][column])),
    }
    return words("why.normed", blocks=len(facts["states"]) - 1, eps=Raw("10^{-5}"), **told)


def _probability(result: Result, row: int, column: int, told: dict, words: Words) -> str:
    facts, t = result.facts, result.parameters["temperature"]
    told |= {"candidate": result.arrays["probs"].columns[column], "t": t}
    logit = float(result.facts["all_logits"][row, result.facts["order"][column]])
    told |= {"logit": bracketed(logit)}
    if t == 0:
        return words("why.greedy" if told["value"] else "why.greedy.not", **told)
    logits = facts["all_logits"][row] / t
    told["lse"] = exponent(logits.max() + np.log(np.exp(logits - logits.max()).sum()), DECIMALS)
    told |= {"logit": exponent(logit, DECIMALS + (t < 1)), "t": Raw(f"{t:g}")}
    each = facts["each"]
    told |= {"full": float(each["full"][row, column]), "kept": int(each["left"][row])}
    told["mass"] = float(each["kept_mass"][row])
    if told["kept"] == facts["vocab"]:
        return words("why.probs", **told)
    return words("why.cut" if facts["cut"][row, column] else "why.kept", **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name, and the variable that is assigned there."""
    if name in ("token", "position"):
        return "core.models.embeddings.Embeddings", name
    places = {
        "x": ("core.models.decoder.Decoder", "x"),
        "mid": ("core.block.residual.sublayer", "summed"),
        "after": ("core.block.residual.sublayer", "summed"),
        "normed": ("core.models.decoder.Decoder", "normed"),
        "logits": ("core.models.decoder.Decoder", "logits"),
        "probs": ("core.models.sampling.next_token_distribution", "probabilities"),
    }
    return places.get(name, ("core.attention.dot_product.attention", "weights"))
