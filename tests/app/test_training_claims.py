"""Every sentence of the training page's notices, asked of the arrays again, over runs of random settings."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

from core.models.tasks import task_named
from core.models.training import TrainingSettings
from tests.app.claims import MANY_OF_ONE, ONE_OF_MANY
from tests.app.harness import assert_whole
from tests.app.test_training import DEFAULTS, forget, page, prose, put, query, taken
from ui.course.training import PAGE, RATES, SIDES
from ui.figures import training as figure
from ui.figures import training_gradients as gradients
from ui.figures.training_charts import FINDS, forming
from ui.figures.training_desk import server
from ui.figures.training_notices import notices
from ui.figures.training_side import settings_of
from ui.predictions.training import PREDICTIONS, Unfinished
from ui.result import Result
from ui.runs import RunView
from ui.words import Words

assert forget  # each test here, too, begins with a server that has run nothing


class Recorder(Words):
    """Words that remember what was said, with which values."""

    def __init__(self):
        super().__init__("en", "training")
        self.said: list[tuple[str, dict, str]] = []

    def __call__(self, key, /, **values):
        text = super().__call__(key, **values)
        self.said.append((key, values, text))
        return text


def view_of(values: dict, until: int | None = None) -> RunView:
    """A run with these values, trained here."""
    pair = settings_of(values)
    steps = tuple(taken(s)[:until] for s in pair)
    return RunView("x", "done", 0, pair, steps, 1.0, None, False, None)


def true(key: str, told: dict, result: Result) -> bool:
    """Whether a sentence holds."""
    name = str(told.get("side", told.get("more", "A")))[0].lower()
    side = result.facts["sides"][name]
    other = result.facts["sides"]["b" if name == "a" else "a"]
    steps = taken(side.settings)
    losses = [step.loss for step in steps if step.finite][: side.done]
    end = np.mean(losses[-10:]) if losses else np.nan
    share = end / task_named(side.settings.task).frequency_loss
    p = result.parameters
    checks = {
        "notice.same": lambda: p["layers_a"] == p["layers_b"] and result.facts["sides"]["a"].settings == result.facts["sides"]["b"].settings,
        "notice.failed": lambda: not steps[told["step"] - 1].finite and told["step"] == len(steps),
        "notice.failed_at_once": lambda: not steps[0].finite,
        "notice.early": lambda: side.done < 30,
        "notice.frequencies": lambda: abs(share - 1) <= 0.03,
        "notice.above": lambda: share > 1.03,
        "notice.between": lambda: 0.5 <= share < 0.97,
        "notice.learned": lambda: share < 0.5,
        "notice.held": lambda: told["held"] == [s for s in steps[: side.done] if s.record][-1].record.held_out_loss,
        "notice.not_never": lambda: True,
        "notice.half_both": lambda: all(np.mean([s.loss for s in taken(result.facts["sides"][n].settings)][told[f"half_{n}"] - 5 : told[f"half_{n}"]]) < told["limit"] for n in SIDES),
        "notice.half_one": lambda: all(np.mean(other.losses[i : i + 5]) >= told["limit"] for i in range(max(0, len(other.losses) - 4))),
        "notice.turned": lambda: side.settings.task in ("chinese", "english") and side.held_out[-3:].min() > 1.05 * told["low"] == 1.05 * side.held_out.min() and told["step"] < side.looked[-3] and told["now"] < told["then"],
        "notice.dropout_saves": lambda: told["held"] < told["held_less"] and told["train"] > told["train_less"] and side.settings.dropout > other.settings.dropout,
        "notice.dropout_costs": lambda: told["held"] > told["held_less"] and side.settings.dropout > other.settings.dropout,
        "notice.gradient": lambda: np.isclose(told["ratio"], told["high"] / told["low"]) and told["high"] >= told["low"],
        "notice.induction": lambda: told["score"] >= 0.4 and np.isclose(told["score"], induction(side)),
        "notice.no_induction": lambda: told["score"] < 0.4 and np.isclose(told["score"], induction(side)),
        "notice.mirror_why": lambda: True,  # the task says so
        "notice.mirror": lambda: np.isclose(told["score"], mirrored(side)),
        "notice.previous": lambda: told["score"] >= 0.2,
        "notice.no_heads": lambda: not side.maps[-1]["own"].isfinite().all(),
        "notice.fixed": lambda: p["task"] == "repeat-fixed",
        "notice.clip": lambda: told["cut"] == sum(step.gradient_norm > told["clip"] for step in steps[: side.done]),
        "notice.smooth": lambda: np.isclose(told["floor"], -np.log(told["best"])) and np.isclose(told["best"], smoothed(told["eps"], told["vocab"])),
        "notice.warm_long": lambda: told["high"] < side.settings.learning_rate,
    }  # fmt: skip
    return bool(checks[key]())


def smoothed(eps: float, vocab: int) -> float:
    """The probability that PyTorch's smoothed target gives the right token."""
    one = torch.nn.functional.one_hot(torch.tensor(0), vocab) * (1 - eps) + eps / vocab
    return float(one[0])


