import math
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention import masks
from core.attention.multi_head import (
    MultiHeadAttention,
    head_width,
    initialise,
    join_heads,
    split_heads,
)
from core.attention.pytorch_multi_head import as_pytorch

DOUBLE = torch.float64
modest = settings(max_examples=30, deadline=None)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random(*shape, seed=0, grad=False):
    return torch.randn(shape, generator=generator(seed), dtype=DOUBLE, requires_grad=grad)


def ours(d_model=12, n_heads=3, n_kv_heads=None, bias=False, seed=0):
    module = MultiHeadAttention.seeded(generator(seed), d_model, n_heads, n_kv_heads, bias, DOUBLE)
    if bias:  # biases start at 0, which would hide a mistake
        with torch.no_grad():
            for i, linear in enumerate((module.w_q, module.w_k, module.w_v, module.w_o)):
                linear.bias.copy_(random(*linear.bias.shape, seed=50 + i))
    return module


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a, b, rtol=0, atol=atol)


def some_mask(*shape, seed=1):
    mask = torch.rand(shape, generator=generator(seed)) > 0.4
    mask[..., 0] = True  # PyTorch's layer gives NaN for a row with nothing to attend to
    return mask


def by_torch(module, x, context, blocked=None, padded=None):
    """torch.nn.MultiheadAttention built here from the weights, without our helper."""
    q, k, v, o = module.w_q, module.w_k, module.w_v, module.w_o
    theirs = torch.nn.MultiheadAttention(
        q.in_features, module.n_heads, bias=q.bias is not None, batch_first=True, dtype=DOUBLE
    )
    state = {"in_proj_weight": torch.cat([q.weight, k.weight, v.weight]), "out_proj.weight": o.weight}
    if q.bias is not None:
        state |= {"in_proj_bias": torch.cat([q.bias, k.bias, v.bias]), "out_proj.bias": o.bias}
    theirs.load_state_dict(state)
    return theirs(x, context, context, attn_mask=blocked, key_padding_mask=padded, average_attn_weights=False)


# Against torch.nn.MultiheadAttention


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_it_is_pytorchs_layer(bias, cross, batched, masked):
    lead, t_k = ((2,) if batched else ()), (7 if cross else 5)
    module, x = ours(bias=bias), random(*lead, 5, 12)
    context = random(*lead, t_k, 12, seed=2) if cross else None
    mask = some_mask(5, t_k) if masked else None
    trace = module(x, context, mask)
    output, weights = by_torch(module, x, x if context is None else context, None if mask is None else ~mask)
    close(trace.output, output)
    close(trace.weights, weights)


def test_a_batch_with_padding_and_a_causal_mask():
    module, x = ours(bias=True), random(3, 6, 12)
    lengths = [6, 2, 4]
    mask = masks.combine(masks.causal(6), masks.padding(lengths, 6))
    trace = module(x, mask=mask)
    output, weights = by_torch(module, x, x, ~masks.causal(6), ~masks.padding(lengths, 6)[:, 0])
    close(trace.output, output)
    close(trace.weights, weights)


def test_a_batch_as_large_as_the_number_of_heads_does_not_mix_the_two_up():
    module, x = ours(n_heads=3), random(3, 4, 12)
    mask = some_mask(3, 4, 4)  # one per sentence, not one per head
    trace = module(x, mask=mask)
    for b in range(3):
        close(trace.output[b], by_torch(module, x[b], x[b], ~mask[b])[0])


def test_a_mask_for_each_head():
    module, x = ours(n_heads=3), random(2, 4, 12)
    mask = some_mask(2, 3, 4, 4)
    output, weights = by_torch(module, x, x, ~mask.flatten(0, 1))  # PyTorch wants [B · H, T, T]
    trace = module(x, mask=mask)
    close(trace.output, output)
    close(trace.weights, weights)
    alone = module(x[0], mask=mask[0])  # [H, T, T] for a single sentence
    close(alone.output, output[0])


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("bias", [False, True])
def test_shared_heads_are_those_of_pytorch(n_kv_heads, bias):
    module, x = ours(12, 6, n_kv_heads, bias), random(2, 5, 12)
    trace = module(x, mask=masks.causal(5))
    heads = F.scaled_dot_product_attention(trace.q, trace.k, trace.v, is_causal=True, enable_gqa=True)
    close(trace.head_outputs, heads)
    close(trace.output, F.linear(heads.transpose(1, 2).reshape(2, 5, 12), module.w_o.weight, module.w_o.bias))
    close(trace.k[:, 0], F.linear(x, module.w_k.weight[:2], module.w_k.bias[:2] if bias else None))
    theirs = as_pytorch(module)(x, x, x, attn_mask=~masks.causal(5), average_attn_weights=False)
    close(trace.output, theirs[0])
    close(trace.weights, theirs[1])


