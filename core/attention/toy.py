"""Inputs for a first look at attention: random embeddings and projections that stay the same for a seed."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class ToyInputs:
    """Embeddings, the three projections and what they make of the embeddings, all float64."""

    x: Tensor  # [T, d_model]
    w_q: Tensor  # [d_model, d_k]
    w_k: Tensor  # [d_model, d_k]
    w_v: Tensor  # [d_model, d_k]
    q: Tensor  # [T, d_k]
    k: Tensor  # [T, d_k]
    v: Tensor  # [T, d_k]

    def first(self, tokens: int, d_k: int) -> "ToyInputs":
        """The same inputs with fewer tokens and narrower vectors: a slice, nothing is drawn again."""
        columns = (w[:, :d_k] for w in (self.w_q, self.w_k, self.w_v))  # [d_model, d_k] each
        corner = (y[:tokens, :d_k] for y in (self.q, self.k, self.v))  # [tokens, d_k] each
        return ToyInputs(self.x[:tokens], *columns, *corner)


def toy_inputs(tokens: Sequence[str], seed: int, d_k: int, d_model: int = 32, max_d_k: int = 64) -> ToyInputs:
    """Untrained Q, K and V for a sentence; components of q, k and v have variance about 1.

    The weights are drawn at max_d_k columns and sliced, so a larger d_k adds columns and changes none.
    A token's embedding depends on its text and the seed alone. Raises ValueError for a d_k outside
    1..max_d_k or no tokens.
    """
    if not 1 <= d_k <= max_d_k:
        raise ValueError(f"d_k must lie in 1..{max_d_k}, got {d_k}")
    if not tokens:
        raise ValueError("at least one token is needed")
    x = torch.stack([embedding(token, seed, d_model) for token in tokens])  # [T, d_model]
    generator = seeded("projections", seed)
    drawn = torch.randn(3, d_model, max_d_k, generator=generator, dtype=torch.float64)
    w_q, w_k, w_v = drawn[..., :d_k] / math.sqrt(d_model)  # [d_model, d_k] each
    q, k, v = x @ w_q, x @ w_k, x @ w_v  # [T, d_k] each
    return ToyInputs(x, w_q, w_k, w_v, q, k, v)


def embedding(token: str, seed: int, d_model: int) -> Tensor:
    """A vector of independent N(0, 1) numbers that belongs to this token. Returns [d_model], float64."""
    return torch.randn(d_model, generator=seeded("token", seed, token), dtype=torch.float64)


def seeded(*key: object) -> torch.Generator:
    """A generator whose seed is a digest of the key: the same in every process, unlike Python's hash()."""
    digest = hashlib.blake2b("\x1f".join(map(str, key)).encode("utf-8", "surrogatepass"), digest_size=8)
    return torch.Generator().manual_seed(int.from_bytes(digest.digest(), "little"))
