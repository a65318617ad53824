import time
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from core.attention.masks import causal
from core.block.depth import (
    DepthSettings,
    cosines_of,
    depth_experiment,
    drawn,
    mean_cosine,
    over_seeds,
    token_products,
)
from core.block.initialisation import seeded_stack

SETTINGS = {
    "pre": ("pre", True),
    "post": ("post", True),
    "no residual": ("post", False),
    "no norm": ("none", True),
    "neither": ("none", False),
}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def measured(one_thread):
    """The measurement of 24 layers that the facts report, three seeds of each setting."""
    common = DepthSettings(n_layers=24, d_model=128, batch=8, seeds=(0, 1, 2))
    return {
        name: depth_experiment(replace(common, norm_place=place, residual=residual))
        for name, (place, residual) in SETTINGS.items()
    }


def gradients(trace):
    """Medians in layers 1, 12 and 24."""
    return [over_seeds(trace.gradient)[0][layer - 1].item() for layer in (1, 12, 24)]


def test_gradients_are_those_measured_before(measured):
    first, middle, last = gradients(measured["pre"])  # .30, .19, .14
    assert 0.2 < first < 0.45
    assert 0.12 < middle < 0.27
    assert 0.08 < last < 0.2
    for value in gradients(measured["post"]):  # .57, .88, .90
        assert 0.25 < value < 2
    for value in gradients(measured["no residual"]):  # about 1 to 2 anywhere, .25 to 3.1
        assert 0.2 < value < 4
    first, middle, last = gradients(measured["no norm"])  # 130, .75, .89; 17 to 667 in layer 1
    assert first > 5
    assert 0.3 < middle < 10
    assert 0.3 < last < 2
    for value in gradients(measured["neither"]):  # .06 everywhere, .03 to .14
        assert 0.015 < value < 0.2


def test_what_held_over_seeds_and_widths(measured):
    pre, post = measured["pre"].gradient, measured["post"].gradient
    assert (pre[:, 0] > 1.5 * pre[:, -1]).all()  # Pre-LN's gradient falls with the layer
    assert (post[:, -1] > 3 * pre[:, -1]).all()
    ratio = gradients(measured["post"])[-1] / gradients(measured["pre"])[-1]
    assert ratio < 12  # about 6-fold at the last layer


def test_lengths_are_those_measured_before(measured):
    norm = {name: trace.norm for name, trace in measured.items()}
    assert norm["pre"][:, -1].tolist() == pytest.approx([62] * 3, rel=0.08)
    by_root_of_depth = norm["pre"][:, [6, 12, 24]] / torch.tensor([6.0, 12.0, 24.0]).sqrt()
    assert (by_root_of_depth.amax(1) / by_root_of_depth.amin(1) < 1.15).all()
    for name in ("post", "no residual"):
        torch.testing.assert_close(
            norm[name][:, 1:], torch.full((3, 24), 128**0.5, dtype=torch.float64), rtol=1e-3, atol=0
        )
    assert ((norm["no norm"][:, -1] > 1e6) & (norm["no norm"][:, -1] < 5e7)).all()
    assert ((norm["neither"][:, -1] > 3e-4) & (norm["neither"][:, -1] < 0.03)).all()
    for trace in measured.values():
        assert trace.norm[:, 0].tolist() == pytest.approx([128**0.5] * 3, rel=0.02)


def test_tokens_become_alike_as_measured_before(measured):
    last = {name: trace.similarity[:, -1] for name, trace in measured.items()}
    assert ((last["pre"] > 0.65) & (last["pre"] < 0.88)).all()
    assert (last["post"] > 0.985).all()
    assert (last["no norm"] > 0.97).all()
    for name in ("no residual", "neither"):
        assert (measured[name].similarity[:, 7:] > 0.985).all()
    for trace in measured.values():
        assert trace.similarity[:, 0].abs().max() < 0.02


