"""The fixed vector of the RNN encoder-decoder: how much of each source token is left in the last state.

Sources: Elman 1990 for the plain recurrence; Sutskever et al. 2014 for the encoder whose last state is all that the
decoder gets; Pascanu et al. 2013, equation 5, for the product of Jacobians.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from core.attention.toy import seeded


@dataclass(frozen=True)
class RecurrentWeights:
    """What a plain recurrent encoder learns."""

    w_x: Tensor  # [d_in, d_h]
    w_h: Tensor  # [d_h, d_h]


@dataclass(frozen=True)
class RecurrentTrace:
    """The states one after the other, and the influence of every token on the last of them."""

    states: Tensor  # [T, d_h]  the last one is the fixed vector
    influence: Tensor  # [T]  Frobenius norm of ∂(last state)/∂(token)


def recurrent_encoder(x: Tensor, learned: RecurrentWeights) -> RecurrentTrace:
    """h_t = tanh(x_t W_x + h_{t−1} W_h) from h_0 = 0, and what each x_t still does to the last state.

    x [T, d_in], T ≥ 1. No state can be computed before the one before it: T steps in a row.
    """
    states = []
    state = x.new_zeros(learned.w_h.shape[0])  # [d_h]
    for token in x:
        state = torch.tanh(token @ learned.w_x + state @ learned.w_h)  # [d_h]
        states.append(state)
    states = torch.stack(states)  # [T, d_h]
    influence = influence_on_last(states, learned)  # [T]
    return RecurrentTrace(states, influence)


def influence_on_last(states: Tensor, learned: RecurrentWeights) -> Tensor:
    """Norm of ∂h_T/∂x_t for every t, by the chain rule from the end. states [T, d_h]; returns [T]."""
    norms = []
    onward = torch.eye(states.shape[1], dtype=states.dtype)  # [d_h, d_h]  ∂h_T/∂h_t, 1 for t = T
    for state in states.flip(0):
        slope = 1 - state**2  # [d_h]  derivative of tanh
        norms.append(((learned.w_x * slope) @ onward).norm())  # of [d_in, d_h]
        onward = (learned.w_h * slope) @ onward  # [d_h, d_h]
    return torch.stack(norms).flip(0)  # [T]


def attention_influence(
    q: Tensor, v: Tensor, weights: Tensor, w_k: Tensor, w_v: Tensor, scale: float
) -> Tensor:
    """Norm of ∂(output of one query)/∂x_j for every source token: through its value, and through its score.

    q [d_k], v [T_k, d_v] and weights [T_k] of that query, w_k [d_in, d_k], w_v [d_in, d_v]; returns [T_k].
    Differentiated from Vaswani et al. 2017, equation 1, with k = x w_k and v = x w_v.
    """
    output = weights @ v  # [d_v]
    by_score = (w_k @ q)[:, None] * (v - output)[:, None, :] * scale  # [T_k, d_in, d_v]
    jacobians = weights[:, None, None] * (w_v + by_score)  # [T_k, d_in, d_v]
    return jacobians.flatten(1).norm(dim=1)  # [T_k]


def toy_recurrent(seed: int, width: int, gain: float) -> RecurrentWeights:
    """Untrained weights: W_x ~ N(0, 1/width), W_h ~ N(0, gain²/width); the same draw for every gain."""
    drawn = torch.randn(2, width, width, generator=seeded("recurrent", seed), dtype=torch.float64)
    w_x, w_h = drawn / math.sqrt(width)  # [width, width] each
    return RecurrentWeights(w_x, gain * w_h)
