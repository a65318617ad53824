"""Ways to hide a key before softmax, and what PyTorch's two boolean conventions do with one mask.

They agree as long as a row has something left to attend to. A row with nothing left tells them apart:
NaN, an even spread over keys that should be hidden, the weights as if nothing were hidden, or zeros.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.attention.dot_product import masked_softmax
from core.attention.multi_head import MultiHeadAttention
from core.attention.pytorch_multi_head import as_pytorch

NEARLY_INFINITE = -1e9
DTYPES = (torch.float64, torch.float32, torch.float16)


@dataclass(frozen=True)
class Hidden:
    """What one way of hiding gives for a row in one number type."""

    way: str  # a key of WAYS
    dtype: torch.dtype
    weights: Tensor | None  # [T_k]; may hold NaN; None when PyTorch refused
    error: str | None  # PyTorch's own words then


@dataclass(frozen=True)
class MaskConventions:
    """One mask, True = may attend, and its negation, given to both of PyTorch's attentions; weights [T_q, T_k].

    A function's and a layer's maps are equal where one got the mask and the other its negation.
    """

    mask: Tensor  # [T_q, T_k]
    function: Tensor  # F.scaled_dot_product_attention with the mask: as meant
    function_negated: Tensor
    layer: Tensor  # nn.MultiheadAttention with the mask: attends exactly where it should not
    layer_negated: Tensor  # as meant; NaN where PyTorch's layer has nothing to attend to


def plain(scores: Tensor, keep: Tensor) -> Tensor:
    """Nothing is hidden: what the others are to be compared with. scores [T_k]; keep bool [T_k]; returns [T_k]."""
    return torch.softmax(scores, -1)


def minus_infinity(scores: Tensor, keep: Tensor) -> Tensor:
    """Add −inf to what is hidden. A row of nothing but −inf has no softmax: NaN."""
    hidden = torch.zeros_like(scores).masked_fill(~keep, -torch.inf)  # [T_k]
    return torch.softmax(scores + hidden, -1)


def fill_large(scores: Tensor, keep: Tensor) -> Tensor:
    """Replace what is hidden by −1e9. A row of it is a row of equal scores: an even spread over hidden keys.

    Raises RuntimeError in float16, whose largest number is 65504.
    """
    return torch.softmax(scores.masked_fill(~keep, NEARLY_INFINITE), -1)


def add_large(scores: Tensor, keep: Tensor) -> Tensor:
    """Add −1e9 to what is hidden, as (1 − mask) · −1e9. In a row of it the scores live on behind the number.

    float64 gives the softmax of the plain scores; float32 rounds them away near 1e9, which leaves an even
    spread; in float16 the product is −inf already.
    """
    return torch.softmax(scores + (1 - keep.to(scores.dtype)) * NEARLY_INFINITE, -1)


def pytorch_function(scores: Tensor, keep: Tensor) -> Tensor:
    """F.scaled_dot_product_attention: zeros for a row with nothing left since PyTorch 2.5, NaN before."""
    query, keys = (
        torch.ones(1, 1, dtype=scores.dtype),
        scores[:, None],
    )  # [1, 1], [T_k, 1]: q·k are the scores
    values = torch.eye(len(scores), dtype=scores.dtype)  # [T_k, T_k]: the output is the weights
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=keep[None], scale=1.0)[0]


@torch.no_grad()
def pytorch_layer(scores: Tensor, keep: Tensor) -> Tensor:
    """nn.MultiheadAttention with need_weights=True, whose mask means True = blocked: NaN with nothing left."""
    options = {"bias": False, "dtype": scores.dtype}
    layer = nn.utils.skip_init(nn.MultiheadAttention, 1, 1, **options)  # one head of width 1
    for weight in layer.parameters():
        weight.fill_(1)  # all projections are the identity
    query, keys = torch.ones(1, 1, dtype=scores.dtype), scores[:, None]  # [1, 1], [T_k, 1]
    return layer(query, keys, keys, attn_mask=~keep[None], need_weights=True)[1][0]


WAYS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "plain": plain,
    "minus_infinity": minus_infinity,
    "fill_large": fill_large,
    "add_large": add_large,
    "pytorch_function": pytorch_function,
    "pytorch_layer": pytorch_layer,
    "ours": masked_softmax,
}


def hide(scores: Tensor, keep: Tensor, dtypes: Sequence[torch.dtype] = DTYPES) -> tuple[Hidden, ...]:
    """Every way of WAYS in every number type, for one row of scores [T_k] and keep [T_k], bool, True = may attend.

    Raises ValueError unless both are one row of the same length and keep is bool.
    """
    if scores.dim() != 1 or scores.shape != keep.shape or keep.dtype != torch.bool:
        raise ValueError(f"needs a row of scores and a bool row as long, got {scores.shape} and {keep.shape}")
    return tuple(_one_way(way, scores.to(dtype), keep) for way in WAYS for dtype in dtypes)


def _one_way(way: str, scores: Tensor, keep: Tensor) -> Hidden:
    try:
        return Hidden(way, scores.dtype, WAYS[way](scores, keep), None)
    except RuntimeError as error:  # PyTorch's refusal is the result here
        return Hidden(way, scores.dtype, None, str(error))


@torch.no_grad()
def mask_conventions(x: Tensor, mask: Tensor) -> MaskConventions:
    """Call both of PyTorch's attentions on x [T, d] as query, key and value, with mask [T, T] and with ~mask.

    The layer has one head and the identity for its projections, so that it computes what the function does.
    """
    d = x.shape[-1]
    one_hot = torch.eye(len(x), dtype=x.dtype)  # [T, T]  with these as values the output is the weights
    identity = MultiHeadAttention.seeded(torch.Generator(), d, 1, dtype=x.dtype)
    for linear in identity.children():
        linear.weight.copy_(torch.eye(d))
    mha = as_pytorch(identity)  # nn.MultiheadAttention, batch_first=True

    function = F.scaled_dot_product_attention(x, x, one_hot, attn_mask=mask)  # [T, T]
    function_negated = F.scaled_dot_product_attention(x, x, one_hot, attn_mask=~mask)  # [T, T]
    layer = mha(x, x, x, attn_mask=mask, need_weights=True)[1]  # [T, T]
    layer_negated = mha(x, x, x, attn_mask=~mask, need_weights=True)[1]  # [T, T]
    return MaskConventions(mask, function, function_negated, layer, layer_negated)
