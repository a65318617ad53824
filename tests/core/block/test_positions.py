import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from core.block import positions
from core.block.positions import (
    alibi_bias,
    alibi_slopes,
    learned,
    shift_matrix,
    similarity_at,
    sinusoidal,
)

DOUBLE = torch.float64


def test_published_numbers_of_the_sinusoids():
    pe = sinusoidal(80, 512)
    assert pe.shape == (80, 512)
    assert pe.dtype == torch.float32
    torch.testing.assert_close(pe[1, :4], torch.tensor([0.8415, 0.5403, 0.8219, 0.5697]), rtol=0, atol=5e-5)
    assert (pe[10] @ pe[15]).item() == pytest.approx(189.597, abs=1e-3)
    assert (pe[60] @ pe[65]).item() == pytest.approx(189.597, abs=1e-3)


@pytest.mark.parametrize(("n", "d", "base"), [(1, 2, 10000.0), (7, 6, 100.0), (50, 16, 10000.0)])
def test_sinusoids_number_by_number(n, d, base):
    pe = sinusoidal(n, d, base, DOUBLE)
    for t in range(n):
        for i in range(d // 2):
            angle = t / base ** (2 * i / d)
            assert pe[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert pe[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)


@given(
    delta=st.integers(-300, 300),
    d=st.sampled_from([2, 8, 32]),
    base=st.sampled_from([10.0, 10000.0]),
)
def test_a_shift_is_one_rotation_wherever_one_starts(delta, d, base):
    pe = sinusoidal(700, d, base, DOUBLE)
    rotation = shift_matrix(d, delta, base, DOUBLE)
    starts = torch.arange(300, 400)
    torch.testing.assert_close(pe[starts] @ rotation.mT, pe[starts + delta], rtol=0, atol=1e-10)
    torch.testing.assert_close(rotation @ rotation.mT, torch.eye(d, dtype=DOUBLE), rtol=0, atol=1e-12)
    assert torch.linalg.det(rotation).item() == pytest.approx(1)


def test_the_shift_touches_only_its_own_pair():
    rotation = shift_matrix(6, 5.0)
    assert torch.equal(rotation != 0, torch.block_diag(*[torch.ones(2, 2)] * 3) > 0)


def test_similarity_is_the_dot_product_and_knows_only_the_distance():
    pe = sinusoidal(64, 32, dtype=DOUBLE)
    distances = torch.arange(-20, 21)
    for start in (20, 40):
        torch.testing.assert_close(similarity_at(distances, 32), pe[start + distances] @ pe[start])
    assert similarity_at(torch.tensor([[0]]), 32).tolist() == [[16]]


def test_a_learned_table_ends():
    table = torch.arange(12.0).view(4, 3)
    places = torch.tensor([0, 1, 2])
    assert torch.equal(learned(table, 3), F.embedding(places, table))
    assert torch.equal(learned(table, 4), table)
    with pytest.raises(ValueError, match="4 positions, 5"):
        learned(table, 5)


@pytest.mark.parametrize("d", [0, -2, 5])
def test_widths_without_pairs_are_refused(d):
    with pytest.raises(ValueError, match="even and positive"):
        sinusoidal(3, d)


# ALiBi


def test_published_slopes():
    assert alibi_slopes(8).tolist() == [2.0**-j for j in range(1, 9)]
    twelve = [2.0**-j for j in range(1, 9)] + [0.70711, 0.35355, 0.17678, 0.08839]
    torch.testing.assert_close(alibi_slopes(12), torch.tensor(twelve), rtol=0, atol=5e-6)
    assert alibi_slopes(1).tolist() == [2.0**-8]


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 8, 12, 16, 25, 71, 112])
def test_slopes_are_those_of_bloom(n_heads):
    blooms = build_alibi_tensor(torch.ones(1, 2, dtype=torch.long), n_heads, torch.float32)
    torch.testing.assert_close(alibi_slopes(n_heads), blooms[:, 0, 1])  # the bias at key 1 is the slope


@pytest.mark.parametrize("n_heads", [2, 6])
def test_under_a_causal_mask_the_weights_are_those_of_bloom(n_heads):
    # Bloom adds slope · key position: another number, the same softmax, since a row differs by a constant.
    t = 9
    scores = torch.randn(n_heads, t, t, generator=torch.Generator().manual_seed(0), dtype=DOUBLE)
    future = torch.ones(t, t).triu(1).bool()
    blooms = build_alibi_tensor(torch.ones(1, t, dtype=torch.long), n_heads, DOUBLE)  # [n_heads, 1, t]
    expected = (scores + blooms).masked_fill(future, -torch.inf).softmax(-1)
    found = (scores + alibi_bias(n_heads, t, DOUBLE)).masked_fill(future, -torch.inf).softmax(-1)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-7)  # bloom's slopes are float32


def test_a_bias_written_by_hand():
    expected = [[0, -0.0625, -0.125], [-0.0625, 0, -0.0625], [-0.125, -0.0625, 0]]
    bias = alibi_bias(2, 3)  # slopes 1/16 and 1/256
    assert bias[0].tolist() == expected
    assert (bias[1] * 16).tolist() == expected


def test_no_heads_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        alibi_slopes(0)


def test_every_name_promised_can_be_imported_from_here():
    for name in positions.__all__:
        assert callable(getattr(positions, name))
