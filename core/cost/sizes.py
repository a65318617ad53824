"""How large a model is, from its description alone: parameters by part, arithmetic and cache for each token.

Sources: the formulas follow from the shapes; Kaplan et al. 2020, section 2.1, counts arithmetic in the same way.
"""

from dataclasses import dataclass, fields

from core.attention.head_sizes import (
    kv_numbers_per_token,
    map_flops,
    projection_parameters,
    projection_weights,
)
from core.block.expert_sizes import MixtureCount, MixtureSizes, count_mixture
from core.block.feed_forward import feed_forward_parameters, swiglu_parameters
from core.models.description import ModelConfig


@dataclass(frozen=True)
class ParameterCount:
    """Learned numbers by where they are; a table that is used twice is counted once."""

    tokens: int  # the token table
    positions: int  # a learned table, or T5's biases
    segments: int
    attention: int  # self- and cross-attention
    ffn: int  # with experts: all of them, and their routers
    norms: int
    head: int  # what follows the last norm and is not the token table

    @property
    def embeddings(self) -> int:
        """Everything that is looked up."""
        return self.tokens + self.positions + self.segments

    @property
    def total(self) -> int:
        """All of them."""
        return sum(getattr(self, field.name) for field in fields(self))


def count_parameters(config: ModelConfig) -> ParameterCount:
    """All learned numbers of the model, in closed form; nothing is built."""
    d = config.d_model
    one_attention = projection_parameters(d, config.n_heads, config.n_kv_heads, config.attention_bias)
    tokens = config.vocab * d
    positions = position_parameters(config)
    segments = config.segments * d
    attention = (config.layers + cross_layers(config)) * one_attention
    ffn = ffn_parameters(config)
    norms = count_norms(config) * norm_width(config)
    head = head_parameters(config)
    return ParameterCount(tokens, positions, segments, attention, ffn, norms, head)


def active_parameters(config: ModelConfig) -> int:
    """Those that work on one token: all, but of the experts only the chosen. The token table counts whole."""
    mixture = as_mixture(config)
    return count_parameters(config).total - mixture.experts + mixture.chosen


def kv_cache_bytes_per_token(config: ModelConfig, bytes_per_number: float = 2) -> float:
    """Memory that each token leaves behind in the decoder: a key and a value per layer and key-value head.

    0 for an encoder, which does not generate. In an encoder-decoder a token of the source leaves as much, once, for
    cross-attention. A sliding window does not change what one token leaves, but those that no later token sees are forgotten.
    """
    return config.decoder_layers * kv_numbers_per_token(config.kv_heads, config.d_head) * bytes_per_number


def forward_flops_per_token(config: ModelConfig, context: int) -> float:
    """Operations for one token of a text of `context` tokens: 2 for each weight multiplied, 4 · context · d a map.

    Multiplications and additions of the matrix products; biases, norms and softmax are left out. Every map is computed
    in full, hidden pairs included, as this project does it; a kernel that skips the future needs half of that part.
    With experts: the chosen ones. In an encoder-decoder: for one token of a source and one of a target,
    `context` tokens each. Without BERT's pooler and next-sentence head, which work once a text.
    Raises ValueError for a context below 1.
    """
    if context < 1:
        raise ValueError(f"context must be at least 1, got {context}")
    maps = config.layers + cross_layers(config)
    return 2 * (block_weights(config) + output_weights(config)) + maps * map_flops(config.d_model, 1, context)


def block_weights(config: ModelConfig) -> int:
    """Weights by which a token is multiplied inside the blocks: matrices, no biases, chosen experts only."""
    attentions = config.layers + cross_layers(config)
    mixture = as_mixture(config)
    ffn = (
        mixture.routers + mixture.chosen if config.n_experts else config.layers * one_ffn(config, bias=False)
    )
    return attentions * projection_weights(config.d_model, config.n_heads, config.n_kv_heads) + ffn


def output_weights(config: ModelConfig) -> int:
    """Weights between the last state and the logits: the table, tied or not; BERT's has a layer before it."""
    if not config.has_output:
        return 0
    return config.vocab * config.d_model + (config.d_model**2 if config.pretraining_heads else 0)


def cross_layers(config: ModelConfig) -> int:
    """Layers with cross-attention: the decoder's, where there is an encoder."""
    return config.decoder_layers if config.stack == "encoder-decoder" else 0


def position_parameters(config: ModelConfig) -> int:
    """Learned positions: a table for each stack, or T5's buckets for each head and stack."""
    stacks = 2 if config.stack == "encoder-decoder" else 1
    if config.positions == "learned":
        return stacks * (config.limit + config.unused_rows) * config.d_model
    return stacks * config.buckets * config.n_heads if config.positions == "relative_bias" else 0


def ffn_parameters(config: ModelConfig) -> int:
    """Feed-forward layers of all blocks."""
    if config.n_experts:
        mixture = as_mixture(config)
        return mixture.routers + mixture.experts
    return config.layers * one_ffn(config, config.ffn_bias)


def one_ffn(config: ModelConfig, bias: bool) -> int:
    """One feed-forward layer without experts."""
    if config.gated:
        return swiglu_parameters(config.d_model, config.d_ff)
    return feed_forward_parameters(config.d_model, config.d_ff, bias)


def as_mixture(config: ModelConfig) -> MixtureCount:
    """The experts of all blocks; zeros without experts."""
    return count_mixture(
        MixtureSizes(
            n_layers=config.layers,
            d_model=config.d_model,
            vocab=config.vocab,
            attention=projection_weights(config.d_model, config.n_heads, config.n_kv_heads),
            n_experts=config.n_experts,
            n_chosen=config.n_chosen,
            d_expert=config.d_ff,
        )
    )


def count_norms(config: ModelConfig) -> int:
    """Two norms a block, three with cross-attention; one after the embeddings and one at the end of each stack."""
    stacks = 2 if config.stack == "encoder-decoder" else 1
    inside = 2 * config.layers + cross_layers(config) if config.norm_place != "none" else 0
    return inside + stacks * (config.embedding_norm + config.final_norm)


def norm_width(config: ModelConfig) -> int:
    """Numbers of one norm: γ, and β in LayerNorm."""
    return config.d_model * (2 if config.norm_kind == "layer" else 1)


def head_parameters(config: ModelConfig) -> int:
    """An output layer of its own, where it is not tied; BERT's pooler; its pretraining heads."""
    d, head = config.d_model, 0
    if config.has_output and not config.tied:
        head += config.vocab * d
    if config.pooler:
        head += d * d + d
    if (
        config.pretraining_heads
    ):  # a layer and a norm, a bias for each word, and two scores for the next sentence
        head += d * d + d + norm_width(config) + config.vocab + 2 * d + 2
    return head
