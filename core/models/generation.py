"""Writing text token by token, each step with its distribution, its draw and its cost."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from core.cost.generation import PassCost, generation_cost
from core.models.decoder import Decoder, DecoderCache
from core.models.encoder_decoder import EncoderDecoder
from core.models.sampling import Distribution, Draw, next_token_distribution, sample


@dataclass(frozen=True)
class GenerationStep:
    """One new token and how it came about."""

    tokens: Tensor  # [T]  the text before this step
    logits: Tensor  # [vocab]  of its last token
    distribution: Distribution
    draw: Draw
    cost: PassCost  # multiply-adds of the forward pass, and in the first step of the encoder
    cache_numbers: int  # numbers held in the cache after it; 0 without

    @property
    def token(self) -> int:
        """The new one."""
        return self.draw.token


def generate(
    model: Decoder | EncoderDecoder,
    tokens: Tensor,
    n_new: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
    stop: Collection[int] = (),
    source: Tensor | None = None,
) -> Iterator[GenerationStep]:
    """Append up to n_new tokens to tokens [T], one a step; a token of `stop` is the last.

    With a cache the first pass reads the prompt and every other one the token just written; without, each reads
    everything again. The logits, and so the text, are the same up to rounding. No gradients.
    source [S]: what an encoder-decoder answers to. Its encoder reads it once; the cache also holds the keys and values
    that cross-attention makes of it. tokens are then the beginning of the answer, often one sign alone.
    Raises ValueError at once for more than one text, a negative n_new, a text that would outgrow a learned table of
    positions, or a source that is missing or too much; later as `next_token_distribution` and `sample` do.
    """
    if tokens.dim() != 1 or n_new < 0:
        raise ValueError(f"needs one text [T] and n_new of 0 or more, got {tuple(tokens.shape)} and {n_new}")
    if isinstance(model, EncoderDecoder) != (source is not None) or (
        source is not None and source.dim() != 1
    ):
        raise ValueError("an encoder-decoder needs one source [S], a decoder alone has none")
    limit, longest = (
        model.config.table_length,
        tokens.shape[-1] + n_new - 1,
    )  # the last one written is not read
    if limit is not None and n_new and longest > limit:
        raise ValueError(f"{model.config.name} reads {limit} tokens at most, {longest} would be needed")
    shape = (temperature, top_k, top_p)
    return steps(model, tokens, n_new, shape, generator, use_cache, frozenset(stop), source)


def steps(
    model: Decoder | EncoderDecoder,
    tokens: Tensor,
    n_new: int,
    shape: tuple[float, int | None, float | None],
    generator: torch.Generator | None,
    use_cache: bool,
    stop: frozenset[int],
    source: Tensor | None,
) -> Iterator[GenerationStep]:
    """The steps of `generate`; shape is temperature, top_k and top_p."""
    cache, context = None, None
    costs = generation_cost(model.config, len(tokens), n_new, use_cache, 0 if source is None else len(source))
    for cost in costs:
        with torch.no_grad():
            if source is not None and context is None:
                context = model.encoder(source, keep="logits").output  # [S, d_model]  once
            logits, cache = read(model, tokens[cost.past :], cache, use_cache, context)  # [vocab]
        distribution = next_token_distribution(logits, *shape)
        draw = sample(distribution, generator)
        held = 0 if cache is None else cache.numbers
        yield GenerationStep(tokens, logits, distribution, draw, cost, held)
        tokens = torch.cat([tokens, tokens.new_tensor([draw.token])])  # [T + 1]
        if draw.token in stop:
            return


def read(
    model: Decoder | EncoderDecoder,
    tokens: Tensor,
    cache: DecoderCache | None,
    use_cache: bool,
    context: Tensor | None,
) -> tuple[Tensor, DecoderCache | None]:
    """One pass over the tokens [T] that follow the cache: logits of the last one, [vocab], and the cache after it."""
    settings = {"cache": cache, "keep": "logits", "use_cache": use_cache}
    if context is None:
        trace = model(tokens, **settings, last_only=True)
        return trace.logits[-1], trace.cache
    side = model.decoder(tokens, context=context, **settings)
    return model.to_logits(side.output[-1:])[-1], side.cache