def test_one_head_is_plain_attention():
    module, x = ours(8, 1), random(5, 8)
    q, k, v = (x @ w.weight.T for w in (module.w_q, module.w_k, module.w_v))
    close(module(x).output, F.scaled_dot_product_attention(q, k, v) @ module.w_o.weight.T)


def test_a_case_small_enough_to_do_by_hand():
    # Two heads of width 1 over two tokens, all projections the identity. Head 0 sees x[:, 0] = (0, ln 3):
    # query ln 3 scores 0 and (ln 3)², query 0 scores nothing. Head 1 sees (1, 1), so it averages.
    module = ours(2, 2)
    with torch.no_grad():
        for w in (module.w_q, module.w_k, module.w_v, module.w_o):
            w.weight.copy_(torch.eye(2))
    a = math.log(3)
    trace = module(torch.tensor([[0.0, 1.0], [a, 1.0]], dtype=DOUBLE))
    share = math.exp(a * a) / (1 + math.exp(a * a))
    close(trace.weights[0], torch.tensor([[0.5, 0.5], [1 - share, share]], dtype=DOUBLE))
    close(trace.weights[1], torch.full((2, 2), 0.5, dtype=DOUBLE))
    close(trace.output, torch.tensor([[a / 2, 1], [share * a, 1]], dtype=DOUBLE))


def test_gradients_are_those_of_pytorchs_layer():
    module, x = ours(bias=True), random(2, 4, 12, grad=True)
    theirs = as_pytorch(module)
    grad_output = random(2, 4, 12, seed=9)
    blocked = ~masks.causal(4)
    expected = torch.autograd.grad(
        theirs(x, x, x, attn_mask=blocked)[0], (x, *theirs.parameters()), grad_output
    )
    named = dict(zip(("x", *(name for name, _ in theirs.named_parameters())), expected, strict=True))
    inputs = {"x": x} | dict(module.named_parameters())
    found = torch.autograd.grad(module(x, mask=masks.causal(4)).output, tuple(inputs.values()), grad_output)
    found = dict(zip(inputs, found, strict=True))
    close(found["x"], named["x"])
    for part in ("weight", "bias"):
        close(torch.cat([found[f"w_{n}.{part}"] for n in "qkv"]), named[f"in_proj_{part}"])
        close(found[f"w_o.{part}"], named[f"out_proj.{part}"])


# Bias, rope, switching off


def test_a_bias_belongs_to_its_head():
    module, x = ours(12, 3), random(2, 5, 12)
    bias = random(3, 5, 5, seed=4)
    trace = module(x, bias=bias)
    close(trace.head_outputs, F.scaled_dot_product_attention(trace.q, trace.k, trace.v, attn_mask=bias))


def test_rope_turns_queries_and_keys_and_leaves_values():
    module, x = ours(12, 6, 2), random(2, 5, 12)
    seen = []

    def quarter_turn(t):  # (a, b) → (−b, a) in both: q·k stays as it was
        seen.append(tuple(t.shape))
        return torch.stack([-t[..., 1], t[..., 0]], -1)

    plain, turned = module(x), module(x, rope=quarter_turn)
    assert seen == [(2, 6, 5, 2), (2, 2, 5, 2)]
    close(turned.q, quarter_turn(plain.q))
    close(turned.k, quarter_turn(plain.k))
    close(turned.v, plain.v)
    close(turned.scores, plain.scores)
    by_place = torch.arange(5, dtype=DOUBLE)[:, None]
    assert (module(x, rope=lambda t: t * by_place).scores - plain.scores).abs().max() > 0.1


