import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention.shapes import batch_shapes


def steps(*sizes, seed=0):
    return {s.name: s for s in batch_shapes(torch.Generator().manual_seed(seed), *sizes)}


def test_the_shapes_of_the_batch_in_the_notes():
    found = {name: step.shape for name, step in steps().items()}
    for name in "qkv":
        assert found[f"w_{name}"] == (512, 512)
        assert found[name] == (4, 16, 512)
        assert found[f"{name}_apart"] == (4, 16, 8, 64)
        assert found[f"{name}_heads"] == (4, 8, 16, 64)
    assert found["x"] == found["joined"] == (4, 16, 512)
    assert found["scores"] == found["weights"] == (4, 8, 16, 16)
    assert found["head_outputs"] == (4, 8, 16, 64)
    assert found["back"] == (4, 16, 8, 64)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 4), st.integers(1, 5))
def test_every_step_is_what_its_line_of_code_gives(batch, tokens, n_heads, d_head):
    found = steps(batch, tokens, n_heads * d_head, n_heads)
    held = {name: step.tensor for name, step in found.items()}
    held |= {
        "B": batch,
        "T": tokens,
        "H": n_heads,
        "d_head": d_head,
        "d_model": n_heads * d_head,
        "math": math,
    }
    for step in found.values():
        if step.operation:
            torch.testing.assert_close(eval(step.operation, {}, held), step.tensor)


def test_the_axes_name_the_sizes():
    sizes = {"batch": 2, "tokens": 3, "d_model": 20, "heads": 4, "d_head": 5, "queries": 3, "keys": 3}
    for step in steps(2, 3, 20, 4).values():
        assert step.shape == tuple(sizes[axis] for axis in step.axes)


def test_the_result_is_pytorchs():
    found = {name: step.tensor for name, step in steps(2, 5, 12, 3).items()}
    heads = (found[n].reshape(2, 5, 3, 4).permute(0, 2, 1, 3) for n in "qkv")
    expected = F.scaled_dot_product_attention(*heads).permute(0, 2, 1, 3).reshape(2, 5, 12)
    torch.testing.assert_close(found["joined"], expected)


def test_seeds_repeat_and_sizes_are_checked():
    assert torch.equal(steps(seed=1)["joined"].tensor, steps(seed=1)["joined"].tensor)
    assert not torch.equal(steps(seed=1)["x"].tensor, steps(seed=2)["x"].tensor)
    with pytest.raises(ValueError, match="must divide"):
        steps(4, 16, 10, 3)
    with pytest.raises(ValueError, match="at least 1"):
        steps(0)
