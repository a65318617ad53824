"""One token replaced, gradients by autograd, widths of published models: against PyTorch's own modules."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from core.attention.masks import causal
from core.attention.toy_heads import toy_heads
from core.block.feed_forward import ACTIVATIONS, feed_forward, feed_forward_backward
from core.block.feed_forward_gradients import autograd_gradients
from core.block.one_token import change_of
from core.block.toy_feed_forward import toy_feed_forward, toy_tokens
from core.cost.feed_forward_sizes import PUBLISHED

THEIRS = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda z: functional.gelu(z, approximate="tanh"),
    "silu": functional.silu,
}


def modules(ffn, activation):
    """The same layer of PyTorch's modules."""
    up, down = nn.Linear(*ffn.w1.shape), nn.Linear(*ffn.w2.shape)
    for layer, weight, bias in ((up, ffn.w1, ffn.b1), (down, ffn.w2, ffn.b2)):
        layer.weight, layer.bias = nn.Parameter(weight.T.clone()), nn.Parameter(bias.clone())
    return up, down, lambda x: down(THEIRS[activation](up(x)))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_replaced_token_moves_its_own_row_as_in_pytorch(activation):
    ffn = toy_feed_forward(7, 4, 16)
    x, changed = (toy_tokens(("the", word, "sat"), 7, 4) for word in ("cat", "dog"))
    trace = change_of(
        lambda h: feed_forward(h, ffn.w1, ffn.b1, ffn.w2, ffn.b2, activation).output, x, changed
    )
    layer = modules(ffn, activation)[2]
    torch.testing.assert_close(trace.change, (layer(changed) - layer(x)).detach())
    assert trace.moved[0] == trace.moved[2] == 0
    assert trace.moved[1].item() == pytest.approx(trace.change[1].norm().item())
    assert trace.moved[1] > 0


@pytest.mark.parametrize(("mask", "quiet"), [(None, 0), (causal(4), 2)])
def test_attention_carries_it_to_all_who_may_look(mask, quiet):
    x, attend = toy_heads(("a", "b", "c", "d"), 7, 8, 1)
    changed = toy_heads(("a", "b", "z", "d"), 7, 8, 1)[0]
    moved = change_of(lambda h: attend(h, mask=mask).output, x, changed).moved
    assert (moved[:quiet] == 0).all()
    assert (moved[quiet:] > 1e-6).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_autograd_gives_what_pytorchs_modules_give_and_what_we_wrote_out(activation):
    ffn, x = toy_feed_forward(7, 4, 12), toy_tokens(("a", "b", "c"), 7, 4)
    g = torch.arange(12.0, dtype=torch.float64).reshape(3, 4).sin()
    theirs = autograd_gradients(x, ffn.w1, ffn.b1, ffn.w2, ffn.b2, g, activation)
    up, down, layer = modules(ffn, activation)
    layer(x).backward(g)
    torch.testing.assert_close(theirs.d_w1, up.weight.grad.T)
    torch.testing.assert_close(theirs.d_w2, down.weight.grad.T)
    torch.testing.assert_close(theirs.d_b1, up.bias.grad)
    torch.testing.assert_close(theirs.d_b2, down.bias.grad)
    trace = feed_forward(x, ffn.w1, ffn.b1, ffn.w2, ffn.b2, activation)
    ours = feed_forward_backward(trace, x, ffn.w1, ffn.w2, g, activation)
    for name, value in vars(ours).items():
        torch.testing.assert_close(value, getattr(theirs, name))


@pytest.mark.parametrize("model", PUBLISHED, ids=lambda model: model.name)
def test_a_layer_is_counted_as_its_modules_are(model):
    c = model.config
    with torch.device("meta"):  # shapes without numbers
        into = [nn.Linear(c.d_model, c.d_ff, bias=c.ffn_bias) for _ in range(1 + c.gated)]
        parts = nn.ModuleList([*into, nn.Linear(c.d_ff, c.d_model, bias=c.ffn_bias)])
    assert model.per_layer == sum(p.numel() for p in parts.parameters())
    assert 0 < model.share < 1


def test_about_two_thirds_of_llama_are_feed_forward():
    share = {model.name: model.share for model in PUBLISHED}
    assert share["LLaMA-2 7B"] == pytest.approx(32 * 3 * 4096 * 11008 / 6_738_415_616)
    assert 0.64 < share["LLaMA-2 7B"] < 0.65
