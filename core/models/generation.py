"""Writing text token by token, each step with its distribution, its draw and its cost."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from core.cost.generation import PassCost, pass_cost
from core.models.decoder import Decoder
from core.models.sampling import Distribution, Draw, next_token_distribution, sample


@dataclass(frozen=True)
class GenerationStep:
    """One new token and how it came about."""

    tokens: Tensor  # [T]  the text before this step
    logits: Tensor  # [vocab]  of its last token
    distribution: Distribution
    draw: Draw
    cost: PassCost  # multiply-adds of the forward pass
    cache_numbers: int  # numbers held in the cache after it; 0 without

    @property
    def token(self) -> int:
        """The new one."""
        return self.draw.token


def generate(
    model: Decoder,
    tokens: Tensor,
    n_new: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
    stop: Collection[int] = (),
) -> Iterator[GenerationStep]:
    """Append up to n_new tokens to tokens [T], one a step; a token of `stop` is the last.

    With a cache the first pass reads the prompt and every other one the token just written; without, each reads
    everything again. The logits, and so the text, are the same up to rounding. No gradients. Raises ValueError at once
    for more than one text, a negative n_new, or a text that would outgrow a learned table of positions; later as
    `next_token_distribution` and `sample` do.
    """
    limit, longest = (
        model.config.table_length,
        tokens.shape[-1] + n_new - 1,
    )  # the last token written is not read
    if tokens.dim() != 1 or n_new < 0:
        raise ValueError(f"needs one text [T] and n_new of 0 or more, got {tuple(tokens.shape)} and {n_new}")
    if limit is not None and n_new and longest > limit:
        raise ValueError(f"{model.config.name} reads {limit} tokens at most, {longest} would be needed")
    return steps(model, tokens, n_new, (temperature, top_k, top_p), generator, use_cache, frozenset(stop))


def steps(
    model: Decoder,
    tokens: Tensor,
    n_new: int,
    shape: tuple[float, int | None, float | None],
    generator: torch.Generator | None,
    use_cache: bool,
    stop: frozenset[int],
) -> Iterator[GenerationStep]:
    """The steps of `generate`; shape is temperature, top_k and top_p."""
    cache = None
    for _ in range(n_new):
        past = 0 if cache is None else cache.length
        with torch.no_grad():
            trace = model(tokens[past:], cache, keep="logits", use_cache=use_cache, last_only=True)
        cache = trace.cache
        distribution = next_token_distribution(trace.logits[-1], *shape)
        draw = sample(distribution, generator)
        cost = pass_cost(model.config, len(tokens) - past, past)
        held = 0 if cache is None else cache.numbers
        yield GenerationStep(tokens, trace.logits[-1], distribution, draw, cost, held)
        tokens = torch.cat([tokens, tokens.new_tensor([draw.token])])  # [T + 1]
        if draw.token in stop:
            return
