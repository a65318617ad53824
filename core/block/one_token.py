"""One token is replaced: which outputs notice, after a feed-forward layer and after attention."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Change:
    """The output of one sub-layer before and after, and how far each token's output moved."""

    before: Tensor  # [T, d]
    after: Tensor  # [T, d]
    change: Tensor  # [T, d]
    moved: Tensor  # [T]  length of each row of the change


def change_of(sublayer: Callable[[Tensor], Tensor], x: Tensor, changed: Tensor) -> Change:
    """What a sub-layer [T, d] → [T, d] makes of x and of the changed x, both [T, d]."""
    before = sublayer(x)  # [T, d]
    after = sublayer(changed)  # [T, d]
    change = after - before  # [T, d]
    moved = torch.linalg.vector_norm(change, dim=-1)  # [T]
    return Change(before, after, change, moved)
