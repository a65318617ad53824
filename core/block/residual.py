"""One Transformer block: attention and feed-forward, each with a norm, a dropout and a way around it.

Sources: Vaswani et al. 2017, figure 1 (Post-LN); Radford et al. 2019 (Pre-LN, with a norm at the end);
Xiong et al. 2020, which compares them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from core.attention.dot_product import draw_dropout
from core.attention.multi_head import MultiHeadAttention
from core.block.experts import MixtureTrace, mixture
from core.block.feed_forward import FeedForwardTrace, SwiGLUTrace, feed_forward, swiglu
from core.block.normalization import NormTrace, layer_norm, rms_norm

NormPlace = Literal["pre", "post", "none"]
NormKind = Literal["layer", "rms"]


@dataclass(frozen=True)
class SublayerTrace:
    """One sub-layer and what surrounds it. All [..., T, d_model] but `inner`."""

    entering: Tensor  # normalised in Pre-LN, x itself otherwise
    inner: Any  # the sub-layer's own trace: of the heads, the feed-forward, SwiGLU or the mixture
    update: Tensor  # the sub-layer's output after dropout
    summed: Tensor  # x + update; the update alone without residual
    output: Tensor  # normalised in Post-LN, summed itself otherwise


@dataclass(frozen=True)
class BlockTrace:
    """All sub-layers of one block."""

    attention: SublayerTrace
    feed_forward: SublayerTrace
    cross: SublayerTrace | None = None  # between the two, in the decoder of an encoder-decoder

    @property
    def weights(self) -> Tensor:
        """The attention maps, [..., H, T_q, T_k]."""
        return self.attention.inner.weights

    @property
    def output(self) -> Tensor:
        """What the next block gets, [..., T, d_model]."""
        return self.feed_forward.output


@dataclass(frozen=True)
class StackTrace:
    """Blocks one after the other."""

    states: tuple[Tensor, ...]  # L + 1 of [..., T, d_model]: the input, and what each block made of it
    blocks: tuple[BlockTrace, ...]
    output: Tensor  # [..., T, d_model]  the last state, normalised where there is a final norm


def sublayer(
    x: Tensor,
    inner: Callable[[Tensor], Any],
    norm: Callable[[Tensor], NormTrace] | None,
    norm_place: NormPlace = "pre",
    residual: bool = True,
    dropout_p: float = 0.0,
    generator: torch.Generator | None = None,
) -> SublayerTrace:
    """Pre-LN: x + drop(f(norm(x))). Post-LN: norm(x + drop(f(x))). None: x + drop(f(x)).

    x [..., T, d_model]; inner gives a trace with an output of that shape. Without residual, "x +" is left
    out. Dropout acts only where there is a generator: with one it is training, without it inference.
    """
    entering = norm(x).output if norm_place == "pre" else x  # [..., T, d_model]
    trace = inner(entering)
    update = drop(trace.output, dropout_p, generator)  # [..., T, d_model]
    summed = x + update if residual else update  # [..., T, d_model]
    output = norm(summed).output if norm_place == "post" else summed  # [..., T, d_model]
    return SublayerTrace(entering, trace, update, summed, output)


def drop(x: Tensor, p: float, generator: torch.Generator | None) -> Tensor:
    """Inverted dropout: in training (with a generator) zeros and x/(1−p), in inference (without) x itself."""
    factors = draw_dropout(x, p, generator) if generator is not None else None
    return x if factors is None else x * factors


class Norm(nn.Module):
    """LayerNorm with γ and β, or RMSNorm with γ alone; γ starts at 1, β at 0."""

    def __init__(self, d: int, kind: NormKind = "layer", eps: float = 1e-5):
        super().__init__()
        if kind not in ("layer", "rms"):
            raise ValueError(f"norm_kind must be 'layer' or 'rms', got {kind!r}")
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d))
        self.beta = nn.Parameter(torch.zeros(d)) if kind == "layer" else None

    def forward(self, x: Tensor) -> NormTrace:
        """Normalise each token of x [..., d]."""
        if self.beta is None:
            return rms_norm(x, self.gamma, self.eps)
        return layer_norm(x, self.gamma, self.beta, self.eps)


class FeedForward(nn.Module):
    """A feed-forward layer with weights of its own; activation "swiglu" has a third matrix, w3, and no biases."""

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu", bias: bool = True):
        super().__init__()
        gated = activation == "swiglu"
        self.activation = activation
        self.w1 = nn.Linear(d_model, d_ff, bias=bias and not gated)
        self.w3 = nn.Linear(d_model, d_ff, bias=False) if gated else None
        self.w2 = nn.Linear(d_ff, d_model, bias=bias and not gated)

    def forward(self, x: Tensor) -> FeedForwardTrace | SwiGLUTrace:
        """Each token of x [..., d_model] on its own. nn.Linear keeps its weight transposed, [out, in]."""
        w1, w2 = self.w1.weight.mT, self.w2.weight.mT  # [d_model, d_ff], [d_ff, d_model]
        if self.w3 is not None:
            return swiglu(x, w1, self.w3.weight.mT, w2)
        return feed_forward(x, w1, self.w1.bias, w2, self.w2.bias, self.activation)


class Experts(nn.Module):
    """A router and SwiGLU layers of which it picks n_chosen for each token."""

    def __init__(self, d_model: int, d_ff: int, n_experts: int, n_chosen: int):
        super().__init__()
        self.n_chosen = n_chosen
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(FeedForward(d_model, d_ff, "swiglu") for _ in range(n_experts))

    def forward(self, x: Tensor) -> MixtureTrace:
        """Each token of x [..., d_model] through the experts chosen for it."""
        w1, w3, w2 = ([getattr(e, w).weight.mT for e in self.experts] for w in ("w1", "w3", "w2"))
        return mixture(x, self.router.weight.mT, w1, w3, w2, self.n_chosen)


class Block(nn.Module):
    """Attention, then feed-forward, each inside `sublayer`; with cross_attention one more attention between them.

    bias: whether the linear layers have one; attention_bias says it for the attentions alone, where the two
    differ. scale is that of `MultiHeadAttention`. n_experts: so many SwiGLU layers, n_chosen of them for each token,
    in the place of the one. Weights are PyTorch's usual draw; core.block.initialisation
    draws from a given generator instead. Raises ValueError for another norm_place or norm_kind, or if n_heads does
    not divide d_model.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        norm_place: NormPlace = "pre",
        norm_kind: NormKind = "layer",
        residual: bool = True,
        activation: str = "relu",
        dropout_p: float = 0.0,
        n_kv_heads: int | None = None,
        bias: bool = True,
        eps: float = 1e-5,
        attention_bias: bool | None = None,
        scale: float | None = None,
        cross_attention: bool = False,
        n_experts: int = 0,
        n_chosen: int = 0,
    ):
        super().__init__()
        if norm_place not in ("pre", "post", "none"):
            raise ValueError(f"norm_place must be 'pre', 'post' or 'none', got {norm_place!r}")
        self.norm_place, self.residual, self.dropout_p = norm_place, residual, dropout_p
        heads = (d_model, n_heads, n_kv_heads, bias if attention_bias is None else attention_bias, scale)
        self.attention = MultiHeadAttention(*heads)
        self.cross = MultiHeadAttention(*heads) if cross_attention else None
        self.feed_forward = (
            Experts(d_model, d_ff, n_experts, n_chosen)
            if n_experts
            else FeedForward(d_model, d_ff, activation, bias)
        )
        has_norm = norm_place != "none"
        self.norm1 = Norm(d_model, norm_kind, eps) if has_norm else None
        self.norm2 = Norm(d_model, norm_kind, eps) if has_norm else None
        self.norm_cross = Norm(d_model, norm_kind, eps) if has_norm and cross_attention else None

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        rope: Callable[[Tensor], Tensor] | None = None,
        bias: Tensor | None = None,
        head_mask: Tensor | None = None,
        generator: torch.Generator | None = None,
        past: tuple[Tensor, Tensor] | None = None,
        context: Tensor | tuple[Tensor, Tensor] | None = None,
        context_mask: Tensor | None = None,
    ) -> BlockTrace:
        """One block over x [..., T, d_model]; mask, rope, bias, head_mask and past go to the attention.

        context [..., T_k, d_model], or the keys and values that the cross-attention made of it before, goes to the
        cross-attention, with its own mask. With a generator dropout is
        drawn (training), without one there is none (inference). Raises ValueError for a context without
        cross-attention, or the other way round.
        """
        if (context is None) != (self.cross is None):
            raise ValueError("cross-attention needs a context, and a context needs cross-attention")

        def attend(entering: Tensor) -> Any:
            return self.attention(entering, None, mask, rope, bias, head_mask, past)

        def look_across(entering: Tensor) -> Any:
            return self.cross(entering, context, context_mask)

        around = (self.norm_place, self.residual, self.dropout_p, generator)
        first = sublayer(x, attend, self.norm1, *around)
        cross = None if self.cross is None else sublayer(first.output, look_across, self.norm_cross, *around)
        before = first.output if cross is None else cross.output  # [..., T, d_model]
        return BlockTrace(first, sublayer(before, self.feed_forward, self.norm2, *around), cross)


class Stack(nn.Module):
    """n_layers blocks, and in Pre-LN a norm at the end, where nothing else would ever normalise the stream.

    Further arguments are those of `Block`. Raises ValueError for a negative n_layers.
    """

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        norm_place: NormPlace = "pre",
        norm_kind: NormKind = "layer",
        eps: float = 1e-5,
        **block: Any,
    ):
        super().__init__()
        if n_layers < 0:
            raise ValueError(f"n_layers must not be negative, got {n_layers}")
        sizes = (d_model, n_heads, d_ff, norm_place, norm_kind)
        self.blocks = nn.ModuleList(Block(*sizes, eps=eps, **block) for _ in range(n_layers))
        self.final_norm = Norm(d_model, norm_kind, eps) if norm_place == "pre" else None

    def forward(self, x: Tensor, **to_blocks: Any) -> StackTrace:
        """x [..., T, d_model] through all blocks; to_blocks: mask, rope, bias, head_mask, generator."""
        states, blocks = [x], []
        for block in self.blocks:
            trace = block(states[-1], **to_blocks)
            states.append(trace.output)
            blocks.append(trace)
        output = states[-1] if self.final_norm is None else self.final_norm(states[-1]).output
        return StackTrace(tuple(states), tuple(blocks), output)
