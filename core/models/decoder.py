"""A decoder: embeddings, blocks that see the past only, a final norm, and one logit for each token of the vocabulary.

Sources: Radford et al. 2018 and 2019 (GPT), Touvron et al. 2023 (LLaMA), Press et al. 2022 (ALiBi).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from core.attention.masks import causal, sliding_window
from core.block.frequencies import attention_factor_of, inverse_frequencies
from core.block.positions import alibi_bias
from core.block.relative import RelativeBias
from core.block.residual import Block, BlockTrace, Norm, SublayerTrace
from core.block.rope import apply_rope
from core.models.description import ModelConfig
from core.models.drawing import Seeded
from core.models.embeddings import Embeddings, EmbeddingTrace
from core.models.keeping import Keep, Kept

KeysValues = tuple[Tensor, Tensor]  # [..., G, T, d_head] each; keys are kept turned by RoPE


@dataclass(frozen=True)
class DecoderCache:
    """Keys and values of the tokens so far, layer by layer: what need not be computed again.

    With a sliding window only those that a later token can still see are held, the last window − 1.
    """

    layers: tuple[KeysValues, ...]
    length: int  # tokens read so far: the next one stands at this position
    cross: tuple[KeysValues, ...] = ()  # of the source, in the decoder of an encoder-decoder: made once

    @property
    def held(self) -> int:
        """Tokens whose keys and values are still here: all of them without a window."""
        return self.layers[0][0].shape[-2] if self.layers else 0

    @property
    def numbers(self) -> int:
        """How many numbers are held."""
        return sum(k.numel() + v.numel() for k, v in self.layers + self.cross)


@dataclass(frozen=True)
class DecoderTrace:
    """One forward pass. What `keep` leaves out is None or empty."""

    embeddings: EmbeddingTrace | None
    states: tuple[
        Tensor, ...
    ]  # L + 1 of [..., T, d_model]: the residual stream before, between and after blocks
    weights: tuple[Tensor, ...]  # L of [..., H, T, T_held + T]
    blocks: tuple[BlockTrace, ...]  # every step inside each block; with keep "all" only
    normed: Tensor  # [..., T, d_model]  the last state after the final norm
    logits: Tensor  # [..., T, vocab], or [..., 1, vocab] with last_only
    cache: DecoderCache | None  # with use_cache only


class Decoder(Seeded, nn.Module):
    """The decoder that a `ModelConfig` describes.

    Weights are PyTorch's usual draw; `seeded` draws from a given generator instead. Raises ValueError for a config
    that is no decoder.
    """

    def __init__(self, config: ModelConfig):
        super().__init__()
        if config.stack != "decoder":
            raise ValueError(f"{config.name} is an {config.stack}: core.models.encoder_decoder builds it")
        self.config = config
        self.embeddings = Embeddings(config)
        self.relative = relative_bias_of(config, causal=True)
        self.blocks = nn.ModuleList(block_of(config) for _ in range(config.decoder_layers))
        self.final_norm = norm_of(config) if config.final_norm else None
        self.output = None if config.tied else nn.Linear(config.d_model, config.vocab, bias=False)

    def forward(
        self,
        tokens: Tensor,
        cache: DecoderCache | None = None,
        *,
        keep: Keep = "maps",
        use_cache: bool = False,
        last_only: bool = False,
        mask: Tensor | None = None,
        head_mask: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> DecoderTrace:
        """tokens [..., T] through the model; with a cache they follow the tokens that it holds.

        keep: "logits" (nothing else), "maps" (states and weights as well) or "all" (every step of every block).
        use_cache: give keys and values back, those of the given cache included. last_only: logits of the last token
        alone. mask replaces the family's own, [T, T_held + T], True = may attend. head_mask [L, H] multiplies
        the heads' outputs: 0 switches a head off. generator: draw dropout (training). Raises ValueError as
        `Embeddings` does, for another keep, or a cache of another model's shape.
        """
        past, held = past_of(cache, len(self.blocks))
        embedded = self.embeddings(tokens, past=past, generator=generator)
        x = embedded.output  # [..., T, d_model]
        shared = shared_by_blocks(self.config, self.relative, past, held, tokens.shape[-1], x.dtype)
        shared |= {} if mask is None else {"mask": mask}
        kept, layers = Kept(keep, x), []
        for i, block in enumerate(self.blocks):
            heads = None if head_mask is None else head_mask[i]
            before = None if cache is None else cache.layers[i]
            trace = block(x, **shared, head_mask=heads, generator=generator, past=before)
            x = trace.output  # [..., T, d_model]
            if use_cache:
                layers.append(keys_values(trace.attention, self.config.window))
            kept.add(trace)
        normed = self.normalise(x)  # [..., T, d_model]
        return DecoderTrace(
            embeddings=None if keep == "logits" else embedded,
            states=kept.states,
            weights=kept.weights,
            blocks=kept.blocks,
            normed=normed,
            logits=self.to_logits(normed[..., -1:, :] if last_only else normed),
            cache=DecoderCache(tuple(layers), past + tokens.shape[-1]) if use_cache else None,
        )

    def normalise(self, x: Tensor) -> Tensor:
        """The final norm, where there is one. [..., d_model]."""
        return x if self.final_norm is None else self.final_norm(x).output

    def to_logits(self, normed: Tensor) -> Tensor:
        """[..., d_model] → [..., vocab]; tied: the dot product with every row of the token table."""
        if self.config.scale_logits:
            normed = normed / self.config.d_model**0.5
        logits = normed @ self.embeddings.token.weight.mT if self.output is None else self.output(normed)
        return logits  # [..., vocab]


def logit_lens(model: Decoder, states: tuple[Tensor, ...]) -> Tensor:
    """What the model would say if it stopped after each layer: final norm and output layer on every state.

    states: L + 1 of [..., T, d_model], from a trace; a slice of tokens is enough. Returns [L + 1, ..., T, vocab]; the
    last are the logits themselves. Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    lens = torch.stack([model.to_logits(model.normalise(state)) for state in states])
    return lens  # [L + 1, ..., T, vocab]


