"""What a token can hear of through several layers that share one mask: paths from key to query, and their lengths.

One layer carries what a token sees; the next carries what those have seen. Residual connections let every token
keep what it has. So n layers reach what the n-th power of (mask or identity) reaches.
"""

import torch
from torch import Tensor

from core.attention.masks import each_at_least_one, reach


def first_layer(mask: Tensor, layers: int) -> Tensor:
    """After how many layers key j has first reached query i: 1 to `layers`, 0 where not even then.

    mask bool [t, t], True = may attend. Returns whole numbers [t, t]. Raises ValueError for layers below 1.
    """
    each_at_least_one(layers=layers)
    reached = torch.stack([reach(mask, n + 1) for n in range(layers)])  # [layers, t, t]  never fewer
    first = torch.where(reached[-1], layers + 1 - reached.sum(0), 0)  # [t, t]
    return first


def reached_counts(mask: Tensor, most_layers: int) -> Tensor:
    """How many inputs have reached each query after 1, 2, … layers. mask [t, t]; returns [most_layers, t]."""
    counts = torch.stack([reach(mask, n + 1).sum(-1) for n in range(most_layers)])  # [most_layers, t]
    return counts


def shortest_path(mask: Tensor, query: int, key: int) -> list[int]:
    """A shortest way from the query back to the key, one layer a step, both ends included; empty without one.

    mask bool [t, t]. Breadth first, keys in their order.
    """
    came_from = {query: query}
    frontier = [query]
    while frontier and key not in came_from:
        fresh = []
        for i in frontier:
            for j in torch.nonzero(mask[i]).flatten().tolist():
                if j not in came_from:
                    came_from[j] = i
                    fresh.append(j)
        frontier = fresh
    if key not in came_from:
        return []
    path = [key]
    while path[-1] != query:
        path.append(came_from[path[-1]])
    return path[::-1]


def window_reach(window: int, layers: int, two_sided: bool = False) -> int:
    """Tokens within reach of one token in the middle of a long text: L(w − 1) + 1 for w keys that end with itself.

    Two-sided, w // 2 keys on each side: 2L⌊w/2⌋ + 1, which is the same for odd w. A dilation spreads them out and
    leaves the number as it is. Source: Jiang et al. 2023, section 2; Beltagy et al. 2020, section 3.1.
    """
    each_at_least_one(window=window, layers=layers)
    return layers * (2 * (window // 2) if two_sided else window - 1) + 1
