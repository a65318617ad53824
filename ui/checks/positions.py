"""The page on positions against PyTorch: weights, table, turns and bias, none of them computed as the core does."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from core.attention.toy import toy_inputs
from core.block.positions import alibi_slopes, shift_matrix
from ui.checks.check import Check, largest_difference
from ui.figures.positions import BASE, D_MODEL, learned_table
from ui.result import Result


def turns(start: int, t: int, d: int, base: float) -> Tensor:
    """e^(i·t·ω) for every place and pair, as complex numbers: [t, d/2]."""
    omega = torch.pow(base, -torch.arange(0, d, 2, dtype=torch.float64) / d)  # [d/2]
    places = torch.arange(start, start + t, dtype=torch.float64)  # [t]
    return torch.polar(torch.ones(t, d // 2, dtype=torch.float64), torch.outer(places, omega))


def table_by_complex(start: int, t: int, d: int, base: float) -> Tensor:
    """The sinusoids as imaginary and real part of turning numbers: [t, d]."""
    turned = turns(start, t, d, base)
    return torch.view_as_real(turned).flip(-1).flatten(-2)  # (cos, sin) becomes (sin, cos)


def rope_by_complex(y: Tensor, start: int, base: float) -> Tensor:
    """Each pair (first half, second half) as one complex number, multiplied by its turn: [T, d]."""
    first, second = y.chunk(2, -1)
    turned = torch.complex(first, second) * turns(start, *y.shape, base)
    return torch.cat([turned.real, turned.imag], -1)


def bias_by_cdist(t: int, slope: float) -> Tensor:
    """−slope · distance, the distances by torch.cdist: [t, t]."""
    places = torch.arange(t, dtype=torch.float64)[:, None]
    return -slope * torch.cdist(places, places, p=1)


def weights_by_pytorch(q: Tensor, k: Tensor, bias: Tensor) -> Tensor:
    """PyTorch's attention with a float mask and the identity as values, so that its output is the weights."""
    return scaled_dot_product_attention(q, k, torch.eye(len(k), dtype=k.dtype), attn_mask=bias)


def shift_by_exponential(d: int, delta: float, base: float) -> Tensor:
    """The rotation as the matrix exponential of its generator, blocks [[0, ω], [−ω, 0]]."""
    omega = torch.pow(base, -torch.arange(0, d, 2, dtype=torch.float64) / d)  # [d/2]
    corner = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    return torch.linalg.matrix_exp(torch.block_diag(*(w * corner for w in omega)) * delta)


def geometric_by_logspace(n: int) -> Tensor:
    """ALiBi's slopes for a power of two as logarithmic steps: [n]."""
    return torch.logspace(-8 / n, -8, n, base=2, dtype=torch.float64)


def position_checks(result: Result) -> tuple[Check, ...]:
    """What the page shows against what PyTorch computes from the same sentence."""
    p = result.parameters
    t, scheme, start = len(p["tokens"]), p["scheme"], p["start"]
    toy = toy_inputs(p["tokens"], p["seed"], p["dk"], D_MODEL)
    x, added = (
        toy.x,
        {
            "sinusoidal": lambda: table_by_complex(start, t, D_MODEL, BASE),
            "learned": lambda: torch.nn.functional.embedding(
                torch.arange(start, start + t), learned_table(p["seed"])
            ),
        },
    )
    x = x + added[scheme]() if scheme in added else x
    q, k = x @ toy.w_q, x @ toy.w_k
    if scheme == "rope":
        q, k = (rope_by_complex(y, start, BASE) for y in (q, k))
    bias = (
        bias_by_cdist(t, 2.0 ** -p["head"]) if scheme == "alibi" else torch.zeros(t, t, dtype=torch.float64)
    )
    bias = bias.masked_fill(torch.from_numpy(result.hidden), -torch.inf)
    weights = largest_difference((result.values("weights"), weights_by_pytorch(q, k, bias)))
    checks = [Check("position_weights", weights, weights_by_pytorch)]
    if scheme == "sinusoidal":
        theirs = table_by_complex(start, t, D_MODEL, BASE)
        checks.append(Check("table", largest_difference((result.values("pe"), theirs)), table_by_complex))
    if scheme == "rope":
        pairs = (result.values("tq"), q), (result.values("tk"), k)
        checks.append(Check("turned", largest_difference(*pairs), rope_by_complex))
    if scheme == "alibi":
        theirs = bias_by_cdist(t, 2.0 ** -p["head"])
        checks.append(Check("bias", largest_difference((result.values("bias"), theirs)), bias_by_cdist))
    shift = shift_matrix(D_MODEL, t, dtype=torch.float64), shift_by_exponential(D_MODEL, t, BASE)
    slopes = alibi_slopes(8, torch.float64), geometric_by_logspace(8)
    checks.append(Check("shift", largest_difference(shift), shift_by_exponential))
    return (*checks, Check("slopes", largest_difference(slopes), geometric_by_logspace))
