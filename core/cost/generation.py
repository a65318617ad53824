"""What it costs to write text token by token, with a cache of keys and values and without.

Counted from shapes, as multiply-adds: one multiplication and one addition of a matrix product.
"""

from dataclasses import dataclass, replace

from core.attention.head_sizes import map_flops, projection_weights
from core.cost.sizes import block_weights, output_weights
from core.models.description import ModelConfig


@dataclass(frozen=True)
class PassCost:
    """Multiply-adds of one forward pass over `new` tokens that follow `past` tokens in a cache."""

    new: int
    past: int
    weights: int  # tokens times the matrices of the blocks
    maps: int  # q kᵀ and weights · v
    output: int  # logits
    encoder: int = 0  # all of the encoder, in the one pass before which it runs

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.maps + self.output + self.encoder


def pass_cost(
    config: ModelConfig, new: int, past: int = 0, last_only: bool = True, source: int = 0
) -> PassCost:
    """One pass of a decoder. last_only: logits of the last token alone, which is all that writing needs.

    source: how many tokens the decoder of an encoder-decoder looks across at. A pass without a past makes their keys
    and values; the encoder itself is counted by `encoder_cost`. Every map is computed in full, hidden pairs included.
    Raises ValueError for fewer than one new token, a negative past, a config without a decoder, or one without a
    source where it has an encoder, or the other way round.
    """
    if new < 1 or past < 0 or config.stack == "encoder":
        raise ValueError("needs a decoder, at least one new token, and a past of 0 or more")
    if source < 0 or (source > 0) != (config.stack == "encoder-decoder"):
        raise ValueError("an encoder-decoder has a source of at least one token, a decoder alone has none")
    held = past if config.window is None else min(past, config.window - 1)  # what a trimmed cache still has
    layers, keys = config.decoder_layers, held + new + source  # a query meets the text and the source
    weights = new * block_weights(
        replace(config, stack="decoder", encoder_layers=0)
    )  # without the looks across
    if source:
        both = 2 * config.d_model * config.kv_heads * config.d_head  # w_k and w_v
        around = projection_weights(config.d_model, config.n_heads, config.n_kv_heads) - both  # w_q and w_o
        weights += layers * (new * around + (0 if past else source * both))
    maps = layers * map_flops(config.d_model, new, keys) // 2
    output = output_weights(config) * (1 if last_only else new)
    return PassCost(new, past, weights, maps, output)


def encoder_cost(config: ModelConfig, source: int) -> int:
    """Multiply-adds of the encoder over a source of so many tokens: once a text, however long the answer."""
    blocks = source * block_weights(replace(config, decoder_layers=0))
    return blocks + config.encoder_layers * map_flops(config.d_model, source, source) // 2


def generation_cost(
    config: ModelConfig, prompt: int, n_new: int, use_cache: bool = True, source: int = 0
) -> tuple[PassCost, ...]:
    """The n_new passes that write n_new tokens after a prompt of so many.

    With a cache the first pass reads the prompt, each other one token. Without, every pass reads everything again,
    but the encoder, whose result does not change: it is counted with the first pass. source as in `pass_cost`.
    Raises ValueError as `pass_cost` does.
    """
    passes = []
    for i in range(n_new):
        new, past = (1, prompt + i - 1) if use_cache and i else (prompt + i, 0)
        passes.append(pass_cost(config, new, past, source=source))
    if passes and source:
        passes[0] = replace(passes[0], encoder=encoder_cost(config, source))
    return tuple(passes)
