import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention import masks
from core.attention.receptive import first_layer, reached_counts, shortest_path, window_reach

MASKS = st.integers(1, 7).flatmap(
    lambda t: st.lists(st.booleans(), min_size=t * t, max_size=t * t).map(
        lambda bits: torch.tensor(bits).reshape(t, t)
    )
)


def distances(mask):
    """All shortest paths by Floyd and Warshall; a token is at distance 1 from itself, as the first layer keeps it."""
    t = len(mask)
    d = [[1 if mask[i][j] else 99 for j in range(t)] for i in range(t)]
    for k in range(t):
        for i in range(t):
            for j in range(t):
                d[i][j] = min(d[i][j], d[i][k] + d[k][j])
    return [[1 if i == j else d[i][j] for j in range(t)] for i in range(t)]


@settings(max_examples=60, deadline=None)
@given(MASKS, st.integers(1, 6))
def test_first_layer_is_the_length_of_the_shortest_path(mask, layers):
    wanted = [[d if d <= layers else 0 for d in row] for row in distances(mask.tolist())]
    assert first_layer(mask, layers).tolist() == wanted
    counted = [[sum(d <= n + 1 for d in row) for row in distances(mask.tolist())] for n in range(layers)]
    assert reached_counts(mask, layers).tolist() == counted


@settings(max_examples=60, deadline=None)
@given(MASKS, st.data())
def test_a_path_is_allowed_at_every_step_and_no_longer_than_needed(mask, data):
    i, j = (data.draw(st.integers(0, len(mask) - 1)) for _ in range(2))
    path = shortest_path(mask, i, j)
    distance = distances(mask.tolist())[i][j]
    if i == j:
        assert path == [i]
    elif distance == 99:
        assert path == []
    else:
        assert (path[0], path[-1], len(path) - 1) == (i, j, distance)
        assert all(mask[a, b] for a, b in itertools.pairwise(path))


@pytest.mark.parametrize("window", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("two_sided", [False, True])
def test_the_formula_is_what_is_counted_in_the_middle_of_a_long_text(window, layers, two_sided):
    mask = masks.sliding_window(41, window, causal=not two_sided)
    middle = 20
    assert window_reach(window, layers, two_sided) == int(reached_counts(mask, layers)[-1, middle])


def test_mistral_by_hand():
    # Jiang et al. 2023: a window of 4096 over 32 layers reaches about 131K tokens.
    assert window_reach(4096, 32) == 131_041
    with pytest.raises(ValueError, match="layers"):
        window_reach(3, 0)
    with pytest.raises(ValueError, match="layers"):
        first_layer(masks.causal(3), 0)
