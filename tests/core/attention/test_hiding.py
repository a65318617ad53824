import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention.hiding import DTYPES, WAYS, hide, mask_conventions
from core.attention.masks import causal

DOUBLE, SINGLE, HALF = DTYPES
SCORES = torch.tensor([2.0, 1.0, 0.5], dtype=DOUBLE)
THIRD = [1 / 3] * 3
NAN = [math.nan] * 3
# By hand: exp of 2, 1 and 0.5 over their sum 11.7561.
UNMASKED = [
    x / (math.exp(2) + math.exp(1) + math.exp(0.5)) for x in (math.exp(2), math.exp(1), math.exp(0.5))
]


def found(scores, keep, dtypes=DTYPES):
    return {(h.way, h.dtype): h for h in hide(scores, torch.tensor(keep), dtypes)}


def close(a, b, atol=1e-12):
    torch.testing.assert_close(a.double(), torch.tensor(b, dtype=DOUBLE), rtol=0, atol=atol, equal_nan=True)


@pytest.mark.parametrize(
    ("way", "double", "single", "half"),
    [
        ("plain", UNMASKED, UNMASKED, UNMASKED),
        ("minus_infinity", NAN, NAN, NAN),
        ("fill_large", THIRD, THIRD, None),
        ("add_large", UNMASKED, THIRD, NAN),
        ("pytorch_function", [0, 0, 0], [0, 0, 0], [0, 0, 0]),
        ("pytorch_layer", NAN, NAN, NAN),
        ("ours", [0, 0, 0], [0, 0, 0], [0, 0, 0]),
    ],
)
def test_a_row_with_every_key_hidden(way, double, single, half):
    row = found(SCORES, [False] * 3)
    for dtype, expected, atol in ((DOUBLE, double, 1e-7), (SINGLE, single, 1e-6), (HALF, half, 1e-3)):
        result = row[way, dtype]
        if expected is None:
            assert result.weights is None
            assert "overflow" in result.error
        else:
            assert result.error is None
            assert result.weights.dtype == dtype
            close(result.weights, expected, atol)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 6), st.data())
def test_all_ways_agree_while_a_key_is_left(seed, t, data):
    scores = torch.randn(t, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE) * 3
    keep = data.draw(st.lists(st.booleans(), min_size=t, max_size=t).filter(any))
    exps = [math.exp(s) if kept else 0.0 for s, kept in zip(scores.tolist(), keep, strict=True)]
    expected = [e / sum(exps) for e in exps]
    for (way, dtype), result in found(scores, keep).items():
        if way == "plain" or (way, dtype) == ("fill_large", HALF):
            continue
        close(result.weights, expected, 1e-12 if dtype == DOUBLE else 1e-6 if dtype == SINGLE else 5e-3)


def test_float16_refuses_the_number_even_when_there_is_nothing_to_hide():
    assert torch.finfo(HALF).max == 65504
    assert found(SCORES, [True] * 3)["fill_large", HALF].weights is None


def test_in_float32_the_spread_is_even_only_by_rounding():
    # Neighbours of 1e9 lie 64 apart in float32: scores that differ by more than that show again.
    apart = found(torch.tensor([200.0, 0, 0]), [False] * 3)["add_large", SINGLE].weights
    close(apart, [1.0, 0, 0], 1e-6)


def test_every_way_is_tried_in_every_type():
    assert list(found(SCORES, [True, False, True])) == [(way, dtype) for way in WAYS for dtype in DTYPES]
    assert len(found(SCORES, [True, False, True], [SINGLE])) == len(WAYS)


@pytest.mark.parametrize("keep", [[True, False], [[True, False, True]], [1, 0, 1]])
def test_what_is_no_row_is_refused(keep):
    with pytest.raises(ValueError, match="row"):
        hide(SCORES, torch.tensor(keep))


def test_the_two_conventions_are_opposite():
    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0), dtype=DOUBLE)
    mask = causal(4)
    before = torch.get_rng_state()
    both = mask_conventions(x, mask)
    assert torch.equal(before, torch.get_rng_state())
    meant = torch.softmax((x @ x.T / math.sqrt(6)).masked_fill(~mask, -torch.inf), -1)
    opposite = torch.softmax((x @ x.T / math.sqrt(6)).masked_fill(mask, -torch.inf), -1)
    torch.testing.assert_close(both.function, meant)
    torch.testing.assert_close(both.layer_negated, meant)
    torch.testing.assert_close(both.layer, opposite, equal_nan=True)
    # The last query has nothing left under the negated mask: zeros from one, NaN from the other.
    torch.testing.assert_close(both.function_negated[:3], opposite[:3])
    assert not both.function_negated[3].any()
    assert both.layer[3].isnan().all()
    assert not (both.layer[:3] * mask[:3]).any(), "the mask read the wrong way looks at the future alone"
