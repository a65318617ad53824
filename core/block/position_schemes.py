"""One head of attention whose tokens are told where they stand, in one of four ways or not at all, with every step kept."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from core.attention.dot_product import AttentionTrace, attention
from core.block.frequencies import inverse_frequencies
from core.block.positions import alibi_bias, learned, sinusoidal
from core.block.rope import apply_rope

Scheme = Literal["none", "sinusoidal", "learned", "rope", "alibi"]
ALIBI_HEADS = 8  # as many slopes as the paper's first example has


@dataclass(frozen=True)
class PositionTrace:
    """What a scheme did on the way to the weights; None for what it does not use."""

    added: Tensor | None  # [T, d_model]  sinusoidal, learned: one row for each position
    x: Tensor  # [T, d_model]  what the projections get
    q: Tensor  # [T, d_k]
    k: Tensor  # [T, d_k]
    turned_q: Tensor | None  # [T, d_k]  rope
    turned_k: Tensor | None  # [T, d_k]  rope
    bias: Tensor | None  # [T, T]  alibi
    attention: AttentionTrace


@dataclass(frozen=True)
class PlaceTest:
    """Attention under a scheme, beside attention without positions and attention elsewhere in a longer text."""

    shown: PositionTrace
    plain: PositionTrace  # the same tokens, without positions
    change: Tensor  # [T, T]  weights with positions − weights without
    moved: Tensor  # [T, T]  weights when the text starts elsewhere − weights shown


def attend_at(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    scheme: Scheme,
    start: int = 0,
    mask: Tensor | None = None,
    table: Tensor | None = None,
    head: int = 0,
    base: float = 10000.0,
) -> PositionTrace:
    """Self-attention over x [T, d_model], whose first token stands at position `start`, told by `scheme`.

    w_q, w_k, w_v [d_model, d_k]; mask [T, T] bool, True = may attend; table [T_max, d_model] is needed by
    "learned"; head 0..7 chooses ALiBi's slope among eight. Raises ValueError for another scheme, "learned" without
    a table, or positions beyond its end. Sources: Vaswani et al. 2017, section 3.5; Su et al. 2021; Press et al. 2022.
    """
    t = x.shape[-2]
    added = added_at_the_input(x, scheme, start, table, base)  # [T, d_model] or None
    x = x if added is None else x + added  # [T, d_model]
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # [T, d_k] each
    turned_q, turned_k = (
        turned(y, start, base) if scheme == "rope" else None for y in (q, k)
    )  # [T, d_k] each
    # Distances do not know where the text starts.
    bias = alibi_bias(ALIBI_HEADS, t, x.dtype)[head] if scheme == "alibi" else None  # [T, T]
    pair = (q, k) if turned_q is None else (turned_q, turned_k)
    return PositionTrace(added, x, q, k, turned_q, turned_k, bias, attention(*pair, v, mask, bias=bias))


def place_test(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    scheme: Scheme,
    start: int,
    elsewhere: int,
    mask: Tensor | None = None,
    table: Tensor | None = None,
    head: int = 0,
) -> PlaceTest:
    """What the positions do to the weights, and what moving the whole text to another position does.

    Arguments and errors as in `attend_at`; `elsewhere` is the other position where the text could start.
    """

    def attend(scheme: Scheme, start: int) -> PositionTrace:
        return attend_at(x, w_q, w_k, w_v, scheme, start, mask, table, head)

    shown, plain = attend(scheme, start), attend("none", start)
    change = shown.attention.weights - plain.attention.weights  # [T, T]
    moved = attend(scheme, elsewhere).attention.weights - shown.attention.weights  # [T, T]
    return PlaceTest(shown, plain, change, moved)


def turned(y: Tensor, start: int, base: float) -> Tensor:
    """Queries or keys [T, d_k] turned by RoPE, the first of them at position `start`. Returns the same shape."""
    inv_freq = inverse_frequencies(y.shape[-1], base, dtype=torch.float64)  # [d_k/2]
    return apply_rope(y, torch.arange(start, start + len(y)), inv_freq)  # [T, d_k]


def added_at_the_input(
    x: Tensor, scheme: Scheme, start: int, table: Tensor | None, base: float
) -> Tensor | None:
    """The vectors [T, d_model] that the scheme adds to x [T, d_model], or None if that is not how it works."""
    t, d = x.shape[-2:]
    match scheme:
        case "sinusoidal":
            return sinusoidal(start + t, d, base, x.dtype)[start:]  # [T, d_model]
        case "learned":
            if table is None:
                raise ValueError("learned positions need their table")
            return learned(table, start + t)[start:]  # [T, d_model]
        case "none" | "rope" | "alibi":
            return None
    raise ValueError(f"no position scheme is called {scheme}")


def untrained_table(n: int, d: int, generator: torch.Generator) -> Tensor:
    """A table [n, d] as it is before training, N(0, 1/2): its rows are on average as long as sinusoidal ones.

    float64. (GPT-2 starts smaller, with a standard deviation of 0.01.)
    """
    rows = torch.randn(n, d, generator=generator, dtype=torch.float64) / 2**0.5  # [n, d]
    return rows


def row_products(table: Tensor) -> Tensor:
    """The dot product of every two rows of a table [n, d]: how alike two positions look. Returns [n, n]."""
    products = table @ table.mT  # [n, n]
    return products