def test_every_one_of_them_is_finite_and_begins_near_chance(measured):
    for name, trace in measured.items():
        assert trace.finite, name
        assert (trace.loss > 3.9).all()  # ln 64 = 4.16 for an even guess
        assert (trace.loss < 5.2).all()


def test_a_larger_gain_explodes_where_nothing_holds_it():
    trace = depth_experiment(
        DepthSettings("none", False, 24, gain=2**0.5, d_model=128, batch=2)
    )  # 6e11 measured before
    assert 1e10 < trace.norm[0, -1].item() < 1e14
    assert not trace.finite


def test_without_attention_tokens_become_less_alike():
    common = DepthSettings("post", True, 24, d_model=128)
    with_it, without = (
        depth_experiment(replace(common, attention=attention)).similarity[0, -1]
        for attention in (True, False)
    )
    assert with_it > 0.985
    assert 0.7 < without < 0.93  # .81 to .88 measured before


def test_the_last_gradient_falls_with_depth_in_pre_ln_only():
    last = {
        place: [
            over_seeds(
                depth_experiment(DepthSettings(place, True, depth, batch=4, seeds=(0, 1, 2))).gradient
            )[0][-1].item()
            for depth in (6, 48)
        ]
        for place in ("pre", "post")
    }
    # Measured before: .228 and .111 against .62 and 1.13. Xiong et al. 2020: 1/√L, so √8 = 2.8 at most.
    assert 1.7 < last["pre"][0] / last["pre"][1] < 3.5
    assert last["post"][1] / last["post"][0] > 0.8


def test_gradient_is_that_of_an_independent_run_of_pytorch():
    settings = DepthSettings("pre", True, 2, d_model=16, n_heads=2, n_tokens=5, batch=3, seeds=(7,))
    found = depth_experiment(settings)
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(3, 5, 16, generator=generator)
    targets = torch.randint(64, (3, 5), generator=generator)
    readout = torch.randn(16, 64, generator=generator) / 4
    stack = seeded_stack(generator, 2, 16, 2, 64, norm_place="pre")
    y, layers = x, []
    for block in stack.blocks:  # the same weights in PyTorch's own layers
        a, f = block.attention, block.feed_forward
        layer = torch.nn.TransformerEncoderLayer(16, 2, 64, 0.0, batch_first=True, norm_first=True)
        with torch.no_grad():
            layer.self_attn.in_proj_weight.copy_(torch.cat([a.w_q.weight, a.w_k.weight, a.w_v.weight]))
            layer.self_attn.out_proj.weight.copy_(a.w_o.weight)
            layer.linear1.weight.copy_(f.w1.weight)
            layer.linear2.weight.copy_(f.w2.weight)
            for bias in (
                layer.linear1.bias,
                layer.linear2.bias,
                layer.self_attn.in_proj_bias,
                layer.self_attn.out_proj.bias,
            ):
                bias.zero_()
        y = layer(y, src_mask=~causal(5))
        layers.append(layer)
    loss = F.cross_entropy((F.layer_norm(y, (16,)) @ readout).flatten(0, 1), targets.flatten())
    expected = torch.autograd.grad(loss, [layer.linear1.weight for layer in layers])
    torch.testing.assert_close(
        found.gradient[0], torch.stack([g.norm() for g in expected]), rtol=1e-4, atol=0, check_dtype=False
    )
    torch.testing.assert_close(found.loss[0].float(), loss.detach(), rtol=1e-5, atol=0)
    torch.testing.assert_close(found.norm[0, -1].float(), y.detach().norm(dim=-1).mean(), rtol=1e-5, atol=0)


def test_similarity_is_the_mean_over_pairs():
    x = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for sentence, found in zip(x, mean_cosine(x), strict=True):
        pairs = [F.cosine_similarity(sentence[i], sentence[j], 0) for i in range(4) for j in range(i)]
        torch.testing.assert_close(found, torch.stack(pairs).mean())


