"""The loop against a plain one, what it watches, and stopping and going on."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from core.models.decoder import Decoder
from core.models.tasks import IGNORED, generator_for, task_named
from core.models.training import TrainingSettings, TrainingState, begin_run, cross_entropy, train

SMALL = TrainingSettings(layers=2, width=16, heads=2, steps=12, batch=8)
EVERYTHING = replace(
    SMALL, warm_up=4, schedule="cosine", clip=0.5, dropout=0.2, label_smoothing=0.1, norm_place="post", seed=3
)
TASK = task_named("chinese")


def weights_of(state):
    return [p.detach().clone() for p in state.model.parameters()]


def in_one_go(settings, task=TASK, **keywords):
    state = begin_run(settings, task)
    return list(train(settings, task, state, **keywords)), state


def same_numbers(a, b):
    assert [replace(x, record=None) for x in a] == [replace(x, record=None) for x in b]
    for x, y in zip(a, b, strict=True):
        assert (x.record is None) == (y.record is None)
        if x.record is not None:
            assert x.record.held_out_loss == y.record.held_out_loss
            assert torch.equal(x.record.maps, y.record.maps)
            assert torch.equal(x.record.gradient_by_layer, y.record.gradient_by_layer)


def test_the_loop_equals_a_plain_one():
    """torch's AdamW not fused, its own clipping and scheduler, F.cross_entropy on the logits.

    In float64: the gradient of the keys' bias is 0 but for rounding, which AdamW would blow up to whole steps.
    """
    s = replace(SMALL, warm_up=4, clip=0.5, label_smoothing=0.1, weight_decay=0.1)
    state = begin_run(s, TASK)
    state.model.double()
    ours = list(train(s, TASK, state))
    model = begin_run(s, TASK).model.double()
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=s.learning_rate, foreach=False)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: min(1.0, (n + 1) / 4))
    for step in ours:
        batch = TASK.draw(8, generator_for(s.seed, "data", step.step))
        logits = model(batch.tokens).logits
        loss = F.cross_entropy(
            logits.reshape(-1, logits.shape[-1]), batch.targets.reshape(-1), label_smoothing=0.1
        )
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        assert step.learning_rate == pytest.approx(scheduler.get_last_lr()[0], rel=1e-12)
        assert step.objective == pytest.approx(float(loss.detach()), rel=1e-9)
        assert step.gradient_norm == pytest.approx(float(norm), rel=1e-9)
        assert step.clipped_norm == pytest.approx(min(float(norm), 0.5), rel=1e-9)
        optimizer.step()
        scheduler.step()
    for p, q in zip(model.parameters(), state.model.parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-6, atol=1e-8)


def test_label_smoothing_by_hand():
    """facts: logits 2, 1, .1 and target 0: .4170 plain, .5137 with ε = .1; an ignored place counts for nothing."""
    logits = torch.tensor([[[2.0, 1.0, 0.1], [9.0, 9.0, 9.0]]])
    targets = torch.tensor([[0, IGNORED]])
    assert float(cross_entropy(logits, targets)) == pytest.approx(0.4170, abs=5e-5)
    assert float(cross_entropy(logits, targets, 0.1)) == pytest.approx(0.5137, abs=5e-5)


def test_smoothing_shows_the_plain_loss_beside_what_is_made_smaller():
    steps, _ = in_one_go(replace(SMALL, label_smoothing=0.3))
    assert all(step.loss != step.objective for step in steps)
    plain, _ = in_one_go(SMALL)
    assert steps[0].loss == pytest.approx(plain[0].loss, rel=1e-6)
    assert all(step.loss == step.objective for step in plain)


@pytest.mark.parametrize("settings", [SMALL, EVERYTHING])
def test_a_seed_gives_the_same_run_and_draws_from_nothing_global(settings):
    before = torch.get_rng_state()
    first, again, other = (in_one_go(s)[0] for s in (settings, settings, replace(settings, seed=8)))
    same_numbers(first, again)
    assert first[0].loss != other[0].loss
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("task", ["chinese", "reverse"])
def test_going_on_equals_not_having_stopped(task):
    settings, task = replace(EVERYTHING, task=task), task_named(task)
    whole, end = in_one_go(settings, task, every=4)
    state, parts = None, []
    for stop in (3, 5, 99):
        state = (
            begin_run(settings, task) if state is None else TrainingState.unpack(settings, task, state.pack())
        )
        for step in train(settings, task, state, every=4):
            parts.append(step)
            if len(parts) == stop:
                break
    same_numbers(parts, whole)
    for p, q in zip(weights_of(state), weights_of(end), strict=True):
        assert torch.equal(p, q)
    assert list(train(settings, task, state)) == []  # nothing is left to do


def test_dropout_changes_no_batch_and_no_first_weights():
    plain, _ = in_one_go(replace(SMALL, steps=1))
    dropped, _ = in_one_go(replace(SMALL, steps=1, dropout=0.5))
    assert plain[0].loss != dropped[0].loss
    a, b = (begin_run(replace(SMALL, dropout=p), TASK) for p in (0.0, 0.5))
    for p, q in zip(weights_of(a), weights_of(b), strict=True):
        assert torch.equal(p, q)


def test_what_is_looked_at_every_few_steps():
    steps, state = in_one_go(SMALL, every=5)
    assert [step.step for step in steps if step.record is not None] == [1, 5, 10, 12]
    record = steps[-1].record
    t = TASK.length
    assert record.maps.shape == (2, 2, t, t)
    torch.testing.assert_close(record.maps.sum(-1), torch.ones(2, 2, t))
    assert record.maps.triu(1).count_nonzero() == 0  # causal
    assert record.cross_maps is record.encoder_maps is None
    logits = state.model(TASK.held_out.tokens).logits
    plain = F.cross_entropy(logits.flatten(0, 1), TASK.held_out.targets.flatten())
    assert record.held_out_loss == pytest.approx(float(plain.detach()), rel=1e-5)


@pytest.mark.parametrize("clip", [None, 0.01])
def test_gradients_by_layer_are_those_before_clipping(clip):
    s = replace(SMALL, clip=clip, steps=1)
    steps, _ = in_one_go(s)
    model = begin_run(s, TASK).model
    batch = TASK.draw(8, generator_for(s.seed, "data", 1))
    F.cross_entropy(model(batch.tokens).logits.flatten(0, 1), batch.targets.flatten()).backward()
    for i, block in enumerate(model.blocks):
        by_hand = math.sqrt(sum(float(p.grad.double().square().sum()) for p in block.parameters()))
        assert float(steps[0].record.gradient_by_layer[i]) == pytest.approx(by_hand, rel=1e-3)


def test_an_encoder_decoder_shows_three_kinds_of_maps():
    s, task = replace(SMALL, task="translate", steps=1), task_named("translate")
    record = in_one_go(s, task)[0][0].record
    n_source = task.shown.source.shape[-1]
    assert record.maps.shape == (2, 2, task.length, task.length)
    assert record.cross_maps.shape == (2, 2, task.length, n_source)
    assert record.encoder_maps.shape == (2, 2, n_source, n_source)
    assert record.gradient_by_layer.shape == (4,)


def test_a_run_that_leaves_the_numbers_ends_and_says_so():
    state = begin_run(SMALL, TASK)
    with torch.no_grad():
        state.model.output.weight.fill_(torch.inf)
    steps = list(train(SMALL, TASK, state))
    assert len(steps) == 1
    assert not steps[0].finite
    assert state.failed
    assert state.step == 0
    assert list(train(SMALL, TASK, TrainingState.unpack(SMALL, TASK, state.pack()))) == []


def test_tables_begin_with_variance_1_and_settings_reach_the_model():
    s = replace(SMALL, width=64, heads=4, layers=3, norm_place="post", residual=False, dropout=0.1)
    model = begin_run(s, TASK).model
    assert isinstance(model, Decoder)
    for table in (model.embeddings.token, model.embeddings.position):
        assert float(table.weight.detach().std()) == pytest.approx(1, abs=0.1)
    c = model.config
    assert (c.decoder_layers, c.norm_place, c.final_norm, c.residual, c.dropout) == (
        3,
        "post",
        False,
        False,
        0.1,
    )


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"layers": 0}, "layers must be at least 1, got 0"),
        ({"learning_rate": 0.0}, "learning_rate must lie between 0 and 10"),
        ({"clip": 0.0}, "clip must be above 0"),
        ({"label_smoothing": 1.0}, "label_smoothing must be at least 0 and below 1"),
        ({"schedule": "step"}, "schedule must be one of"),
    ],
)
def test_what_cannot_be_run_is_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        TrainingSettings(**wrong)
