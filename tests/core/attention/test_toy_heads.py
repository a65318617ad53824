import pytest
import torch

from core.attention import masks
from core.attention.toy_heads import toy_heads, with_weights

TOKENS = ("the", "cat", "saw", "the", "cat")


def test_heads_and_width_change_only_where_the_numbers_are_cut():
    x, whole = toy_heads(TOKENS, 7, 96, 8)
    for d_model, heads in ((24, 1), (24, 8), (48, 3)):
        cut_x, cut = toy_heads(TOKENS, 7, d_model, heads)
        assert torch.equal(cut_x, x[:, :d_model])
        for name in ("w_q", "w_k", "w_v", "w_o"):
            expected = getattr(whole, name).weight[:d_model, :d_model] * (96 / d_model) ** 0.5
            torch.testing.assert_close(getattr(cut, name).weight, expected, msg=name)


def test_a_shared_head_is_the_first_of_the_full_set():
    _, full = toy_heads(TOKENS, 7, 24, 8)
    _, shared = toy_heads(TOKENS, 7, 24, 8, 2)
    assert shared.w_k.weight.shape == (6, 24)
    assert torch.equal(shared.w_v.weight, full.w_v.weight[:6])
    assert torch.equal(shared.w_q.weight, full.w_q.weight)


@pytest.mark.parametrize("tau", [0.1, 1.0, 4.0])
def test_tau_divides_the_scores(tau):
    x, plain = toy_heads(TOKENS, 7, 24, 4)
    _, cooled = toy_heads(TOKENS, 7, 24, 4, tau=tau)
    mask = masks.causal(5)
    torch.testing.assert_close(cooled(x, mask=mask).scaled, plain(x, mask=mask).scaled / tau)


def test_scores_and_outputs_have_about_unit_variance_before_averaging():
    x, module = toy_heads([str(n) for n in range(400)], 0, 96, 8)
    trace = module(x)
    assert abs(trace.v.var().item() - 1) < 0.1
    assert abs(trace.scaled.var().item() - 1) < 0.15


def test_weights_go_in_as_they_are_and_the_global_generator_is_left_alone():
    before = torch.get_rng_state()
    _, module = toy_heads(TOKENS, 7, 24, 4, 2)
    again = with_weights({n: getattr(module, n).weight.clone() for n in ("w_q", "w_k", "w_v", "w_o")}, 4, 2)
    assert all(torch.equal(a, b) for a, b in zip(module.parameters(), again.parameters(), strict=True))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tokens": ()}, "one token"),
        ({"d_model": 97}, r"1\.\.96"),
        ({"tau": 0.0}, "positive"),
        ({"n_heads": 5}, "n_heads must divide"),
        ({"n_kv_heads": 3}, "n_kv_heads must divide"),
    ],
)
def test_impossible_values_are_refused(change, told):
    with pytest.raises(ValueError, match=told):
        toy_heads(**{"tokens": TOKENS, "seed": 0, "d_model": 24, "n_heads": 4} | change)
