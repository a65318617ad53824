"""PyTorch's own multi-head attention with our weights: to compare with, and for its best-known trap."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.attention.multi_head import MultiHeadAttention


@dataclass(frozen=True)
class BatchFirstTrace:
    """The same layer and the same batch [B, T, d], told that the batch comes first and not told so."""

    right: Tensor  # [B, T, d]  batch_first=True
    wrong: Tensor  # [B, T, d]  left at its default, False: the same shape
    right_heads: Tensor  # [B, H, T, T]  weights, token by token within each sentence
    wrong_heads: Tensor  # [T, H, B, B]  weights, sentence by sentence at each position
    right_weights: (
        Tensor  # [B, T, T]  the mean over the heads, which is what the layer returns unless told not to
    )
    wrong_weights: Tensor  # [T, B, B]
    deviation: float  # largest |right − wrong|
    right_leak: float  # largest change in the first sentence's output when the second changes: 0
    wrong_leak: float  # the same without batch_first


def as_pytorch(module: MultiHeadAttention, batch_first: bool = True) -> nn.MultiheadAttention:
    """torch.nn.MultiheadAttention with the weights of ours.

    PyTorch's has as many key-value heads as query heads, so shared ones are written out once for each
    query head. Its masks mean the opposite of ours: True = blocked.
    """
    d_model, weight = module.w_q.in_features, module.w_q.weight
    has_bias = module.w_q.bias is not None
    options = {"bias": has_bias, "batch_first": batch_first, "dtype": weight.dtype}
    # skip_init: PyTorch would fill it with numbers from its global generator, only to be replaced.
    theirs = nn.utils.skip_init(nn.MultiheadAttention, d_model, module.n_heads, **options)
    inward = (module.w_q, module.w_k, module.w_v)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([_per_head(w.weight, module) for w in inward]))
        theirs.out_proj.weight.copy_(module.w_o.weight)
        if has_bias:
            theirs.in_proj_bias.copy_(torch.cat([_per_head(w.bias, module) for w in inward]))
            theirs.out_proj.bias.copy_(module.w_o.bias)
    return theirs


def _per_head(rows: Tensor, module: MultiHeadAttention) -> Tensor:
    """Rows [G · d_head, …] of a projection, each head repeated to make [d_model, …]."""
    heads = rows.unflatten(0, (-1, module.d_head))  # [H or G, d_head, …]
    return heads.repeat_interleave(module.n_heads // len(heads), dim=0).flatten(0, 1)


@torch.no_grad()
def batch_first_trap(module: MultiHeadAttention, x: Tensor) -> BatchFirstTrace:
    """Run PyTorch's layer with and without batch_first=True on x [B, T, d], then with sentence 2 replaced.

    Without it the layer reads [T, B, d], so every token attends to the tokens at its own position in the
    other sentences. Nothing is raised and the shape is the same. Raises ValueError for fewer than two
    sentences.
    """
    if x.dim() != 3 or len(x) < 2:
        raise ValueError(f"x must be [B, T, d] with at least two sentences, got {list(x.shape)}")
    told, untold = (as_pytorch(module, batch_first) for batch_first in (True, False))
    other = x.clone()  # [B, T, d]
    other[1] = -other[1]
    right, right_heads = told(x, x, x, average_attn_weights=False)
    wrong, wrong_heads = untold(x, x, x, average_attn_weights=False)
    right_weights, wrong_weights = right_heads.mean(1), wrong_heads.mean(1)  # [B, T, T], [T, B, B]
    right_after, wrong_after = told(other, other, other)[0], untold(other, other, other)[0]
    return BatchFirstTrace(
        right=right,
        wrong=wrong,
        right_heads=right_heads,
        wrong_heads=wrong_heads,
        right_weights=right_weights,
        wrong_weights=wrong_weights,
        deviation=float((right - wrong).abs().max()),
        right_leak=float((right[0] - right_after[0]).abs().max()),
        wrong_leak=float((wrong[0] - wrong_after[0]).abs().max()),
    )
