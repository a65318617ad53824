"""What the training page says of its settings really occurs: one seed each, the cheapest case that keeps a margin."""

import pytest
import torch

from core.models.induction import induction_score, previous_token_score, strongest
from core.models.tasks import task_named
from core.models.training import TrainingSettings, begin_run, run, train


def end_of(**settings):
    """Mean loss of the last ten steps, the last record, and what frequencies alone would give."""
    s = TrainingSettings(**settings)
    task = task_named(s.task)
    steps = list(train(s, task, every=s.steps))
    assert all(step.finite for step in steps)
    return sum(step.loss for step in steps[-10:]) / 10, steps[-1].record, task.frequency_loss


def knows_frequencies_only(loss, frequencies):
    return loss == pytest.approx(frequencies, rel=0.03)


def test_twelve_layers_post_ln_without_warm_up_stay_at_the_frequencies():
    loss, record, frequencies = end_of(layers=12, norm_place="post", steps=70)
    assert knows_frequencies_only(loss, frequencies)
    assert record.held_out_accuracy < 0.2


def test_with_a_warm_up_of_90_steps_they_learn():
    loss, record, frequencies = end_of(layers=12, norm_place="post", warm_up=90)
    assert loss < 0.4 * frequencies
    assert record.held_out_accuracy > 0.5


def test_pre_ln_learns_without_warm_up():
    loss, _, frequencies = end_of(layers=12, steps=60)
    assert loss < 0.4 * frequencies


def test_without_residuals_twelve_layers_stay_at_the_frequencies():
    loss, _, frequencies = end_of(layers=12, residual=False, steps=60)
    assert knows_frequencies_only(loss, frequencies)


@pytest.mark.parametrize(("place", "learns"), [("pre", True), ("post", False)])
def test_24_layers_at_a_thousandth(place, learns):
    loss, _, frequencies = end_of(layers=24, norm_place=place, steps=50, learning_rate=1e-3)
    assert loss < 0.5 * frequencies if learns else knows_frequencies_only(loss, frequencies)


@pytest.fixture(scope="module")
def induction():
    """Two layers after 150 steps of repeated symbols: the last record, and the model."""
    s = TrainingSettings(task="repeat", width=64, steps=150)
    task = task_named("repeat")
    state = begin_run(s, task)
    return list(train(s, task, state, every=150))[-1].record, state.model


def test_two_layers_form_an_induction_head(induction):
    record, _ = induction
    tokens = task_named("repeat").shown.tokens[0]
    assert record.held_out_accuracy > 0.97
    layer, _, score = strongest(induction_score(record.maps, tokens))
    assert layer == 1
    assert score > 0.8
    layer, _, score = strongest(previous_token_score(record.maps))
    assert layer == 0
    assert score > 0.25


def test_the_second_layer_s_attention_is_what_does_it(induction):
    """Without its heads the answer is gone. A single one may well be missed by nobody: several learn the same."""
    _, model = induction
    held_out = task_named("repeat").held_out
    heads = torch.tensor([[1.0], [0.0]]).expand(2, 4)  # [L, H]
    guess = model(held_out.tokens, keep="logits", head_mask=heads).logits.argmax(-1)
    counted = held_out.targets >= 0
    assert float((guess == held_out.targets)[counted].double().mean()) < 0.5


def test_one_layer_solves_a_fixed_period_by_position_and_nothing_else():
    s = TrainingSettings(task="repeat-fixed", width=64, layers=1, steps=100)
    state = begin_run(s, task_named(s.task))
    record = list(train(s, task_named(s.task), state, every=s.steps))[-1].record
    assert record.held_out_accuracy > 0.97
    varying = task_named("repeat").held_out
    logits = run(state.model, varying).logits
    counted = varying.targets >= 0
    assert float((logits.argmax(-1) == varying.targets)[counted].double().mean()) < 0.4


def test_one_layer_does_not_solve_a_varying_period():
    _, record, _ = end_of(task="repeat", width=64, layers=1, steps=150)
    assert record.held_out_accuracy < 0.6


def test_an_encoder_decoder_learns_to_look_backwards():
    """Each symbol of the reversal is read where it stands in the source, by one head of the cross-attention or another."""
    _, record, _ = end_of(task="reverse", width=64, layers=1, steps=200)
    assert record.held_out_accuracy > 0.95
    task = task_named("reverse")
    n = int(task.shown.source_mask.sum()) - 1  # without END
    anti_diagonal = record.cross_maps[..., :n, :n].flip(-1).diagonal(dim1=-2, dim2=-1).mean(-1)  # [L, H]
    assert strongest(anti_diagonal)[2] > 0.4


def test_dropout_costs_training_loss_and_saves_held_out_loss():
    settings = {"width": 64, "steps": 120, "learning_rate": 4e-3}
    loss, record, _ = end_of(**settings)
    loss_dropped, record_dropped, _ = end_of(**settings, dropout=0.3)
    assert loss_dropped > loss + 0.02
    assert record_dropped.held_out_loss < record.held_out_loss - 0.05
