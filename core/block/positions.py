"""Where a token stands, told to attention: sinusoids or a learned table added to the embeddings, ALiBi on the scores.

RoPE, which turns queries and keys instead, is in core.block.rope; how fast it turns, and how that is
stretched for longer texts, in core.block.frequencies. Their names can be imported from here as well.
"""

import math

import torch
from torch import Tensor

from core.block.frequencies import (
    Scaling,
    inverse_frequencies,
    longrope,
    ntk_aware,
    position_interpolation,
    yarn,
)
from core.block.rope import apply_rope

__all__ = [
    "Scaling",
    "alibi_bias",
    "alibi_slopes",
    "apply_rope",
    "inverse_frequencies",
    "learned",
    "longrope",
    "ntk_aware",
    "position_interpolation",
    "shift_matrix",
    "similarity_at",
    "sinusoidal",
    "yarn",
]


def sinusoidal(n: int, d: int, base: float = 10000.0, dtype: torch.dtype | None = None) -> Tensor:
    """PE(t, 2i) = sin(t ω_i) and PE(t, 2i+1) = cos(t ω_i), with ω_i = base^(−2i/d), for t = 0..n−1.

    Returns [n, d] in dtype (PyTorch's default without one), computed in float64: float32 angles lose digits as t
    grows. Raises ValueError for a d that is not even and positive. Source: Vaswani et al. 2017, section 3.5.
    """
    omega = inverse_frequencies(d, base, dtype=torch.float64)  # [d/2]
    angles = torch.arange(n, dtype=torch.float64)[:, None] * omega  # [n, d/2]
    pairs = torch.stack([angles.sin(), angles.cos()], -1)  # [n, d/2, 2]
    return pairs.flatten(-2).to(dtype or torch.get_default_dtype())  # [n, d]


def shift_matrix(d: int, delta: float, base: float = 10000.0, dtype: torch.dtype | None = None) -> Tensor:
    """The rotation that takes PE(t) to PE(t + delta), whatever t is: PE(t + delta) = shift_matrix @ PE(t).

    Returns [d, d]: 2×2 blocks along the diagonal, each turning one pair (sin, cos) by ω_i · delta.
    Source: Vaswani et al. 2017, section 3.5, where it is the reason given for sinusoids.
    """
    angles = inverse_frequencies(d, base, dtype=torch.float64) * delta  # [d/2]
    cos, sin = angles.cos(), angles.sin()  # [d/2] each
    # sin(a + b) = cos b · sin a + sin b · cos a; cos(a + b) = −sin b · sin a + cos b · cos a.
    blocks = torch.stack([cos, sin, -sin, cos], -1).unflatten(-1, (2, 2))  # [d/2, 2, 2]
    return torch.block_diag(*blocks).to(dtype or torch.get_default_dtype())  # [d, d]


def similarity_at(distances: Tensor, d: int, base: float = 10000.0) -> Tensor:
    """PE(t) · PE(t + δ) = Σ_i cos(ω_i δ) for each δ of `distances`, the same for every t.

    distances of any shape; returns that shape, float64. At δ = 0 it is d/2, its largest value.
    """
    omega = inverse_frequencies(d, base, dtype=torch.float64)  # [d/2]
    return (distances.to(torch.float64)[..., None] * omega).cos().sum(-1)  # [...]


def learned(table: Tensor, n: int) -> Tensor:
    """The first n rows of a learned table [T_max, d], as GPT-2 and BERT add them. Returns [n, d].

    Raises ValueError for n above T_max: nothing was ever learned about those positions.
    """
    if not 0 <= n <= table.shape[0]:
        raise ValueError(f"the table has {table.shape[0]} positions, {n} were asked for")
    return table[:n]  # [n, d]


def alibi_slopes(n_heads: int, dtype: torch.dtype | None = None) -> Tensor:
    """How much each head dislikes distance. Returns [n_heads], each between 0 and 1.

    For n = 2^k heads: 2^(−8j/n), j = 1..n. For other numbers: those of the power of two below, then every
    other one of the power of two above. Raises ValueError for n_heads below 1.
    Source: Press et al. 2022, section 3, and the authors' code for the other numbers.
    """
    if n_heads < 1:
        raise ValueError(f"n_heads must be at least 1, got {n_heads}")
    below = 2 ** int(math.log2(n_heads))
    slopes = geometric(below) + geometric(2 * below)[::2][: n_heads - below]
    return torch.tensor(slopes, dtype=dtype or torch.get_default_dtype())  # [n_heads]


def geometric(n: int) -> list[float]:
    """2^(−8/n), 2^(−16/n), … 2^(−8): ALiBi's slopes for n heads, n a power of two."""
    return [2 ** (-8 * j / n) for j in range(1, n + 1)]


def alibi_bias(n_heads: int, t: int, dtype: torch.dtype | None = None) -> Tensor:
    """−m_h · |i − j|, to be added to the scaled scores. Returns [n_heads, t, t], queries on the rows.

    ALiBi is defined for causal scores, j ≤ i; the part above the diagonal is there for models that look
    both ways, and a causal mask hides it. No parameters. Source: Press et al. 2022, equation in section 3.
    """
    place = torch.arange(t)
    distance = (place[:, None] - place).abs()  # [t, t]
    slopes = alibi_slopes(n_heads, dtype)  # [n_heads]
    bias = -slopes[:, None, None] * distance  # [n_heads, t, t]
    return bias
