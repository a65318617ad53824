import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from core.models.sampling import kept_one_after_the_other, next_token_distribution, sample

DOUBLE = torch.float64
WORKED = torch.tensor([0.1, 0.4, 0.05, 0.3, 0.15], dtype=DOUBLE).log()


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random(*shape, seed=0, spread=3.0):
    return torch.randn(shape, generator=generator(seed), dtype=DOUBLE) * spread


def theirs(logits, temperature, top_k, top_p):
    """Each cut of Hugging Face's on the full distribution, and what both let through."""
    scaled = TemperatureLogitsWarper(float(temperature))(None, logits) if temperature != 1 else logits
    by_k = scaled if top_k is None else TopKLogitsWarper(top_k)(None, scaled)
    by_p = scaled if top_p is None else TopPLogitsWarper(top_p)(None, scaled)
    return torch.minimum(by_k, by_p).softmax(-1)  # −inf where either cuts


@pytest.mark.parametrize("temperature", [0.3, 1, 2.5])
@pytest.mark.parametrize("top_k", [None, 1, 7, 400, 999])
@pytest.mark.parametrize("top_p", [None, 0.01, 0.5, 0.9, 0.999, 1.0])
def test_probabilities_are_those_of_hugging_faces_cuts(temperature, top_k, top_p):
    logits = random(8, 400)
    expected = theirs(logits, temperature, top_k, None if top_p == 1 else top_p)
    found = next_token_distribution(logits, temperature, top_k, top_p)
    torch.testing.assert_close(found.probabilities, expected)
    assert torch.equal(found.kept, expected > 0)


@given(
    st.lists(st.floats(-30, 30), min_size=1, max_size=12),
    st.floats(0.05, 20),
    st.integers(1, 14),
    st.floats(0.01, 1),
)
def test_what_holds_for_all_logits(values, temperature, top_k, top_p):
    logits = torch.tensor(values, dtype=DOUBLE)
    found = next_token_distribution(logits, temperature, top_k, top_p)
    assert found.probabilities.sum().item() == pytest.approx(1)
    assert found.by_top_k.sum() == min(top_k, len(values))
    assert torch.equal(found.kept, found.by_top_k & found.by_top_p)
    nucleus = found.full[found.by_top_p].sort().values
    if top_p < 1:  # enough, and not one too many
        assert nucleus.sum() >= top_p - 1e-9
        assert len(nucleus) == 1 or nucleus[1:].sum() < top_p
    ratio = found.probabilities[found.kept] / found.full[found.kept].clamp(min=1e-300)
    torch.testing.assert_close(ratio, (1 / found.kept_mass).expand_as(ratio))
    assert not found.probabilities[~found.kept].any()


def test_a_worked_example():
    found = next_token_distribution(WORKED, top_k=3, top_p=0.85)
    assert found.order.tolist() == [1, 3, 4, 0, 2]
    torch.testing.assert_close(found.cumulative, torch.tensor([0.4, 0.7, 0.85, 0.95, 1.0], dtype=DOUBLE))
    assert found.by_top_p.tolist() == [False, True, False, True, True]
    assert found.kept_mass.item() == pytest.approx(0.85)
    expected = torch.tensor([0, 0.4, 0, 0.3, 0.15], dtype=DOUBLE) / 0.85
    torch.testing.assert_close(found.probabilities, expected)
    assert next_token_distribution(WORKED, top_p=0.86).kept.sum() == 4


def test_top_p_is_judged_on_the_full_distribution_not_on_what_top_k_left():
    logits = torch.zeros(1000)  # flat: 90 % of it are 900 tokens
    assert next_token_distribution(logits, top_p=0.9).kept.sum() == 900
    assert next_token_distribution(logits, top_k=50, top_p=0.9).kept.sum() == 50  # not 45
    for p in (0.1, 0.3, 0.8, 0.9):
        assert next_token_distribution(torch.zeros(10), top_p=p).kept.sum() == round(10 * p)


@pytest.mark.parametrize("temperature", [0.3, 1, 2.5])
@pytest.mark.parametrize("top_k", [None, 1, 7, 400, 999])
@pytest.mark.parametrize("top_p", [None, 0.01, 0.5, 0.9, 0.999, 1.0])
def test_one_cut_after_the_other_is_hugging_faces_chain(temperature, top_k, top_p):
    logits = random(8, 400)
    left = TemperatureLogitsWarper(float(temperature))(None, logits)
    left = left if top_k is None else TopKLogitsWarper(top_k)(None, left)
    left = left if top_p in (None, 1) else TopPLogitsWarper(top_p)(None, left)
    kept = kept_one_after_the_other(logits, temperature, top_k, top_p)
    assert torch.equal(kept, left > -torch.inf)
    assert not (kept & ~next_token_distribution(logits, temperature, top_k, top_p).kept).any()


