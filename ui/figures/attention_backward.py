"""The way back through attention: from ∂L/∂O to dV, dA, dS, dQ and dK, beside what autograd finds."""

from __future__ import annotations

import numpy as np
import torch

from core.attention import gradients
from core.attention.dot_product import attention, attention_backward, softmax_jacobian
from core.attention.toy import seeded
from ui.figures import attention as forward
from ui.figures.matrices import matrix_of
from ui.figures.pairs import SPREAD
from ui.formulas import bracketed, sum_of_products
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

GIVEN = ("g", "weights", "v", "k", "q")
GRADIENTS = ("dv", "da", "jac", "ds", "dq", "dk")
IDENTITY = {"q": "q", "dq": "q", "k": "k", "dk": "k", "v": "v", "dv": "v"}
CORE_NAMES = {"dv": "d_v", "da": "d_weights", "ds": "d_scores", "dq": "d_q", "dk": "d_k"}
# Where the colours end. Gradients grow with d_k and have no largest value; a number beyond keeps the last colour.
LIMITS = {"g": 3.0, "dv": 3.0, "da": 12.0, "jac": 0.25, "ds": 1.5, "dq": 1.5, "dk": 1.5}

ROUNDING = 1e-12  # a number below this is the arithmetic's
GRADLESS = {"one": "_flat", "target": "_alone"}  # what is said where there is nothing to learn


def compute(result: Result, kind: str, row: int, column: int, draw: int) -> Result:
    """The backward pass of the page's present attention, for the G that the reader chose.

    row and column, counted from 0 and cut to what there is, name the query whose Jacobian is shown, and the one
    output cell for the kind "one".
    """
    q, k, v = (torch.from_numpy(result.values(name)) for name in ("q", "k", "v"))
    allowed, scale = torch.from_numpy(~result.hidden), result.facts["scale"]
    row, column = min(row, len(q) - 1), min(column, v.shape[1] - 1)
    trace = attention(q, k, v, allowed, scale=scale)
    target = gradients.value_before(v)
    g = {
        "ones": lambda: gradients.grad_of_sum(trace.output),
        "one": lambda: gradients.grad_of_one(trace.output, row, column),
        "target": lambda: gradients.grad_of_squared_error(trace.output, target),
        "random": lambda: gradients.grad_at_random(trace.output, seeded("gradient", draw)),
    }[kind]()
    ours = attention_backward(trace, q, k, v, g)
    autograd = gradients.autograd_gradients(q, k, v, g, allowed, scale)

    tokens = result.arrays["weights"].rows
    arrays = dict(result.arrays)
    arrays |= {
        name: Array.of(values, tokens, axes=("query", "feature"))
        for name, values in (("g", g), ("dq", ours.d_q))
    }
    arrays |= {
        name: Array.of(values, tokens, axes=("key", "feature"))
        for name, values in (("dv", ours.d_v), ("dk", ours.d_k))
    }
    arrays |= {
        name: Array.of(values, tokens, tokens, axes=("query", "key"))
        for name, values in (("da", ours.d_weights), ("ds", ours.d_scores))
    }
    arrays["jac"] = Array.of(softmax_jacobian(trace.weights[row]), tokens, tokens, axes=("key", "key"))
    misprint = gradients.misprinted_d_scores(trace, ours.d_weights)
    facts = {
        "scale": scale,
        "target": target.numpy(),
        "misprint": misprint.numpy(),
        "misprint_error": _largest(misprint - autograd.d_scores),
        "difference": {n: _largest(getattr(ours, c) - getattr(autograd, c)) for n, c in CORE_NAMES.items()},
    }
    settings = result.parameters | {"grad": kind, "row": row, "column": column}
    return Result(settings, arrays, result.facts | facts, result.hidden)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """What the backward pass is given, and the gradients in the order in which it reaches them."""
    return tuple(_matrix(n, result, words) for n in GIVEN), tuple(
        _matrix(n, result, words) for n in GRADIENTS
    )


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    limit = None if name == "weights" else LIMITS.get(name, SPREAD)
    note = {}
    if name in GRADIENTS:
        note["note"] = words.plain(f"grad.formula.{name}", i=result.parameters["row"] + 1)
    return matrix_of(result, name, words, limit=limit, identity=IDENTITY.get(name, ""), arrow="", **note)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a gradient was made; what the forward pass made is told as above."""
    name, row, column = cell
    if name in ("weights", "q", "k", "v"):
        return forward.why(result, cell, words)
    array = result.arrays[name]
    told = {"i": row + 1, "j": column + 1, "c": column + 1, "value": array.values[row, column]}
    told |= {"row": array.rows[row], "column": array.columns[column], "scale": result.facts["scale"]}
    if name == "g":
        return _why_given(result, row, column, words, told)
    if name == "jac":
        a = result.values("weights")[result.parameters["row"]]
        told |= {"query": result.parameters["row"] + 1, "a": a[row], "b": a[column]}
        return words("why.jac_diagonal" if row == column else "why.jac", **told)
    if name == "ds":
        a, da = result.values("weights")[row], result.values("da")[row]
        told |= {
            "a": a[column],
            "da": da[column],
            "mean": float(a @ da),
            "subtracted": bracketed(a @ da),
            "sum": sum_of_products(da, a),
        }
    else:
        told["sum"] = sum_of_products(*_factors(result, name, row, column))
    return words(f"why.{name}", **told)


def _factors(result: Result, name: str, row: int, column: int) -> tuple[np.ndarray, np.ndarray]:
    """The two vectors whose dot product (times the scale, for dQ and dK) is the gradient in a cell."""
    values = result.values
    return {
        "dv": lambda: (values("weights")[:, row], values("g")[:, column]),
        "da": lambda: (values("g")[row], values("v")[column]),
        "dq": lambda: (values("ds")[row], values("k")[:, column]),
        "dk": lambda: (values("ds")[:, row], values("q")[:, column]),
    }[name]()


def _why_given(result: Result, row: int, column: int, words: Words, told: dict) -> str:
    told |= {
        "output": result.values("output")[row, column],
        "target": bracketed(result.facts["target"][row, column]),
    }
    return words(f"why.g.{result.parameters['grad']}", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: the chosen gradient, the Jacobian, rows that sum to 0, the misprint, rows without a key."""
    p, values = result.parameters, result.values
    row = p["row"]
    a, ds = values("weights"), values("ds")
    empty = int(result.hidden.all(1).sum())
    sentences = [_notice_kind(result, words)]
    sentences.append(
        words(
            "grad.notice.jacobian",
            i=row + 1,
            query=result.arrays["ds"].rows[row],
            a=a[row].max(),
            largest=np.abs(values("jac")).max(),
        )
    )
    sentences.append(words("grad.notice.sums", largest=np.abs(ds.sum(1)).max()))
    silent = max(np.abs(ds).max(), result.facts["misprint_error"]) < ROUNDING
    sentences.append(
        words(
            "grad.notice.misprint_silent" if silent else "grad.notice.misprint",
            wrong=np.abs(result.facts["misprint"]).max(),
            right=np.abs(ds).max(),
            error=result.facts["misprint_error"],
            difference=result.facts["difference"]["ds"],
        )
    )
    return sentences + ([words("grad.notice.empty", rows=empty)] if empty else [])


