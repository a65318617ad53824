"""Padding in a batch: LayerNorm does not notice it, BatchNorm averages over it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from core.block.normalization import normalize_with
from ui.batch import PAD
from ui.figures import normalization as figure
from ui.figures.normalization import DIGITS, norms_of
from ui.formulas import bracketed, sum_of_numbers
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Words

STEPS = ("pad_x", "pad_layer", "pad_batch", "pad_real")


def compute(result: Result, pads: int) -> Result:
    """The batch with rows of zeros below it, and the norms of that."""
    p, (n, d) = result.parameters, result.shape("x")
    x = torch.cat([torch.from_numpy(result.facts["x"]), torch.zeros(pads, d, dtype=torch.float64)])
    traces, real = norms_of(x, p), norms_of(x[:n], p)["batch"]
    gamma, beta = (torch.full((d,), p[name], dtype=torch.float64) for name in ("gamma", "beta"))
    without = normalize_with(x, real.mean, real.variance, gamma, beta, p["eps"]).output
    values = (x, traces["layer"].output, traces["batch"].output, without)
    labels = (*result.arrays["x"].rows[:-2], *[PAD] * pads)
    columns = result.arrays["x"].columns[:-2]
    arrays = {
        name: Array(value.numpy(), labels, columns, ("token", "feature"))
        for name, value in zip(STEPS, values, strict=True)
    }
    own = {"layer": traces["layer"], "batch": traces["batch"], "real": real}
    facts = result.facts | {
        "padded": x.numpy(),
        "statistics": {k: (t.mean.flatten().numpy(), t.variance.flatten().numpy()) for k, t in own.items()},
        "moved": {
            k: float((traces[k].output[:n] - torch.from_numpy(figure.inner(result, k).copy())).abs().max())
            for k in ("layer", "batch")
        },
    }
    tokens = (*p["tokens"], *[PAD] * pads)
    told = p | {"pads": pads, "real": n, "tokens": tokens}
    hidden = np.zeros(x.shape, dtype=bool)
    hidden[n:] = True
    return replace(result, parameters=told, arrays=arrays, facts=facts, hidden=hidden, shapes={})


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The padded batch and its norms; where only real tokens count, the padding is hidden."""
    return (tuple(_matrix(name, result, words) for name in STEPS),)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    look = {"hidden": result.hidden, "hidden_as": words.plain("pad.hidden")} if name == "pad_real" else {}
    identity = "residual" if name == "pad_x" else "norm"
    return figure.titled(name, result, words, identity=identity, **look)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """The number with the statistics it was made with: a row, a column, or the real part of a column."""
    name, i, j = cell
    p, x = result.parameters, result.facts["padded"]
    told = {"i": i + 1, "token": p["tokens"][i], "c": j + 1}
    if name == "pad_real" and i >= p["real"]:
        return words("pad.why_hidden", **told)
    told["value"] = round(float(result.values(name)[i, j]), DIGITS)
    if name == "pad_x":
        return words("pad.why_pad" if i >= p["real"] else "pad.why_token", **told)
    kind = name.removeprefix("pad_")
    mean, variance = result.facts["statistics"][kind]
    line = {"layer": x[i], "batch": x[:, j], "real": x[: p["real"], j]}[kind]
    at = i if kind == "layer" else j
    told |= {"x": x[i, j], "mean": bracketed(mean[at]), "variance": variance[at], "count": len(line)}
    told |= {"gamma": p["gamma"], "beta": bracketed(p["beta"]), "eps": figure.power(p["eps"])}
    return words(f"pad.why_{kind}", sum=sum_of_numbers(line, 4), **told)


def notices(result: Result, words: Words) -> list[str]:
    """How far the real tokens move when the padding is counted."""
    p, moved = result.parameters, result.facts["moved"]
    told = {"pads": p["pads"], "real": p["real"], "whole": p["pads"] + p["real"], "beta": p["beta"]}
    told |= {kind: round(value, DIGITS) for kind, value in moved.items()}
    if not p["pads"]:
        return [words("pad.notice.none"), words("pad.notice.cure")]
    return [words("pad.notice.moved", **told), words("pad.notice.zeros", **told), words("pad.notice.cure")]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p, moved = result.parameters, result.facts["moved"]
    told = {kind: round(value, DIGITS) for kind, value in moved.items()}
    return words.plain("pad.summary", pads=p["pads"], real=p["real"], **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it."""
    return figure.code_of("x" if name == "pad_x" else "layer")