def induction(side) -> float:
    """The best head's weight on what followed the same symbol before, by a plain loop."""
    task = task_named(side.settings.task)
    tokens, maps = task.shown.tokens[0].tolist(), side.maps[-1]["own"]
    scores = []
    for heads in maps.flatten(0, 1):
        given = [
            sum(float(heads[i, j]) for j in range(1, i + 1) if tokens[j - 1] == tokens[i])
            for i in range(len(tokens))
            if any(tokens[j - 1] == tokens[i] for j in range(1, i + 1))
        ]
        scores.append(np.mean(given))
    return float(max(scores))


def mirrored(side) -> float:
    """The best head's weight on the place from which the next symbol has to be read, by a plain loop."""
    task = task_named(side.settings.task)
    source, targets = task.shown.source[0].tolist(), task.shown.targets[0].tolist()
    n = targets.index(0)
    assert [source[n - 1 - i] for i in range(n)] == targets[:n]
    heads = side.maps[-1]["cross"].flatten(0, 1)
    return float(max(np.mean([float(head[i, n - 1 - i]) for i in range(n)]) for head in heads))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_head_that_reads_backwards_is_found_drawn_and_its_forming_shown(lang, caplog):
    values = DEFAULTS | {"task": "reverse", "look": "cross", "find": "mirror", "view": "maps", "width": "16"}
    values |= {"steps": 60, "layers_a": 1, "layers_b": 2, "norm_a": "pre", "norm_b": "pre", "warm_b": 0}
    result = figure.result(values, view_of(values))
    for side in SIDES:
        best = mirrored(result.facts["sides"][side])
        assert result.facts["places"][side][2] == pytest.approx(best, abs=1e-6)
        n = result.facts["task"].shown.targets[0].tolist().index(0)
        drawn = result.values(f"map_{side}")
        assert np.mean([drawn[i, n - 1 - i] for i in range(n)]) == pytest.approx(best, abs=1e-6)
    charts = {find: forming(find, result, Words(lang, "training")) for find in FINDS}
    assert [find for find, chart in charts.items() if chart is not None] == ["mirror", "sharpest"]
    own = figure.result(values | {"look": "own"}, view_of(values))
    assert forming("mirror", own, Words(lang, "training")) is None
    put(values)
    app = page(values, lang, "heads")
    assert_whole(app, caplog)
    assert len(app.get("vega_lite_chart")) == 3  # the loss beside the maps, and two kinds of heads


def at_random(dice: random.Random) -> dict:
    values = {"task": dice.choice(("chinese", "english", "repeat", "repeat-fixed", "reverse")), "width": "16"}
    values |= {"steps": dice.choice((20, 40, 60)), "seed": dice.randrange(9), "at": dice.randrange(21)}
    for side in SIDES:
        for parameter in PAGE.parameters:
            if parameter.name.endswith(f"_{side}") and parameter.name[:-2] not in ("map", "grad"):
                values[parameter.name] = dice.choice(parameter.ends())
        values[f"layers_{side}"] = dice.choice((1, 2, 3))
        values[f"rate_{side}"] = dice.choice(RATES)
        values[f"warm_{side}"] = dice.choice((0, 0, 10, 30, 100))
    if dice.random() < 0.3:
        values |= {name[:-1] + "b": value for name, value in values.items() if name.endswith("_a")}
        values["drop_b"] = dice.choice(("0", "0.3"))
    return DEFAULTS | values


