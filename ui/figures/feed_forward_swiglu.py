"""SwiGLU on the reader's tokens, and the 8/3 rule: what it costs, and what published models made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from core.block.feed_forward import feed_forward_parameters, swiglu, swiglu_parameters, swiglu_width
from core.block.toy_feed_forward import toy_swiglu
from core.cost.feed_forward_sizes import PUBLISHED
from ui.figures import feed_forward as forward
from ui.formulas import bracketed, sum_of_products
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.words import Raw, Words

INPUTS = ("x", "glu_w1", "glu_before", "glu_w3", "glu_w2")
STEPS = ("gate", "value", "glu_hidden", "glu_output")
MADE = ("glu_before", *STEPS)
AXES = {
    "x": ("token", "feature"),
    "glu_w1": ("feature", "hidden"),
    "glu_w3": ("feature", "hidden"),
    "glu_w2": ("hidden", "output"),
    "glu_output": ("token", "output"),
}
CORE_NAMES = {"glu_before": "before", "glu_hidden": "hidden", "glu_output": "output"}


def compute(result: Result) -> Result:
    """SwiGLU over the page's tokens, as wide as the 8/3 rule says."""
    p = result.parameters
    x, width = torch.from_numpy(result.values("x")), swiglu_width(p["d_model"])
    w1, w3, w2 = toy_swiglu(p["seed"], p["d_model"], width)
    trace = swiglu(x, w1, w3, w2)
    tensors = {"x": x, "glu_w1": w1, "glu_w3": w3, "glu_w2": w2}
    tensors |= {name: getattr(trace, CORE_NAMES.get(name, name)) for name in MADE}
    units, features = (tuple(str(n + 1) for n in range(size)) for size in w1.T.shape)
    rows = {"glu_w1": features, "glu_w3": features, "glu_w2": units}
    arrays = {
        n: Array.of(t, rows.get(n, p["tokens"]), axes=AXES.get(n, ("token", "hidden")))
        for n, t in tensors.items()
    }
    facts = {"plain": feed_forward_parameters(p["d_model"], 4 * p["d_model"], bias=False)}
    facts |= {"gated": swiglu_parameters(p["d_model"], width), "width": width}
    return Result(p | {"d_ff": width}, arrays, facts)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """Tokens and the three weights above, the two halves and their product below."""
    return tuple(tuple(forward.drawn(name, result, words) for name in row) for row in (INPUTS, STEPS))


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a number of SwiGLU was made."""
    name, row, column = cell
    values, p = result.values, result.parameters
    told: dict[str, Any] = {"i": row + 1, "c": column + 1, "value": values(name)[row, column]}
    told |= {"d_model": p["d_model"], "d_ff": p["d_ff"]}
    if result.arrays[name].axes[0] == "token":
        told["token"] = p["tokens"][row]
    if name in ("glu_before", "value"):
        weights = values("glu_w1" if name == "glu_before" else "glu_w3")
        told["sum"] = sum_of_products(values("x")[row], weights[:, column])
    if name == "gate":
        told |= forward.bend_numbers("silu", values("glu_before")[row, column])
    if name == "glu_hidden":
        told |= {"gate": values("gate")[row, column], "other": bracketed(values("value")[row, column])}
    if name == "glu_output":
        told["sum"] = sum_of_products(values("glu_hidden")[row], values("glu_w2")[:, column])
    return words(f"why.{name}", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What the gate does, and what the third matrix costs."""
    p, facts, gate = result.parameters, result.facts, result.values("gate")
    almost = int((np.abs(gate) < CLOSED).sum())
    told = {
        "count": gate.size,
        "almost": almost,
        "limit": CLOSED,
        "d_model": p["d_model"],
        "width": p["d_ff"],
    }
    told |= {"plain": facts["plain"], "gated": facts["gated"], "wide": 4 * p["d_model"]}
    return [words("glu.notice.gate", **told), words("glu.notice.rule", **told), words("glu.notice.misprint")]


CLOSED = 0.1  # a gate nearer to 0 lets less than a tenth through


def costs(d: int, multiple_of: int, words: Words) -> str:
    """Weights of one layer at a real width: plain with 4d, gated with 4d, gated with 8d/3, and rounded up."""
    budget = feed_forward_parameters(d, 4 * d, bias=False)
    exact, rounded = swiglu_width(d), swiglu_width(d, multiple_of)
    rows = [("plain", 4 * d, budget), ("gated", 4 * d, swiglu_parameters(d, 4 * d))]
    rows += [("rule", exact, swiglu_parameters(d, exact))]
    if rounded != exact:
        rows += [("rounded", rounded, swiglu_parameters(d, rounded))]
    lines = [
        f"| {words(f'glu.row.{name}', multiple=multiple_of)} | {number(width)} | {number(count)} | {number(100 * count / budget)} % |"
        for name, width, count in rows
    ]
    return words("glu.costs", d=d, budget=budget, rows=Raw("\n".join(lines)))


def published(words: Words) -> str:
    """The feed-forward layers of known models."""
    lines = []
    for model in PUBLISHED:
        config = model.config
        kind = "SwiGLU" if config.gated else words.plain(f"choice.act.{config.activation}")
        cells = [model.name, kind, number(config.d_model), number(config.d_ff)]
        cells += [
            number(config.d_ff / config.d_model),
            number(model.per_layer),
            f"{number(100 * model.share)} %",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return words("glu.models", rows=Raw("\n".join(lines)))


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p, facts = result.parameters, result.facts
    told = {"tokens": len(p["tokens"]), "d_model": p["d_model"], "width": p["d_ff"]}
    return words.plain("glu.summary", **told, gated=facts["gated"], plain=facts["plain"])


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it."""
    if name == "x":
        return forward.code_of(name)
    if name in INPUTS and name not in MADE:
        variable = name.removeprefix("glu_")
        return "core.block.toy_feed_forward.toy_swiglu", variable
    return "core.block.feed_forward.swiglu", CORE_NAMES.get(name, name)
