"""From scores to the next token: temperature, top-k and top-p, and the draw itself.

Sources: Fan et al. 2018 (top-k); Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration", section 3.1
(top-p, the nucleus).
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Distribution:
    """One or more distributions over a vocabulary of V, all in float64, and what was cut off them."""

    full: Tensor  # [..., V]  after temperature, before any cut
    order: Tensor  # [..., V]  tokens from likeliest to least likely; of equals the lower number first
    cumulative: Tensor  # [..., V]  in that order: mass of the full distribution up to and with this token
    by_top_k: Tensor  # [..., V]  bool, by token: left by top-k alone
    by_top_p: Tensor  # [..., V]  bool, by token: left by top-p alone, the nucleus
    kept: Tensor  # [..., V]  bool, by token: left by both
    kept_mass: Tensor  # [...]  what they have of the full distribution
    probabilities: Tensor  # [..., V]  of the kept, made to sum to 1; 0 elsewhere


@dataclass(frozen=True)
class Draw:
    """One token drawn. The kept tokens lie side by side on a line from 0 to 1, likeliest first."""

    number: float | None  # where the draw fell, 0 ≤ number < 1; None where nothing was left to chance
    token: int
    probability: float  # the token's share of the line
    begins: float  # the token's piece of the line: from here
    ends: float  # to here


def next_token_distribution(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Distribution:
    """softmax(logits / temperature), cut to the top_k likeliest tokens and to the nucleus of top_p, made whole again.

    logits [..., V], finite, or −inf for a token that must not come. How the three compose: temperature acts first.
    Then both cuts are judged on the full distribution, and a token stays if both let it: top-k lets the k
    likeliest, top-p the fewest likeliest whose mass reaches p, at least one. Neither sees what the other cut: libraries
    that apply top-p to what top-k left, made whole again, keep fewer. Of equally likely tokens the lower number comes
    first, so that exactly k stay. Temperature 0 is greedy: all mass on the likeliest token, of equals on the lowest
    number; nothing is left to cut. top_k None or V and above, top_p None or 1 cut nothing.
    Raises ValueError for a temperature below 0 or not finite, top_k below 1, top_p outside 0 < p ≤ 1, or logits that
    are NaN, +inf, or all −inf.
    """
    check_settings(logits, temperature, top_k, top_p)
    full = with_temperature(logits.detach().to(torch.float64), temperature)  # [..., V]
    order = full.argsort(dim=-1, descending=True, stable=True)  # [..., V]
    in_order = full.gather(-1, order)  # [..., V]
    cumulative = in_order.cumsum(-1)  # [..., V]
    ranks = torch.arange(full.shape[-1]).expand_as(order)  # [..., V]
    among_k = ranks < (full.shape[-1] if top_k is None else top_k)  # [..., V]  in order
    before = cumulative.roll(1, -1).masked_fill(ranks == 0, 0.0)  # [..., V]  mass of those likelier
    among_p = in_nucleus(before, 1.0 if top_p is None else top_p)  # [..., V]  in order
    by_top_k, by_top_p = by_token(among_k, order), by_token(among_p, order)  # [..., V] each
    kept = by_top_k & by_top_p  # [..., V]
    left = full * kept  # [..., V]
    kept_mass = left.sum(-1)  # [...]
    probabilities = left / kept_mass[..., None]  # [..., V]
    return Distribution(full, order, cumulative, by_top_k, by_top_p, kept, kept_mass, probabilities)


def kept_one_after_the_other(
    logits: Tensor, temperature: float = 1.0, top_k: int | None = None, top_p: float | None = None
) -> Tensor:
    """The tokens left, [..., V] bool, where top-p is judged on what top-k left, made whole again.

    That is what some libraries do, for comparison with `next_token_distribution`, whose arguments these are: they
    never keep more, and keep fewer where the nucleus of what is left is smaller than that of the whole.
    """
    by_k = next_token_distribution(logits, temperature, top_k)
    return next_token_distribution(by_k.probabilities.log(), 1.0, None, top_p).kept & by_k.kept


def in_nucleus(before: Tensor, top_p: float) -> Tensor:
    """A token belongs to it while those before it do not reach p; the first one always does. [..., V], in order.

    A sum may end a rounding below p and still reaches it: of ten equal tokens p = 0.8 keeps eight. At p = 1 no
    rounding decides: all stay.
    """
    if top_p == 1:
        return torch.ones_like(before, dtype=torch.bool)  # [..., V]
    return (before < top_p - 1e-12) | (before == 0)  # [..., V]


def with_temperature(logits: Tensor, temperature: float) -> Tensor:
    """softmax(logits / temperature), [..., V]; for 0 its limit, with ties to the lowest number."""
    below = logits - logits.amax(
        -1, keepdim=True
    )  # [..., V]  0 for the likeliest: a tiny temperature overflows nothing
    if temperature == 0:
        first = below.argsort(dim=-1, descending=True, stable=True)[..., :1]  # [..., 1]
        return torch.zeros_like(below).scatter(-1, first, 1.0)  # [..., V]
    return (below / temperature).softmax(-1)  # [..., V]


def by_token(in_order: Tensor, order: Tensor) -> Tensor:
    """Values listed from the likeliest token on, listed by token number instead. [..., V]."""
    return torch.empty_like(in_order).scatter(-1, order, in_order)  # [..., V]


def check_settings(logits: Tensor, temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Raise a ValueError as `next_token_distribution` says."""
    if not 0 <= temperature < float("inf"):
        raise ValueError(f"temperature must be 0 (greedy) or above, and finite; got {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    if bool(logits.isnan().any()) or bool((logits == torch.inf).any()):
        raise ValueError("logits must be finite or −inf; there is a NaN or +inf among them")
    if not bool(logits.isfinite().any(-1).all()):
        raise ValueError("all logits are −inf: no token is allowed")


def sample(distribution: Distribution, generator: torch.Generator | None = None) -> Draw:
    """Draw a token of one distribution, [V]: a number from 0 to 1, and the token on whose piece of the line it falls.

    Where a single token has all the mass (temperature 0, top_k 1) nothing is drawn and the generator is not moved.
    Raises ValueError for more than one distribution, or without a generator where there is a choice.
    """
    if distribution.full.dim() != 1:
        raise ValueError(f"sample draws from one distribution, got {tuple(distribution.full.shape)}")
    line = distribution.probabilities[distribution.order]  # [V]  likeliest first
    ends = line.cumsum(-1)  # [V]
    choices = int((line > 0).sum())
    if choices > 1 and generator is None:
        raise ValueError("a temperature above 0 needs a generator, so that the same seed gives the same text")
    number = float(torch.rand((), generator=generator, dtype=torch.float64)) if choices > 1 else None
    # Rounding may end the line a hair below 1: a number beyond it falls on the last token.
    place = 0 if number is None else min(int((ends <= number).sum()), choices - 1)
    token, probability = int(distribution.order[place]), float(line[place])
    return Draw(number, token, probability, float(ends[place]) - probability, float(ends[place]))
