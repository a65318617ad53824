import pytest
import torch

from core.attention.multi_head import MultiHeadAttention
from core.attention.pytorch_multi_head import as_pytorch, batch_first_trap


def module(bias=True):
    return MultiHeadAttention.seeded(torch.Generator().manual_seed(0), 8, 2, bias=bias, dtype=torch.float64)


def batch(b=3, t=5):
    return torch.randn(b, t, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_the_trap_by_numbers():
    x = batch()
    trace = batch_first_trap(module(), x)
    ours = module()
    torch.testing.assert_close(trace.right, ours(x).output)
    # What it does when not told: attend over the sentences, place by place.
    across = ours(x.transpose(0, 1))
    torch.testing.assert_close(trace.wrong, across.output.transpose(0, 1))
    torch.testing.assert_close(trace.wrong_heads, across.weights)
    # The means over the heads are what the layer itself returns.
    told, untold = (as_pytorch(ours, batch_first) for batch_first in (True, False))
    torch.testing.assert_close(trace.right_weights, told(x, x, x)[1])
    torch.testing.assert_close(trace.wrong_weights, untold(x, x, x)[1])
    assert trace.right_weights.shape == (3, 5, 5)
    assert trace.wrong_weights.shape == (5, 3, 3)
    assert trace.wrong.shape == trace.right.shape
    assert trace.deviation == (trace.right - trace.wrong).abs().max()
    assert trace.deviation > 0.1
    assert trace.right_leak == 0
    assert trace.wrong_leak > 0.1


def test_the_leak_is_measured_on_the_first_sentence():
    x = batch(2, 4)
    other = torch.stack([x[0], -x[1]])
    layer = torch.nn.MultiheadAttention(8, 2, dtype=torch.float64)
    layer.load_state_dict(as_pytorch(module(), batch_first=False).state_dict())
    expected = (layer(x, x, x)[0] - layer(other, other, other)[0])[0].abs().max().item()
    assert batch_first_trap(module(), x).wrong_leak == pytest.approx(expected)


def test_x_and_the_global_generator_are_untouched():
    x, before = batch(), torch.get_rng_state()
    kept = x.clone()
    batch_first_trap(module(), x)
    assert torch.equal(x, kept)
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("shape", [(1, 5, 8), (5, 8)])
def test_a_single_sentence_is_refused(shape):
    with pytest.raises(ValueError, match="two sentences"):
        batch_first_trap(module(), torch.zeros(shape, dtype=torch.float64))
