import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding

from core.attention.masks import causal
from core.block.frequencies import inverse_frequencies
from core.block.initialisation import begin, seeded_stack
from core.block.residual import Block, Norm, Stack, drop
from core.block.rope import apply_rope

DOUBLE = torch.float64
D, H, D_FF, T = 8, 2, 12, 5


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random(*shape, seed=0):
    return torch.randn(shape, generator=generator(seed), dtype=DOUBLE)


def random_weights(module, seed=0):
    """Every number of a module drawn anew, biases and norms included, so that none can be left out unseen."""
    gen = generator(seed)
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.randn(p.shape, generator=gen, dtype=DOUBLE) * 0.5)
    return module


def as_pytorchs(block, norm_first, activation):
    """nn.TransformerEncoderLayer with the weights of a block."""
    theirs = nn.TransformerEncoderLayer(
        D, H, D_FF, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first, dtype=DOUBLE
    )
    a, f = block.attention, block.feed_forward
    theirs.load_state_dict(
        {
            "self_attn.in_proj_weight": torch.cat([a.w_q.weight, a.w_k.weight, a.w_v.weight]),
            "self_attn.in_proj_bias": torch.cat([a.w_q.bias, a.w_k.bias, a.w_v.bias]),
            "self_attn.out_proj.weight": a.w_o.weight,
            "self_attn.out_proj.bias": a.w_o.bias,
            "linear1.weight": f.w1.weight,
            "linear1.bias": f.w1.bias,
            "linear2.weight": f.w2.weight,
            "linear2.bias": f.w2.bias,
            "norm1.weight": block.norm1.gamma,
            "norm1.bias": block.norm1.beta,
            "norm2.weight": block.norm2.gamma,
            "norm2.bias": block.norm2.beta,
        }
    )
    return theirs.train()  # not eval: its fast path is another program


