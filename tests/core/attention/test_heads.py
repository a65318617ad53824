import math

import pytest
import torch
from torch.nn import Linear
from torch.utils.flop_counter import FlopCounterMode

from core.attention import head_sizes
from core.attention.heads import (
    changes_one_by_one,
    even_map,
    even_similarity,
    head_contributions,
    head_entropy,
    head_similarity,
    heads_off,
    key_contributions,
    mean_similarity,
)
from core.attention.multi_head import MultiHeadAttention

DOUBLE = torch.float64


def softmaxed(*shape, seed=0):
    drawn = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)
    return torch.softmax(drawn, -1)


# Similarity, entropy, contributions


def test_similarity_by_hand():
    eye, even = torch.eye(2), torch.full((2, 2), 0.5)
    shift = torch.tensor([[0.0, 1], [1, 0]])
    found = head_similarity(torch.stack([eye, even, shift, torch.zeros(2, 2)]))
    r = math.sqrt(0.5)
    expected = torch.tensor([[1, r, 0, 0], [r, 1, r, 0], [0, r, 1, 0], [0, 0, 0, 0]])
    torch.testing.assert_close(found, expected)
    assert mean_similarity(found[:3, :3]) == pytest.approx(2 * r / 3)


def test_similarity_is_pytorchs_cosine():
    weights = softmaxed(2, 5, 4, 6)
    flat = weights.flatten(-2)
    expected = torch.nn.functional.cosine_similarity(flat[:, :, None], flat[:, None], dim=-1)
    torch.testing.assert_close(head_similarity(weights), expected)
    pairs = [expected[b, i, j] for b in range(2) for i in range(5) for j in range(5) if i != j]
    assert mean_similarity(head_similarity(weights)) == pytest.approx(torch.stack(pairs).mean().item())


def test_one_head_has_no_pair():
    assert mean_similarity(head_similarity(softmaxed(1, 3, 3))) is None


def test_entropy_of_each_head():
    weights = torch.stack([torch.eye(4), torch.full((4, 4), 0.25), torch.zeros(4, 4)])
    weights[1, 2] = 0  # a query with nothing to attend to
    torch.testing.assert_close(head_entropy(weights), torch.tensor([0, math.log(4), 0]))
    some = softmaxed(2, 3, 4, 5)
    expected = torch.distributions.Categorical(some).entropy().mean(-1)
    torch.testing.assert_close(head_entropy(some), expected)


def test_the_heads_contributions_add_up_to_the_output():
    module = MultiHeadAttention.seeded(torch.Generator().manual_seed(0), 12, 3, bias=True, dtype=DOUBLE)
    with torch.no_grad():
        module.w_o.bias.fill_(0.3)
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(1), dtype=DOUBLE)
    trace = module(x)
    parts = head_contributions(trace.kept_outputs, module.w_o)
    torch.testing.assert_close(parts.sum(-3) + 0.3, trace.output)
    off = module(x, head_mask=torch.tensor([1.0, 0, 1], dtype=DOUBLE))
    torch.testing.assert_close(trace.output - off.output, parts[:, 1])
    by_hand = Linear(4, 12, bias=False, dtype=DOUBLE)
    with torch.no_grad():
        by_hand.weight.copy_(module.w_o.weight[:, 8:])
    torch.testing.assert_close(parts[:, 2], by_hand(trace.head_outputs[:, 2]))


def test_what_each_key_adds_is_the_output_with_all_other_values_at_zero():
    module = MultiHeadAttention.seeded(torch.Generator().manual_seed(0), 12, 3, dtype=DOUBLE)
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(1), dtype=DOUBLE)
    trace = module(x)
    parts = key_contributions(trace.weights, trace.v, module.w_o)
    assert parts.shape == (2, 5, 5, 12)
    for key in range(5):
        alone = torch.zeros_like(trace.v)
        alone[..., key, :] = trace.v[..., key, :]
        found = torch.nn.functional.scaled_dot_product_attention(trace.q, trace.k, alone)
        torch.testing.assert_close(parts[:, :, key], module.w_o(found.transpose(1, 2).flatten(-2)))


def test_the_even_map_and_its_likeness_by_hand():
    visible = torch.tensor([[True, False], [True, True], [False, False]])
    even = torch.tensor([[1, 0], [0.5, 0.5], [0, 0]], dtype=DOUBLE)
    torch.testing.assert_close(even_map(visible), even)
    shift = torch.tensor([[1, 0], [1, 0], [0, 0]], dtype=DOUBLE)
    cosine = (1 + 0.5) / math.sqrt(1.5 * 2)
    assert even_similarity(torch.stack([even, shift]), visible) == pytest.approx((1 + cosine) / 2)


