"""How many parameters a mixture of experts has, and how many of them work on one token."""

from dataclasses import dataclass

from core.block.feed_forward import swiglu_parameters


@dataclass(frozen=True)
class MixtureSizes:
    """What one needs to know of a model to count it, from its public configuration."""

    n_layers: int
    d_model: int
    vocab: int
    attention: int  # parameters of one attention layer, its own norms included
    n_experts: int
    n_chosen: int
    d_expert: int  # width inside one expert
    n_shared: int = 0
    n_dense: int = 0  # first layers that have one plain feed-forward layer instead
    d_dense: int = 0  # its width


@dataclass(frozen=True)
class MixtureCount:
    """Parameters by where they are; `total` and `active` add them up."""

    embeddings: int  # at the input and, untied, at the output
    attention: int
    norms: int
    dense: int  # feed-forward layers of the layers without experts
    routers: int
    shared: int
    experts: int
    chosen: int  # the part of `experts` that works on one token

    @property
    def total(self) -> int:
        """All parameters."""
        return self.outside_experts + self.experts

    @property
    def active(self) -> int:
        """Those a token passes through, the embedding table counted whole, as Mixtral's 12.9B does."""
        return self.outside_experts + self.chosen

    @property
    def multiplied(self) -> int:
        """The same without the table at the input, of which a token reads one row; DeepSeek-V3's 37B is this."""
        return self.active - self.embeddings // 2

    @property
    def outside_experts(self) -> int:
        """What every token passes through."""
        return self.embeddings + self.attention + self.norms + self.dense + self.routers + self.shared


def count_mixture(sizes: MixtureSizes) -> MixtureCount:
    """Count a decoder with RMSNorm before both sub-layers, a final one, no biases, SwiGLU everywhere."""
    n_sparse = sizes.n_layers - sizes.n_dense
    one_expert = swiglu_parameters(sizes.d_model, sizes.d_expert)
    return MixtureCount(
        embeddings=2 * sizes.vocab * sizes.d_model,
        attention=sizes.n_layers * sizes.attention,
        norms=(2 * sizes.n_layers + 1) * sizes.d_model,
        dense=sizes.n_dense * swiglu_parameters(sizes.d_model, sizes.d_dense),
        routers=n_sparse * sizes.d_model * sizes.n_experts,
        shared=n_sparse * sizes.n_shared * one_expert,
        experts=n_sparse * sizes.n_experts * one_expert,
        chosen=n_sparse * sizes.n_chosen * one_expert,
    )


def grouped_query_parameters(d_model: int, n_heads: int, n_kv_heads: int, d_head: int) -> int:
    """W_Q and W_O for n_heads heads, W_K and W_V for n_kv_heads, no biases."""
    return 2 * d_model * d_head * (n_heads + n_kv_heads)


def latent_attention_parameters(
    d_model: int, n_heads: int, d_nope: int, d_rope: int, d_value: int, q_latent: int, kv_latent: int
) -> int:
    """Multi-head latent attention: queries through one latent, keys and values through another.

    d_nope and d_rope are the parts of a head's query without and with RoPE, d_value the width of its value.
    Each latent has an RMSNorm. Source: DeepSeek-V2 (2024), section 2.1.
    """
    queries = d_model * q_latent + q_latent + q_latent * n_heads * (d_nope + d_rope)
    keys_values = d_model * (kv_latent + d_rope) + kv_latent + kv_latent * n_heads * (d_nope + d_value)
    output = n_heads * d_value * d_model
    return queries + keys_values + output


# Mixtral 8x7B, December 2023.
MIXTRAL_8X7B = MixtureSizes(
    n_layers=32,
    d_model=4096,
    vocab=32000,
    attention=grouped_query_parameters(4096, n_heads=32, n_kv_heads=8, d_head=128),
    n_experts=8,
    n_chosen=2,
    d_expert=14336,
)
# DeepSeek-V3, December 2024, without its extra layer for predicting a second token.
DEEPSEEK_V3 = MixtureSizes(
    n_layers=61,
    d_model=7168,
    vocab=129280,
    attention=latent_attention_parameters(
        7168, n_heads=128, d_nope=128, d_rope=64, d_value=128, q_latent=1536, kv_latent=512
    ),
    n_experts=256,
    n_chosen=8,
    d_expert=2048,
    n_shared=1,
    n_dense=3,
    d_dense=18432,
)