def test_one_cut_after_the_other_of_flat_and_greedy_logits():
    assert kept_one_after_the_other(torch.zeros(1000), 1.0, 50, 0.9).sum() == 45
    assert kept_one_after_the_other(WORKED, 0, 3, 0.5).tolist() == [False, True, False, False, False]


def test_of_equal_tokens_the_lower_number_comes_first():
    logits = torch.tensor([1.0, 3.0, 2.0, 3.0, 3.0])
    assert next_token_distribution(logits, top_k=2).kept.tolist() == [False, True, False, True, False]
    greedy = next_token_distribution(logits, 0)
    assert greedy.probabilities.tolist() == [0, 1, 0, 0, 0]
    assert (greedy.kept_mass.item(), sample(greedy).token, sample(greedy).number) == (1.0, 1, None)


def test_temperature_sharpens_and_flattens_and_its_limit_is_greedy():
    logits = random(50, seed=2)
    entropies = [
        -(p := next_token_distribution(logits, t).probabilities).xlogy(p).sum().item()
        for t in (0.2, 1.0, 5.0)
    ]
    assert entropies == sorted(entropies)
    assert entropies[2] < math.log(50)
    for tiny in (1e-3, 1e-40, 5e-324):
        cold = next_token_distribution(logits.float(), tiny).probabilities
        torch.testing.assert_close(cold, next_token_distribution(logits, 0).probabilities)


def test_extreme_logits_and_forbidden_tokens_stay_finite():
    logits = torch.tensor([1e30, -1e30, -torch.inf, 1e30])
    found = next_token_distribution(logits, 0.5)
    assert found.probabilities.tolist() == [0.5, 0, 0, 0.5]
    assert sample(found, generator()).token in (0, 3)
    only = next_token_distribution(torch.tensor([-torch.inf, 2.0]))
    assert (sample(only).token, sample(only).probability) == (1, 1.0)


# Drawing


def test_the_number_drawn_decides_by_the_pieces_of_the_line():
    found = next_token_distribution(WORKED)
    numbers = torch.rand(200, generator=generator(5), dtype=DOUBLE)
    stream = generator(5)
    ends = torch.tensor([0.4, 0.7, 0.85, 0.95, 1.0], dtype=DOUBLE)
    for number in numbers:
        draw = sample(found, stream)
        assert draw.number == number.item()
        assert draw.token == [1, 3, 4, 0, 2][int(torch.searchsorted(ends, number, right=True))]
        assert draw.begins - 1e-12 <= draw.number < draw.ends + 1e-12
        assert draw.probability == pytest.approx(draw.ends - draw.begins)


def test_tokens_come_as_often_as_their_probability_says():
    found, stream = next_token_distribution(WORKED, 1.3, top_p=0.9), generator(1)
    counts = torch.zeros(5)
    for _ in range(4000):
        counts[sample(found, stream).token] += 1
    spread = (found.probabilities * (1 - found.probabilities) / 4000).sqrt()
    assert ((counts / 4000 - found.probabilities).abs() <= 3.5 * spread).all()
    assert counts[2] == 0


def test_the_same_seed_draws_the_same_and_nothing_global_moves():
    found, before = next_token_distribution(random(100)), torch.get_rng_state()
    first, again = (sample(found, generator(7)) for _ in range(2))
    assert first == again
    assert torch.equal(before, torch.get_rng_state())
    stream = generator(7)
    sample(next_token_distribution(random(100), top_k=1), stream)  # no choice: the stream does not move
    assert sample(found, stream) == first


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"temperature": -0.1}, "temperature must be 0"),
        ({"temperature": math.inf}, "temperature must be 0"),
        ({"temperature": math.nan}, "temperature must be 0"),
        ({"top_k": 0}, "top_k must be at least 1"),
        ({"top_p": 0.0}, "top_p must be above 0"),
        ({"top_p": 1.1}, "top_p must be above 0"),
        ({"logits": torch.tensor([0.0, math.nan])}, "a NaN or"),
        ({"logits": torch.tensor([0.0, math.inf])}, "a NaN or"),
        ({"logits": torch.tensor([[0.0, 1.0], [-math.inf, -math.inf]])}, "no token is allowed"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        next_token_distribution(**{"logits": torch.zeros(3), **settings})


def test_a_choice_needs_a_generator_and_one_distribution():
    with pytest.raises(ValueError, match="needs a generator"):
        sample(next_token_distribution(WORKED))
    with pytest.raises(ValueError, match="one distribution"):
        sample(next_token_distribution(random(2, 5)), generator())
