import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from core.attention import masks
from core.attention.complexity import cheaper_than_recurrent, dilated_layers, layer_costs

small = st.integers(1, 12)


def rows(*sizes, **named):
    return {row.kind: row for row in layer_costs(*sizes, **named)}


def multiply_adds(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() // 2


def test_the_table_for_a_sentence_of_70_tokens_and_the_base_model():
    table = rows(70, 512, kernel=3, neighbourhood=16)
    numbers = {kind: (row.work, row.sequential, row.path) for kind, row in table.items()}
    assert numbers == {
        "self_attention": (70 * 70 * 512, 1, 1),
        "recurrent": (70 * 512 * 512, 70, 70),
        "convolution": (3 * 70 * 512 * 512, 1, 4),
        "restricted": (16 * 70 * 512, 1, 5),
    }
    assert [(r.work_formula, r.sequential_formula, r.path_formula) for r in table.values()] == [
        ("n²·d", "1", "1"),
        ("n·d²", "n", "n"),
        ("k·n·d²", "1", "log_k n"),
        ("r·n·d", "1", "n/r"),
    ]


@settings(max_examples=20, deadline=None)
@given(small, small, st.integers(1, 5))
def test_work_is_what_pytorch_counts_for_the_operation(n, d, r):
    table = rows(n, d, kernel=3, neighbourhood=r)
    x = torch.zeros(n, d)
    assert multiply_adds(lambda: x @ x.T) == table["self_attention"].work
    step = torch.zeros(d, d)
    assert multiply_adds(lambda: [x[t : t + 1] @ step for t in range(n)]) == table["recurrent"].work
    convolution = torch.zeros(d, d, 3)
    padded = torch.zeros(1, d, n + 2)
    assert multiply_adds(lambda: torch.conv1d(padded, convolution)) == table["convolution"].work
    near = torch.zeros(n, d, min(r, n))  # the keys of each query's neighbourhood
    assert multiply_adds(lambda: x[:, None] @ near) == table["restricted"].work


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 80), st.integers(2, 6))
def test_so_many_dilated_layers_join_the_first_token_to_the_last(n, k):
    reached, layers = torch.eye(n, dtype=torch.bool), 0
    while not reached[n - 1, 0] or layers == 0:
        step = masks.dilated(n, k, k**layers)
        reached, layers = (step.float() @ reached.float()) > 0, layers + 1
    assert dilated_layers(n, k) == layers


def test_exact_powers_are_not_rounded_up():
    assert [dilated_layers(n, 5) for n in (1, 5, 6, 25, 26, 125, 126, 5**13)] == [1, 1, 2, 2, 3, 3, 4, 13]


def test_a_restricted_path_shrinks_as_the_neighbourhood_grows():
    paths = [rows(64, 8, neighbourhood=r)["restricted"].path for r in (1, 2, 3, 32, 64, 1000)]
    assert paths == [64, 32, 22, 2, 1, 1]
    assert rows(64, 8, neighbourhood=1000)["restricted"].work == rows(64, 8)["self_attention"].work


@given(st.integers(1, 2000), st.integers(1, 2000))
def test_which_is_cheaper_follows_from_the_table(n, d):
    table = rows(n, d)
    assert cheaper_than_recurrent(n, d) == (table["self_attention"].work < table["recurrent"].work)


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (1, 1, 1), (1, 1, 2, 0)])
def test_impossible_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match="at least 1"):
        layer_costs(*sizes)
