"""The way back through a feed-forward layer: from ∂L/∂output to every weight and to x, beside what autograd finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.attention import gradients as starts
from core.attention.toy import seeded
from core.block.feed_forward import DERIVATIVES, feed_forward, feed_forward_backward
from core.block.feed_forward_gradients import autograd_gradients
from ui.figures import feed_forward as forward
from ui.formulas import bracketed, sum_of_products
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

GIVEN = ("g", "w2", "before", "hidden", "x", "w1")
ON_TOKENS = ("dh", "slope", "dz", "dx")
ON_WEIGHTS = ("dw2", "dw1")
CORE_NAMES = {
    "db2": "d_b2",
    "dw2": "d_w2",
    "dh": "d_hidden",
    "dz": "d_before",
    "db1": "d_b1",
    "dw1": "d_w1",
    "dx": "d_x",
}
AXES = {
    "g": ("token", "output"),
    "dh": ("token", "hidden"),
    "slope": ("token", "hidden"),
    "dz": ("token", "hidden"),
    "dx": ("token", "feature"),
    "dw2": ("hidden", "output"),
    "dw1": ("feature", "hidden"),
}
LIMITS = {"g": 1.0, "dh": 1.0, "slope": 1.2, "dz": 1.0, "dw2": 1.5, "dw1": 1.5, "dx": 1.0}
NOTHING = 1e-12


def compute(result: Result, kind: str, row: int, column: int, draw: int) -> Result:
    """The backward pass of the page's present layer, for the loss that the reader chose.

    row and column, from 0 and cut to what there is, name the one output cell of the kind "one".
    """
    p = result.parameters
    x, layer = forward.layer_of(result)
    trace = feed_forward(x, layer.w1, layer.b1, layer.w2, layer.b2, p["act"])
    row, column = min(row, len(x) - 1), min(column, x.shape[1] - 1)
    g = {
        "ones": lambda: starts.grad_of_sum(trace.output),
        "one": lambda: starts.grad_of_one(trace.output, row, column),
        "random": lambda: starts.grad_at_random(trace.output, seeded("gradient", draw)),
    }[kind]()
    ours = feed_forward_backward(trace, x, layer.w1, layer.w2, g, p["act"])
    theirs = autograd_gradients(x, layer.w1, layer.b1, layer.w2, layer.b2, g, p["act"])
    tensors = {"g": g, "slope": DERIVATIVES[p["act"]](trace.before)}
    tensors |= {name: getattr(ours, CORE_NAMES[name]) for name in ("dh", "dz", "dw2", "dw1", "dx")}
    units, features = (tuple(str(n + 1) for n in range(size)) for size in layer.w1.T.shape)
    rows = {"dw2": units, "dw1": features}
    arrays = dict(result.arrays)
    arrays |= {n: Array.of(t, rows.get(n, p["tokens"]), axes=AXES[n]) for n, t in tensors.items()}
    pairs = {n: (getattr(ours, core), getattr(theirs, core)) for n, core in CORE_NAMES.items()}
    facts = {
        "difference": {n: float((a - b).abs().max()) for n, (a, b) in pairs.items()},
        "shapes": {n: tuple(a.shape) for n, (a, _) in pairs.items()},
        "still": int((tensors["slope"] == 0).all(0).sum()),
    }
    told = {"grad": kind, "row": row, "column": column}
    return Result(p | told, arrays, result.facts | facts)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """What the backward pass is given; the gradients of the weights; the way back through the tokens' numbers."""
    rows = (GIVEN, ON_WEIGHTS, ON_TOKENS)
    return tuple(tuple(_matrix(name, result, words) for name in row) for row in rows)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    made = forward.drawn(name, result, words, arrows=False, limit=LIMITS.get(name))
    if f"grad.formula.{name}" not in words:
        return made
    return replace(made, note=words.plain(f"grad.formula.{name}"))


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a gradient was made; what the forward pass made is told as above."""
    name, row, column = cell
    if name in forward.AXES:
        return forward.why(result, cell, words)
    p, values = result.parameters, result.values
    told: dict[str, Any] = {"i": row + 1, "c": column + 1, "value": values(name)[row, column]}
    if result.arrays[name].axes[0] == "token":
        told["token"] = p["tokens"][row]
    if name == "g":
        return words(f"why.g.{p['grad']}", **told)
    if name == "slope":
        z = values("before")[row, column]
        return words(f"why.slope.{p['act']}", **told, **forward.bend_numbers(p["act"], z))
    if name == "dz":
        told |= {"dh": values("dh")[row, column], "slope": bracketed(values("slope")[row, column])}
        return words("why.dz", **told)
    left, right = {
        "dh": lambda: (values("g")[row], values("w2")[column]),
        "dw2": lambda: (values("hidden")[:, row], values("g")[:, column]),
        "dw1": lambda: (values("x")[:, row], values("dz")[:, column]),
        "dx": lambda: (values("dz")[row], values("w1")[column]),
    }[name]()
    return words(f"why.{name}", sum=sum_of_products(left, right), **told)


def notices(result: Result, words: Words) -> list[str]:
    """Where the gradient went: which tokens, which weights, and what the activation stopped."""
    p, values = result.parameters, result.values
    tokens = len(p["tokens"])
    reached = [i for i in range(tokens) if np.abs(values("dx")[i]).max() > NOTHING]
    told = {"tokens": tokens, "reached": len(reached), "i": p["row"] + 1, "token": p["tokens"][p["row"]]}
    told |= {"c": p["column"] + 1, "others": tokens - 1}
    key = p["grad"] if p["grad"] != "one" else "one" if reached else "one_dead"
    return [
        words(f"grad.notice.{key}", **told),
        _notice_gate(result, words),
        words("grad.notice.sum" if tokens > 1 else "grad.notice.sum_one", **told),
    ]


def _notice_gate(result: Result, words: Words) -> str:
    act, slope, facts = result.parameters["act"], result.values("slope"), result.facts
    told = {"count": slope.size, "closed": int((slope == 0).sum()), "still": facts["still"]}
    told |= {"d_ff": result.parameters["d_ff"], "low": slope.min(), "high": slope.max()}
    told["act"] = Raw(words.plain(f"choice.act.{act}"))
    if act != "relu":
        return words("grad.notice.soft", **told)
    return words("grad.notice.closed" if told["closed"] else "grad.notice.open", **told)


def table(result: Result, words: Words) -> str:
    """The gradients: formula, shape, largest difference from autograd."""
    facts = result.facts
    shapes = {f"shape_{n}": Raw("\u00a0×\u00a0".join(map(str, s))) for n, s in facts["shapes"].items()}
    return words("grad.table", **shapes, **facts["difference"])


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    largest = {name: float(np.abs(result.values(name)).max()) for name in ("dw2", "dz", "dw1", "dx")}
    kind = words.plain(f"choice.grad.{result.parameters['grad']}")
    return words.plain("grad.summary", kind=kind, worst=max(result.facts["difference"].values()), **largest)


def code_of(kind: str):
    """Where the core makes a matrix under this loss: a function from its name."""
    begin = {"ones": "grad_of_sum", "one": "grad_of_one", "random": "grad_at_random"}[kind]

    def find(name: str) -> tuple[str, str]:
        if name == "g":
            return f"core.attention.gradients.{begin}", "grad_output"
        if name in forward.AXES:
            return forward.code_of(name)
        made = "derivative" if name == "slope" else CORE_NAMES[name]
        return "core.block.feed_forward.feed_forward_backward", made

    return find
