"""Multi-head attention: several small attentions side by side, each in its own slice of d_model.

Source: Vaswani et al. 2017, section 3.2.2. Fewer key-value heads than query heads: Shazeer 2019 (one,
multi-query) and Ainslie et al. 2023 (a few, grouped-query).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeVar

import torch
from torch import Tensor, nn

from core.attention.dot_product import attention

M = TypeVar("M", bound=nn.Module)


@dataclass(frozen=True)
class MultiHeadTrace:
    """Every step of one multi-head attention, in the order in which it is computed. H heads, G key-value heads."""

    q: Tensor  # [..., H, T_q, d_head]  turned by rope, where there is one
    k: Tensor  # [..., G, T_k, d_head]  turned by rope, where there is one; T_k counts the past, too
    v: Tensor  # [..., G, T_k, d_head]
    scores: Tensor  # [..., H, T_q, T_k]
    scaled: Tensor  # [..., H, T_q, T_k]  divided by √d_head, not √d_model
    biased: Tensor  # [..., H, T_q, T_k]
    masked: Tensor  # [..., H, T_q, T_k]
    weights: Tensor  # [..., H, T_q, T_k]
    head_outputs: Tensor  # [..., H, T_q, d_head]  what each head found, whether switched off or not
    kept_outputs: Tensor  # [..., H, T_q, d_head]  multiplied by head_mask
    concatenated: Tensor  # [..., T_q, d_model]
    output: Tensor  # [..., T_q, d_model]


class MultiHeadAttention(nn.Module):
    """Project, split into heads, attend in each, join, project.

    n_kv_heads = n_heads (the default) is the paper's, 1 is multi-query, in between grouped-query: query
    head h looks at key-value head h // (n_heads / n_kv_heads). Raises ValueError unless n_heads divides
    d_model and n_kv_heads divides n_heads. Weights are PyTorch's usual draw; `seeded` and `initialise`
    draw from a given generator instead. scale multiplies the scores: 1/√d_head unless given (T5 has 1).
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        bias: bool = False,
        scale: float | None = None,
    ):
        super().__init__()
        self.scale = scale
        self.d_head = head_width(d_model, n_heads, n_kv_heads)
        self.n_heads = n_heads
        self.n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        d_kv = self.n_kv_heads * self.d_head
        self.w_q = nn.Linear(d_model, d_model, bias=bias)
        self.w_k = nn.Linear(d_model, d_kv, bias=bias)
        self.w_v = nn.Linear(d_model, d_kv, bias=bias)
        self.w_o = nn.Linear(d_model, d_model, bias=bias)

    @classmethod
    def seeded(
        cls,
        generator: torch.Generator,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        bias: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> Self:
        """A module whose numbers come from the generator alone; PyTorch's global one is not touched."""
        with torch.device("meta"):  # shapes without numbers: nothing is drawn yet
            module = cls(d_model, n_heads, n_kv_heads, bias)
        return initialise(module.to_empty(device="cpu").to(dtype), generator)

    def forward(
        self,
        x: Tensor,
        context: Tensor | tuple[Tensor, Tensor] | None = None,
        mask: Tensor | None = None,
        rope: Callable[[Tensor], Tensor] | None = None,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        past: tuple[Tensor, Tensor] | None = None,
    ) -> MultiHeadTrace:
        """Attend from x [..., T_q, d_model] to context [..., T_k, d_model], or to x itself without one.

        The context may also be keys and values that were made of it before, the k and v of an earlier trace: only
        queries are projected then. rope turns q and k, [..., heads, T, d_head] each; the other arguments are those of `attend`. past: keys and
        values of earlier tokens, the k and v of an earlier trace, which come before those made here.
        """
        q, k, v = self.project(x, x if context is None else context)
        if rope is not None:
            q, k = rope(q), rope(k)  # v carries content and is not turned
        if past is not None:
            k, v = torch.cat([past[0], k], -2), torch.cat([past[1], v], -2)  # [..., G, T_past + T_k, d_head]
        return self.attend(q, k, v, mask, bias, head_mask)

    def project(self, x: Tensor, context: Tensor | tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Queries from x, keys and values from context, split into heads; those that it holds already stay."""
        q = split_heads(self.w_q(x), self.n_heads)  # [..., H, T_q, d_head]
        if isinstance(context, tuple):
            return q, *context
        k = split_heads(self.w_k(context), self.n_kv_heads)  # [..., G, T_k, d_head]
        v = split_heads(self.w_v(context), self.n_kv_heads)  # [..., G, T_k, d_head]
        return q, k, v

    def attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None = None,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
    ) -> MultiHeadTrace:
        """Attention in each head, then the heads joined and mixed by w_o. Shapes as `project` returns them.

        mask (bool, True = may attend) is [T_q, T_k] or [..., T_q, T_k], the same for all heads, or, with one
        axis more than x, [..., H, T_q, T_k]. bias broadcasts to [..., H, T_q, T_k]. head_mask [H] or
        [..., H] multiplies the heads' outputs: 0 switches a head off.
        """
        mask = mask.unsqueeze(-3) if mask is not None and 2 < mask.dim() < q.dim() else mask
        a = attention(
            q, share_heads(k, self.n_heads), share_heads(v, self.n_heads), mask, scale=self.scale, bias=bias
        )
        kept = a.output if head_mask is None else a.output * head_mask[..., None, None]
        concatenated = join_heads(kept)  # [..., T_q, d_model]
        output = self.w_o(concatenated)  # [..., T_q, d_model]
        steps = (a.scores, a.scaled, a.biased, a.masked, a.weights, a.output)
        return MultiHeadTrace(q, k, v, *steps, kept, concatenated, output)


def head_width(d_model: int, n_heads: int, n_kv_heads: int | None = None) -> int:
    """d_head = d_model / n_heads. Raises ValueError unless n_heads divides d_model and n_kv_heads n_heads."""
    if n_heads < 1 or d_model < 1 or d_model % n_heads:
        raise ValueError(f"n_heads must divide d_model, got {n_heads} heads and d_model {d_model}")
    if n_kv_heads is not None and (n_kv_heads < 1 or n_heads % n_kv_heads):
        raise ValueError(f"n_kv_heads must divide n_heads, got {n_kv_heads} and {n_heads}")
    return d_model // n_heads


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """[..., T, n_heads · d_head] → [..., n_heads, T, d_head]: head h gets the h-th slice of every token.

    The transpose matters: reshaping straight to [..., n_heads, T, d_head] has the same shape and would cut
    the sentence into pieces instead of the vectors. Raises ValueError if n_heads does not divide.
    """
    d_head = head_width(x.shape[-1], n_heads)
    per_token = x.unflatten(-1, (n_heads, d_head))  # [..., T, n_heads, d_head]
    return per_token.transpose(-3, -2)  # [..., n_heads, T, d_head]


def join_heads(x: Tensor) -> Tensor:
    """[..., n_heads, T, d_head] → [..., T, n_heads · d_head]: what `split_heads` did, undone."""
    return x.transpose(-3, -2).flatten(-2)  # [..., T, n_heads · d_head]


def share_heads(x: Tensor, n_heads: int) -> Tensor:
    """Repeat each key-value head for the query heads that look at it: [..., G, T, d] → [..., n_heads, T, d]."""
    n_kv_heads = x.shape[-3]
    return x if n_kv_heads == n_heads else x.repeat_interleave(n_heads // n_kv_heads, dim=-3)


def initialise(module: M, generator: torch.Generator) -> M:
    """Draw every nn.Linear inside anew, in place: weights N(0, 1/fan_in), biases 0. Returns the module.

    With inputs of variance 1 every projection then has variance 1. The numbers are drawn in float64, so
    a module in float32 holds the same ones, rounded.
    """
    for linear in (m for m in module.modules() if isinstance(m, nn.Linear)):
        drawn = torch.randn(linear.weight.shape, generator=generator, dtype=torch.float64)
        with torch.no_grad():
            linear.weight.copy_(drawn / math.sqrt(linear.in_features))
            if linear.bias is not None:
                linear.bias.zero_()
    return module