def test_the_change_of_the_output_by_hand():
    off = heads_off(torch.tensor([[3.0, 0], [0, 4]]), torch.tensor([[3.0, 0], [0, 1]]))
    torch.testing.assert_close(off.difference, torch.tensor([[0.0, 0], [0, -3]]))
    assert off.change == pytest.approx(3 / 5)
    parts = torch.tensor([[[3.0, 0]], [[0, 4]]])  # two heads, one query
    torch.testing.assert_close(changes_one_by_one(parts), torch.tensor([0.6, 0.8]))


# Sizes


@pytest.mark.parametrize("kv", [None, 1, 2, 8])
@pytest.mark.parametrize("bias", [False, True])
def test_parameters_are_those_of_the_module(kv, bias):
    module = MultiHeadAttention(64, 8, kv, bias)
    expected = sum(p.numel() for p in module.parameters())
    assert head_sizes.projection_parameters(64, 8, kv, bias) == expected


@pytest.mark.parametrize("bias", [False, True])
def test_parameters_do_not_depend_on_the_number_of_heads(bias):
    theirs = {
        h: sum(p.numel() for p in torch.nn.MultiheadAttention(96, h, bias=bias).parameters())
        for h in (1, 8, 96)
    }
    assert set(theirs.values()) == {4 * 96 * 96 + (4 * 96 if bias else 0)}
    assert {h: head_sizes.projection_parameters(96, h, bias=bias) for h in theirs} == theirs


@pytest.mark.parametrize("kv", [None, 1, 4])
def test_flops_are_those_that_pytorch_counts(kv):
    module, x = MultiHeadAttention(64, 8, kv), torch.randn(3, 10, 64, generator=torch.Generator())
    with FlopCounterMode(display=False) as counter:
        module(x)
    projections = 30 * head_sizes.projection_flops(64, 8, kv)
    assert counter.get_total_flops() == projections + 3 * head_sizes.map_flops(64, 10, 10)


def test_a_bias_is_one_addition_for_each_output():
    assert head_sizes.projection_flops(512, 8) == 8 * 512 * 512
    assert head_sizes.projection_flops(512, 8, bias=True) == 8 * 512 * 512 + 4 * 512
    assert head_sizes.projection_flops(512, 8, 2, bias=True) == 2 * 2 * (512 * 512 + 512 * 128) + 2 * (
        512 + 128
    )


@pytest.mark.parametrize(
    ("name", "layers", "kv_heads", "d_head", "published"),
    [
        ("LLaMA-2-7B", 32, 32, 128, 524_288),
        ("LLaMA-2-70B", 80, 8, 128, 327_680),
        ("LLaMA-3-8B", 32, 8, 128, 131_072),
        ("GPT-3", 96, 96, 128, 4_718_592),
    ],
)
def test_cache_of_published_models(name, layers, kv_heads, d_head, published):
    assert head_sizes.kv_cache_bytes_per_token(layers, kv_heads, d_head) == published, name
    assert head_sizes.kv_cache_bytes_per_token(layers, kv_heads, d_head, 1) == published / 2


@pytest.mark.parametrize("kv", [1, 2, 8])
def test_the_cache_is_what_the_trace_would_keep(kv):
    trace = MultiHeadAttention(64, 8, kv)(torch.zeros(1, 10, 64))
    assert trace.k.numel() + trace.v.numel() == 10 * head_sizes.kv_numbers_per_token(kv, 8)


def test_latent_attention_keeps_576_numbers():
    assert head_sizes.latent_numbers_per_token() == 576
    assert head_sizes.kv_numbers_per_token(128, 128) == 32_768
    assert head_sizes.latent_cache_bytes_per_token(60) == 60 * 576 * 2


def test_latent_weights_make_up_the_published_size_of_deepseek_v2():
    # 60 layers, the first with a dense FFN of 12288, the others with 160 + 2 experts of 1536; vocabulary
    # 102 400, untied. The published checkpoint has 235 741 434 880 numbers.
    d = 5120
    attention = head_sizes.latent_weights(d, 128) + 1536 + 512  # and the two norms inside
    experts = 162 * 3 * d * 1536 + 160 * d
    total = 60 * (attention + 2 * d) + 3 * d * 12_288 + 59 * experts + 2 * 102_400 * d + d
    assert total == 235_741_434_880


def test_sizes_that_do_not_divide_are_refused():
    for count in (head_sizes.projection_parameters, head_sizes.projection_flops):
        with pytest.raises(ValueError, match="must divide"):
            count(10, 3)
        with pytest.raises(ValueError, match="must divide"):
            count(12, 6, 4)