def test_switching_a_head_off_takes_out_its_columns_of_w_o():
    module, x = ours(12, 3, bias=True), random(2, 5, 12)
    on = torch.tensor([1.0, 0.0, 1.0], dtype=DOUBLE)
    trace = module(x, head_mask=on)
    without = ours(12, 3, bias=True)
    with torch.no_grad():
        without.w_o.weight[:, 4:8] = 0
    close(trace.output, by_torch(without, x, x)[0])
    assert torch.equal(trace.concatenated[..., 4:8], torch.zeros(2, 5, 4, dtype=DOUBLE))
    close(trace.head_outputs, module(x).head_outputs)
    close(module(x, head_mask=torch.zeros(3)).output, module.w_o.bias.expand(2, 5, 12))
    per_sentence = module(x, head_mask=torch.stack([on, torch.ones(3, dtype=DOUBLE)]))
    close(per_sentence.output[0], trace.output[0])
    close(per_sentence.output[1], module(x).output[1])


def test_a_row_with_nothing_to_attend_to_gives_the_bias_alone():
    module, x = ours(bias=True), random(2, 4, 12, grad=True)
    mask = masks.padding([0, 3], 4)
    trace = module(x, mask=mask)
    close(trace.output[0], module.w_o.bias.expand(4, 12))
    assert torch.autograd.grad(trace.output.square().sum(), x)[0].isfinite().all()


# Steps for a cache


def test_projecting_once_and_attending_later_is_the_same():
    module, x = ours(12, 6, 2), random(2, 5, 12)
    whole = module(x, mask=masks.causal(5))
    past = [module.project(x[:, t : t + 1], x[:, t : t + 1]) for t in range(5)]
    k, v = (torch.cat([step[i] for step in past], -2) for i in (1, 2))
    for t in range(5):
        step = module.attend(past[t][0], k[:, :, : t + 1], v[:, :, : t + 1])
        close(step.output[:, 0], whole.output[:, t])


# Splitting and joining


@modest
@given(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_split_and_join(batch, t, n_heads, d_head):
    x = random(batch, t, n_heads * d_head)
    heads = split_heads(x, n_heads)
    assert heads.shape == (batch, n_heads, t, d_head)
    for h, columns in enumerate(x.chunk(n_heads, -1)):
        assert torch.equal(heads[:, h], columns)
    assert torch.equal(join_heads(heads), x)


def test_reshaping_without_the_transpose_cuts_the_sentence_instead():
    x = torch.arange(8).reshape(2, 4)  # tokens (0 1 2 3) and (4 5 6 7)
    assert split_heads(x, 2).tolist() == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    assert x.reshape(2, 2, 2).tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


# Refusals and random numbers


@pytest.mark.parametrize(
    "sizes", [(10, 3), (10, 0), (10, -2), (10, 20), (0, 1), (12, 6, 4), (12, 6, 0), (12, 6, 12)]
)
def test_heads_that_do_not_divide_are_refused(sizes):
    with pytest.raises(ValueError, match="must divide"):
        MultiHeadAttention(*sizes)


def test_width_of_a_head():
    assert head_width(512, 8) == 64
    assert head_width(8192, 64, 8) == 128


def test_seeds_repeat_and_the_global_state_stays():
    before = torch.get_rng_state()
    first, again, other = (MultiHeadAttention.seeded(generator(s), 8, 2, bias=True) for s in (1, 1, 2))
    assert torch.equal(before, torch.get_rng_state())
    for name, value in first.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])
        assert torch.equal(value, other.state_dict()[name]) == name.endswith("bias")
    assert all(p.requires_grad and p.device.type == "cpu" for p in first.parameters())


def test_drawn_weights_keep_the_variance():
    module = MultiHeadAttention.seeded(generator(), 256, 4, bias=True)
    for linear in (module.w_q, module.w_k, module.w_v, module.w_o):
        assert abs(linear.weight.var().item() * 256 - 1) < 0.03  # five deviations of 65 536 draws
        assert torch.equal(linear.bias, torch.zeros(256))
    halves = [
        initialise(torch.nn.Linear(6, 4, bias=False, dtype=t), generator(3)) for t in (torch.float32, DOUBLE)
    ]
    assert torch.equal(halves[0].weight, halves[1].weight.float())


def test_the_number_of_heads_does_not_change_the_weights():
    one, many = (MultiHeadAttention.seeded(generator(), 24, h).state_dict() for h in (1, 8))
    assert all(torch.equal(one[name], many[name]) for name in one)


def test_inputs_are_untouched():
    module = ours()
    held = SimpleNamespace(x=random(2, 4, 12), mask=some_mask(4, 4), on=torch.tensor([1.0, 0, 1]))
    copies = {name: value.clone() for name, value in vars(held).items()}
    module(held.x, mask=held.mask, head_mask=held.on)
    assert all(torch.equal(getattr(held, name), value) for name, value in copies.items())
