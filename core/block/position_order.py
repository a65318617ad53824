"""The order test again, with each way of telling attention where a token stands: which of them let order show?"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from core.attention.dot_product import AttentionTrace
from core.attention.order import OrderTrace
from core.block.position_schemes import Scheme, attend_at


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
    """One head of self-attention over x [T, d_model], its positions told by `scheme`.

    w_q, w_k, w_v [d_model, d_k]; table [T_max, d_model] is needed by "learned". "alibi" uses the steepest
    of eight heads, slope 1/2. Raises ValueError for another scheme, "learned" without a table, or T above T_max.
    """
    return attend_at(x, w_q, w_k, w_v, scheme, mask=mask, table=table, base=base).attention


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

    Tokens move, positions stay: what the scheme says about position i is said to whichever token stands there.
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
