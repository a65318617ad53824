from dataclasses import fields

import numpy as np
import pytest
import torch

from core.attention import numpy_twin
from core.attention.multi_head import MultiHeadAttention
from core.attention.pytorch_multi_head import as_pytorch

NAMES = tuple(f.name for f in fields(numpy_twin.NumpyProjections))


def close(ours, theirs):
    theirs = theirs.detach().numpy() if isinstance(theirs, torch.Tensor) else theirs
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def draw(*shape, seed):
    return np.random.default_rng(seed).standard_normal(shape)


def module_and_twin(n_kv_heads, bias):
    generator = torch.Generator().manual_seed(0)
    module = MultiHeadAttention.seeded(generator, 12, 6, n_kv_heads, bias, torch.float64)
    linears = (module.w_q, module.w_k, module.w_v, module.w_o)
    if bias:
        with torch.no_grad():
            for i, linear in enumerate(linears):
                linear.bias.copy_(torch.from_numpy(draw(*linear.bias.shape, seed=20 + i)))
    arrays = [linear.weight.detach().numpy() for linear in linears]
    arrays += [linear.bias.detach().numpy() for linear in linears] if bias else []
    return module, linears, numpy_twin.NumpyProjections(*arrays)


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_twin_is_the_core_and_autograd(lead, n_kv_heads, bias, masked):
    module, linears, p = module_and_twin(n_kv_heads, bias)
    x, context = draw(*lead, 4, 12, seed=1), draw(*lead, 5, 12, seed=2)
    mask = np.random.default_rng(3).random((*lead, 6, 4, 5)) > 0.4 if masked else None
    by_head = draw(6, 4, 5, seed=4) if masked else None
    if masked:
        mask[..., 0, :] = False  # a query with nothing to attend to
    grad_output = draw(*lead, 4, 12, seed=5)

    twin = numpy_twin.multi_head(x, context, p, 6, n_kv_heads, mask, by_head)
    inputs = [torch.from_numpy(a).requires_grad_() for a in (x, context)]
    extra = {} if mask is None else {"mask": torch.from_numpy(mask), "bias": torch.from_numpy(by_head)}
    core = module(*inputs, **extra)
    close(twin.q, core.q)
    for name in ("scores", "scaled", "masked", "weights"):
        close(getattr(twin.heads, name), getattr(core, name))
    close(twin.heads.output, core.head_outputs)
    close(twin.concatenated, core.concatenated)
    close(twin.output, core.output)

    back = numpy_twin.multi_head_backward(twin, x, context, p, n_kv_heads, grad_output)
    learned = [w.weight for w in linears] + ([w.bias for w in linears] if bias else [])
    wanted = (*inputs, core.weights, *learned)
    d_x, d_context, d_weights, *d_learned = torch.autograd.grad(
        core.output, wanted, torch.from_numpy(grad_output)
    )
    close(back.d_x, d_x)
    close(back.d_context, d_context)
    close(back.heads.d_weights, d_weights)
    for name, expected in zip(NAMES, d_learned, strict=False):
        close(getattr(back.projections, name), expected)


def test_in_self_attention_the_two_ways_back_add_up_to_pytorchs_gradient():
    module, _, p = module_and_twin(6, True)
    x, grad_output = draw(3, 4, 12, seed=1), draw(3, 4, 12, seed=2)
    causal = np.tri(4) > 0
    twin = numpy_twin.multi_head(x, x, p, 6, 6, causal)
    back = numpy_twin.multi_head_backward(twin, x, x, p, 6, grad_output)
    theirs, given = as_pytorch(module), torch.from_numpy(x).requires_grad_()
    output, _ = theirs(given, given, given, attn_mask=torch.from_numpy(~causal))
    close(twin.output, output)
    inputs = (given, theirs.in_proj_weight, theirs.in_proj_bias, theirs.out_proj.weight, theirs.out_proj.bias)
    d_x, d_in, d_in_bias, d_out, d_out_bias = torch.autograd.grad(
        output, inputs, torch.from_numpy(grad_output)
    )
    close(back.d_x + back.d_context, d_x)
    close(np.concatenate([back.projections.w_q, back.projections.w_k, back.projections.w_v]), d_in)
    close(np.concatenate([back.projections.b_q, back.projections.b_k, back.projections.b_v]), d_in_bias)
    close(back.projections.w_o, d_out)
    close(back.projections.b_o, d_out_bias)


def test_split_and_join_by_hand():
    x = np.arange(8).reshape(2, 4)
    assert numpy_twin.split_heads(x, 2).tolist() == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
    np.testing.assert_array_equal(numpy_twin.join_heads(numpy_twin.split_heads(x, 2)), x)
