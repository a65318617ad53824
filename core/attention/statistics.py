"""What one attention did, in a few numbers: how widely it looked, where most, at what scale."""

from dataclasses import dataclass

from torch import Tensor

from core.attention.dot_product import AttentionTrace
from core.attention.saturation import entropy


@dataclass(frozen=True)
class AttentionStatistics:
    """Numbers about one map. Entropies are in nats; rows with nothing to attend to are left out of means."""

    largest: float  # the largest weight of a query that has a choice
    largest_at: tuple[int, int]  # its query and key
    deviation_before: float  # standard deviation of all scores
    deviation_after: float  # the same after scaling
    mean_visible: float  # keys that a query may see
    mean_entropy: float
    mean_effective: float  # exp(entropy) of each row, averaged: how many keys it amounts to
    mean_largest_entropy: float  # if every visible key had the same weight
    empty_rows: int  # queries without any key
    kept_pairs: int


def describe(trace: AttentionTrace, mask: Tensor) -> AttentionStatistics:
    """Statistics of a single map: trace and mask (bool, True = may attend) of shape [T_q, T_k]."""
    visible = mask.sum(-1).to(trace.weights.dtype)  # [T_q]
    alive = visible > 0  # [T_q]
    # A query with a single key gives it weight 1 whatever the vectors are; that is no news.
    choosing = visible > 1 if (visible > 1).any() else alive  # [T_q]
    chosen = trace.weights.masked_fill(~choosing[:, None], -1.0)  # [T_q, T_k]
    row, column = divmod(int(chosen.argmax()), chosen.shape[-1])
    return AttentionStatistics(
        largest=float(trace.weights[row, column]),
        largest_at=(row, column),
        deviation_before=float(trace.scores.std(correction=0)),
        deviation_after=float(trace.scaled.std(correction=0)),
        mean_visible=_mean(visible[alive]),
        mean_entropy=_mean(entropy(trace.weights)[alive]),
        mean_effective=_mean(entropy(trace.weights)[alive].exp()),
        mean_largest_entropy=_mean(visible[alive].log()),
        empty_rows=int((~alive).sum()),
        kept_pairs=int(mask.sum()),
    )


def _mean(values: Tensor) -> float:
    return float(values.mean()) if len(values) else 0.0
