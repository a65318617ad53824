import pytest
import torch
import torch.nn.functional as F

from core.attention.masks import causal
from core.block.position_order import attend_in_order, shuffle_test

T, D = 6, 8
ORDER = (3, 0, 5, 1, 4, 2)


def inputs(seed=0):
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(T, D, generator=gen, dtype=torch.float64)
    weights = torch.randn(3, D, D, generator=gen, dtype=torch.float64) / D**0.5
    table = torch.randn(T, D, generator=gen, dtype=torch.float64)
    return x, *weights, table


def run(scheme, mask=None):
    *projected, table = inputs()
    return shuffle_test(*projected, ORDER, scheme, mask, table)


def test_without_positions_order_is_invisible():
    trace = run("none")
    assert trace.weights_deviation < 1e-12
    assert trace.output_deviation < 1e-12


@pytest.mark.parametrize("scheme", ["sinusoidal", "learned", "rope", "alibi"])
def test_with_positions_it_shows(scheme):
    trace = run(scheme)
    assert trace.weights_deviation > 0.05
    assert trace.output_deviation > 0.05


def test_a_causal_mask_alone_already_shows_it():
    assert run("none", causal(T)).output_deviation > 0.05


def test_places_stay_and_tokens_move():
    x, w_q, w_k, w_v, table = inputs()
    moved = x[list(ORDER)] + table  # token 3 stands at place 0 and gets the vector of place 0
    expected = F.scaled_dot_product_attention(moved @ w_q, moved @ w_k, moved @ w_v)
    torch.testing.assert_close(run("learned").shuffled.output, expected)


def test_rope_turns_and_alibi_pulls_as_written_out_by_hand():
    x, w_q, w_k, w_v, _ = inputs()
    place = torch.arange(T)
    theta = 10000.0 ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    turn = torch.polar(torch.ones(T, D // 2, dtype=torch.float64), place[:, None] * theta)
    q, k = (torch.complex(y[:, : D // 2], y[:, D // 2 :]) * turn for y in (x @ w_q, x @ w_k))
    scores = (q @ k.conj().mT).real / D**0.5
    torch.testing.assert_close(attend_in_order(x, w_q, w_k, w_v, "rope").weights, scores.softmax(-1))
    pull = -0.5 * (place[:, None] - place).abs()
    expected = F.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, attn_mask=pull.double())
    torch.testing.assert_close(attend_in_order(x, w_q, w_k, w_v, "alibi").output, expected)


def test_what_cannot_be_done_is_refused():
    *projected, _ = inputs()
    with pytest.raises(ValueError, match="need their table"):
        shuffle_test(*projected, ORDER, "learned")
    with pytest.raises(ValueError, match="called magic"):
        shuffle_test(*projected, ORDER, "magic")
    with pytest.raises(ValueError, match="once"):
        shuffle_test(*projected, (0, 0, 1, 2, 3, 4), "none")
