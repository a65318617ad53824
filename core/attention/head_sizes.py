"""What heads cost: parameters, arithmetic and the cache of keys and values, for MHA, GQA, MQA and MLA.

MHA has as many key-value heads as query heads, GQA a few (Ainslie et al. 2023), MQA one (Shazeer 2019).
MLA keeps a latent vector that keys and values are made from (DeepSeek-AI 2024, "DeepSeek-V2", section 2.1).
"""

from core.attention.multi_head import head_width


def projection_weights(d_model: int, n_heads: int, n_kv_heads: int | None = None) -> int:
    """Numbers in w_q, w_k, w_v and w_o without biases: 4 d_model² for MHA, however many heads.

    Raises ValueError as `head_width` does.
    """
    d_kv = (n_kv_heads or n_heads) * head_width(d_model, n_heads, n_kv_heads)
    return 2 * d_model * d_model + 2 * d_model * d_kv


def projection_biases(d_model: int, n_heads: int, n_kv_heads: int | None = None) -> int:
    """Numbers in the four biases: 4 d_model for MHA. Raises ValueError as `head_width` does."""
    d_kv = (n_kv_heads or n_heads) * head_width(d_model, n_heads, n_kv_heads)
    return 2 * d_model + 2 * d_kv


def projection_parameters(
    d_model: int, n_heads: int, n_kv_heads: int | None = None, bias: bool = False
) -> int:
    """Everything that is learned in one attention: weights, and biases if there are any."""
    biases = projection_biases(d_model, n_heads, n_kv_heads) if bias else 0
    return projection_weights(d_model, n_heads, n_kv_heads) + biases


def projection_flops(d_model: int, n_heads: int, n_kv_heads: int | None = None, bias: bool = False) -> int:
    """Floating-point operations of the four projections for one token: a multiplication and an addition
    per weight, an addition per bias."""
    biases = projection_biases(d_model, n_heads, n_kv_heads) if bias else 0
    return 2 * projection_weights(d_model, n_heads, n_kv_heads) + biases


def map_flops(d_model: int, t_q: int, t_k: int) -> int:
    """Operations of the two products q kᵀ and weights · v over all heads: h heads of d_model / h each.

    Neither the number of heads nor that of key-value heads enters.
    """
    return 2 * 2 * t_q * t_k * d_model


def kv_cache_bytes_per_token(layers: int, kv_heads: int, d_head: int, bytes_per_number: float = 2) -> float:
    """Memory that a generated token leaves behind: a key and a value per layer and key-value head."""
    return layers * kv_numbers_per_token(kv_heads, d_head) * bytes_per_number


def kv_numbers_per_token(kv_heads: int, d_head: int) -> int:
    """Numbers kept per token and layer by MHA, GQA and MQA."""
    return 2 * kv_heads * d_head


def latent_numbers_per_token(latent: int = 512, rope_key: int = 64) -> int:
    """Numbers kept per token and layer by MLA: the latent, and one key with positions for all heads."""
    return latent + rope_key


def latent_cache_bytes_per_token(
    layers: int, latent: int = 512, rope_key: int = 64, bytes_per_number: float = 2
) -> float:
    """What `kv_cache_bytes_per_token` is for the others, for MLA."""
    return layers * latent_numbers_per_token(latent, rope_key) * bytes_per_number


def latent_weights(
    d_model: int,
    n_heads: int,
    d_head: int = 128,
    latent: int = 512,
    rope_key: int = 64,
    query_latent: int = 1536,
) -> int:
    """Numbers in the matrices of one MLA attention. The defaults are DeepSeek-V2's, whose d_model is 5120
    with 128 heads: n_heads · d_head need not be d_model there. Norms are not counted.
    """
    query = d_model * query_latent + query_latent * n_heads * (d_head + rope_key)  # down, and up to all heads
    down = d_model * (latent + rope_key)  # this is what is cached
    up = latent * n_heads * 2 * d_head  # keys and values of all heads from the latent
    return query + down + up + n_heads * d_head * d_model
