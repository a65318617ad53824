"""Mixture of experts: many feed-forward layers, of which a router picks a few for each token.

Sources: Shazeer et al. 2017; Fedus et al. 2022 (Switch); Jiang et al. 2024 (Mixtral); DeepSeek-AI 2024 (V3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from core.block.feed_forward import swiglu


class Routing(NamedTuple):
    """Who works on each token, and how much each of them counts."""

    experts: Tensor  # [..., k]  their numbers, the first choice first
    gates: Tensor  # [..., k]  they sum to 1


@dataclass(frozen=True)
class MixtureTrace:
    """One batch through a mixture of E experts."""

    logits: Tensor  # [..., E]  x W_router
    experts: Tensor  # [..., k]
    gates: Tensor  # [..., k]
    chosen_outputs: Tensor  # [..., k, d]  what each chosen expert says, before its gate
    shared_output: Tensor | None  # [..., d]  of the expert that every token passes through, if there is one
    output: Tensor  # [..., d]
    load: Tensor  # [E]  tokens sent to each expert


@dataclass(frozen=True)
class BalanceTrace:
    """Batches of tokens through one router while a bias learns to even out the load. S batches, E experts."""

    load: Tensor  # [S, E]  assignments each expert got
    bias: Tensor  # [S, E]  the bias that chose them
    final_bias: Tensor  # [E]  after the last update
    violation: Tensor  # [S]  largest load / even load − 1: 0 when even


def route(
    logits: Tensor,
    k: int,
    *,
    score: Literal["softmax", "sigmoid"] = "softmax",
    bias: Tensor | None = None,
) -> Routing:
    """The k experts of each token and their gates, which sum to 1. logits [..., E]; two tensors [..., k].

    "softmax", as in Mixtral: the k largest logits, softmax over those k alone (softmax over all, divided by
    the sum over the chosen, is the same). "sigmoid", as in DeepSeek-V3: scores σ(logit), divided by their sum
    over the chosen. bias [E] is added to the scores to choose, and is not in the gates. DeepSeek-V3 also
    multiplies its gates by 2.5 and picks among 4 of 8 groups of experts first; neither is done here.
    Raises ValueError for a k outside 1..E or another score.
    """
    n_experts = logits.shape[-1]
    if not 1 <= k <= n_experts:
        raise ValueError(f"k must lie in 1..{n_experts}, got {k}")
    scores = router_scores(logits, score)  # [..., E]
    wanted = logits if bias is None else scores + bias  # [..., E]  scores rise with logits: the same choice
    experts = wanted.topk(k, -1).indices  # [..., k]
    chosen = logits.gather(-1, experts)  # [..., k]
    log_scores = chosen if score == "softmax" else F.logsigmoid(chosen)  # [..., k]  up to a constant
    gates = log_scores.softmax(-1)  # [..., k]  score / sum of chosen scores, and never 0/0
    return Routing(experts, gates)


def router_scores(logits: Tensor, score: str) -> Tensor:
    """How much each token wants each expert: softmax over all E, or sigmoid one by one. [..., E], in 0..1."""
    if score not in ("softmax", "sigmoid"):
        raise ValueError(f"score must be 'softmax' or 'sigmoid', got {score!r}")
    return logits.softmax(-1) if score == "softmax" else logits.sigmoid()


def mixture(
    x: Tensor,
    router: Tensor,
    w1: Sequence[Tensor] | Tensor,
    w3: Sequence[Tensor] | Tensor,
    w2: Sequence[Tensor] | Tensor,
    k: int,
    *,
    score: Literal["softmax", "sigmoid"] = "softmax",
    bias: Tensor | None = None,
    shared: tuple[Tensor, Tensor, Tensor] | None = None,
) -> MixtureTrace:
    """y = Σ over the k chosen of gate · expert(x), plus the shared expert where there is one.

    x [..., d], router [d, E], w1 and w3 [E, d, d_ff], w2 [E, d_ff, d], or E matrices each: SwiGLU experts; shared:
    w1, w3, w2 of one more, [d, d_ff] and [d_ff, d]. An expert computes only the tokens that were sent to it.
    Raises ValueError as `route` does.
    """
    logits = x @ router  # [..., E]
    experts, gates = route(logits, k, score=score, bias=bias)  # [..., k] each
    chosen = x.new_zeros(*experts.shape, x.shape[-1])  # [..., k, d]
    tokens = x[..., None, :].expand_as(chosen)  # [..., k, d]  each token once for each of its experts
    for e in range(router.shape[-1]):
        mine = experts == e  # [..., k]
        outputs = swiglu(tokens[mine], w1[e], w3[e], w2[e]).output  # [tokens of e, d]
        chosen = chosen.masked_scatter(mine[..., None], outputs)  # [..., k, d]
    output = (gates[..., None] * chosen).sum(-2)  # [..., d]
    shared_output = None if shared is None else swiglu(x, *shared).output  # [..., d] or None
    output = output if shared_output is None else output + shared_output  # [..., d]
    load = expert_load(experts, router.shape[-1])  # [E]
    return MixtureTrace(logits, experts, gates, chosen, shared_output, output, load)


def expert_load(experts: Tensor, n_experts: int) -> Tensor:
    """How many assignments each expert got. experts [..., k] of numbers 0..n_experts−1; returns [n_experts]."""
    return torch.bincount(experts.flatten(), minlength=n_experts)  # [n_experts]


def switch_loss(logits: Tensor, k: int = 1, alpha: float = 0.01) -> Tensor:
    """α · E · Σ_i f_i P_i: α when the load is even, up to α · E when one expert gets everything.

    f_i is the share of the assignments that went to expert i, P_i the mean router probability for it, over
    all tokens. Only P carries a gradient. logits [..., E]; returns a scalar. (Hugging Face's Mixtral counts
    f_i over tokens instead of assignments, so its value is k times this one.)
    Source: Fedus et al. 2022, equations 4 to 6, where k = 1.
    """
    n_experts = logits.shape[-1]
    probabilities = logits.softmax(-1)  # [..., E]
    load = expert_load(route(logits, k).experts, n_experts)  # [E]
    f = load.to(logits.dtype) / load.sum()  # [E]
    p = probabilities.flatten(0, -2).mean(0)  # [E]
    return alpha * n_experts * (f * p).sum()


def update_bias(bias: Tensor, load: Tensor, speed: float = 0.001) -> Tensor:
    """Up by `speed` for an expert with less than the even load, down for one with more. All [E].

    Source: Wang et al. 2024, "Auxiliary-Loss-Free Load Balancing", algorithm 1; DeepSeek-V3, section 2.1.2.
    """
    even = load.to(bias.dtype).mean()  # the load of each if all had the same
    return bias + speed * (even - load).sign()  # [E]


def balance(logits: Tensor, k: int, speed: float = 0.001) -> BalanceTrace:
    """Batch after batch: route with the present bias, count, move the bias. logits [S, tokens, E].

    The gates never see the bias, so nothing but the choice changes. Scores are sigmoids, as in DeepSeek-V3.
    """
    bias = torch.zeros_like(logits[0, 0])  # [E]
    loads, biases = [], []
    for batch in logits:  # [tokens, E]
        load = expert_load(route(batch, k, score="sigmoid", bias=bias).experts, logits.shape[-1])  # [E]
        loads.append(load)
        biases.append(bias)
        bias = update_bias(bias, load, speed)  # [E]
    load = torch.stack(loads)  # [S, E]
    violation = load.amax(-1) / load.to(logits.dtype).mean(-1) - 1  # [S]
    return BalanceTrace(load, torch.stack(biases), bias, violation)


def uneven_logits(
    n_batches: int, n_tokens: int, n_experts: int, favour: float, generator: torch.Generator
) -> Tensor:
    """Router logits with favourites: N(0, 1), and for each expert `favour` times a number drawn once for it.

    Returns [n_batches, n_tokens, n_experts], float64. favour 0 is an even load.
    """
    liked = torch.randn(n_experts, generator=generator, dtype=torch.float64)  # [E]
    shape = (n_batches, n_tokens, n_experts)
    return torch.randn(shape, generator=generator, dtype=torch.float64) + favour * liked  # [S, tokens, E]