@cache
def some() -> tuple[tuple[dict, int | None], ...]:
    """Random settings and how far their runs have come; and settings that have a sentence of their own."""
    dice = random.Random(8)
    chosen = [(at_random(dice), dice.choice((None, None, 1, 7, 35))) for _ in range(9)]
    small = {"width": "16", "norm_a": "pre", "norm_b": "pre", "layers_a": 2, "layers_b": 2, "warm_b": 0}
    chosen += [
        (small | {"steps": 200, "rate_a": "0.02", "rate_b": "0.02", "drop_b": "0.3", "width": "48", "layers_a": 1, "layers_b": 1}, None),
        ({"task": "repeat", "width": "64", "steps": 160, "layers_a": 1, "layers_b": 2, "norm_a": "pre", "norm_b": "pre", "warm_b": 0, "rate_a": "0.003", "rate_b": "0.003"}, None),
        ({"layers_a": 24, "layers_b": 2, "norm_a": "none", "rate_a": "0.2", "norm_b": "none", "steps": 20}, None),
    ]  # fmt: skip
    return tuple((DEFAULTS | values, until) for values, until in chosen)


def test_what_to_notice_holds_at_any_setting():
    seen = set()
    for values, until in some():
        words, result = Recorder(), figure.result(values, view_of(values, until))
        notices(result, words)
        for key, told, text in words.said:
            assert true(key, told, result), (key, told, query(values))
            assert not ONE_OF_MANY.search(text), text
            assert not MANY_OF_ONE.search(text), text
            seen.add(key)
        gradients.notices(result, words)
        if any(f"grad_{side}" in result.arrays for side in SIDES):
            gradients.matrices(result, words)
            gradients.summary(result, words)
    assert len(seen) >= 15, seen


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_stands_such_runs(lang, caplog):
    for values, until in some()[:5] + some()[-1:]:
        put(values, until=until)
        assert_whole(page(values, lang, "gradients"), caplog)


def test_the_questions_have_the_answers_that_their_reasons_give():
    """One of the four is run here; the contrasts of the others have tests of the core."""
    (asked,) = [p for p in PREDICTIONS if p.name == "one_layer"]
    values = DEFAULTS | dict(asked.start)
    after = values | dict(asked.change)
    results = figure.result(values, None), figure.result(after, view_of(after))
    assert asked.verdict(*results) == {"fails"}
    assert np.isfinite(list(asked.measure(*results).values())).all()
    with pytest.raises(Unfinished):
        asked.verdict(results[0], figure.result(after, None))


def test_show_me_starts_the_run_and_the_answer_comes_with_its_end(caplog):
    asked = PREDICTIONS[0]
    app = page(dict(asked.start))
    app.button(key="training predict").click().run()
    app.button(key="training predict.show").click().run()
    assert_whole(app, caplog)
    assert "comes out of the run itself" in prose(app)
    (run,) = server().runs.values()
    assert run.settings == settings_of(DEFAULTS | dict(asked.start) | dict(asked.change))
    with server().lock:
        server()._stop(run)
        until_quiet(run)
        run.steps = [list(fake(s)) for s in run.settings]
        run.status, run.answer_due = "done", False
    app.run()
    assert_whole(app, caplog)
    assert "only B, with warm-up" in prose(app)


def until_quiet(run) -> None:
    """Let go of the lock until the worker has answered."""
    for _ in range(1200):
        if not run.answer_due:
            return
        server().lock.release()
        time.sleep(0.05)
        server().lock.acquire()


def fake(settings: TrainingSettings):
    """Steps of another, short run, with the losses of one that learns if it has a warm-up."""
    steps = taken(TrainingSettings(layers=1, width=16, steps=160, norm_place="post"))
    loss = 0.6 if settings.warm_up else 3.54
    return [replace(step, loss=loss) for step in steps]
