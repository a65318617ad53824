"""The order test again, with each way of telling attention where a token stands: which of them let order show?"""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from core.attention.dot_product import AttentionTrace, attention
from core.attention.order import OrderTrace
from core.block.frequencies import inverse_frequencies
from core.block.positions import alibi_bias, learned, sinusoidal
from core.block.rope import apply_rope

Scheme = Literal["none", "sinusoidal", "learned", "rope", "alibi"]


def attend_in_order(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    scheme: Scheme,
    mask: Tensor | None = None,
    table: Tensor | None = None,
    base: float = 10000.0,
) -> AttentionTrace:
    """One head of self-attention over x [T, d_model], its places told by `scheme`.

    w_q, w_k, w_v [d_model, d_k]; table [T_max, d_model] is needed by "learned". "alibi" uses the steepest
    of eight heads, slope 1/2. Raises ValueError for another scheme, "learned" without a table, or T above T_max.
    """
    t = x.shape[-2]
    x, bias = at_the_input(x, scheme, table, base), None  # [T, d_model]
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # [T, d_k] each
    if scheme == "rope":
        inv_freq = inverse_frequencies(q.shape[-1], base, dtype=torch.float64)  # [d_k/2]
        q, k = (apply_rope(y, torch.arange(t), inv_freq) for y in (q, k))  # [T, d_k] each
    if scheme == "alibi":
        bias = alibi_bias(8, t, x.dtype)[0]  # [T, T]
    return attention(q, k, v, mask, bias=bias)


def at_the_input(x: Tensor, scheme: Scheme, table: Tensor | None, base: float) -> Tensor:
    """x [T, d_model] with a vector for each place added, if that is how the scheme works."""
    match scheme:
        case "sinusoidal":
            return x + sinusoidal(*x.shape[-2:], base, x.dtype)  # [T, d_model]
        case "learned":
            if table is None:
                raise ValueError("learned positions need their table")
            return x + learned(table, x.shape[-2])  # [T, d_model]
        case "none" | "rope" | "alibi":
            return x
    raise ValueError(f"no position scheme is called {scheme}")


def shuffle_test(
    x: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    permutation: Sequence[int],
    scheme: Scheme,
    mask: Tensor | None = None,
    table: Tensor | None = None,
    base: float = 10000.0,
) -> OrderTrace:
    """Attention over the tokens in a new order, against the original rearranged in that order.

    Tokens move, places stay: what the scheme says about place i is said to whichever token stands there.
    Both deviations are 0, up to rounding, for "none" without a mask. Arguments as in `attend_in_order`.
    Raises ValueError if permutation is not one of 0..T−1.
    """
    tokens = x.shape[-2]
    if sorted(permutation) != list(range(tokens)):
        raise ValueError(f"permutation must hold each of 0..{tokens - 1} once, got {list(permutation)}")
    p = torch.tensor(list(permutation))  # [T]
    attend = partial(
        attend_in_order, w_q=w_q, w_k=w_k, w_v=w_v, scheme=scheme, mask=mask, table=table, base=base
    )
    before, after = attend(x), attend(x[p])
    weights = before.weights[p][:, p]  # [T, T]
    output = before.output[p]  # [T, d_k]
    return OrderTrace(
        permutation=tuple(permutation),
        original=before,
        shuffled=after,
        expected_weights=weights,
        expected_output=output,
        weights_deviation=float((after.weights - weights).abs().max()),
        output_deviation=float((after.output - output).abs().max()),
    )