def _notice_kind(result: Result, words: Words) -> str:
    p, values, kind = result.parameters, result.values, result.parameters["grad"]
    touched = {name: int((np.abs(values(name)).max(1) > ROUNDING).sum()) for name in ("dv", "dk", "dq")}
    seen, ds = ~result.hidden, values("ds")
    choosing = [i for i in range(1, len(seen)) if seen[i].sum() > 1 and seen[i, i - 1]]
    # Equal tokens tie up to rounding, so the lowest is told by a margin.
    raised = [i for i in choosing if ds[i, i - 1] <= min(ds[i].min() + ROUNDING, -ROUNDING)]
    flat = {"one": not touched["dq"], "target": not choosing}
    return words(
        f"grad.notice.{kind}{GRADLESS[kind] if flat.get(kind) else ''}",
        i=p["row"] + 1,
        c=p["column"] + 1,
        query=result.arrays["g"].rows[p["row"]],
        loss=0.5 * (values("g") ** 2).sum(),
        raised=len(raised),
        choosing=len(choosing),
        dv=touched["dv"],
        dk=touched["dk"],
        before=values("g").std(),
        after=ds.std(),
    )


def table(result: Result, words: Words) -> str:
    """The five gradients: formula, shape, largest difference from autograd."""
    shapes = {f"shape_{n}": Raw("\u00a0×\u00a0".join(map(str, result.values(n).shape))) for n in CORE_NAMES}
    return words("grad.table", **shapes, **result.facts["difference"])


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    largest = {name: np.abs(result.values(name)).max() for name in CORE_NAMES}
    kind = words.plain(f"choice.grad.{result.parameters['grad']}")
    return words.plain("grad.summary", kind=kind, worst=max(result.facts["difference"].values()), **largest)


def code_of(kind: str):
    """Where the core makes a matrix under this kind of G: a function from its name."""
    starts = {
        "ones": "grad_of_sum",
        "one": "grad_of_one",
        "target": "grad_of_squared_error",
        "random": "grad_at_random",
    }

    def find(name: str) -> tuple[str, str]:
        if name == "g":
            return f"core.attention.gradients.{starts[kind]}", "grad_output"
        if name == "jac":
            return "core.attention.dot_product.softmax_jacobian", "jacobian"
        if name in CORE_NAMES:
            return "core.attention.dot_product.attention_backward", CORE_NAMES[name]
        return forward.code_of(name)

    return find


def _largest(difference: torch.Tensor) -> float:
    return float(difference.abs().max())
