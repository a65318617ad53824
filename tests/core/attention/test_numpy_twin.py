import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention import dot_product, numpy_twin

SHAPES = [((), 4, 4, 8, 8), ((), 3, 7, 2, 5), ((2,), 6, 2, 3, 4), ((2, 3), 5, 4, 8, 1)]
FORWARD = ("scores", "scaled", "masked", "weights", "output")
BACKWARD = ("d_v", "d_weights", "d_scores", "d_q", "d_k")


def draw(lead, t_q, t_k, d_k, d_v, seed=0):
    rng = np.random.default_rng(seed)
    q, k, v = (rng.standard_normal((*lead, *s)) for s in ((t_q, d_k), (t_k, d_k), (t_k, d_v)))
    mask = rng.random((*lead, t_q, t_k)) > 0.4
    mask[..., 0, :] = False  # a query with nothing to attend to
    return q, k, v, mask, rng.standard_normal((t_q, t_k)), rng.standard_normal((*lead, t_q, d_v))


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_twin_is_the_core_and_autograd(shape, masked, biased):
    q, k, v, mask, bias, grad_output = draw(*shape)
    mask, bias = mask if masked else None, bias if biased else None
    twin = numpy_twin.attention(q, k, v, mask, bias=bias)
    tensors = [torch.from_numpy(x).requires_grad_() for x in (q, k, v)]
    as_tensor = [None if x is None else torch.from_numpy(x) for x in (mask, bias)]
    core = dot_product.attention(*tensors, as_tensor[0], bias=as_tensor[1])
    for name in FORWARD:
        close(getattr(twin, name), getattr(core, name))
    assert twin.scale == core.scale

    back = numpy_twin.attention_backward(twin, q, k, v, grad_output)
    ours = dot_product.attention_backward(core, *tensors, torch.from_numpy(grad_output))
    inputs = (tensors[2], core.weights, core.scaled, tensors[0], tensors[1])
    theirs = torch.autograd.grad(core.output, inputs, torch.from_numpy(grad_output))
    for name, by_autograd in zip(BACKWARD, theirs, strict=True):
        close(getattr(back, name), getattr(ours, name))
        close(getattr(back, name), by_autograd)


def test_twin_is_pytorchs_own_attention():
    q, k, v, mask, _, _ = draw((2, 3), 5, 4, 8, 6)
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (q, k, v)), attn_mask=torch.from_numpy(mask), scale=0.3
    )
    close(numpy_twin.attention(q, k, v, mask, scale=0.3).output, theirs)


def test_published_numbers():
    np.testing.assert_allclose(
        numpy_twin.masked_softmax(np.array([5.0, 3, 2])), [0.8438, 0.1142, 0.0420], atol=5e-5
    )
    scores = np.array(
        [[0.9, 0.3, 0.1, 0.05], [0.4, 0.8, 0.2, 0.1], [0.2, 0.3, 0.7, 0.25], [0.15, 0.2, 0.3, 0.85]]
    )
    expected = [
        [1, 0, 0, 0],
        [0.4013, 0.5987, 0, 0],
        [0.2664, 0.2944, 0.4392, 0],
        [0.1913, 0.2011, 0.2223, 0.3853],
    ]
    np.testing.assert_allclose(numpy_twin.masked_softmax(scores, np.tri(4) > 0), expected, atol=5e-5)


def test_nothing_to_attend_to_gives_zeros_without_a_warning():
    with np.errstate(all="raise"):
        weights = numpy_twin.masked_softmax(np.zeros((2, 3)), np.array([[False] * 3, [True] * 3]))
    np.testing.assert_array_equal(weights, [[0, 0, 0], [1 / 3] * 3])


def test_the_transpose_trap():
    k = np.arange(6.0).reshape(2, 3)
    assert k.transpose(-2, -1).shape == (2, 3), "the same array: (-2, -1) is the order it already has"
    with pytest.raises(ValueError, match="matmul"):
        k @ k.transpose(-2, -1)
    np.testing.assert_array_equal(k @ numpy_twin.transposed(k), [[5, 14], [14, 50]])
    square = k[:, :2]
    np.testing.assert_array_equal(square @ square.transpose(-2, -1), square @ square)
    batch = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(
        numpy_twin.transposed(batch), torch.from_numpy(batch).transpose(-2, -1).numpy()
    )


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 6), st.floats(0, 300))
def test_rows_sum_to_one_or_zero(seed, t_q, t_k, size):
    rng = np.random.default_rng(seed)
    scores, mask = rng.standard_normal((t_q, t_k)) * size, rng.random((t_q, t_k)) > 0.5
    weights = numpy_twin.masked_softmax(scores, mask)
    np.testing.assert_allclose(weights.sum(-1), mask.any(-1), atol=1e-12)
    assert not weights[~mask].any()
