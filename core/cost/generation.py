"""What it costs to write text token by token, with a cache of keys and values and without.

Counted from shapes, as multiply-adds: one multiplication and one addition of a matrix product.
"""

from dataclasses import dataclass

from core.attention.head_sizes import map_flops
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

    @property
    def total(self) -> int:
        """All of them."""
        return self.weights + self.maps + self.output


def pass_cost(config: ModelConfig, new: int, past: int = 0, last_only: bool = True) -> PassCost:
    """One pass of a decoder. last_only: logits of the last token alone, which is all that writing needs.

    Every map is computed in full, hidden pairs included. Raises ValueError for fewer than one new token, a negative
    past, or a config that is no decoder.
    """
    if new < 1 or past < 0 or config.stack != "decoder":
        raise ValueError("needs a decoder, at least one new token, and a past of 0 or more")
    maps = config.layers * map_flops(config.d_model, new, past + new) // 2
    output = output_weights(config) * (1 if last_only else new)
    return PassCost(new, past, new * block_weights(config), maps, output)


def generation_cost(
    config: ModelConfig, prompt: int, n_new: int, use_cache: bool = True
) -> tuple[PassCost, ...]:
    """The n_new passes that write n_new tokens after a prompt of so many.

    With a cache the first pass reads the prompt, each other one token. Without, every pass reads everything again.
    Raises ValueError as `pass_cost` does.
    """
    if use_cache:
        first = pass_cost(config, prompt)
        return (first, *(pass_cost(config, 1, prompt + i) for i in range(n_new - 1)))[:n_new]
    return tuple(pass_cost(config, prompt + i) for i in range(n_new))
