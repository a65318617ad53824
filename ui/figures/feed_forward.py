"""The picture of a feed-forward layer: every token widened, bent and narrowed; the story of each of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from core.block.feed_forward import FeedForwardTrace, feed_forward, gelu_inner, normal_cdf
from core.block.feed_forward_statistics import describe_hidden
from core.block.toy_feed_forward import ToyFeedForward, toy_feed_forward, toy_tokens, without_activation
from ui.figures.matrices import matrix_of
from ui.formulas import bracketed, sum_of_products
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

INPUTS = ("x", "w1", "b1", "w2", "b2")
STEPS = ("before", "hidden", "output")
AXES = {
    "x": ("token", "feature"),
    "w1": ("feature", "hidden"),
    "b1": ("bias", "hidden"),
    "w2": ("hidden", "output"),
    "b2": ("bias", "output"),
    "before": ("token", "hidden"),
    "hidden": ("token", "hidden"),
    "output": ("token", "output"),
}
SPREAD = 3.0  # standard deviations that the colours of unit-variance numbers reach
WEIGHTS = 1.5  # weights are smaller
NOTHING = 1e-9  # a smaller difference is rounding


def compute(tokens: tuple[str, ...], d_model: int, multiple: int, act: str, seed: int) -> Result:
    """One layer over the tokens, and the numbers the page speaks of."""
    d_ff = multiple * d_model
    x, layer = toy_tokens(tokens, seed, d_model), toy_feed_forward(seed, d_model, d_ff)
    trace = feed_forward(x, layer.w1, layer.b1, layer.w2, layer.b2, act)
    settings = {"tokens": tokens, "d_model": d_model, "multiple": multiple, "d_ff": d_ff, "act": act}
    facts = {
        "statistics": describe_hidden(trace),
        "weights": layer.w1.numel() + layer.w2.numel(),
        "biases": layer.b1.numel() + layer.b2.numel(),
        "linear_gap": float((without_activation(trace, layer.w2, layer.b2) - trace.output).abs().max()),
        "twins": twins(tokens),
    }
    return Result(settings | {"seed": seed}, arrays(tokens, x, layer, trace), facts)


def arrays(
    tokens: tuple[str, ...], x: Tensor, layer: ToyFeedForward, trace: FeedForwardTrace
) -> dict[str, Array]:
    """Every matrix of the picture with its labels."""
    units, features = (tuple(str(n + 1) for n in range(size)) for size in layer.w1.T.shape)
    tensors = {"x": x, "w1": layer.w1, "b1": layer.b1[None], "w2": layer.w2, "b2": layer.b2[None]}
    tensors |= {name: getattr(trace, name) for name in STEPS}
    rows = {"x": tokens, "w1": features, "b1": ("b₁",), "w2": units, "b2": ("b₂",)}
    return {n: Array.of(t, rows.get(n, tokens), axes=AXES[n]) for n, t in tensors.items()}


def twins(tokens: tuple[str, ...]) -> tuple[int, int] | None:
    """The places of the first two equal tokens, from 0."""
    for j, token in enumerate(tokens):
        if token in tokens[:j]:
            return tokens.index(token), j
    return None


def layer_of(result: Result) -> tuple[Tensor, ToyFeedForward]:
    """The tokens [T, d] and the weights that made a result."""
    x, w1, b1, w2, b2 = (torch.from_numpy(result.values(name)) for name in INPUTS)
    return x, ToyFeedForward(w1, b1[0], w2, b2[0])


def steps(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """Tokens and weights above, the linked row of steps below."""
    return tuple(drawn(n, result, words) for n in INPUTS), tuple(drawn(n, result, words) for n in STEPS)


def one_step(name: str, result: Result, words: Words) -> Matrix:
    """One matrix, to be set beside the same matrix of another result."""
    return replace(drawn(name, result, words), arrow="")


def numbers(result: Result, words: Words) -> dict[str, float]:
    """The numbers by which two results are compared, under their labels."""
    hidden, facts = result.facts["statistics"], result.facts
    values = {"weights": facts["weights"], "zeros": hidden.zeros, "silent": hidden.silent}
    values |= {"smallest": hidden.smallest, "gap": facts["linear_gap"]}
    return {words(f"number.{name}"): value for name, value in values.items()}


def drawn(
    name: str, result: Result, words: Words, *, arrows: bool = True, limit: float | None = None
) -> Matrix:
    """One matrix of this page in the look they share."""
    limit = limit or (WEIGHTS if result.arrays[name].axes[0] != "token" else SPREAD)
    act = words.plain(f"choice.act.{result.parameters['act']}") if "act" in result.parameters else ""
    identity = "residual" if name == "x" else ""
    bare = {} if arrows else {"arrow": ""}
    return matrix_of(result, name, words, limit=limit, told={"act": act}, identity=identity, **bare)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made: the formula, then the formula with the numbers on screen."""
    name, row, column = cell
    values, p = result.values, result.parameters
    told: dict[str, Any] = {"i": row + 1, "c": column + 1, "value": values(name)[row, column]}
    told |= {"d_model": p["d_model"], "d_ff": p["d_ff"]}
    if result.arrays[name].axes[0] == "token":
        told["token"] = result.arrays[name].rows[row]
    if name == "before":
        told["sum"] = sum_of_products(values("x")[row], values("w1")[:, column])
        told["bias"] = bracketed(values("b1")[0, column])
    if name == "output":
        told["sum"] = sum_of_products(values("hidden")[row], values("w2")[:, column])
        told["bias"] = bracketed(values("b2")[0, column])
    if name == "hidden":
        return words(
            f"why.hidden.{p['act']}", **told, **bend_numbers(p["act"], values("before")[row, column])
        )
    return words(f"why.{name}", **told)


