"""An encoder, in which all tokens see each other, and a decoder that looks at what it made of another text.

Sources: Vaswani et al. 2017, figure 1; Devlin et al. 2019 (BERT, the encoder alone); Lewis et al. 2020 (BART); Raffel
et al. 2020 (T5).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from core.attention.masks import combine
from core.block.feed_forward import ACTIVATIONS
from core.block.residual import BlockTrace
from core.models.decoder import (
    DecoderCache,
    bias_of,
    block_of,
    keys_values,
    norm_of,
    past_of,
    relative_bias_of,
    rope_of,
    shared_by_blocks,
)
from core.models.description import ModelConfig
from core.models.drawing import Seeded
from core.models.embeddings import Embeddings, EmbeddingTrace
from core.models.keeping import Keep, Kept


@dataclass(frozen=True)
class SideTrace:
    """One stack over one text. What `keep` leaves out is None or empty."""

    embeddings: EmbeddingTrace | None
    states: tuple[Tensor, ...]  # L + 1 of [..., T, d_model]
    weights: tuple[Tensor, ...]  # L of [..., H, T, T]
    cross_weights: tuple[Tensor, ...]  # L of [..., H, T, T_source]: rectangular; empty in an encoder
    blocks: tuple[BlockTrace, ...]  # with keep "all" only
    output: Tensor  # [..., T, d_model]  after the final norm, where there is one
    cache: DecoderCache | None = None  # of a decoder, with use_cache only


@dataclass(frozen=True)
class EncoderTrace:
    """An encoder and what stands on it."""

    side: SideTrace
    pooled: Tensor | None  # [..., d_model]  BERT's summary of the text, made of its first token
    logits: Tensor | None  # [..., T, vocab]  with the pretraining heads only
    next_sentence: Tensor | None  # [..., 2]  scores: "follows", "does not follow"


@dataclass(frozen=True)
class EncoderDecoderTrace:
    """Both sides, and a logit for each token of the vocabulary at each position of the target."""

    encoder: SideTrace
    decoder: SideTrace
    logits: Tensor  # [..., T_target, vocab]


class Side(nn.Module):
    """Embeddings, blocks and final norm of one stack; a causal one looks across as well, where there is a source."""

    def __init__(self, config: ModelConfig, table: nn.Embedding | None, decoder: bool):
        super().__init__()
        layers = config.decoder_layers if decoder else config.encoder_layers
        self.config, self.decoder = config, decoder
        self.embeddings = Embeddings(config, table)
        self.relative = relative_bias_of(config, causal=decoder)
        self.blocks = nn.ModuleList(block_of(config, cross_attention=decoder) for _ in range(layers))
        self.final_norm = norm_of(config) if config.final_norm else None

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor | None = None,
        context: Tensor | None = None,
        context_mask: Tensor | None = None,
        segments: Tensor | None = None,
        keep: Keep = "maps",
        head_mask: Tensor | None = None,
        generator: torch.Generator | None = None,
        cache: DecoderCache | None = None,
        use_cache: bool = False,
    ) -> SideTrace:
        """tokens [..., T]; mask hides padding ([T, T] or [..., 1, T], True = may attend), a decoder adds its own.

        A decoder's cache: tokens follow those that it holds, and the context is read from it, not given again.
        Raises ValueError for a cache in an encoder, or one of another model.
        """
        if not self.decoder and (use_cache or cache is not None):
            raise ValueError("an encoder reads its text once: it has no cache")
        if cache is not None and len(cache.cross) != len(self.blocks):
            raise ValueError("the cache lacks the source's keys and values for every layer")
        past, held = past_of(cache, len(self.blocks))
        embedded = self.embeddings(tokens, segments, past, generator)
        x = embedded.output  # [..., T, d_model]
        shared = self.shared_by_blocks(past, held, tokens.shape[-1], x.dtype, mask)
        kept, layers, cross = Kept(keep, x), [], []
        for i, block in enumerate(self.blocks):
            heads = None if head_mask is None else head_mask[i]
            before, across = (None, context) if cache is None else (cache.layers[i], cache.cross[i])
            trace = block(
                x,
                **shared,
                head_mask=heads,
                generator=generator,
                past=before,
                context=across,
                context_mask=context_mask,
            )
            x = trace.output  # [..., T, d_model]
            if use_cache:
                layers.append(keys_values(trace.attention))
                cross.append(keys_values(trace.cross))
            kept.add(trace)
        output = x if self.final_norm is None else self.final_norm(x).output  # [..., T, d_model]
        first = None if keep == "logits" else embedded
        after = DecoderCache(tuple(layers), past + tokens.shape[-1], tuple(cross)) if use_cache else None
        return SideTrace(first, kept.states, kept.weights, kept.cross_weights, kept.blocks, output, after)

    def shared_by_blocks(
        self, past: int, held: int, t: int, dtype: torch.dtype, mask: Tensor | None
    ) -> dict[str, Any]:
        """Mask, RoPE and bias. In an encoder, all see all and distances count in both directions."""
        if self.decoder:
            shared = shared_by_blocks(self.config, self.relative, past, held, t, dtype)
            return shared | {"mask": combine(shared["mask"], mask)}
        bias = bias_of(self.config, self.relative, t, dtype)  # [H, T, T] or None
        return {"mask": mask, "rope": rope_of(self.config, 0, t), "bias": bias}


class PretrainingHeads(nn.Module):
    """BERT's two heads: which token was masked, and whether the second sentence follows the first."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        d = config.d_model
        self.bend = ACTIVATIONS[config.activation]
        self.transform = nn.Linear(d, d)
        self.norm = norm_of(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab))
        self.next_sentence = nn.Linear(d, 2)

    def forward(self, output: Tensor, pooled: Tensor, table: Tensor) -> tuple[Tensor, Tensor]:
        """output [..., T, d_model], pooled [..., d_model], table [vocab, d_model]: logits of both kinds."""
        transformed = self.norm(self.bend(self.transform(output))).output  # [..., T, d_model]
        return transformed @ table.mT + self.bias, self.next_sentence(pooled)  # [..., T, vocab], [..., 2]


