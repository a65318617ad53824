import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from transformers import DeepseekV3Config, MixtralConfig
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3TopkRouter
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock, load_balancing_loss_func

from core.block import experts

DOUBLE = torch.float64
E, D, D_FF, K = 5, 4, 6, 2


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)


def weights():
    return random(D, E), random(E, D, D_FF, seed=1), random(E, D, D_FF, seed=2), random(E, D_FF, D, seed=3)


def in_order(indices, gates):
    """Choices sorted by expert, since some routers do not sort theirs by preference."""
    order = indices.argsort(-1)
    return indices.gather(-1, order), gates.gather(-1, order)


# Routing


def test_a_choice_by_hand():
    logits = torch.tensor([math.log(1), math.log(3), math.log(6)], dtype=DOUBLE)
    indices, gates = experts.route(logits, 2)
    assert indices.tolist() == [2, 1]
    assert gates.tolist() == pytest.approx([6 / 9, 3 / 9])
    scores = [1 / 2, 3 / 4, 6 / 7]  # σ(ln a) = a/(1 + a)
    indices, gates = experts.route(logits, 2, score="sigmoid")
    assert indices.tolist() == [2, 1]
    assert gates.tolist() == pytest.approx([s / (scores[2] + scores[1]) for s in (scores[2], scores[1])])


@given(seed=st.integers(0, 1000), k=st.integers(1, E))
def test_softmax_over_the_chosen_is_softmax_over_all_divided_by_their_sum(seed, k):
    logits = random(7, E, seed=seed)
    indices, gates = experts.route(logits, k)
    best = F.softmax(logits, -1).topk(k, -1)
    assert torch.equal(indices, best.indices)
    torch.testing.assert_close(gates, best.values / best.values.sum(-1, keepdim=True))


def test_sigmoid_with_a_bias_is_deepseeks_router():
    config = DeepseekV3Config(
        hidden_size=D,
        n_routed_experts=8,
        num_experts_per_tok=3,
        n_group=1,
        topk_group=1,
        norm_topk_prob=True,
        routed_scaling_factor=1.0,
    )
    theirs = DeepseekV3TopkRouter(config)
    x, bias = random(50, D).float(), random(8, seed=3).float() * 0.3
    with torch.no_grad():
        theirs.weight.copy_(random(8, D, seed=2))
        theirs.e_score_correction_bias.copy_(bias)
        logits, gates, indices = theirs(x)
        found = in_order(*experts.route(logits, 3, score="sigmoid", bias=bias))
        unbiased = experts.route(logits, 3, score="sigmoid")
    expected = in_order(indices, gates)
    assert torch.equal(found[0], expected[0])
    torch.testing.assert_close(found[1], expected[1])
    assert not torch.equal(in_order(*unbiased)[0], expected[0])  # the bias did change choices


def test_a_bias_changes_the_choice_and_not_the_gates():
    logits = torch.tensor([0.0, 0.1, -1.0])
    bias = torch.tensor([0.0, 0.0, 5.0])
    indices, gates = experts.route(logits, 2, score="sigmoid", bias=bias)
    assert indices.tolist() == [2, 1]
    scores = torch.sigmoid(logits[[2, 1]])
    torch.testing.assert_close(gates, scores / scores.sum())


@pytest.mark.parametrize("score", ["softmax", "sigmoid"])
def test_gates_stay_numbers_where_all_scores_underflow(score):
    logits = torch.tensor([0.0, -2000.0, -2001.0]) if score == "softmax" else torch.tensor([-900.0, -901.0])
    indices, gates = experts.route(logits, 2, score=score)
    assert indices.tolist() == [0, 1]
    torch.testing.assert_close(gates, torch.softmax(logits[:2], -1))


@pytest.mark.parametrize("k", [0, E + 1])
def test_impossible_choices_are_refused(k):
    with pytest.raises(ValueError, match=f"1..{E}"):
        experts.route(random(3, E), k)
    with pytest.raises(ValueError, match="score must be"):
        experts.route(random(3, E), 1, score="tanh")


# The mixture


def test_a_batch_is_that_of_hugging_faces_mixtral():
    router, w1, w3, w2 = weights()
    config = MixtralConfig(
        hidden_size=D, intermediate_size=D_FF, num_local_experts=E, num_experts_per_tok=K, hidden_act="silu"
    )
    theirs = MixtralSparseMoeBlock(config).double().eval()
    with torch.no_grad():
        theirs.gate.weight.copy_(router.T)
        theirs.experts.gate_up_proj.copy_(torch.cat([w1, w3], -1).mT)
        theirs.experts.down_proj.copy_(w2.mT)
        x = random(2, 7, D, seed=5)
        expected = theirs(x)
    found = experts.mixture(x, router, w1, w3, w2, K)
    torch.testing.assert_close(found.output, expected, rtol=0, atol=1e-6)  # their router works in float32


