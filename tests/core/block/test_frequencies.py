import math

import numpy as np
import pytest
import torch
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from core.block import frequencies
from core.block.frequencies import Scaling, inverse_frequencies, longrope, ntk_aware, spread_factors, yarn

DOUBLE = torch.float64
WIDTHS_AND_BASES = [(8, 10000.0), (64, 10000.0), (128, 500000.0), (64, 100.0)]


def hugging_face(kind, d_head, base, seq_len=None, length=2048, **parameters):
    config = LlamaConfig(
        hidden_size=4 * d_head,
        num_attention_heads=4,
        head_dim=d_head,
        max_position_embeddings=length,
        rope_parameters={"rope_type": kind, "rope_theta": base, **parameters},
    )
    return ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=seq_len)


@pytest.mark.parametrize(("d_head", "base"), WIDTHS_AND_BASES)
def test_plain_frequencies_one_by_one(d_head, base):
    expected = [base ** (-2 * i / d_head) for i in range(d_head // 2)]
    assert inverse_frequencies(d_head, base, dtype=DOUBLE).tolist() == pytest.approx(expected, rel=1e-13)
    assert inverse_frequencies(d_head, base).dtype == torch.float32


@pytest.mark.parametrize(("d_head", "base"), WIDTHS_AND_BASES)
@pytest.mark.parametrize("factor", [1.0, 2.0, 8.0])
def test_interpolation_is_that_of_hugging_face(d_head, base, factor):
    expected, attention_factor = hugging_face("linear", d_head, base, factor=factor)
    found = inverse_frequencies(d_head, base, Scaling("interpolation", factor))
    torch.testing.assert_close(found, expected)
    assert attention_factor == 1


@pytest.mark.parametrize(("d_head", "base"), WIDTHS_AND_BASES)
@pytest.mark.parametrize("factor", [2, 4, 32])
def test_ntk_is_that_of_hugging_face(d_head, base, factor):
    # Their dynamic form with factor 1 stretches by sequence length / trained length.
    expected, _ = hugging_face("dynamic", d_head, base, seq_len=2048 * factor, factor=1.0)
    torch.testing.assert_close(inverse_frequencies(d_head, base, Scaling("ntk", factor)), expected)
    plain = inverse_frequencies(d_head, base, dtype=DOUBLE)
    slower = plain / ntk_aware(d_head, base, factor, DOUBLE)
    assert slower[0].item() == 1
    assert slower[-1].item() == pytest.approx(factor)


@pytest.mark.parametrize(("d_head", "base"), WIDTHS_AND_BASES)
@pytest.mark.parametrize("factor", [1.0, 4.0, 40.0])
@pytest.mark.parametrize("length", [64, 2048, 4096])
@pytest.mark.parametrize("betas", [(32, 1), (16, 2)])
def test_yarn_is_that_of_hugging_face(d_head, base, factor, length, betas):
    expected, expected_attention = hugging_face(
        "yarn",
        d_head,
        base,
        factor=factor,
        original_max_position_embeddings=length,
        beta_fast=betas[0],
        beta_slow=betas[1],
    )
    inv_freq, attention_factor = yarn(d_head, base, factor, length, *betas)
    torch.testing.assert_close(inv_freq, expected, rtol=2e-6, atol=0)
    assert attention_factor == pytest.approx(expected_attention)
    scaling = Scaling("yarn", factor, length, *betas)
    assert torch.equal(inverse_frequencies(d_head, base, scaling), inv_freq)


def test_yarn_by_hand():
    # d 8, base 10 000, length 2048: ln(2048/(2π·32))/ln 10 = 1.008, so the ramp would start at pair 1;
    # ln(2048/2π)/ln 10 = 2.513, rounded up to 3. Pair 2 is half way.
    inv_freq, attention_factor = yarn(8, 10000.0, 4.0, 2048, dtype=DOUBLE)
    assert inv_freq.tolist() == pytest.approx([1, 0.1, 0.01 * (0.5 + 0.5 / 4), 0.001 / 4])
    assert attention_factor == pytest.approx(1.1386, abs=5e-5)


def test_the_codes_ramp_and_the_papers_agree_at_the_ends_only():
    code = frequencies.yarn_ramp(64, 10000.0, 2048)
    paper = frequencies.yarn_ramp_of_the_paper(64, 10000.0, 2048)
    turns = 2048 * inverse_frequencies(64, dtype=DOUBLE) / (2 * math.pi)
    torch.testing.assert_close(frequencies.turns_over(inverse_frequencies(64, dtype=DOUBLE), 2048), turns)
    assert (paper[turns >= 32] == 0).all()
    assert (code[turns >= 32] < 0.09).all()  # rounding outward may start one pair early
    assert (paper[turns <= 1] == 1).all()
    assert (code[turns <= 1] > 0.91).all()
    middle = (turns > 2) & (turns < 20)
    assert (paper[middle] - code[middle]).min() > 0.05
    seven = (turns - 7).abs().argmin()  # by the paper's formula: 1 − (r − 1)/31
    assert paper[seven].item() == pytest.approx(1 - (turns[seven].item() - 1) / 31)


def test_pairs_are_found_by_their_turns():
    inv_freq = inverse_frequencies(64, dtype=DOUBLE)
    for i in (0, 5, 31):
        turns = frequencies.turns_over(inv_freq, 4096)[i].item()
        assert frequencies.pair_that_turns(turns, 64, 10000.0, 4096) == pytest.approx(i, abs=1e-9)


def test_longrope_is_that_of_hugging_face():
    factors = (1.0, 1.3, 2.5, 4.0)
    expected, expected_attention = hugging_face(
        "longrope",
        8,
        10000.0,
        seq_len=5000,
        factor=4.0,
        original_max_position_embeddings=2048,
        long_factor=list(factors),
        short_factor=[1.0] * 4,
    )
    torch.testing.assert_close(longrope(8, 10000.0, factors), expected)
    torch.testing.assert_close(
        inverse_frequencies(8, 10000.0, Scaling("longrope", factors=factors)), expected
    )
    assert frequencies.longrope_attention_factor(4.0, 2048) == pytest.approx(expected_attention)


def test_the_first_tokens_are_left_alone():
    plain, stretched = torch.tensor([1.0, 0.1]), torch.tensor([0.5, 0.025])
    found = frequencies.keep_first(plain, stretched, torch.tensor([0, 3, 4, 900]), 4)
    assert torch.equal(found, torch.stack([plain, plain, stretched, stretched]))


def test_the_illustrative_factors_go_from_1_to_the_factor_without_falling():
    factors = frequencies.illustrative_longrope_factors(16, 8.0)
    assert len(factors) == 8
    assert factors[0] == 1
    assert factors[-1] == pytest.approx(8)
    assert list(factors) == sorted(factors)
    longrope(16, 10000.0, factors)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: inverse_frequencies(7), "even and positive"),
        (lambda: inverse_frequencies(8, 1.0), "above 1"),
        (lambda: inverse_frequencies(8, scaling=Scaling("interpolation", 0.5)), "at least 1"),
        (lambda: inverse_frequencies(8, scaling=Scaling("ntk", 0.5)), "at least 1"),
        (lambda: inverse_frequencies(2, scaling=Scaling("ntk", 2.0)), "at least 4"),
        (lambda: inverse_frequencies(8, scaling=Scaling("yarn", 2.0)), "trained length"),
        (lambda: yarn(8, 10000.0, 0.9, 100), "at least 1"),
        (lambda: yarn(8, 10000.0, 2.0, 100, 1, 32), "exceed"),
        (lambda: inverse_frequencies(8, scaling=Scaling("longrope")), "4 positive factors"),
        (lambda: longrope(8, 10000.0, (1, 1, 1, 0)), "4 positive factors"),
        (lambda: inverse_frequencies(8, scaling=Scaling("magic")), "magic"),
        (lambda: frequencies.longrope_attention_factor(2.0, 1), "above 1"),
    ],
)
def test_impossible_values_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(("anchors", "pairs"), [((1.0, 8.0), 4), ((1.0, 2.0, 32.0), 7), ((1.0, 3.0, 5.0), 8)])
def test_few_factors_are_spread_as_numpy_interpolates_their_logarithms(anchors, pairs):
    places = np.linspace(0, len(anchors) - 1, pairs)
    wanted = np.exp(np.interp(places, np.arange(len(anchors)), np.log(anchors)))
    np.testing.assert_allclose(spread_factors(anchors, pairs), wanted, rtol=1e-12)


def test_factors_that_need_no_spreading_or_cannot_be_spread():
    assert spread_factors((1.0, 3.0), 2) == (1.0, 3.0)
    assert spread_factors((4.0,), 3) == pytest.approx((4.0, 4.0, 4.0))
    assert spread_factors((4.0,), 1) == (4.0,)
    for wrong in ((), (1.0, 2.0, 3.0), (0.0,), (-1.0, 2.0), (math.inf,)):
        with pytest.raises(ValueError, match="positive factors"):
            spread_factors(wrong, 2)
