import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaMLP

from core.block import feed_forward as ff

DOUBLE = torch.float64
PYTORCHS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
}
NAMES = sorted(PYTORCHS)


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)


def weights(d=5, d_ff=7):
    return random(d, d_ff), random(d_ff, seed=1), random(d_ff, d, seed=2), random(d, seed=3)


def llamas(d, d_ff):
    return LlamaMLP(LlamaConfig(hidden_size=d, intermediate_size=d_ff, num_attention_heads=1, head_dim=2))


def test_there_is_a_derivative_for_every_activation():
    assert sorted(ff.ACTIVATIONS) == sorted(ff.DERIVATIVES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_activations_and_derivatives_are_those_of_pytorch_and_autograd(name):
    x = torch.cat([torch.linspace(-30, 30, 601, dtype=DOUBLE), torch.zeros(1, dtype=DOUBLE)]).requires_grad_()
    expected = PYTORCHS[name](x)
    torch.testing.assert_close(ff.ACTIVATIONS[name](x), expected, rtol=1e-12, atol=1e-12)
    (slope,) = torch.autograd.grad(expected.sum(), x)
    torch.testing.assert_close(ff.DERIVATIVES[name](x.detach()), slope, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
@pytest.mark.parametrize("name", NAMES)
def test_forward_is_two_linear_layers_of_pytorch(lead, name):
    x, (w1, b1, w2, b2) = random(*lead, 5, seed=4), weights()
    trace = ff.feed_forward(x, w1, b1, w2, b2, name)
    torch.testing.assert_close(trace.before, F.linear(x, w1.T, b1))
    torch.testing.assert_close(trace.hidden, PYTORCHS[name](trace.before))
    torch.testing.assert_close(trace.output, F.linear(PYTORCHS[name](F.linear(x, w1.T, b1)), w2.T, b2))
    bare = ff.feed_forward(x, w1, None, w2, None, name).output
    torch.testing.assert_close(bare, F.linear(PYTORCHS[name](F.linear(x, w1.T)), w2.T))


def test_a_case_by_hand():
    # ReLU cuts the second.
    x = torch.tensor([1.0, -2.0])
    w1, b1 = torch.tensor([[1.0, 3.0], [-1.0, 4.0]]), torch.tensor([0.5, 0.0])
    w2, b2 = torch.tensor([[2.0], [7.0]]), torch.tensor([1.0])
    trace = ff.feed_forward(x, w1, b1, w2, b2)
    assert trace.before.tolist() == [3.5, -5.0]  # 1·1 + −2·−1 + ½ and 1·3 + −2·4
    assert trace.hidden.tolist() == [3.5, 0.0]
    assert trace.output.tolist() == [8.0]  # 3.5·2 + 0·7 + 1


@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
@pytest.mark.parametrize("name", NAMES)
def test_backward_is_that_of_autograd(lead, name):
    x, (w1, b1, w2, b2) = random(*lead, 5, seed=4), weights()
    grad_output = random(*lead, 5, seed=5)
    ours = ff.feed_forward_backward(ff.feed_forward(x, w1, b1, w2, b2, name), x, w1, w2, grad_output, name)
    leaves = [t.clone().requires_grad_() for t in (x, w1, b1, w2, b2)]
    before = F.linear(leaves[0], leaves[1].T, leaves[2])
    hidden = PYTORCHS[name](before)
    output = F.linear(hidden, leaves[3].T, leaves[4])
    expected = torch.autograd.grad(output, [*leaves, hidden, before], grad_output)
    found = (ours.d_x, ours.d_w1, ours.d_b1, ours.d_w2, ours.d_b2, ours.d_hidden, ours.d_before)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b)


@given(seed=st.integers(0, 1000), token=st.integers(0, 5))
def test_a_token_sees_no_other(seed, token):
    x, (w1, b1, w2, b2) = random(6, 5, seed=seed), weights()
    changed = x.clone()
    changed[token] += 1
    difference = ff.feed_forward(changed, w1, b1, w2, b2).output - ff.feed_forward(x, w1, b1, w2, b2).output
    moved = difference.abs().amax(-1) > 0
    assert moved.tolist() == [i == token for i in range(6)]


@pytest.mark.parametrize("lead", [(), (2, 3)])
def test_swiglu_is_that_of_hugging_faces_llama(lead):
    w1, w3, w2 = random(5, 7), random(5, 7, seed=1), random(7, 5, seed=2)
    theirs = llamas(5, 7).double()
    with torch.no_grad():
        theirs.gate_proj.weight.copy_(w1.T)
        theirs.up_proj.weight.copy_(w3.T)
        theirs.down_proj.weight.copy_(w2.T)
    x = random(*lead, 5, seed=3)
    trace = ff.swiglu(x, w1, w3, w2)
    torch.testing.assert_close(trace.output, theirs(x))
    torch.testing.assert_close(trace.gate, F.silu(x @ w1))
    torch.testing.assert_close(trace.hidden, trace.gate * trace.value)


def test_counts_are_those_of_modules():
    for d, d_ff in ((5, 7), (16, 64)):
        for bias in (True, False):
            module = nn.Sequential(nn.Linear(d, d_ff, bias=bias), nn.ReLU(), nn.Linear(d_ff, d, bias=bias))
            count = sum(p.numel() for p in module.parameters())
            assert ff.feed_forward_parameters(d, d_ff, bias) == count
        theirs = llamas(d, d_ff)
        assert ff.swiglu_parameters(d, d_ff) == sum(p.numel() for p in theirs.parameters())


def test_widths_of_published_models():
    assert ff.swiglu_width(4096, 256) == 11008  # LLaMA 7B
    assert ff.swiglu_width(5120, 256) == 13824  # LLaMA 13B
    assert ff.swiglu_width(576) == 1536  # SmolLM2-135M
    assert ff.swiglu_parameters(768, ff.swiglu_width(768)) == ff.feed_forward_parameters(
        768, 4 * 768, bias=False
    )


def test_what_cannot_be_done_is_refused():
    with pytest.raises(ValueError, match="called 'tanh'"):
        ff.feed_forward(random(5), *weights(), "tanh")
    for arguments in ((0, 1), (8, 0)):
        with pytest.raises(ValueError, match="needs d"):
            ff.swiglu_width(*arguments)