@pytest.mark.parametrize("lead", [(), (3,), (2, 4)])
@pytest.mark.parametrize("k", [1, 3, E])
def test_every_expert_on_every_token_and_zeros_for_the_rest_gives_the_same(lead, k):
    router, w1, w3, w2 = weights()
    x, bias = random(*lead, D, seed=5), random(E, seed=6)
    shared = (random(D, D_FF, seed=7), random(D, D_FF, seed=8), random(D_FF, D, seed=9))
    trace = experts.mixture(x, router, w1, w3, w2, k, score="sigmoid", bias=bias, shared=shared)
    scores = torch.sigmoid(x @ router)
    kept = F.one_hot((scores + bias).topk(k, -1).indices, E).sum(-2) * scores
    dense = torch.einsum(
        "...e,...ef,efd->...d",
        kept / kept.sum(-1, keepdim=True),
        F.silu(torch.einsum("...d,edf->...ef", x, w1)) * torch.einsum("...d,edf->...ef", x, w3),
        w2,
    )
    always = (F.silu(x @ shared[0]) * (x @ shared[1])) @ shared[2]
    torch.testing.assert_close(trace.output, dense + always)
    torch.testing.assert_close(trace.shared_output, always)
    assert trace.load.tolist() == (kept > 0).reshape(-1, E).sum(0).tolist()


def test_gradients_reach_the_router_and_only_the_experts_that_worked():
    router, w1, w3, w2 = (w.requires_grad_() for w in weights())
    trace = experts.mixture(random(2, D, seed=5), router, w1, w3, w2, 1 + 1)
    trace.output.sum().backward()
    assert (router.grad != 0).any()
    assert (w1.grad.abs().sum((1, 2)) > 0).tolist() == (trace.load > 0).tolist()
    assert not (trace.load > 0).all()


# Balance


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_auxiliary_loss_is_hugging_faces_divided_by_k(k):
    logits = random(40, E)
    expected = load_balancing_loss_func((logits.float(),), E, k) / k
    torch.testing.assert_close(experts.switch_loss(logits, k, alpha=1.0).float(), expected)
    assert experts.switch_loss(logits, k).item() == pytest.approx(0.01 * expected.item(), rel=1e-5)


def test_the_auxiliary_loss_at_its_ends():
    even = torch.eye(4, dtype=DOUBLE) * 50
    assert experts.switch_loss(even, alpha=0.1).item() == pytest.approx(0.1)
    all_to_one = torch.tensor([[50.0, 0, 0, 0]] * 4)
    assert experts.switch_loss(all_to_one, alpha=0.1).item() == pytest.approx(0.4)


def test_the_auxiliary_loss_moves_probability_away_from_the_busiest():
    logits = torch.tensor([[2.0, 0, 0], [1.5, 0.2, 0], [1.0, 0, 0.3]]).requires_grad_()
    (gradient,) = torch.autograd.grad(experts.switch_loss(logits), logits)
    assert (gradient[:, 0] > 0).all()
    assert (gradient[:, 1:] < 0).all()


def test_load_by_hand():
    assert experts.expert_load(torch.tensor([[0, 2], [2, 3]]), 5).tolist() == [1, 0, 2, 1, 0]


def test_the_bias_moves_by_its_speed_towards_the_idle():
    bias = experts.update_bias(torch.tensor([0.5, 0.0, 0.0]), torch.tensor([9, 3, 6]), 0.1)
    torch.testing.assert_close(bias, torch.tensor([0.4, 0.1, 0.0]))


def test_balancing_step_by_step_as_a_plain_loop_does_it():
    logits = random(6, 20, E)
    trace = experts.balance(logits, K, speed=0.05)
    bias = [0.0] * E
    for step, batch in enumerate(logits.tolist()):
        assert trace.bias[step].tolist() == pytest.approx(bias)
        load = [0] * E
        for token in batch:
            wanted = [1 / (1 + math.exp(-value)) + b for value, b in zip(token, bias, strict=True)]
            for e in sorted(range(E), key=wanted.__getitem__)[-K:]:
                load[e] += 1
        assert trace.load[step].tolist() == load
        assert trace.violation[step].item() == pytest.approx(max(load) / (20 * K / E) - 1)
        bias = [b + 0.05 * ((n < 8) - (n > 8)) for b, n in zip(bias, load, strict=True)]  # even: 20·2/5 = 8
    assert trace.final_bias.tolist() == pytest.approx(bias)


def test_balancing_evens_out_a_router_with_favourites():
    generator = torch.Generator().manual_seed(0)
    logits = experts.uneven_logits(300, 256, 8, favour=1.0, generator=generator)
    trace = experts.balance(logits, 2, speed=0.01)
    assert trace.violation[:5].mean() > 1
    assert trace.violation[-50:].mean() < 0.25
    assert (trace.load.sum(-1) == 512).all()


def test_logits_without_favourites_have_variance_1_and_with_them_more():
    draw = {f: experts.uneven_logits(50, 100, 6, f, torch.Generator().manual_seed(1)) for f in (0.0, 3.0)}
    assert draw[0.0].var().item() == pytest.approx(1, abs=0.03)
    gap = draw[3.0].mean((0, 1)) - draw[0.0].mean((0, 1))
    assert gap.std() > 1
    torch.testing.assert_close(
        (draw[3.0] - draw[0.0]).std((0, 1)), torch.zeros(6, dtype=DOUBLE), rtol=0, atol=1e-12
    )
