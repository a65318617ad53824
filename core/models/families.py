"""The three kinds of Transformer in miniature: what each lets a token see, and the exercises that each is trained by.

Every tiny model has the description of a published one with smaller numbers; nothing else is changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.attention.masks import prefix_lm
from core.models.configs import BART, BERT, GPT2, T5, TRANSFORMER
from core.models.decoder import Decoder
from core.models.denoising import Span, span_corruption, text_infilling
from core.models.description import ModelConfig
from core.models.encoder_decoder import Encoder, EncoderDecoder
from core.models.masked_language import IGNORED, count_losses, mask_tokens, next_token_targets

Goal = Literal["next", "mlm", "spans", "infill"]
FAMILY = {"next": GPT2, "mlm": BERT, "spans": T5, "infill": BART}


@dataclass(frozen=True)
class Attended:
    """One attention map: the scores after the mask, and their softmax. Both [T_q, T_k]."""

    masked: Tensor  # −inf where the mask forbids
    weights: Tensor  # every row sums to 1


@dataclass(frozen=True)
class Exercise:
    """One text as a model of one family meets it in training."""

    goal: Goal
    read: Tensor  # [T]  what the only stack, or the encoder, reads
    written: Tensor | None  # [T_target]  what a decoder beside an encoder reads: START and the target so far
    targets: Tensor  # [T] or [T_target]  what is to be predicted there; IGNORED where there is no loss
    spans: tuple[Span, ...] = ()  # what was taken out

    @property
    def n_losses(self) -> int:
        """Positions that carry a loss."""
        return count_losses(self.targets)


@dataclass(frozen=True)
class FirstPass:
    """The exercise through an untrained tiny model."""

    logits: Tensor  # [T or T_target, V]
    loss: float  # nats, mean over the positions that carry one


def tiny(config: ModelConfig, vocab: int, limit: int, d_model: int = 16, n_heads: int = 2) -> ModelConfig:
    """The same description with one block a stack, `n_heads` heads, and a vocabulary of `vocab`."""
    return replace(
        config,
        d_model=d_model,
        n_heads=n_heads,
        n_kv_heads=None,
        d_ff=2 * d_model,
        vocab=vocab,
        limit=limit,
        encoder_layers=min(config.encoder_layers, 1),
        decoder_layers=min(config.decoder_layers, 1),
        dropout=0.0,
    )


def build(config: ModelConfig, seed: int) -> nn.Module:
    """A model of the config's kind, drawn from the seed, in float64."""
    kind = {"decoder": Decoder, "encoder": Encoder, "encoder-decoder": EncoderDecoder}[config.stack]
    generator = torch.Generator().manual_seed(seed)
    return kind.seeded(config, generator, init="fan_in", dtype=torch.float64).requires_grad_(False)


def family_maps(source: Tensor, target: Tensor, prefix: int, vocab: int, seed: int) -> dict[str, Attended]:
    """The first head's map of every attention there is, by the kind of stack.

    source [S] is read by BERT's encoder, GPT-2's decoder, the same decoder with its first `prefix` tokens in full
    view, and the encoder of the Transformer of 2017, whose decoder writes target [T]. Returns "encoder", "decoder", "prefix",
    "source" (all [S, S]), "target" [T, T] and "cross" [T, S].
    Raises ValueError for a prefix outside 0..S.
    """
    limit = max(len(source), len(target))
    encoder, decoder, both = (build(tiny(c, vocab, limit), seed) for c in (BERT, GPT2, TRANSFORMER))
    mask = prefix_lm(len(source), prefix)  # [S, S]
    reading = encoder(source, keep="all").side
    writing = decoder(source, keep="all")
    prefixed = decoder(source, mask=mask, keep="all")
    two = both(source, target, keep="all")
    blocks = {
        "encoder": reading.blocks[0].attention,
        "decoder": writing.blocks[0].attention,
        "prefix": prefixed.blocks[0].attention,
        "source": two.encoder.blocks[0].attention,
        "target": two.decoder.blocks[0].attention,
        "cross": two.decoder.blocks[0].cross,
    }
    return {name: Attended(part.inner.masked[0], part.inner.weights[0]) for name, part in blocks.items()}


def exercise(
    goal: Goal,
    tokens: Tensor,
    vocab: int,
    mask_token: int,
    start: int,
    sentinels: Sequence[int],
    generator: torch.Generator,
    share: float,
    special: Sequence[int] = (),
) -> Exercise:
    """The text tokens [T] as an exercise; `vocab` counts the ordinary tokens, of which mlm draws its random ones.

    Raises ValueError as the functions do that make it: mask_tokens, span_corruption, text_infilling.
    """
    if goal == "next":
        return Exercise(goal, tokens, None, next_token_targets(tokens))
    if goal == "mlm":
        hidden = mask_tokens(tokens, max(vocab, mask_token + 1), mask_token, generator, share, special)
        return Exercise(goal, hidden.inputs, None, hidden.targets)
    if goal == "spans":
        damaged = span_corruption(tokens, sentinels, generator, share)
    else:
        damaged = text_infilling(tokens, mask_token, generator, share)
    written = torch.cat([damaged.targets.new_tensor([start]), damaged.targets[:-1]])  # [T_target]
    return Exercise(goal, damaged.inputs, written, damaged.targets, damaged.spans)


def first_pass(given: Exercise, vocab: int, seed: int) -> FirstPass:
    """Run it through the tiny model of its family. `vocab` counts all tokens, special ones included."""
    longest = max(len(given.read), len(given.targets))
    config = tiny(FAMILY[given.goal], vocab, longest)
    if given.goal == "mlm":
        config = replace(config, pretraining_heads=True)
    model = build(config, seed)
    trace = model(given.read) if given.written is None else model(given.read, given.written)
    logits = trace.logits  # [T, V]
    loss = functional.cross_entropy(logits, given.targets, ignore_index=IGNORED)
    return FirstPass(logits, float(loss))