class Encoder(Seeded, nn.Module):
    """BERT and its kin. Raises ValueError for a config that is no encoder."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        if config.stack != "encoder":
            raise ValueError(f"{config.name} has a stack {config.stack!r}; this builds an 'encoder'")
        self.config = config
        self.side = Side(config, None, decoder=False)
        self.pooler = nn.Linear(config.d_model, config.d_model) if config.pooler else None
        self.heads = PretrainingHeads(config) if config.pretraining_heads else None

    def forward(
        self, tokens: Tensor, mask: Tensor | None = None, segments: Tensor | None = None, **settings: Any
    ) -> EncoderTrace:
        """tokens and segments [..., T]; mask as `core.attention.masks.padding` gives it. settings are those of `Side`."""
        side = self.side(tokens, mask, segments=segments, **settings)
        pooled = logits = next_sentence = None
        if self.pooler is not None:
            pooled = self.pooler(side.output[..., 0, :]).tanh()  # [..., d_model]
        if self.heads is not None:
            logits, next_sentence = self.heads(side.output, pooled, self.side.embeddings.token.weight)
        return EncoderTrace(side, pooled, logits, next_sentence)


class EncoderDecoder(Seeded, nn.Module):
    """The Transformer of 2017, BART and T5: one token table for source, target and, tied, the output.

    Raises ValueError for a config that is no encoder-decoder.
    """

    def __init__(self, config: ModelConfig):
        super().__init__()
        if config.stack != "encoder-decoder":
            raise ValueError(f"{config.name} has a stack {config.stack!r}; this builds an 'encoder-decoder'")
        self.config = config
        self.encoder = Side(config, None, decoder=False)
        self.decoder = Side(config, self.encoder.embeddings.token, decoder=True)
        self.output = None if config.tied else nn.Linear(config.d_model, config.vocab, bias=False)

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        source_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
        keep: Keep = "maps",
        generator: torch.Generator | None = None,
    ) -> EncoderDecoderTrace:
        """source [..., T_source], target [..., T_target]: token t of the target predicts token t + 1.

        source_mask hides the source's padding from both sides, target_mask the target's; both as
        `core.attention.masks.padding` gives them. With a generator dropout is drawn.
        """
        encoder = self.encoder(source, source_mask, keep=keep, generator=generator)
        decoder = self.decoder(
            target, target_mask, encoder.output, source_mask, keep=keep, generator=generator
        )
        return EncoderDecoderTrace(encoder, decoder, self.to_logits(decoder.output))

    def to_logits(self, x: Tensor) -> Tensor:
        """[..., d_model], the decoder's output → [..., vocab]; tied: the dot product with every row of the token table."""
        if self.config.scale_logits:
            x = x / self.config.d_model**0.5
        return x @ self.encoder.embeddings.token.weight.mT if self.output is None else self.output(x)