def bend_numbers(act: str, z: float) -> Mapping[str, Any]:
    """What the story of an activation needs: z, and the factor that multiplies it."""
    at = torch.tensor(z, dtype=torch.float64)
    factor = {
        "relu": lambda: at > 0,
        "gelu": lambda: normal_cdf(at),
        "gelu_tanh": lambda: gelu_inner(at).tanh(),
        "silu": lambda: at.sigmoid(),
    }[act]()
    return {"z": float(z), "z_b": bracketed(z), "factor": bracketed(float(factor))}


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: the shapes, what the activation did, that no token sees another, and why it must bend."""
    p, facts = result.parameters, result.facts
    told = {"tokens": len(p["tokens"]), "weights": facts["weights"], "biases": facts["biases"]}
    shapes = words("notice.shapes", **told, **{n: p[n] for n in ("d_model", "d_ff", "multiple")})
    return [shapes, _notice_bend(result, words), _notice_alone(result, words), _notice_linear(result, words)]


def _notice_bend(result: Result, words: Words) -> str:
    act, s = result.parameters["act"], result.facts["statistics"]
    told = {"count": s.count, "negative": s.negative, "zeros": s.zeros, "smallest": s.smallest}
    told |= {"percent": 100 * s.zeros / s.count, "silent": s.silent, "d_ff": result.parameters["d_ff"]}
    told["act"] = _act(result, words)
    if act != "relu":
        return words("notice.soft" if s.negative else "notice.soft_none", **told)
    return words("notice.cut" if s.zeros else "notice.cut_none", **told)


def _notice_alone(result: Result, words: Words) -> str:
    tokens, pair = result.parameters["tokens"], result.facts["twins"]
    if pair:
        return words("notice.twins", i=pair[0] + 1, j=pair[1] + 1, token=tokens[pair[0]])
    return words("notice.alone" if len(tokens) > 1 else "notice.single")


def _notice_linear(result: Result, words: Words) -> str:
    p, gap = result.parameters, result.facts["linear_gap"]
    told = {"d_model": p["d_model"], "d_ff": p["d_ff"], "gap": gap, "act": _act(result, words)}
    return words("notice.linear" if gap > NOTHING else "notice.linear_same", **told)


def _act(result: Result, words: Words) -> Any:
    return Raw(words.plain(f"choice.act.{result.parameters['act']}"))


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p, s = result.parameters, result.facts["statistics"]
    return words.plain(
        "summary",
        tokens=len(p["tokens"]),
        d_model=p["d_model"],
        d_ff=p["d_ff"],
        act=words.plain(f"choice.act.{p['act']}"),
        weights=result.facts["weights"],
        zeros=s.zeros,
        count=s.count,
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    if name == "x":
        return "core.block.toy_feed_forward.toy_tokens", "x"
    if name in INPUTS:
        return "core.block.toy_feed_forward.toy_feed_forward", name
    return "core.block.feed_forward.feed_forward", name
