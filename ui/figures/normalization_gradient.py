"""A gradient on its way back through the three norms, and the directions that it loses there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from core.attention.gradients import grad_at_random
from core.attention.toy import seeded
from core.block.norm_gradients import (
    NormGradients,
    batch_norm_backward,
    layer_norm_backward,
    part_along,
    rms_norm_backward,
)
from core.block.normalization import NormTrace
from ui.figures import normalization as figure
from ui.figures.normalization import DIGITS, KINDS, norms_of
from ui.formulas import bracketed
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Words

STEPS = ("g", *(f"grad_{kind}" for kind in KINDS))
BACKWARD = {"layer": layer_norm_backward, "rms": rms_norm_backward, "batch": batch_norm_backward}


def gradients(result: Result) -> tuple[torch.Tensor, dict[str, NormGradients]]:
    """The gradient that arrives [N, d], drawn from the page's seed, and what each norm makes of it."""
    p, x = result.parameters, torch.from_numpy(result.facts["x"])
    g = grad_at_random(x, seeded("norm gradient", p["seed"]))
    gamma = torch.full((p["d"],), p["gamma"], dtype=torch.float64)
    traces = norms_of(x, p)
    return g, {kind: BACKWARD[kind](traces[kind], g, gamma, p["eps"]) for kind in KINDS}


def compute(result: Result) -> Result:
    """The gradient before and after each norm, and its parts along the vector of ones and along the token."""
    g, found = gradients(result)
    x = result.arrays["x"]
    values = {"g": g} | {f"grad_{kind}": found[kind].d_x for kind in KINDS}
    arrays = {
        name: Array(value.numpy(), x.rows[:-2], x.columns[:-2], ("token", "feature"))
        for name, value in values.items()
    }
    traces = norms_of(torch.from_numpy(result.facts["x"]), result.parameters)
    facts = result.facts | {
        "parts": {kind: _parts(result, kind, traces[kind], g, found[kind].d_x) for kind in KINDS},
        "normalized": {kind: trace.normalized.numpy() for kind, trace in traces.items()},
    }
    return replace(result, arrays=arrays, facts=facts, hidden=None, shapes={})


def _parts(
    result: Result, kind: str, trace: NormTrace, g: torch.Tensor, d_x: torch.Tensor
) -> dict[str, float]:
    """The largest parts along 1 and along the numbers themselves, of what would arrive undiminished and of what leaves.

    Along a token for LayerNorm and RMSNorm, along a feature for BatchNorm.
    """
    p = result.parameters
    arrives = p["gamma"] * g / (trace.variance + p["eps"]).sqrt()  # [N, d]
    itself = torch.from_numpy(result.facts["x"]) - trace.mean  # [N, d]
    directions = {"ones": torch.ones_like(itself), "self": itself}
    turned = (lambda y: y.mT) if kind == "batch" else (lambda y: y)
    return {
        f"{name}_{when}": float(part_along(turned(vectors), turned(direction)).abs().max())
        for name, direction in directions.items()
        for when, vectors in (("in", arrives), ("out", d_x))
    }


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """What arrives, and what leaves each norm."""
    return (
        tuple(
            figure.titled(name, result, words, identity="" if name == "g" else "norm")
            for name in result.arrays
        ),
    )


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One number of the gradient: what arrived, minus its mean, minus its part along the normalised numbers."""
    name, i, j = cell
    p, g = result.parameters, result.values("g")
    told = {"i": i + 1, "token": p["tokens"][i], "c": j + 1}
    told["value"] = round(float(result.values(name)[i, j]), DIGITS)
    if name == "g":
        return words("grad.why_g", **told)
    kind = name.removeprefix("grad_")
    inward, normal = p["gamma"] * g, result.facts["normalized"][kind]
    line = (slice(None), j) if kind == "batch" else i
    at = j if kind == "batch" else i
    told |= {"in": inward[i, j], "normal": bracketed(round(float(normal[i, j]), DIGITS))}
    told |= {"mean": bracketed(inward[line].mean())}
    told["along"] = bracketed(round(float((inward[line] * normal[line]).mean()), DIGITS))
    told |= {"variance": result.facts["variance"][kind][at], "eps": figure.power(p["eps"])}
    return words(f"grad.why_{kind}", **told)


def notices(result: Result, words: Words) -> list[str]:
    """The directions that are gone, as cosines, and the length that is left."""
    p, facts = result.parameters, result.facts
    if p["gamma"] == 0:
        return [words("grad.notice.zero")]
    told = {"gamma": p["gamma"]}
    for kind in KINDS:
        told |= {f"{kind}_{name}": round(part, DIGITS) for name, part in facts["parts"][kind].items()}
        told |= {f"{kind}_norm": float(np.linalg.norm(result.values(f"grad_{kind}")))}
    told["g_norm"] = float(np.linalg.norm(result.values("g")))
    n, d = result.shape("g")
    alone = {"layer": d == 1, "rms": False, "batch": n == 1}  # a mean of one number leaves nothing of it
    said = [words(f"grad.notice.{kind}{'_one' if alone[kind] else ''}", **told) for kind in KINDS]
    return [*said, words("grad.notice.eps"), words("grad.notice.scale", **told)]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    norms = {name: float(np.linalg.norm(result.values(name))) for name in STEPS}
    return words.plain("grad.summary", **norms)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it."""
    if name == "g":
        return "core.attention.gradients.grad_at_random", "grad_output"
    kind = name.removeprefix("grad_")
    return f"core.block.norm_gradients.{kind}_norm_backward", f"d_{kind}"
