"""Past the trained length: pairs counted by hand, the fit against NumPy's least squares, scores against complex numbers."""

import math

import numpy as np
import pytest
import torch

from core.block.extrapolation import (
    even_head,
    fit_head,
    nearer_is_better,
    range_test,
    scores_of,
    unseen_angles,
    wavelengths,
)
from core.block.frequencies import inverse_frequencies, ntk_aware, position_interpolation, yarn


def test_a_full_turn_takes_a_wavelength():
    theta = inverse_frequencies(8, 10000.0, dtype=torch.float64)
    turns = torch.polar(torch.ones(4, dtype=torch.float64), theta * wavelengths(theta))
    torch.testing.assert_close(turns, torch.ones(4, dtype=torch.complex128))
    assert wavelengths(theta)[0] == pytest.approx(6.283185307179586)
    assert wavelengths(theta)[3] == pytest.approx(2000 * math.pi)


def test_unseen_angles_counted_by_hand():
    # Trained on 100 positions: largest angles 200, 5, 1 radian. The first has turned fully and has seen them all.
    plain = torch.tensor([2.0, 0.05, 0.01])
    assert unseen_angles(plain, plain, 100, 200).tolist() == [False, True, True]
    assert unseen_angles(plain, plain, 100, 100).tolist() == [False, False, False]
    assert unseen_angles(plain, plain / 2, 100, 200).tolist() == [False, False, False]
    assert unseen_angles(plain, torch.tensor([2.0, 0.02, 0.009]), 100, 200).tolist() == [False, False, True]


@pytest.mark.parametrize("d", [16, 64, 128])
@pytest.mark.parametrize("s", [2.0, 8.0, 32.0])
def test_interpolation_and_yarn_meet_no_new_angle_and_plain_rope_does(d, s):
    length = 2048
    plain = inverse_frequencies(d, dtype=torch.float64)
    slow = plain * length < 2 * math.pi
    assert torch.equal(unseen_angles(plain, plain, length, s * length), slow)
    for calm in (position_interpolation, lambda *a, dtype: yarn(*a, length, dtype=dtype)[0]):
        assert not unseen_angles(plain, calm(d, 10000.0, s, dtype=torch.float64), length, s * length).any()
    ntk = unseen_angles(plain, ntk_aware(d, 10000.0, s, dtype=torch.float64), length, s * length)
    assert torch.equal(ntk[:-1], slow[:-1])  # all slow pairs but the slowest, which is exactly s times slower
    assert not ntk[-1]


@pytest.mark.parametrize(("d", "length"), [(16, 512), (64, 1000)])
def test_the_fit_is_the_ridge_regression_that_numpy_finds(d, length):
    theta = inverse_frequencies(d, dtype=torch.float64)
    head = fit_head(theta, length)
    x = np.arange(length, dtype=float)
    angles = x[:, None] * theta.numpy()
    design = np.concatenate([np.cos(angles), -np.sin(angles)], 1)
    target = 1 - 2 * np.log(1 + x) / np.log(1 + length)
    # Ridge as ordinary least squares with rows of its own for the penalty.
    stacked = np.concatenate([design, np.sqrt(1e-6 * length) * np.eye(d)])
    found = np.linalg.lstsq(stacked, np.concatenate([target, np.zeros(d)]), rcond=None)[0]
    np.testing.assert_allclose(head.q.numpy(), found, rtol=1e-5, atol=1e-6)
    assert np.sqrt(np.mean((design @ head.q.numpy() - target) ** 2)) < 0.06
    np.testing.assert_allclose(nearer_is_better(torch.from_numpy(x), length).numpy(), target)


def test_scores_are_those_of_complex_numbers():
    theta = inverse_frequencies(16, dtype=torch.float64)
    head = fit_head(theta, 512)
    distances = torch.tensor([0, 3, 700, 4000])
    turned = torch.complex(head.q[:8], head.q[8:]) * torch.polar(
        torch.ones(4, 8, dtype=torch.float64), distances[:, None] * theta
    )
    torch.testing.assert_close(scores_of(head, distances, theta), turned.real.sum(-1))
    torch.testing.assert_close(scores_of(head, distances, theta, 1.5), 2.25 * turned.real.sum(-1))


def test_plain_rope_leaves_its_range_and_interpolation_does_not():
    theta = inverse_frequencies(128, dtype=torch.float64)
    head = fit_head(theta, 4096)
    inside, beyond = torch.arange(4096), torch.arange(4096, 8 * 4096, 7)
    within = scores_of(head, inside, theta).abs().max()
    assert within < 1.1
    assert scores_of(head, beyond, theta).abs().max() > 5
    assert scores_of(head, beyond, position_interpolation(128, 10000.0, 8, torch.float64)).abs().max() < 1.1


def test_a_length_without_distances_is_refused():
    with pytest.raises(ValueError, match="trained length"):
        fit_head(torch.ones(2), 1)


def test_the_even_head_sums_cosines():
    theta = inverse_frequencies(32, dtype=torch.float64)
    distances = np.array([0, 1, 17, 300])
    expected = np.cos(distances[:, None] * theta.numpy()).mean(-1)
    np.testing.assert_allclose(scores_of(even_head(32), torch.from_numpy(distances), theta).numpy(), expected)


def test_the_range_counted_by_hand():
    # One pair, a quarter turn in training: scores cos(0), cos(π/8), cos(π/4), cos(3π/8); then down to −1 and up again.
    head, plain = even_head(2), torch.tensor([math.pi / 8], dtype=torch.float64)
    test = range_test(head, plain, plain, 4, 16)
    beyond = [math.cos(math.pi / 8 * t) for t in range(4, 16)]
    assert (test.low, test.high) == pytest.approx((math.cos(3 * math.pi / 8), 1))
    assert (test.least, test.most) == pytest.approx((-1, max(beyond)))
    assert test.outside == pytest.approx(sum(x < test.low - 1e-9 for x in beyond) / 12)
    assert test.near == pytest.approx(1 - math.cos(math.pi))
    slowed = range_test(head, plain, plain / 4, 4, 16, attention_factor=2.0)
    assert (slowed.least, slowed.most) == pytest.approx(
        (4 * math.cos(15 * math.pi / 32), 4 * math.cos(math.pi / 8))
    )


def test_interpolation_stays_in_range_and_blurs_the_neighbours_yarn_does_not():
    plain = inverse_frequencies(64, dtype=torch.float64)
    slow, (mixed, factor) = (
        position_interpolation(64, 10000.0, 8, torch.float64),
        yarn(64, 10000.0, 8, 2048, dtype=torch.float64),
    )
    tests = [
        range_test(even_head(64), plain, *way)
        for way in ((plain, 2048, 16384), (slow, 2048, 16384), (mixed, 2048, 16384, factor))
    ]
    assert tests[0].outside > 0.2
    assert tests[1].outside == pytest.approx(0, abs=1e-3)
    assert 0 < tests[2].outside < 0.05
    assert tests[1].near < tests[0].near / 5
    assert tests[2].near > tests[0].near


def test_a_text_that_is_not_longer_has_no_beyond():
    with pytest.raises(ValueError, match="not beyond"):
        range_test(even_head(2), torch.ones(1), torch.ones(1), 8, 8)