@pytest.mark.parametrize("norm_place", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("masked", [False, True])
def test_a_block_is_pytorchs_encoder_layer(norm_place, activation, masked):
    block = random_weights(Block(D, H, D_FF, norm_place, activation=activation).double())
    theirs = as_pytorchs(block, norm_place == "pre", activation)
    x = random(3, T, D, seed=1)
    mask = causal(T) if masked else None
    expected = theirs(x, src_mask=None if mask is None else ~mask)  # PyTorch: True = blocked
    found = block(x, mask).output
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(block(x[0], mask).output, found[0])  # a sentence without a batch


def test_gradients_are_those_of_pytorchs_encoder_layer():
    block = random_weights(Block(D, H, D_FF, "post").double())
    theirs, x = as_pytorchs(block, False, "relu"), random(3, T, D, seed=1)
    block(x, causal(T)).output.square().sum().backward()
    theirs(x, src_mask=~causal(T)).square().sum().backward()
    torch.testing.assert_close(block.feed_forward.w1.weight.grad, theirs.linear1.weight.grad)
    torch.testing.assert_close(block.attention.w_o.weight.grad, theirs.self_attn.out_proj.weight.grad)
    torch.testing.assert_close(block.norm1.gamma.grad, theirs.norm1.weight.grad)


def test_with_rms_swiglu_rope_and_shared_heads_it_is_hugging_faces_llama_layer():
    config = LlamaConfig(
        hidden_size=D,
        intermediate_size=D_FF,
        num_attention_heads=H,
        num_key_value_heads=1,
        rms_norm_eps=1e-5,
        attn_implementation="eager",
    )
    theirs = LlamaDecoderLayer(config, layer_idx=0).double()
    block = Block(D, H, D_FF, "pre", "rms", activation="swiglu", n_kv_heads=1, bias=False, eps=1e-5)
    block = random_weights(block.double())
    a, f = block.attention, block.feed_forward
    theirs.load_state_dict(
        {
            "self_attn.q_proj.weight": a.w_q.weight,
            "self_attn.k_proj.weight": a.w_k.weight,
            "self_attn.v_proj.weight": a.w_v.weight,
            "self_attn.o_proj.weight": a.w_o.weight,
            "mlp.gate_proj.weight": f.w1.weight,
            "mlp.up_proj.weight": f.w3.weight,
            "mlp.down_proj.weight": f.w2.weight,
            "input_layernorm.weight": block.norm1.gamma,
            "post_attention_layernorm.weight": block.norm2.gamma,
        }
    )
    x, positions = random(2, T, D, seed=1), torch.arange(T)
    hidden_future = torch.zeros(T, T, dtype=DOUBLE).masked_fill(~causal(T), -torch.inf)
    expected = theirs(
        x,
        attention_mask=hidden_future.expand(2, 1, T, T),
        position_embeddings=LlamaRotaryEmbedding(config)(x, positions[None]),
    )
    expected = expected[0] if isinstance(expected, tuple) else expected
    inv_freq = inverse_frequencies(D // H)
    found = block(x, causal(T), rope=lambda y: apply_rope(y, positions, inv_freq)).output
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)  # their angles are float32
    assert not torch.allclose(block(x, causal(T)).output, expected, atol=1e-2)


@pytest.mark.parametrize("norm_place", ["pre", "post", "none"])
@pytest.mark.parametrize("residual", [True, False])
def test_every_arrangement_as_the_formula_says(norm_place, residual):
    block = random_weights(Block(D, H, D_FF, norm_place, residual=residual).double())
    x = random(T, D, seed=1)

    def norm(module, y):
        return F.layer_norm(y, (D,), module.gamma, module.beta)

    def around(y, module, inner):
        if norm_place == "pre":
            return y * residual + inner(norm(module, y))
        if norm_place == "post":
            return norm(module, y * residual + inner(y))
        return y * residual + inner(y)

    first = around(x, block.norm1, lambda y: block.attention(y, mask=causal(T)).output)
    w1, w2 = block.feed_forward.w1, block.feed_forward.w2
    second = around(first, block.norm2, lambda y: w2(F.relu(w1(y))))
    trace = block(x, causal(T))
    torch.testing.assert_close(trace.attention.output, first)
    torch.testing.assert_close(trace.output, second)
    assert torch.equal(trace.weights, trace.attention.inner.weights)
    assert (block.norm1 is None) == (norm_place == "none")


def test_a_head_switched_off_and_a_bias_reach_the_attention():
    block = random_weights(Block(D, H, D_FF).double())
    x, bias = random(T, D, seed=1), random(H, T, T, seed=2)
    entering = block.norm1(x).output
    trace = block(x, None, None, bias, torch.tensor([1.0, 0.0]))
    expected = block.attention(entering, bias=bias, head_mask=torch.tensor([1.0, 0.0]))
    torch.testing.assert_close(trace.attention.inner.output, expected.output)
    assert not torch.allclose(expected.output, block.attention(entering).output)


# Dropout


def test_dropout_acts_on_what_is_added_and_only_in_training():
    block = random_weights(Block(D, H, D_FF, "none", dropout_p=0.4).double())
    x = random(200, D, seed=1)
    trained = block(x, generator=generator(3)).attention
    kept = trained.update != 0
    torch.testing.assert_close(trained.update[kept], trained.inner.output[kept] / 0.6)
    assert kept.double().mean().item() == pytest.approx(0.6, abs=0.04)
    torch.testing.assert_close(trained.summed, x + trained.update)
    assert torch.equal(block(x).attention.update, block(x).attention.inner.output)
    again, other = block(x, generator=generator(3)), block(x, generator=generator(4))
    assert torch.equal(again.attention.update, trained.update)
    assert not torch.equal(other.attention.update, trained.update)
    assert not torch.equal(again.attention.update != 0, again.feed_forward.update != 0)


def test_drop_with_p_0_and_without_a_generator_is_the_identity():
    x = random(4)
    assert drop(x, 0.0, generator()) is x
    assert drop(x, 0.9, None) is x


# Stacks


def test_a_stack_is_its_blocks_and_a_final_norm_in_pre_ln_only():
    for place in ("pre", "post", "none"):
        stack = random_weights(Stack(3, D, H, D_FF, place).double())
        x = random(2, T, D, seed=1)
        trace = stack(x, mask=causal(T))
        y = x
        for block, state in zip(stack.blocks, trace.states[1:], strict=True):
            y = block(y, causal(T)).output
            torch.testing.assert_close(state, y)
        assert torch.equal(trace.states[0], x)
        if place == "pre":
            final = stack.final_norm
            y = F.layer_norm(y, (D,), final.gamma, final.beta)
        torch.testing.assert_close(trace.output, y)
        assert len(trace.blocks) == 3


def test_no_layers_change_nothing():
    x = random(T, D)
    assert torch.equal(Stack(0, D, H, D_FF, "post")(x).output, x)


# Initialisation


def test_the_same_seed_gives_the_same_weights_whatever_the_arrangement_and_touches_nothing_global():
    before = torch.get_rng_state()
    pre, post = (seeded_stack(generator(1), 2, D, H, D_FF, norm_place=place) for place in ("pre", "post"))
    deeper = seeded_stack(generator(1), 4, D, H, D_FF, norm_place="none")
    assert torch.equal(before, torch.get_rng_state())
    for a, b, c in zip(pre.blocks, post.blocks, deeper.blocks, strict=False):
        for name in ("attention.w_q", "attention.w_o", "feed_forward.w1", "feed_forward.w2"):
            assert torch.equal(a.get_submodule(name).weight, b.get_submodule(name).weight)
            assert torch.equal(a.get_submodule(name).weight, c.get_submodule(name).weight)
    assert not torch.equal(pre.blocks[0].feed_forward.w1.weight, pre.blocks[1].feed_forward.w1.weight)


def test_every_scheme_has_the_spread_it_names():
    expected = {  # for w1 [256, 64] and w2 [64, 256] of a stack of 8 layers
        "fan_in": (64**-0.5, 256**-0.5),
        "he": ((2 / 64) ** 0.5, (2 / 256) ** 0.5),
        "xavier": ((2 / 320) ** 0.5, (2 / 320) ** 0.5),
        "gpt2": (0.02, 0.02 / 16**0.5),
    }
    for init, spreads in expected.items():
        stack = seeded_stack(generator(), 8, 64, 4, 256, init=init, gain=1.5)
        for name, spread in zip(("feed_forward.w1", "feed_forward.w2"), spreads, strict=True):
            weights = torch.stack([block.get_submodule(name).weight for block in stack.blocks])
            assert weights.std().item() == pytest.approx(1.5 * spread, rel=0.02)
            assert weights.mean().item() == pytest.approx(0, abs=0.05 * spread)
        outputs = torch.stack([block.attention.w_o.weight for block in stack.blocks])
        queries = torch.stack([block.attention.w_q.weight for block in stack.blocks])
        shrunk = 4 if init == "gpt2" else 1
        assert (queries.std() / outputs.std()).item() == pytest.approx(shrunk, rel=0.05)


def test_xavier_stays_within_its_limit_as_pytorchs_does():
    ours = seeded_stack(generator(), 1, 64, 4, 256, init="xavier").blocks[0].feed_forward.w1.weight
    theirs = nn.init.xavier_uniform_(torch.empty(256, 64), generator=generator())
    assert ours.abs().max().item() == pytest.approx(theirs.abs().max().item(), rel=1e-3)
    assert ours.abs().max() <= (6 / 320) ** 0.5


def test_biases_begin_at_0_and_norms_at_the_identity():
    stack = random_weights(Stack(1, D, H, D_FF))
    begin(stack, generator())
    block = stack.blocks[0]
    for linear in (block.attention.w_q, block.attention.w_o, block.feed_forward.w1, block.feed_forward.w2):
        assert not linear.bias.any()
    for norm in (block.norm1, block.norm2, stack.final_norm):
        assert (norm.gamma == 1).all()
        assert not norm.beta.any()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Block(D, H, D_FF, "middle"), "norm_place must be"),
        (lambda: Block(D, H, D_FF, norm_kind="batch"), "norm_kind must be"),
        (lambda: Norm(D, "batch"), "norm_kind must be"),
        (lambda: Block(D, 3, D_FF), "divide"),
        (lambda: Stack(-1, D, H, D_FF), "negative"),
        (lambda: seeded_stack(generator(), 1, D, H, D_FF, init="zeros"), "init must be"),
        (lambda: Block(D, H, D_FF, dropout_p=1.0)(random(T, D).float(), generator=generator()), "below 1"),
    ],
)
def test_what_cannot_be_built_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
