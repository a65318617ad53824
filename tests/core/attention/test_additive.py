import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention.additive import additive_attention, additive_weights
from core.attention.masks import padding

DOUBLE = torch.float64


def random(*shape, seed=0, grad=False):
    gen = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=gen, dtype=DOUBLE, requires_grad=grad)


def weights(d_query=3, d_key=4, d_a=5, seed=7):
    drawn = additive_weights(d_query, d_key, d_a, torch.Generator().manual_seed(seed))
    return drawn.w_q, drawn.w_k, drawn.v


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def test_a_case_small_enough_to_do_by_hand():
    # W_q doubles, W_k is 1, v is ln 3 / tanh 2. Query 1 with keys 0 and −2 sums to 2 and 0, whose tanh
    # are tanh 2 and 0: scores ln 3 and 0, weights 3/4 and 1/4, context 3/4·0 + 1/4·(−2) = −1/2.
    v = torch.tensor([math.log(3) / math.tanh(2)], dtype=DOUBLE)
    one = torch.ones(1, 1, dtype=DOUBLE)
    trace = additive_attention(one, torch.tensor([[0.0], [-2]], dtype=DOUBLE), 2 * one, one, v)
    close(trace.projected_query, torch.tensor([[2.0]], dtype=DOUBLE))
    close(trace.projected_keys, torch.tensor([[0.0], [-2]], dtype=DOUBLE))
    close(trace.summed, torch.tensor([[[2.0], [0]]], dtype=DOUBLE))
    close(trace.hidden, torch.tensor([[[math.tanh(2)], [0]]], dtype=DOUBLE))
    close(trace.scores, torch.tensor([[math.log(3), 0]], dtype=DOUBLE))
    close(trace.weights, torch.tensor([[0.75, 0.25]], dtype=DOUBLE))
    close(trace.output, torch.tensor([[-0.5]], dtype=DOUBLE))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 5))
def test_it_is_the_papers_formula_pair_by_pair(seed, t_q, t_k):
    query, keys = random(t_q, 3, seed=seed), random(t_k, 4, seed=seed + 1)
    w_q, w_k, v = weights(seed=seed)
    trace = additive_attention(query, keys, w_q, w_k, v)
    for i in range(t_q):
        scores = []
        for j in range(t_k):
            hidden = [
                math.tanh(
                    sum(query[i, a].item() * w_q[a, c].item() for a in range(3))
                    + sum(keys[j, b].item() * w_k[b, c].item() for b in range(4))
                )
                for c in range(5)
            ]
            close(trace.hidden[i, j], torch.tensor(hidden, dtype=DOUBLE))
            scores.append(sum(v[c].item() * hidden[c] for c in range(5)))
        exps = [math.exp(s) for s in scores]
        shares = [e / sum(exps) for e in exps]
        close(trace.scores[i], torch.tensor(scores, dtype=DOUBLE))
        close(trace.weights[i], torch.tensor(shares, dtype=DOUBLE))
        context = [sum(shares[j] * keys[j, b].item() for j in range(t_k)) for b in range(4)]
        close(trace.output[i], torch.tensor(context, dtype=DOUBLE))


def test_it_is_a_network_of_pytorch_layers_on_joined_pairs():
    # The same as one linear layer on [q; k], tanh, and another to a single number.
    query, keys, (w_q, w_k, v) = random(2, 3), random(6, 4, seed=1), weights()
    network = torch.nn.Sequential(
        torch.nn.Linear(7, 5, bias=False), torch.nn.Tanh(), torch.nn.Linear(5, 1, bias=False)
    ).double()
    with torch.no_grad():
        network[0].weight.copy_(torch.cat([w_q, w_k]).T)
        network[2].weight.copy_(v[None])
    pairs = torch.cat([query[:, None].expand(2, 6, 3), keys[None].expand(2, 6, 4)], -1)
    close(additive_attention(query, keys, w_q, w_k, v).scores, network(pairs)[..., 0].detach())


def test_a_batch_is_its_sentences():
    query, keys, w = random(2, 3, 3), random(2, 5, 4, seed=1), weights()
    mask = padding([5, 2], 5)
    together = additive_attention(query, keys, *w, mask)
    for b, length in enumerate((5, 2)):
        alone = additive_attention(query[b], keys[b, :length], *w)
        close(together.output[b], alone.output)
        close(together.weights[b, :, :length], alone.weights)
    assert not together.weights[1, :, 2:].any()


def test_nothing_to_attend_to_gives_zeros():
    trace = additive_attention(random(2, 3), random(4, 4), *weights(), torch.zeros(2, 4, dtype=torch.bool))
    assert torch.equal(trace.output, torch.zeros(2, 4, dtype=DOUBLE))


def test_scores_stay_within_the_sum_of_v():
    w_q, w_k, v = weights()
    trace = additive_attention(random(9, 3) * 1e6, random(9, 4, seed=1) * 1e6, w_q, w_k, v)
    assert trace.scores.abs().max() <= v.abs().sum() * (1 + 1e-12)
    assert trace.scores.abs().max() > 0.5 * v.abs().sum()


def test_gradients_by_finite_differences():
    inputs = [random(*s, seed=i, grad=True) for i, s in enumerate([(2, 3), (4, 4), (3, 5), (4, 5), (5,)])]
    assert torch.autograd.gradcheck(lambda *x: additive_attention(*x).output, inputs)


def test_drawn_weights():
    before = torch.get_rng_state()
    first, again, other = (weights(64, 128, 256, seed) for seed in (1, 1, 2))
    assert torch.equal(before, torch.get_rng_state())
    for a, b, c, fan_in in zip(first, again, other, (64, 128, 256), strict=True):
        assert torch.equal(a, b)
        assert not torch.equal(a, c)
        assert abs(a.var().item() * fan_in - 1) < 0.45  # five deviations of the 256 draws of v
    with pytest.raises(ValueError, match="at least 1"):
        additive_weights(0, 1, 1, torch.Generator())
