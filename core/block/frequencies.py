"""How fast each pair of RoPE turns, and four ways to slow it down for texts longer than those trained on.

In all of them s = factor is how many times longer the text may become. Radians per position throughout.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor


@dataclass(frozen=True)
class Scaling:
    """One way of stretching the frequencies, as model configurations name them."""

    kind: Literal["interpolation", "ntk", "yarn", "longrope"]
    factor: float = 1.0  # s; longrope has one for each pair, and this for its attention factor
    original_length: int | None = None  # yarn needs it, and longrope where s is above 1
    beta_fast: float = (
        32  # yarn: pairs that turn at least this often over the original length keep their speed
    )
    beta_slow: float = 1  # yarn: those that turn at most this often are interpolated
    factors: tuple[float, ...] | None = None  # longrope: one divisor for each pair


def inverse_frequencies(
    d_head: int, base: float = 10000.0, scaling: Scaling | None = None, dtype: torch.dtype | None = None
) -> Tensor:
    """θ_i = base^(−2i/d_head), stretched as `scaling` says. Returns [d_head/2], radians per position, falling.

    In dtype (PyTorch's default without one), computed in float64. What cos and sin are multiplied by is not in
    it: see `attention_factor_of`. Raises ValueError for a d_head that is not even and positive, a base not above 1, and as the four
    functions below do. Source: Su et al. 2021 (RoFormer), section 3.2.2.
    """
    if d_head < 2 or d_head % 2:
        raise ValueError(f"the width must be even and positive, to be turned in pairs; got {d_head}")
    if base <= 1:
        raise ValueError(f"base must be above 1, got {base}")
    if scaling is None:
        exponents = torch.arange(0, d_head, 2, dtype=torch.float64) / d_head  # [d_head/2]  2i/d
        return (base**-exponents).to(dtype or torch.get_default_dtype())  # [d_head/2]
    match scaling.kind:
        case "interpolation":
            return position_interpolation(d_head, base, scaling.factor, dtype)
        case "ntk":
            return ntk_aware(d_head, base, scaling.factor, dtype)
        case "yarn":
            original, fast, slow = scaling.original_length, scaling.beta_fast, scaling.beta_slow
            return yarn(d_head, base, scaling.factor, original, fast, slow, dtype)[0]
        case "longrope":
            return longrope(d_head, base, scaling.factors or (), dtype)
    raise ValueError(f"no scaling is called {scaling.kind}")


def position_interpolation(
    d_head: int, base: float, factor: float, dtype: torch.dtype | None = None
) -> Tensor:
    """Every pair s times slower, which is the same as dividing the positions by s. Returns [d_head/2].

    No angle is larger than in training, but neighbours, too, are now told apart by angles s times smaller.
    Raises ValueError for a factor below 1. Source: Chen et al. 2023, section 2.3.
    """
    at_least_one(factor)
    theta = inverse_frequencies(d_head, base, dtype=torch.float64)  # [d_head/2]
    return (theta / factor).to(dtype or torch.get_default_dtype())  # [d_head/2]


def ntk_aware(d_head: int, base: float, factor: float, dtype: torch.dtype | None = None) -> Tensor:
    """A larger base, base · s^(d/(d−2)): the fastest pair keeps its speed, the slowest is exactly s times slower.

    Returns [d_head/2]. Raises ValueError for a factor below 1, or a d_head of 2, which has one pair only.
    Source: bloc97 2023 (a forum post), described in Peng et al. 2023, section 3.1.
    """
    at_least_one(factor)
    if d_head < 4:
        raise ValueError(f"NTK-aware scaling needs two pairs or more, a width of at least 4; got {d_head}")
    larger_base = base * factor ** (d_head / (d_head - 2))
    return inverse_frequencies(d_head, larger_base, dtype=dtype)  # [d_head/2]


def yarn(
    d_head: int,
    base: float,
    factor: float,
    original_length: int,
    beta_fast: float = 32,
    beta_slow: float = 1,
    dtype: torch.dtype | None = None,
) -> tuple[Tensor, float]:
    """Fast pairs as they are, slow ones interpolated, a ramp in between; and the attention factor 0.1 ln s + 1.

    Returns inv_freq [d_head/2] and the factor, which multiplies cos and sin, so scores grow by its square.
    The ramp is that of the authors' code: linear over the index of the pair, its ends rounded outward. (The
    paper's formula is linear in the number of turns over the original length; they differ within the ramp.)
    Raises ValueError for a factor below 1, an original_length that is missing or below 1, or betas not in
    order, beta_fast > beta_slow > 0. Source: Peng et al. 2023, sections 3.2 to 3.4.
    """
    at_least_one(factor)
    keep = 1 - yarn_ramp(d_head, base, original_length, beta_fast, beta_slow)  # [d_head/2]  1 = untouched
    theta = inverse_frequencies(d_head, base, dtype=torch.float64)  # [d_head/2]
    inv_freq = theta * keep + theta / factor * (1 - keep)  # [d_head/2]
    return inv_freq.to(dtype or torch.get_default_dtype()), yarn_attention_factor(factor)


def yarn_attention_factor(factor: float) -> float:
    """0.1 ln s + 1, by which YaRN multiplies cos and sin. Source: Peng et al. 2023, section 3.4, and the authors' code."""
    return 0.1 * math.log(factor) + 1


def yarn_ramp(
    d_head: int, base: float, original_length: int | None, beta_fast: float = 32, beta_slow: float = 1
) -> Tensor:
    """How far each pair is interpolated: 0 for the fast, 1 for the slow. Returns [d_head/2], float64."""
    if original_length is None or original_length < 1:
        raise ValueError(f"YaRN needs the trained length, at least 1; got {original_length}")
    if not beta_fast > beta_slow > 0:
        raise ValueError(f"beta_fast must exceed beta_slow, which exceeds 0; got {beta_fast} and {beta_slow}")
    low = max(math.floor(pair_that_turns(beta_fast, d_head, base, original_length)), 0)
    high = min(math.ceil(pair_that_turns(beta_slow, d_head, base, original_length)), d_head - 1)
    length = high - low or 0.001  # the code's guard against a ramp of no length
    pair = torch.arange(d_head // 2, dtype=torch.float64)  # [d_head/2]
    return ((pair - low) / length).clamp(0, 1)  # [d_head/2]


def pair_that_turns(turns: float, d_head: int, base: float, length: int) -> float:
    """The index, not rounded, of the pair that makes `turns` full turns over `length` positions.

    θ_i · length = 2π · turns, solved for i.
    """
    return d_head * math.log(length / (2 * math.pi * turns)) / (2 * math.log(base))


def yarn_ramp_of_the_paper(
    d_head: int, base: float, original_length: int, beta_fast: float = 32, beta_slow: float = 1
) -> Tensor:
    """The ramp as the paper prints it: linear in the turns that a pair makes. Returns [d_head/2], float64."""
    turns = turns_over(inverse_frequencies(d_head, base, dtype=torch.float64), original_length)  # [d_head/2]
    return 1 - ((turns - beta_slow) / (beta_fast - beta_slow)).clamp(0, 1)  # [d_head/2]


def turns_over(inv_freq: Tensor, length: float) -> Tensor:
    """How many full turns each pair makes over `length` positions. inv_freq [d_head/2]; returns the same."""
    return inv_freq * length / (2 * math.pi)  # [d_head/2]


def longrope(
    d_head: int, base: float, factors: tuple[float, ...], dtype: torch.dtype | None = None
) -> Tensor:
    """Each pair slowed by a factor of its own, which the authors search for. Returns [d_head/2].

    Raises ValueError unless there are d_head/2 factors, all positive.
    Source: Ding et al. 2024, section 3.1; `keep_first` is the other half of it.
    """
    if len(factors) != d_head // 2 or min(factors) <= 0:
        raise ValueError(f"{d_head // 2} positive factors are needed, one for each pair; got {list(factors)}")
    theta = inverse_frequencies(d_head, base, dtype=torch.float64)  # [d_head/2]
    stretched = theta / torch.tensor(factors, dtype=torch.float64)  # [d_head/2]
    return stretched.to(dtype or torch.get_default_dtype())  # [d_head/2]


def keep_first(plain: Tensor, stretched: Tensor, positions: Tensor, n_first: int) -> Tensor:
    """LongRoPE's first tokens, which much attention goes to, keep the frequencies they were trained with.

    plain and stretched [d_head/2]; positions [..., T]. Returns [..., T, d_head/2], frequencies position by
    position, which `apply_rope` takes as well. Distances across the border are no longer multiples of one
    angle: the price of the rule. Source: Ding et al. 2024, section 3.1.
    """
    is_first = (positions < n_first)[..., None]  # [..., T, 1]
    return torch.where(is_first, plain, stretched)  # [..., T, d_head/2]


def longrope_attention_factor(factor: float, original_length: int) -> float:
    """√(1 + ln s / ln L), by which LongRoPE's code multiplies cos and sin. Raises ValueError below 1 or L ≤ 1."""
    at_least_one(factor)
    if original_length <= 1:
        raise ValueError(f"the trained length must be above 1, got {original_length}")
    return math.sqrt(1 + math.log(factor) / math.log(original_length))


def attention_factor_of(scaling: Scaling | None) -> float:
    """What `scaling` multiplies cos and sin by: 1 but in YaRN and LongRoPE. Raises ValueError as these do."""
    if scaling is None or scaling.factor == 1:
        return 1.0
    if scaling.kind == "longrope":
        return longrope_attention_factor(scaling.factor, scaling.original_length or 0)
    return yarn_attention_factor(scaling.factor) if scaling.kind == "yarn" else 1.0


def illustrative_longrope_factors(d_head: int, factor: float) -> tuple[float, ...]:
    """Made-up factors for a first picture, NOT searched ones: 1 for the fastest pair to s for the slowest, in an S.

    Real ones come out of an evolutionary search on one model and belong to it alone.
    """
    at_least_one(factor)
    steps = torch.linspace(0, 1, d_head // 2, dtype=torch.float64)  # [d_head/2]
    s_curve = steps**2 * (3 - 2 * steps)  # [d_head/2]
    return tuple((factor**s_curve).tolist())


def at_least_one(factor: float) -> None:
    """Raises ValueError for a factor below 1: that would shorten the context."""
    if factor < 1:
        raise ValueError(f"the factor must be at least 1, got {factor}")


def spread_factors(anchors: Sequence[float], pairs: int) -> tuple[float, ...]:
    """As many factors as there are pairs, out of a few: between two neighbours they grow by equal ratios.

    The first anchor belongs to the fastest pair, the last to the slowest; a single one to all. Raises ValueError for
    no anchors, more than pairs, or one that is not positive and finite.
    """
    if not 1 <= len(anchors) <= pairs or not all(0 < a < math.inf for a in anchors):
        raise ValueError(f"between 1 and {pairs} positive factors are needed, got {list(anchors)}")
    if len(anchors) == pairs:
        return tuple(anchors)
    place = torch.linspace(0, len(anchors) - 1, pairs, dtype=torch.float64)  # [pairs]
    left = place.floor().long().clamp(max=max(len(anchors) - 2, 0))  # [pairs]
    logs = torch.tensor(anchors, dtype=torch.float64).log()  # [A]
    steps = torch.cat([logs.diff(), torch.zeros(1, dtype=torch.float64)])  # [A]
    return tuple((logs[left] + steps[left] * (place - left)).exp().tolist())
