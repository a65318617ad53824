"""The linear maps page against PyTorch's own layer, against a drawn area, and against PyTorch's cosine."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, linear

from ui.checks.check import Check, largest_difference
from ui.result import Result


def images_by_pytorch(m: Tensor, x: Tensor, b: Tensor) -> Tensor:
    """PyTorch's linear layer keeps vectors as rows and computes x Mᵀ + b; its rows are our columns."""
    return linear(x.T, m, b[:, 0]).T


def area_ratio(before: float, after: float) -> float:
    """What the drawn letter says about the determinant: its area after over its area before."""
    return after / before


def gaps_by_pytorch(m: Tensor, b: Tensor, u: Tensor, v: Tensor, k: float) -> tuple[Tensor, Tensor]:
    """T(u + v) − T(u) − T(v) and T(ku) − k T(u), with PyTorch's linear layer as T."""
    t_u, t_v, t_sum, t_ku = linear(torch.stack([u, v, u + v, k * u]), m, b)
    return t_sum - t_u - t_v, t_ku - k * t_u


def cosine_by_pytorch(u: Tensor, v: Tensor) -> Tensor:
    """PyTorch's own cosine similarity."""
    return cosine_similarity(u, v, dim=0)


def linear_maps_checks(result: Result) -> tuple[Check, ...]:
    """Images, areas, both gaps and the cosine of the present state; the cosine only where it exists."""
    m, x, b, y = (torch.from_numpy(result.values(name)) for name in ("m", "x", "b", "y"))
    facts, u = result.facts, x[:, 0]
    v = torch.from_numpy(facts["v"])
    ratio = area_ratio(facts["area_before"], facts["area_after"])
    gaps = gaps_by_pytorch(m, b[:, 0], u, v, facts["k"])
    checks = [
        Check("images", largest_difference((y, images_by_pytorch(m, x, b))), images_by_pytorch),
        Check("area", largest_difference((abs(facts["determinant"]), ratio)), area_ratio),
        Check(
            "gaps",
            largest_difference((facts["additivity"], gaps[0]), (facts["homogeneity"], gaps[1])),
            gaps_by_pytorch,
        ),
    ]
    cosine = facts["likeness"].cosine
    if cosine is not None:
        theirs = float(cosine_by_pytorch(u, v))
        checks.append(Check("cosine", largest_difference((cosine, theirs)), cosine_by_pytorch))
    return tuple(checks)
