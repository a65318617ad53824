import cmath
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from core.block.frequencies import inverse_frequencies
from core.block.rope import (
    apply_rope,
    compare_layouts,
    decay_bound,
    half_from_interleaved,
    interleaved_from_half,
    scores_by_distance,
)

DOUBLE = torch.float64
LAYOUTS = ["half", "interleaved"]


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE)


def frequencies(d=8, base=10000.0):
    return inverse_frequencies(d, base, dtype=DOUBLE)


def as_complex(x, positions, inv_freq):
    """The paper's own way: a pair is a complex number, multiplied by e^(i t θ)."""
    turned = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * torch.polar(
        torch.ones_like(inv_freq), positions[..., None].double() * inv_freq
    )
    return torch.view_as_real(turned).flatten(-2)


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_interleaved_is_multiplication_by_complex_numbers(lead):
    x, positions = random(*lead, 5, 8), torch.arange(5)
    found = apply_rope(x, positions, frequencies(), "interleaved")
    torch.testing.assert_close(found, as_complex(x, positions, frequencies()))


@pytest.mark.parametrize("positions", [torch.arange(5), torch.tensor([3, 0, 900, 7, 7])])
def test_half_is_that_of_hugging_faces_llama(positions):
    q, k = random(2, 3, 5, 8), random(2, 3, 5, 8, seed=1)
    angles = positions[:, None] * frequencies()
    both = torch.cat([angles, angles], -1)[None]  # [1, T, d]
    expected = apply_rotary_pos_emb(q, k, both.cos(), both.sin())
    for x, turned in zip((q, k), expected, strict=True):
        torch.testing.assert_close(apply_rope(x, positions, frequencies()), turned)


def test_a_quarter_turn_by_hand():
    x = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    inv_freq = torch.tensor([math.pi / 2, math.pi])  # at position 1: a quarter and a half turn
    one = torch.tensor([1])
    torch.testing.assert_close(apply_rope(x, one, inv_freq, "half"), torch.tensor([[-3.0, -2.0, 1.0, -4.0]]))
    torch.testing.assert_close(
        apply_rope(x, one, inv_freq, "interleaved"), torch.tensor([[-2.0, 1.0, -3.0, -4.0]])
    )


@given(
    seed=st.integers(0, 1000),
    query=st.integers(0, 500),
    key=st.integers(0, 500),
    shift=st.integers(0, 5000),
    layout=st.sampled_from(LAYOUTS),
)
def test_a_score_depends_on_the_distance_alone(seed, query, key, shift, layout):
    q, k = random(1, 8, seed=seed), random(1, 8, seed=seed + 1)

    def score(m, n):
        turned_q = apply_rope(q, torch.tensor([m]), frequencies(), layout)
        turned_k = apply_rope(k, torch.tensor([n]), frequencies(), layout)
        return turned_q @ turned_k.mT

    torch.testing.assert_close(score(query, key), score(query + shift, key + shift), rtol=0, atol=1e-9)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lengths_stay_and_position_0_changes_nothing(layout):
    x = random(2, 6, 8)
    turned = apply_rope(x, torch.arange(6), frequencies(), layout)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(turned[:, 0], x[:, 0])
    assert not torch.allclose(turned[:, 1], x[:, 1])


def test_far_positions_keep_their_digits_in_float32():
    x, far = torch.ones(1, 2), torch.tensor([2_000_001])
    found = apply_rope(x, far, torch.tensor([0.1], dtype=DOUBLE))
    exact = [math.cos(200000.1) - math.sin(200000.1), math.sin(200000.1) + math.cos(200000.1)]
    torch.testing.assert_close(found, torch.tensor([exact]), rtol=0, atol=1e-6)
    assert found.dtype == torch.float32


