"""Which head does what: looking at the previous token, and at what followed the same token earlier (induction).

Source: Olsson et al. 2022, "In-context Learning and Induction Heads".
"""

import torch
from torch import Tensor


def previous_token_score(weights: Tensor) -> Tensor:
    """How much a query gives the token just before it, on average. weights [..., T, T]; returns [...]."""
    return weights.diagonal(-1, -2, -1).mean(-1)


def induction_score(weights: Tensor, tokens: Tensor) -> Tensor:
    """How much a query gives the tokens that followed its own token earlier, on average over the queries that have any.

    weights [..., T, T], tokens [T]; returns [...]; NaN where no token occurs twice.
    """
    followers = followed(tokens)  # [T, T]
    given = (weights * followers).sum(-1)  # [..., T]
    return given[..., followers.any(-1)].mean(-1)


def sharpness(weights: Tensor) -> Tensor:
    """How much a query gives the token that it looks at most, on average; the first query, which may see one, left out.

    weights [..., T_q, T_k]; returns [...]; of a text of one token its only weight.
    """
    return weights[..., min(1, weights.shape[-2] - 1) :, :].amax(-1).mean(-1)


def mirror_score(weights: Tensor, n: int) -> Tensor:
    """How much query i gives position n − 1 − i, on average over the first n queries: what writing backwards takes.

    weights [..., T_q, T_k] with T_q and T_k at least n; returns [...].
    """
    return weights[..., :n, :n].flip(-1).diagonal(dim1=-2, dim2=-1).mean(-1)


def followed(tokens: Tensor) -> Tensor:
    """For each query i, the positions j ≤ i whose left neighbour is the same token as i. tokens [T]; [T, T] bool."""
    same = tokens[:, None] == tokens[None, :]  # [T, T]
    shifted = torch.zeros_like(same)
    shifted[:, 1:] = same[:, :-1]  # position j follows position j − 1
    return shifted.tril()  # j ≤ i, so that position j − 1 comes before i


def strongest(scores: Tensor) -> tuple[int, int, float]:
    """Layer, head and score of the largest in [L, H]. Which head it is varies with the seed: it has to be looked for."""
    best = int(scores.argmax())
    layer, head = divmod(best, scores.shape[-1])
    return layer, head, float(scores[layer, head])