def block_of(config: ModelConfig, cross_attention: bool = False) -> Block:
    """One block as the config describes it."""
    return Block(
        config.d_model,
        config.n_heads,
        config.d_ff,
        norm_place=config.norm_place,
        norm_kind=config.norm_kind,
        residual=config.residual,
        activation=config.block_activation,
        dropout_p=config.dropout,
        n_kv_heads=config.n_kv_heads,
        bias=config.ffn_bias,
        eps=config.norm_eps,
        attention_bias=config.attention_bias,
        scale=None if config.scale_scores else 1.0,
        cross_attention=cross_attention,
        n_experts=config.n_experts,
        n_chosen=config.n_chosen,
    )


def past_of(cache: DecoderCache | None, layers: int) -> tuple[int, int]:
    """How many tokens come before, and how many of them are held. Raises ValueError for the cache of a model with other layers."""
    if cache is not None and len(cache.layers) != layers:
        raise ValueError(f"the cache holds {len(cache.layers)} layers, the model has {layers}")
    return (0, 0) if cache is None else (cache.length, cache.held)


def keys_values(attention: SublayerTrace, window: int | None = None) -> KeysValues:
    """What a cache keeps of one attention: all keys and values, or the last window − 1, the new token being one more."""
    k, v = attention.inner.k, attention.inner.v  # [..., G, T_held + T, d_head] each
    forgotten = 0 if window is None else max(k.shape[-2] - (window - 1), 0)
    return k[..., forgotten:, :], v[..., forgotten:, :]


def shared_by_blocks(
    config: ModelConfig, relative: RelativeBias | None, past: int, held: int, t: int, dtype: torch.dtype
) -> dict[str, Any]:
    """What every block of a decoder gets alike: mask, RoPE and bias for the queries at positions past..past + t − 1.

    Mask and bias depend on distances alone, so they are those of a text that begins with the first token held.
    """
    total, window = held + t, config.window
    mask = causal(total) if window is None else sliding_window(total, window)  # [total, total]
    bias = bias_of(config, relative, total, dtype)  # [H, total, total] or None
    new_rows = None if bias is None else bias[:, held:]  # [H, t, total]
    return {"mask": mask[held:], "rope": rope_of(config, past, t), "bias": new_rows}


def norm_of(config: ModelConfig) -> Norm:
    """A norm of the config's kind."""
    return Norm(config.d_model, config.norm_kind, config.norm_eps)


def relative_bias_of(config: ModelConfig, causal: bool) -> RelativeBias | None:
    """T5's table for one stack, or None in the other families."""
    if config.positions != "relative_bias":
        return None
    return RelativeBias(config.n_heads, config.buckets, config.farthest, causal)


def bias_of(config: ModelConfig, relative: RelativeBias | None, t: int, dtype: torch.dtype) -> Tensor | None:
    """What ALiBi or T5 add to the scores of t tokens, [H, t, t], or None in families that add nothing."""
    if relative is not None:
        return relative(t, t)
    return alibi_bias(config.n_heads, t, dtype) if config.positions == "alibi" else None


def rope_of(config: ModelConfig, past: int, t: int) -> Callable[[Tensor], Tensor] | None:
    """The turning of queries and keys at positions past..past + t − 1, or None in families without RoPE."""
    if config.positions != "rope":
        return None
    scaling = config.rope_scaling
    frequencies = inverse_frequencies(config.d_head, config.rope_base, scaling, torch.float64)  # [d_head/2]
    positions = torch.arange(past, past + t)  # [t]
    factor = attention_factor_of(scaling)
    return lambda x: apply_rope(x, positions, frequencies, attention_factor=factor)