def test_positions_may_differ_within_a_batch_and_frequencies_by_position():
    x = random(2, 3, 8)
    positions = torch.tensor([[0, 1, 2], [5, 6, 9]])
    found = apply_rope(x, positions, frequencies())
    for b in range(2):
        torch.testing.assert_close(found[b], apply_rope(x[b], positions[b], frequencies()))
    by_place = torch.stack([frequencies(), frequencies() / 2, frequencies() / 4])  # [T, d/2]
    found = apply_rope(x[0], torch.tensor([4, 4, 4]), by_place)
    expected = [apply_rope(x[0, i : i + 1], torch.tensor([4]), by_place[i])[0] for i in range(3)]
    torch.testing.assert_close(found, torch.stack(expected))


@pytest.mark.parametrize("d", [2, 4, 8, 64])
def test_layouts_are_the_same_up_to_a_permutation(d):
    x, positions = random(5, d), torch.arange(5)
    order = half_from_interleaved(d)
    half = apply_rope(x[:, order], positions, frequencies(d), "half")
    interleaved = apply_rope(x, positions, frequencies(d), "interleaved")
    torch.testing.assert_close(half, interleaved[:, order])
    torch.testing.assert_close(half[:, interleaved_from_half(d)], interleaved)
    assert half_from_interleaved(8).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    assert interleaved_from_half(8).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


def test_permuted_columns_are_right_and_the_two_mistakes_are_not():
    # The same query and key at every place, so that a score can only depend on where they stand.
    q, k = random(1, 8).expand(6, 8), random(1, 8, seed=1).expand(6, 8)
    trace = compare_layouts(q, k, torch.arange(6), frequencies(8, 100.0))
    expected = (
        as_complex(q, torch.arange(6), frequencies(8, 100.0))
        @ as_complex(k, torch.arange(6), frequencies(8, 100.0)).mT
    )
    torch.testing.assert_close(trace.interleaved, expected)
    torch.testing.assert_close(trace.half, expected)
    assert (trace.unpermuted - expected).abs().max() > 0.5
    assert (trace.mixed - expected).abs().max() > 0.5

    def by_distance_alone(scores):
        return all((scores.diagonal(i) - scores.diagonal(i)[0]).abs().max() < 1e-12 for i in range(-4, 5))

    assert by_distance_alone(trace.half)
    assert by_distance_alone(trace.unpermuted)
    assert not by_distance_alone(trace.mixed)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_by_distance_are_those_of_turning_both(layout):
    q, k, distances = random(8), random(8, seed=1), torch.arange(-3, 40)
    trace = scores_by_distance(q, k, distances, frequencies(), layout, attention_factor=1.1)
    for distance, score in zip(distances.tolist(), trace.scores, strict=True):
        turned_q = apply_rope(q[None], torch.tensor([100 + distance]), frequencies(), layout, 1.1)
        turned_k = apply_rope(k[None], torch.tensor([100]), frequencies(), layout, 1.1)
        torch.testing.assert_close(score, (turned_q @ turned_k.mT).squeeze())
    torch.testing.assert_close(trace.by_pair.sum(-1), trace.scores)
    at_zero = trace.by_pair[3]
    pairs = (q * k)[half_from_interleaved(8)] if layout == "interleaved" else q * k
    torch.testing.assert_close(at_zero, 1.1**2 * (pairs[:4] + pairs[4:]))


def test_the_bound_of_the_paper_sum_by_sum():
    distances = (0, 1, 50, 250)
    bound = decay_bound(torch.tensor(distances), frequencies(16)).tolist()
    for distance, found in zip(distances, bound, strict=True):
        steps = [cmath.exp(1j * distance * 10000 ** (-i / 8)) for i in range(8)]
        assert found == pytest.approx(sum(abs(sum(steps[: n + 1])) for n in range(8)) / 8)
    assert bound[0] == (1 + 8) / 2  # nothing is turned: |S_i| = i
    assert bound == sorted(bound, reverse=True)


def test_wrong_shapes_and_layouts_are_refused():
    with pytest.raises(ValueError, match="8 columns cannot be turned by 3"):
        apply_rope(random(5, 8), torch.arange(5), torch.ones(3))
    with pytest.raises(ValueError, match="layout must be"):
        apply_rope(random(5, 8), torch.arange(5), frequencies(), "whole")
