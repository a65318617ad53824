"""The check says "equal" only where it is, and the transpose trap is NumPy's own behaviour."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from core.attention import masks
from core.attention.dot_product import attention
from ui.checks.attention import attention_checks, transpose_trap
from ui.checks.check import Check, largest_difference
from ui.result import Array, Result


def result(tokens: int = 6, width: int = 8, scale: float = 0.3, empty_row: bool = False) -> Result:
    generator = torch.Generator().manual_seed(1)
    q, k, v = torch.randn(3, tokens, width, generator=generator, dtype=torch.float64)
    allowed = masks.causal(tokens)
    if empty_row:
        allowed[0] = False
    trace = attention(q, k, v, allowed, scale=scale)
    arrays = {"q": q, "k": k, "v": v, "weights": trace.weights, "output": trace.output}
    named = {
        name: Array(value.numpy(), tuple("abcdef"), (), ("query", "feature"))
        for name, value in arrays.items()
    }
    return Result({}, named, {"scale": scale}, hidden=~allowed.numpy())


def spoiled(good: Result, name: str, values: np.ndarray) -> Result:
    return replace(good, arrays=good.arrays | {name: replace(good.arrays[name], values=values)})


@pytest.mark.parametrize("empty_row", [False, True])
def test_a_right_result_passes_every_check(empty_row):
    checks = attention_checks(result(empty_row=empty_row))
    assert [c.name for c in checks] == ["output", "weights", "backward", "twin", "twin_backward"]
    assert all(check.holds for check in checks)
    assert max(check.difference for check in checks) < 1e-13


@pytest.mark.parametrize("name", ["output", "weights"])
def test_a_wrong_number_is_found_and_measured(name):
    good = result()
    values = good.values(name).copy()
    values[3, 2] += 1e-6
    found = {c.name: c for c in attention_checks(spoiled(good, name, values))}
    assert not found[name].holds
    assert found[name].difference == pytest.approx(1e-6, rel=1e-6)
    values[3, 2] = np.nan
    found = {c.name: c for c in attention_checks(spoiled(good, name, values))}
    assert np.isnan(found[name].difference)
    assert not found[name].holds


def test_another_scale_than_the_shown_one_is_found():
    good = result()
    assert not attention_checks(replace(good, facts={"scale": 0.31}))[0].holds


@pytest.mark.parametrize(
    ("ours", "theirs", "difference"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.5),
        ([-np.inf, 1.0], [-np.inf, 1.0], 0.0),
        ([-np.inf, 1.0], [np.inf, 1.0], np.inf),
        ([np.nan], [np.nan], 0.0),
        ([np.nan, 9.0], [0.0, 1.0], np.nan),
        ([], [], 0.0),
    ],
)
def test_largest_difference(ours, theirs, difference):
    np.testing.assert_equal(largest_difference((ours, theirs)), difference)


def test_a_nan_in_one_pair_is_not_lost_beside_another():
    assert np.isnan(largest_difference(([np.nan], [1.0]), ([1.0], [3.0])))
    assert not Check("x", float("nan")).holds


def test_arrays_that_only_broadcast_are_refused():
    with pytest.raises(ValueError, match="cannot be compared"):
        largest_difference((np.zeros((2, 3)), np.zeros(3)))


def test_the_trap_raises_for_other_lengths_than_widths():
    trap = transpose_trap(np.ones((6, 8)), np.ones((6, 8)))
    assert trap.shape == (6, 8)
    with pytest.raises(ValueError, match="size 6 is different from 8") as caught:
        np.ones((6, 8)) @ np.ones((6, 8))
    assert trap.error == str(caught.value)


def test_the_trap_is_silent_and_wrong_for_a_square():
    q, k = np.array([[1.0, 0], [0, 1]]), np.array([[0.0, 5], [2, 0]])
    trap = transpose_trap(q, k)  # q k = [[0, 5], [2, 0]], q kᵀ = [[0, 2], [5, 0]]
    assert (trap.error, trap.difference) == ("", 3.0)
