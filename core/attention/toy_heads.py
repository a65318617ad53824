"""A multi-head attention for a first look: random, untrained, the same for a seed, cut from one largest draw."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from core.attention.multi_head import MultiHeadAttention, head_width
from core.attention.toy import embedding, seeded


def toy_heads(
    tokens: Sequence[str],
    seed: int,
    d_model: int,
    n_heads: int,
    n_kv_heads: int | None = None,
    tau: float = 1.0,
    max_d_model: int = 96,
) -> tuple[Tensor, MultiHeadAttention]:
    """Embeddings [T, d_model] and an attention with untrained weights N(0, 1/d_model), all float64.

    Everything is drawn at max_d_model and cut, so the number of heads changes no number, only where the
    vectors are cut. Fewer key-value heads are the first of the full set. tau divides every score, as in
    `at_temperature`. Raises ValueError for no tokens, a d_model outside 1..max_d_model, a tau that is not
    positive, and as `head_width` does.
    """
    if not tokens:
        raise ValueError("at least one token is needed")
    if not 1 <= d_model <= max_d_model:
        raise ValueError(f"d_model must lie in 1..{max_d_model}, got {d_model}")
    d_kv = head_width(d_model, n_heads, n_kv_heads) * (n_kv_heads or n_heads)
    x = torch.stack([embedding(token, seed, max_d_model)[:d_model] for token in tokens])  # [T, d_model]
    shape = (4, max_d_model, max_d_model)
    drawn = torch.randn(shape, generator=seeded("heads", seed), dtype=torch.float64)
    w_q, w_k, w_v, w_o = drawn[:, :d_model, :d_model] / math.sqrt(d_model)  # [d_model, d_model] each
    weights = {"w_q": w_q, "w_k": w_k[:d_kv], "w_v": w_v[:d_kv], "w_o": w_o}
    return x, at_temperature(with_weights(weights, n_heads, n_kv_heads), tau)


def at_temperature(module: MultiHeadAttention, tau: float) -> MultiHeadAttention:
    """The same attention with every score divided by tau; the division is put into w_q. No biases."""
    if not tau > 0:
        raise ValueError(f"tau must be positive, got {tau}")
    weights = {name: getattr(module, name).weight for name in ("w_k", "w_v", "w_o")}
    return with_weights({"w_q": module.w_q.weight / tau} | weights, module.n_heads, module.n_kv_heads)


def with_weights(
    weights: dict[str, Tensor], n_heads: int, n_kv_heads: int | None = None
) -> MultiHeadAttention:
    """An attention without biases that has these weights under w_q, w_k, w_v, w_o, each [d_out, d_in]."""
    with torch.device("meta"):  # shapes without numbers: nothing is drawn
        module = MultiHeadAttention(weights["w_q"].shape[1], n_heads, n_kv_heads)
    state = {f"{name}.weight": weight for name, weight in weights.items()}
    module.load_state_dict(state, assign=True)
    return module.requires_grad_(False)
