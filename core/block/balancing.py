"""Two ways to even out the load of experts, and none, over the same batches: a bias, and an auxiliary loss."""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.block.experts import balance, expert_load, route, router_scores, switch_loss


@dataclass(frozen=True)
class Balancing:
    """Batch after batch under one way of balancing. S batches, E experts."""

    load: Tensor  # [S, E]  assignments each expert got
    offset: Tensor  # [S, E]  what was added for each expert, 0 in the first batch
    violation: Tensor  # [S]  largest load / even load − 1: 0 when even
    probability: Tensor  # [S, E]  mean of the router's softmax over the batch, the P of Switch's loss
    gate_shift: float  # mean |gate − gate of the untouched router for the same experts|, in the last batch


def unbalanced(logits: Tensor, k: int) -> Balancing:
    """The router is left as it is. logits [S, tokens, E]."""
    return follow(logits, k, torch.zeros_like(logits[:, 0]), in_gates=False)


def balanced_by_bias(logits: Tensor, k: int, speed: float) -> Balancing:
    """DeepSeek-V3's way: a bias that takes part in the choice alone, moved by `speed` after every batch.

    logits [S, tokens, E]. Source: Wang et al. 2024, algorithm 1.
    """
    offset = balance(logits, k, speed).bias  # [S, E]
    return follow(logits, k, offset, in_gates=False)


def balanced_by_loss(logits: Tensor, k: int, alpha: float) -> Balancing:
    """Switch's way: after every batch one step down the gradient of α · E · Σ f_i P_i, with learning rate 1.

    Here the router can learn one number for each expert, which is added to the logits and so is in the gates as
    well; a real router learns its whole matrix, and the loss of the task pulls at it too. logits [S, tokens, E].
    """
    offset = torch.zeros_like(logits[0, 0])  # [E]
    offsets = []
    for batch in logits:  # [tokens, E]
        offsets.append(offset)
        learned = offset.clone().requires_grad_()  # [E]
        loss = switch_loss(batch + learned, k, alpha)
        (gradient,) = torch.autograd.grad(loss, learned)  # [E]
        offset = offset - gradient  # [E]
    return follow(logits, k, torch.stack(offsets), in_gates=True)


def follow(logits: Tensor, k: int, offset: Tensor, in_gates: bool) -> Balancing:
    """Route every batch with its offset [S, E]: added to the logits, or with in_gates False to the choice alone.

    Scores are sigmoids, as in DeepSeek-V3, for either way, so that their gates can be compared.
    """
    routed = logits + offset[:, None] if in_gates else logits  # [S, tokens, E]
    bias = None if in_gates else offset[:, None]  # [S, 1, E]
    experts, gates = route(routed, k, score="sigmoid", bias=bias)  # [S, tokens, k] each
    load = torch.stack([expert_load(batch, logits.shape[-1]) for batch in experts])  # [S, E]
    violation = load.amax(-1) / load.to(logits.dtype).mean(-1) - 1  # [S]
    probability = routed.softmax(-1).mean(1)  # [S, E]
    scores = router_scores(logits[-1], "sigmoid").gather(-1, experts[-1])  # [tokens, k]
    gate_shift = (gates[-1] - scores / scores.sum(-1, keepdim=True)).abs().mean()
    return Balancing(load, offset, violation, probability, float(gate_shift))
