"""What whole models need of a block: cross-attention, a past, scores without scaling, biases here and not there."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from core.attention.masks import causal, padding
from core.attention.multi_head import MultiHeadAttention
from core.block.residual import Block

DOUBLE = torch.float64
D, H, D_FF, T, S = 8, 2, 12, 5, 7


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)


def random_weights(module):
    gen = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(torch.randn(p.shape, generator=gen, dtype=DOUBLE) * 0.5)
    return module


@pytest.mark.parametrize("norm_place", ["pre", "post"])
def test_with_cross_attention_a_block_is_pytorchs_decoder_layer(norm_place):
    block = random_weights(Block(D, H, D_FF, norm_place, cross_attention=True).double())
    theirs = nn.TransformerDecoderLayer(
        D, H, D_FF, dropout=0.0, batch_first=True, norm_first=norm_place == "pre", dtype=DOUBLE
    )
    state = {}
    for name, a in (("self_attn", block.attention), ("multihead_attn", block.cross)):
        for kind in ("weight", "bias"):
            state[f"{name}.in_proj_{kind}"] = torch.cat([getattr(w, kind) for w in (a.w_q, a.w_k, a.w_v)])
            state[f"{name}.out_proj.{kind}"] = getattr(a.w_o, kind)
    for n, linear in enumerate((block.feed_forward.w1, block.feed_forward.w2), 1):
        state |= {f"linear{n}.weight": linear.weight, f"linear{n}.bias": linear.bias}
    for n, norm in enumerate((block.norm1, block.norm_cross, block.norm2), 1):
        state |= {f"norm{n}.weight": norm.gamma, f"norm{n}.bias": norm.beta}
    theirs.load_state_dict(state)
    x, context, mask = random(2, T, D), random(2, S, D, seed=1), padding([7, 4], S)
    expected = theirs(x, context, tgt_mask=~causal(T), memory_key_padding_mask=~mask[:, 0])
    found = block(x, causal(T), context=context, context_mask=mask)
    torch.testing.assert_close(found.output, expected)
    assert found.cross.inner.weights.shape == (2, H, T, S)
    assert found.weights.shape == (2, H, T, T)


def test_a_context_and_cross_attention_need_each_other():
    x = random(T, D).float()
    for block, context in ((Block(D, H, D_FF), x), (Block(D, H, D_FF, cross_attention=True), None)):
        with pytest.raises(ValueError, match="needs cross-attention"):
            block(x, context=context)


@pytest.mark.parametrize("n_kv_heads", [1, 2])
def test_new_tokens_with_a_past_are_the_last_rows_of_the_whole(n_kv_heads):
    attention = random_weights(MultiHeadAttention(D, H, n_kv_heads).double())
    x = random(2, T, D)
    whole = attention(x, mask=causal(T))
    before = attention(x[:, :3], mask=causal(3))
    after = attention(x[:, 3:], mask=causal(T)[3:], past=(before.k, before.v))
    torch.testing.assert_close(after.output, whole.output[:, 3:])
    torch.testing.assert_close(after.k, whole.k)
    torch.testing.assert_close(after.v, whole.v)


def test_a_scale_of_its_own_replaces_one_over_the_root():
    plain, unscaled = MultiHeadAttention(D, H).double(), MultiHeadAttention(D, H, scale=1.0).double()
    random_weights(plain), random_weights(unscaled)
    x = random(T, D)
    found = unscaled(x)
    expected = F.scaled_dot_product_attention(found.q, found.k, found.v, scale=1.0)
    torch.testing.assert_close(found.head_outputs, expected)
    torch.testing.assert_close(found.scaled, found.scores)
    assert not torch.allclose(plain(x).output, found.output)


def test_biases_of_attention_can_differ_from_those_of_the_feed_forward_layer():
    without = Block(D, H, D_FF, attention_bias=False)
    assert (without.attention.w_q.bias, without.feed_forward.w1.bias is None) == (None, False)
    only = Block(D, H, D_FF, bias=False, attention_bias=True)
    assert (only.attention.w_o.bias is None, only.feed_forward.w2.bias) == (False, None)