def test_gpt2s_scheme_keeps_the_stream_quiet_and_xavier_does_not():
    quiet, loud = (depth_experiment(DepthSettings("pre", True, 24, init=init)) for init in ("gpt2", "xavier"))
    assert quiet.norm[0, -1] < 1.05 * quiet.norm[0, 0]
    assert loud.norm[0, -1] > 3 * loud.norm[0, 0]


def test_what_a_layer_adds_is_the_difference_of_two_states():
    found = depth_experiment(DepthSettings("pre", True, 3, d_model=16, n_heads=2, n_tokens=6, seeds=(5,)))
    x, _, _, stack = drawn(found.settings, 5)
    states = [s.detach() for s in stack(x, mask=causal(6)).states]
    for layer, (before, after) in enumerate(pairwise(states)):
        cosines = F.cosine_similarity(before, after - before, -1)
        assert found.added[0, layer].item() == pytest.approx(
            (after - before).norm(dim=-1).mean().item(), rel=1e-5
        )
        assert found.along[0, layer].item() == pytest.approx(cosines.mean().item(), abs=1e-5)


def test_cosines_of_all_pairs_have_the_mean_that_the_experiment_tells():
    settings = DepthSettings("post", True, 3, d_model=16, n_heads=2, n_tokens=6, batch=1, seeds=(5,))
    found = depth_experiment(settings).similarity[0]
    for layer in range(4):
        products = token_products(settings, layer)
        cosines = cosines_of(products)
        off = cosines[~torch.eye(6, dtype=torch.bool)]
        assert off.mean().item() == pytest.approx(found[layer].item(), abs=1e-9)
        torch.testing.assert_close(cosines.diagonal(), torch.ones(6, dtype=torch.float64))
    x = drawn(settings, 5)[0][0].double()  # [T, d]
    pairs = F.cosine_similarity(x[:, None], x[None], dim=-1)  # [T, T]
    torch.testing.assert_close(cosines_of(token_products(settings, 0)), pairs)
    x[2] = 0
    gone = cosines_of(x @ x.mT).isnan()
    assert gone[2].all()
    assert gone[:, 2].all()
    assert gone.sum() == 11
    with pytest.raises(ValueError, match="between 0 and 3"):
        token_products(settings, 4)


def test_a_stream_that_has_come_down_to_0_has_no_direction():
    """GPT-2's small weights with neither norm nor residual: below the smallest float32 there is only 0."""
    trace = depth_experiment(DepthSettings("none", False, 24, init="gpt2"))
    assert trace.norm[0, -1] == 0
    assert trace.similarity[0, -1].isnan()
    assert (trace.gradient == 0).all()


@pytest.mark.parametrize("norm_place", ["pre", "post", "none"])
@pytest.mark.parametrize("residual", [True, False])
def test_shapes_at_one_layer_and_at_none(norm_place, residual):
    for layers in (0, 1):
        trace = depth_experiment(
            DepthSettings(norm_place, residual, layers, norm_kind="rms", activation="gelu", seeds=(3, 4))
        )
        assert trace.norm.shape == trace.similarity.shape == (2, layers + 1)
        assert trace.gradient.shape == (2, layers)
        assert trace.finite


def test_same_seed_same_numbers_and_no_global_state():
    before = torch.get_rng_state()
    first, again, other = (depth_experiment(DepthSettings(n_layers=2, seeds=(s,))).norm for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_48_layers_of_two_settings_take_less_than_a_second_of_one_thread():
    depth_experiment(DepthSettings(n_layers=2))  # first use of PyTorch's kernels
    start = time.thread_time()
    for place in ("pre", "post"):
        depth_experiment(DepthSettings(place, True, 48))
    assert time.thread_time() - start < 1


@pytest.mark.parametrize("settings", [DepthSettings(seeds=()), DepthSettings(n_tokens=1)])
def test_impossible_settings_are_refused(settings):
    with pytest.raises(ValueError, match="at least one seed"):
        depth_experiment(settings)
