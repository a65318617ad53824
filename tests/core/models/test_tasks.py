import math
from collections import Counter

import pytest
import torch

from core.models.corpus import corpus, scenes
from core.models.tasks import END, IGNORED, Repetition, frequency_loss, generator_for, task_named

NAMES = ["chinese", "english", "both", "repeat", "repeat-fixed", "reverse", "translate"]


def read(task, numbers):
    return [task.vocabulary[i] for i in numbers.tolist()]


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_depends_on_its_generator_alone(name):
    task = task_named(name)
    before = torch.get_rng_state()
    first, again, other = (task.draw(8, generator_for(seed, "data")) for seed in (3, 3, 4))
    assert torch.equal(first.tokens, again.tokens)
    assert torch.equal(first.targets, again.targets)
    assert not torch.equal(first.tokens, other.tokens)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", NAMES)
def test_shapes_and_numbers_fit_the_vocabulary(name):
    task = task_named(name)
    batch = task.draw(8, generator_for(0, "data"))
    for part in (batch, task.held_out, task.shown):
        assert part.tokens.shape == part.targets.shape
        assert part.tokens.shape[-1] == task.length
        assert int(part.tokens.max()) < len(task.vocabulary)
        assert (part.source is not None) == task.has_source
    assert len(task.shown.tokens) == 1
    assert len(batch.tokens) == 8


def test_a_sentence_is_predicted_token_by_token_to_its_end():
    task = task_named("both")
    tokens, targets = task.shown.tokens[0], task.shown.targets[0]
    assert read(task, tokens[:7]) == [END, *"小猫爱吃鱼。"]
    assert read(task, targets[:7]) == [*"小猫爱吃鱼。", END]
    assert set(targets[7:].tolist()) <= {IGNORED}


def test_frequencies_alone_counted_by_hand():
    sentences = scenes("zh").train
    counts = Counter(ch for sentence in sentences for ch in sentence) + Counter({END: len(sentences)})
    total = counts.total()
    by_hand = sum(n / total * math.log(total / n) for n in counts.values())
    assert task_named("chinese").frequency_loss == pytest.approx(by_hand, rel=1e-12)
    assert frequency_loss(torch.tensor([1, 1, 2, IGNORED, 2])) == pytest.approx(math.log(2))
    assert task_named("repeat").frequency_loss == pytest.approx(math.log(16))


def test_no_batch_has_a_sentence_twice_or_one_that_is_held_out():
    task = task_named("english")
    rows = [tuple(row) for row in task.draw(32, generator_for(0, "data")).tokens.tolist()]
    assert len(set(rows)) == 32
    everything = [tuple(row) for row in task.draw(10_000, generator_for(0, "data")).tokens.tolist()]
    assert len(everything) == len(scenes("en").train)
    assert not set(everything) & {tuple(row) for row in task.held_out.tokens.tolist()}


@pytest.mark.parametrize(("name", "periods"), [("repeat", set(range(4, 13))), ("repeat-fixed", {8})])
def test_repetition_repeats_with_its_period(name, periods):
    batch = task_named(name).draw(200, generator_for(1, "data"))
    found = set()
    for tokens, targets in zip(batch.tokens.tolist(), batch.targets.tolist(), strict=True):
        period = next(i for i in range(1, 31) if tokens[i] == tokens[0])
        assert len(set(tokens[:period])) == period
        assert all(tokens[i] == tokens[i - period] for i in range(period, 31))
        assert targets[: period - 1] == [IGNORED] * (period - 1)  # unpredictable
        assert all(targets[i] == tokens[i + 1 - period] for i in range(period - 1, 31))
        found.add(period)
    assert found == periods


def test_reversal_is_the_source_backwards():
    task = task_named("reverse")
    batch = task.draw(50, generator_for(0, "data"))
    for i in range(50):
        n = int(batch.source_mask[i].sum()) - 1
        assert 4 <= n <= 9
        assert batch.source[i, n] == 0  # END
        assert batch.targets[i, :n].tolist() == batch.source[i, :n].flip(0).tolist()
        assert batch.targets[i, n] == 0


def test_translation_pairs_the_two_files():
    task = task_named("translate")
    row = corpus("zh").train.index("小猫爱吃鱼。")
    assert read(task, task.train.source[row, :7]) == [*"小猫爱吃鱼。", END]
    assert read(task, task.train.targets[row, :6]) == ["the", "kitten", "eats", "fish", ".", END]
    assert int(task.train.source_mask[row].sum()) == 7


def test_streams_differ_by_seed_purpose_and_step():
    firsts = {
        float(torch.rand((), generator=generator_for(seed, purpose, step), dtype=torch.float64))
        for seed in range(5)
        for purpose in ("weights", "data", "dropout")
        for step in range(5)
    }
    assert len(firsts) == 75


def test_another_task_is_refused_by_name():
    with pytest.raises(ValueError, match="no task is called 'sums'; there are chinese, english"):
        task_named("sums")
    assert isinstance(task_named("repeat"), Repetition)
