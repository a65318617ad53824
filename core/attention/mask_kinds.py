"""Every kind of mask by its name, and two of them combined: what the page on masks lets a reader choose."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention import masks
from core.attention.toy import seeded

KINDS = (
    "none",
    "causal",
    "padding",
    "prefix",
    "window",
    "dilated",
    "longformer",
    "bigbird",
    "strided",
    "fixed",
    "drawn",
)


@dataclass(frozen=True)
class MaskSettings:
    """The numbers that the kinds of mask take; each kind reads its own and cuts them to the length."""

    window: int = 3
    two_sided: bool = False  # of window and dilated; Longformer and BigBird always are
    dilation: int = 2
    prefix: int = 3
    n_global: int = 1  # the first tokens are the global ones
    n_random: int = 1
    stride: int = 3
    summary: int = 1
    seed: int = 7  # of BigBird's random keys


def named_mask(kind: str, t: int, length: int, s: MaskSettings, drawn: Tensor | None = None) -> Tensor:
    """One mask of KINDS for a sentence with `length` real tokens in t positions. Returns bool [t, t], True = may attend.

    drawn [N, N], N ≥ t, is the mask that a reader drew; without one each token sees only itself.
    Raises ValueError for a kind that is not in KINDS.
    """
    match kind:
        case "none":
            return torch.ones(t, t, dtype=torch.bool)
        case "causal":
            return masks.causal(t)
        case "padding":
            return masks.padding([min(length, t)], t)[0].expand(t, t)  # [1, t]: one row for all queries
        case "prefix":
            return masks.prefix_lm(t, min(s.prefix, t))
        case "window":
            return masks.sliding_window(t, s.window, causal=not s.two_sided)
        case "dilated":
            return masks.dilated(t, s.window, s.dilation, causal=not s.two_sided)
        case "longformer":
            return masks.longformer(t, s.window, range(min(s.n_global, t)))
        case "bigbird":
            few = min(s.n_global, t), min(s.n_random, t)
            return masks.bigbird(t, s.window, *few, seeded("bigbird", s.seed))
        case "strided":
            return masks.strided(t, s.stride)
        case "fixed":
            return masks.fixed(t, s.stride, s.summary)
        case "drawn":
            return torch.eye(t, dtype=torch.bool) if drawn is None else drawn[:t, :t]
    raise ValueError(f"no mask is called {kind!r}; known are {', '.join(KINDS)}")


def combined_mask(
    kinds: tuple[str, ...], t: int, length: int, s: MaskSettings, drawn: Tensor | None = None
) -> Tensor:
    """Several of KINDS at once: a pair is kept where all of them keep it. Returns bool [t, t]."""
    mask = masks.combine(*(named_mask(kind, t, length, s, drawn) for kind in kinds))  # [t, t]
    return mask
