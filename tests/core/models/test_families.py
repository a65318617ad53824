"""Tiny models of every family: their maps obey the masks that the papers give them, and their exercises can be run."""

import math

import pytest
import torch
from torch.nn import functional

from core.models.configs import PRESETS
from core.models.families import IGNORED, Exercise, exercise, family_maps, first_pass, tiny

GOALS = ("next", "mlm", "spans", "infill")


def gen(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("s", "t", "prefix"), [(5, 3, 2), (1, 1, 0), (4, 7, 4), (6, 2, 1)])
def test_the_maps_hide_what_the_family_hides(s, t, prefix):
    maps = family_maps(torch.arange(s), torch.arange(t), prefix, 9, 3)
    i, j = torch.arange(s)[:, None], torch.arange(s)
    seen = {
        "encoder": torch.ones(s, s),
        "decoder": j <= i,
        "prefix": (j <= i) | (j < prefix),
        "source": torch.ones(s, s),
        "target": torch.ones(t, t).tril(),
        "cross": torch.ones(t, s),
    }
    for name, found in maps.items():
        assert torch.equal(found.masked.isfinite(), seen[name].bool()), name
        assert torch.equal(found.weights > 0, seen[name].bool()), name
        torch.testing.assert_close(found.weights, functional.softmax(found.masked, -1))


def test_the_same_seed_gives_the_same_maps_and_the_prefix_changes_only_what_it_shows():
    few, more = (family_maps(torch.arange(5), torch.arange(3), n, 9, 3) for n in (0, 4))
    for name in few:
        assert torch.equal(few[name].weights, more[name].weights) == (name != "prefix"), name
    assert torch.equal(few["prefix"].weights, few["decoder"].weights)


@pytest.mark.parametrize(
    "name", ["gpt1", "bert-base", "transformer-base", "bart-base", "t5-base", "llama3-8b"]
)
def test_tiny_keeps_the_description(name):
    big = PRESETS[name]
    small = tiny(big, 20, 9)
    for field in (
        "stack",
        "positions",
        "norm_place",
        "norm_kind",
        "activation",
        "gated",
        "tied",
        "attention_bias",
        "scale_scores",
    ):
        assert getattr(small, field) == getattr(big, field)
    assert (small.encoder_layers > 0, small.decoder_layers > 0) == (
        big.encoder_layers > 0,
        big.decoder_layers > 0,
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("goal", GOALS)
def test_every_exercise_can_be_run_and_its_loss_counts_only_what_is_asked(goal, seed):
    tokens = torch.randint(0, 30, (12,), generator=gen(seed))
    given = exercise(goal, tokens, 30, 30, 31, range(32, 48), gen(seed), 0.3)
    passed = first_pass(given, 48, seed)
    assert passed.logits.shape == (len(given.targets), 48)
    asked = [k for k, target in enumerate(given.targets.tolist()) if target != IGNORED]
    assert len(asked) == given.n_losses
    own = -passed.logits.log_softmax(-1)[asked, given.targets[asked]].mean()
    assert passed.loss == pytest.approx(float(own))
    assert passed.loss < 4 * math.log(48)
    changed = Exercise(goal, given.read, given.written, given.targets.roll(1, 0), given.spans)
    assert first_pass(changed, 48, seed).loss != pytest.approx(passed.loss)


def test_the_counts_of_losses():
    tokens = torch.arange(20)
    made = {g: exercise(g, tokens, 30, 30, 31, range(32, 48), gen(), 0.15) for g in GOALS}
    assert made["next"].n_losses == 19
    assert made["mlm"].n_losses == 3
    assert made["spans"].n_losses == 3 + 1 + 1  # three tokens in one span, its sentinel, and the last one
    assert made["infill"].n_losses == 20
    for goal in ("spans", "infill"):
        assert made[goal].written.tolist() == [31, *made[goal].targets[:-1].tolist()]
