import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention.masks import causal
from core.attention.order import at_random, changed_by_order, complete, put_back, shuffled


def qkv(lead=(), t=5, seed=0):
    gen = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(*lead, t, d, generator=gen, dtype=torch.float64) for d in (4, 4, 3))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(5)))
def test_order_is_invisible_without_positions(seed, order):
    trace = shuffled(*qkv((2,), seed=seed), order)
    assert trace.weights_deviation < 1e-13
    assert trace.output_deviation < 1e-13
    for i, token in enumerate(order):
        assert torch.equal(trace.expected_output[:, i], trace.original.output[:, token])
        for j, other in enumerate(order):
            assert torch.equal(trace.expected_weights[:, i, j], trace.original.weights[:, token, other])


def test_the_shuffled_attention_is_pytorchs_on_shuffled_tokens():
    q, k, v = qkv()
    order = [2, 0, 1, 4, 3]
    expected = torch.nn.functional.scaled_dot_product_attention(q[order], k[order], v[order])
    torch.testing.assert_close(shuffled(q, k, v, order).shuffled.output, expected)


def test_a_causal_mask_and_a_bias_by_distance_show_the_order():
    q, k, v = qkv()
    swap = [1, 0, 2, 3, 4]
    trace = shuffled(q, k, v, swap, causal(5))
    # By hand: place 0 now holds token 1 and sees itself alone, where token 1 used to see token 0 too.
    assert trace.shuffled.weights[0, 0] == 1
    assert trace.weights_deviation >= 1 - trace.original.weights[1, 1].item() - 1e-12
    distance = -(torch.arange(5.0)[:, None] - torch.arange(5.0)).abs()
    assert shuffled(q, k, v, swap, bias=distance).output_deviation > 0.01


def test_the_deviation_is_the_largest_difference():
    trace = shuffled(*qkv(), [4, 3, 2, 1, 0], causal(5))
    by_hand = max(
        abs(trace.shuffled.weights[i, j].item() - trace.original.weights[4 - i, 4 - j].item())
        for i in range(5)
        for j in range(5)
    )
    assert trace.weights_deviation == by_hand


def test_leaving_all_in_place_changes_nothing_whatever_the_mask():
    trace = shuffled(*qkv(), range(5), causal(5))
    assert trace.weights_deviation == trace.output_deviation == 0
    assert trace.permutation == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("wrong", [[0, 1, 2], [0, 0, 1, 2, 3], [1, 2, 3, 4, 5], []])
def test_what_is_not_a_permutation_is_refused(wrong):
    with pytest.raises(ValueError, match="permutation"):
        shuffled(*qkv(), wrong)


@pytest.mark.parametrize(
    ("order", "tokens", "whole"),
    [
        ([], 3, (0, 1, 2)),
        ([2], 3, (2, 0, 1)),
        ([2, 2, 0], 3, (2, 0, 1)),
        ([7, -1, 1], 3, (1, 0, 2)),
        ([3, 2, 1, 0], 4, (3, 2, 1, 0)),
        ([5], 1, (0,)),
    ],
)
def test_an_order_is_made_whole(order, tokens, whole):
    assert complete(order, tokens) == whole


def test_put_back_undoes_the_shuffle():
    q, k, v = qkv()
    order = [2, 0, 1, 4, 3]
    trace = shuffled(q, k, v, order)
    back = put_back(trace.shuffled.weights, order, (0, 1))
    torch.testing.assert_close(back, trace.original.weights)
    torch.testing.assert_close(put_back(trace.shuffled.output, order, (0,)), trace.original.output)
    assert torch.equal(put_back(trace.expected_weights, order, (-2, -1)), trace.original.weights)


def test_random_orders_are_permutations_that_a_seed_fixes():
    orders = [at_random(6, torch.Generator().manual_seed(seed)) for seed in range(20)]
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len(set(orders)) > 10
    assert orders[3] == at_random(6, torch.Generator().manual_seed(3))


def test_the_change_by_order_by_hand():
    # The shuffle put token 2 first, then 0, then 1; the values after it stand in that order.
    before, after = torch.tensor([[1.0], [2], [3]]), torch.tensor([[3.5], [1], [2]])
    change = changed_by_order(before, after, (2, 0, 1), (0,))
    assert change.back.flatten().tolist() == [1, 2, 3.5]
    assert change.difference.flatten().tolist() == [0, 0, 0.5]
    square = torch.arange(9.0).reshape(3, 3)
    moved = square[[2, 0, 1]][:, [2, 0, 1]]
    assert torch.equal(changed_by_order(square, moved, (2, 0, 1), (0, 1)).back, square)
