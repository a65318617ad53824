"""T5's, BART's and BERT's exercises: what was taken out can be put back, and how much is taken is as the papers say."""

from itertools import pairwise

import pytest
import torch

from core.models.denoising import (
    next_sentence_pair,
    span_corruption,
    text_infilling,
)

SENTINELS = tuple(range(1000, 1200))
MASK = 999


def gen(seed=0):
    return torch.Generator().manual_seed(seed)


def repaired(inputs, targets):
    """The text again: every sentinel of the input replaced by what follows it in the target."""
    pieces, current = {}, None
    for token in targets:
        if token >= 1000:
            current = pieces.setdefault(token, [])
        else:
            current.append(token)
    return [t for token in inputs for t in (pieces[token] if token >= 1000 else [token])]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("t", [2, 3, 7, 20, 100])
def test_spans_put_back_give_the_text(t, seed):
    tokens = torch.randint(0, 900, (t,), generator=gen(seed))
    made = span_corruption(tokens, SENTINELS, gen(seed))
    assert repaired(made.inputs.tolist(), made.targets.tolist()) == tokens.tolist()
    taken = max(round(0.15 * t), 1)
    assert made.removed == taken
    n = max(round(taken / 3), 1)
    assert len(made.spans) == n
    assert len(made.inputs) == t - taken + n
    assert len(made.targets) == taken + n + 1
    used = [token for token in made.inputs.tolist() if token >= 1000]
    assert used == list(SENTINELS[:n])
    assert made.targets[-1] == SENTINELS[n]
    for span in made.spans:
        assert span.length >= 1
    for a, b in pairwise(made.spans):
        assert b.start > a.end


def test_every_place_can_be_taken():
    tokens = torch.arange(12)
    seen = {
        i
        for seed in range(200)
        for s in span_corruption(tokens, SENTINELS, gen(seed), 0.5).spans
        for i in range(s.start, s.end)
    }
    assert seen == set(range(12))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize(("t", "share"), [(1, 0.3), (2, 1.0), (5, 0.3), (20, 0.3), (100, 0.3), (12, 1.0)])
def test_infilling_takes_its_share_and_leaves_one_mask_a_span(t, share, seed):
    tokens = torch.randint(0, 900, (t,), generator=gen(seed))
    made = text_infilling(tokens, MASK, gen(seed), share)
    assert made.removed == max(round(share * t), 1)
    assert made.targets.tolist() == tokens.tolist()
    inputs = made.inputs.tolist()
    assert inputs.count(MASK) == len(made.spans)
    assert not any(a == b == MASK for a, b in pairwise(inputs))
    rebuilt, spans = [], iter(made.spans)
    for token in inputs:
        if token == MASK:
            span = next(spans)
            rebuilt += tokens[span.start : span.end].tolist()
        else:
            rebuilt.append(token)
    assert rebuilt == tokens.tolist()


def test_lengths_are_those_of_a_poisson_distribution():
    """Over many texts: mean 3, and a share e⁻³ of empty spans. The last span of a text is cut, so long texts."""
    made = [text_infilling(torch.arange(3000), MASK, gen(seed)) for seed in range(20)]
    lengths = torch.tensor([s.length for m in made for s in m.spans], dtype=torch.float64)
    assert lengths.mean() == pytest.approx(3, abs=0.1)
    assert lengths.var() == pytest.approx(3, abs=0.25)
    assert (lengths == 0).double().mean() == pytest.approx(2.718281828**-3, abs=0.012)


def test_pairs_follow_half_of_the_time_and_never_by_accident():
    pairs = [next_sentence_pair(10, seed % 9, gen(seed)) for seed in range(2000)]
    assert sum(p.follows for p in pairs) / 2000 == pytest.approx(0.5, abs=0.04)
    for pair in pairs:
        assert pair.follows == (pair.second == pair.first + 1)
        assert pair.second != pair.first
    assert {p.second for p in pairs if not p.follows} == set(range(10))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: span_corruption(torch.arange(1), SENTINELS, gen()), "at least 2"),
        (lambda: span_corruption(torch.arange(9), SENTINELS, gen(), 1.0), "share"),
        (lambda: span_corruption(torch.arange(9), SENTINELS, gen(), 0.2, 0.5), "mean_length"),
        (lambda: span_corruption(torch.arange(9), (1,), gen()), "sentinels"),
        (lambda: text_infilling(torch.arange(0), MASK, gen()), "at least 1"),
        (lambda: text_infilling(torch.arange(4), MASK, gen(), 0.0), "share"),
        (lambda: next_sentence_pair(2, 0, gen()), "two others"),
        (lambda: next_sentence_pair(5, 4, gen()), "0..3"),
    ],
)
def test_what_cannot_be_is_refused_in_words(call, said):
    with pytest.raises(ValueError, match=said):
        call()
