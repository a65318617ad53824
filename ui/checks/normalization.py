"""The page on normalisation against PyTorch's own modules, in training, in inference and backward."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from core.block.running import running_statistics
from core.block.toy_batch import random_batches
from ui.checks.check import ROUNDING, Check, largest_difference
from ui.figures.normalization import inner, norms_of
from ui.figures.normalization_gradient import gradients
from ui.result import Result


def norm_by_pytorch(
    kind: str, d: int, gamma: float, beta: float, eps: float, momentum: float = 0.1
) -> nn.Module:
    """PyTorch's module for one of the norms, in training, with γ and β the same for every feature."""
    make = {"layer": nn.LayerNorm, "rms": nn.RMSNorm, "batch": nn.BatchNorm1d}[kind]
    more = {"momentum": momentum} if kind == "batch" else {}
    module = make(d, eps=eps, dtype=torch.float64, **more).train()
    with torch.no_grad():
        module.weight.fill_(gamma)
        if kind != "rms":
            module.bias.fill_(beta)
    return module


def gradient_by_autograd(module: nn.Module, x: Tensor, grad_output: Tensor) -> Tensor:
    """∂L/∂x for L = Σ output · grad_output, by autograd through PyTorch's module."""
    x = x.clone().requires_grad_()
    (d_x,) = torch.autograd.grad((module(x) * grad_output).sum(), x)
    return d_x


def remembered_by_pytorch(module: nn.BatchNorm1d, batches: Tensor) -> tuple[Tensor, Tensor]:
    """The running mean and variance of nn.BatchNorm1d after these batches [steps, tokens, d]."""
    for batch in batches:
        module(batch)
    return module.running_mean, module.running_var


def refuses_one_token(module: nn.BatchNorm1d, x: Tensor) -> bool:
    """Whether nn.BatchNorm1d in training raises for this batch."""
    try:
        module(x)
    except ValueError:
        return True
    return False


def normalization_checks(result: Result, momentum: float, size: int) -> tuple[Check, ...]:
    """The outputs, the gradients and what BatchNorm remembers, each against PyTorch's module."""
    p = result.parameters
    x = torch.from_numpy(result.facts["x"])
    settings = p["d"], p["gamma"], p["beta"], p["eps"]
    modules = {kind: norm_by_pytorch(kind, *settings) for kind in ("layer", "rms", "batch")}
    alone = len(x) == 1  # PyTorch has no answer for BatchNorm then
    kinds = ("layer", "rms") if alone else ("layer", "rms", "batch")
    tolerance = ROUNDING * max(1.0, _amplified(result, x))
    checks = []
    for kind in kinds:
        theirs = modules[kind](x).detach()
        difference = largest_difference((inner(result, kind), theirs))
        checks.append(
            Check(f"norm_{kind}", difference, norm_by_pytorch if kind == "layer" else None, tolerance)
        )
    if alone:
        refused = refuses_one_token(modules["batch"], x)
        level = largest_difference((inner(result, "batch"), torch.full_like(x, p["beta"])))
        checks.append(Check("norm_alone", level if refused else float("nan"), refuses_one_token))
    g, found = gradients(result)
    pairs = [(found[kind].d_x, gradient_by_autograd(modules[kind], x, g)) for kind in kinds]
    largest = max(float(ours.abs().max()) for ours, _ in pairs)
    # A gradient is the small rest of numbers as large as 1/√(σ² + ε).
    loose = tolerance * max(1.0, largest, p["gamma"] / p["eps"] ** 0.5)
    checks.append(Check("norm_gradient", largest_difference(*pairs), gradient_by_autograd, loose))
    batches = random_batches(p["seed"], 20, size, p["d"], p["shift"], p["scale"])
    ours = running_statistics(batches, momentum)
    theirs = remembered_by_pytorch(norm_by_pytorch("batch", *settings, momentum), batches)
    remembered = largest_difference(*zip((ours.mean[-1], ours.variance[-1]), theirs, strict=True))
    return (*checks, Check("norm_running", remembered, remembered_by_pytorch))


def _amplified(result: Result, x: Tensor) -> float:
    """How much the division by √(σ² + ε) enlarges the rounding of x, in units of ROUNDING."""
    p = result.parameters
    roots = [float((t.variance + p["eps"]).min()) ** 0.5 for t in norms_of(x, p).values()]
    return 1e-15 / ROUNDING * p["gamma"] * float(x.abs().max()) / min(roots)
