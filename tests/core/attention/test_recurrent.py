import math

import pytest
import torch

from core.attention.dot_product import attention
from core.attention.recurrent import (
    RecurrentWeights,
    attention_influence,
    recurrent_encoder,
    toy_recurrent,
)


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("gain", [0.2, 1.0, 3.0])
def test_states_are_those_of_pytorchs_rnn_and_the_influence_is_autograds(gain):
    x, learned = drawn(6, 5), toy_recurrent(1, 5, gain)
    rnn = torch.nn.RNN(5, 5, bias=False).double()
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(learned.w_x.T)
        rnn.weight_hh_l0.copy_(learned.w_h.T)
    trace = recurrent_encoder(x, learned)
    torch.testing.assert_close(trace.states, rnn(x)[0].detach())
    jacobian = torch.autograd.functional.jacobian(lambda given: rnn(given)[0][-1], x)  # [d_h, T, d_in]
    torch.testing.assert_close(trace.influence, jacobian.pow(2).sum((0, 2)).sqrt())


def test_one_number_by_hand():
    # h_1 = tanh 0 = 0, h_2 = tanh 0 = 0; slopes 1, so ∂h_2/∂x_2 = 2 and ∂h_2/∂x_1 = 2 · ½.
    learned = RecurrentWeights(torch.tensor([[2.0]]), torch.tensor([[0.5]]))
    trace = recurrent_encoder(torch.zeros(2, 1), learned)
    assert trace.influence.tolist() == [1.0, 2.0]


def test_what_a_query_takes_from_each_source_token_is_autograds():
    x, q = drawn(5, 6), drawn(1, 4, seed=1)
    w_k, w_v = drawn(6, 4, seed=2), drawn(6, 3, seed=3)
    mask = torch.tensor([[True, True, True, True, False]])

    def output(given):
        return torch.nn.functional.scaled_dot_product_attention(
            q, given @ w_k, given @ w_v, attn_mask=mask
        ).squeeze(0)

    jacobian = torch.autograd.functional.jacobian(output, x)  # [d_v, T_k, d_in]
    trace = attention(q, x @ w_k, x @ w_v, mask)
    influence = attention_influence(q[0], x @ w_v, trace.weights[0], w_k, w_v, 1 / math.sqrt(4))
    torch.testing.assert_close(influence, jacobian.pow(2).sum((0, 2)).sqrt())
    assert influence[-1] == 0


def test_the_gain_scales_one_and_the_same_draw():
    one, three = toy_recurrent(5, 8, 1.0), toy_recurrent(5, 8, 3.0)
    assert torch.equal(one.w_x, three.w_x)
    torch.testing.assert_close(three.w_h, 3 * one.w_h)
