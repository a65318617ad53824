"""The training page: what its words say is what happened in the run, from no run at all to one that diverges."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
import torch

from core.models.tasks import task_named
from core.models.training import TrainingSettings, train
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui import course
from ui.course.training import PAGE
from ui.figures import training as figure
from ui.figures import training_charts as charts
from ui.figures import training_desk
from ui.figures.training_desk import server
from ui.figures.training_notices import turned
from ui.figures.training_presets import PRESETS
from ui.figures.training_side import Side, every, settings_of
from ui.frame import takeaway
from ui.numbers import number
from ui.runs import Run
from ui.words import LANGUAGES, Words

DEFAULTS = {p.name: p.default for p in PAGE.parameters}
SHORT = {"layers_a": 1, "layers_b": 2, "steps": 40, "width": "16", "rate_a": "0.004", "rate_b": "0.008"}
SHORT |= {"norm_a": "pre", "warm_b": 10}
DIVERGES = {"layers_a": 2, "layers_b": 24, "norm_a": "none", "norm_b": "none", "rate_b": "0.2", "steps": 20}
DIVERGES |= {"warm_b": 0, "width": "16"}


def query(values: dict) -> dict[str, str]:
    """Values as a link has them."""
    return {name: PAGE.parameter(name).write(value) for name, value in values.items()}


@cache
def taken(settings: TrainingSettings) -> tuple:
    """All steps of one run, by the core alone."""
    steps = train(settings, task_named(settings.task), every=every(settings.steps))
    return tuple(steps)


def put(values: dict, *, owner: str = "somebody", until: int | None = None) -> dict:
    """File a run with these values as the server would have it; `until` cuts it off as a stop does."""
    values = DEFAULTS | values
    pair = settings_of(values)
    name = f"test {len(server().runs)} {time.monotonic()}"
    run = Run(name, owner, pair, every(pair[0].steps), server().clock(), status="done")
    run.steps = [list(taken(s)[:until]) for s in pair]
    with server().lock:
        server().runs[name] = run
    return values


@pytest.fixture(autouse=True)
def forget():
    """Each test begins with a server that has run nothing."""
    yield
    with server().lock:
        for run in server().runs.values():
            if run.status in ("running", "waiting"):
                server()._stop(run)
        server().runs.clear()


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def page(values: dict | None = None, lang: str = "en", tab: str = ""):
    return open_page("training", {"lang": lang} | query(values or {}), tab=tab)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", ["", "gradients", "heads", "data", "code", "takeaway", "where"])
def test_without_a_run_the_page_says_what_start_will_do(lang, tab, caplog):
    app = page(lang=lang, tab=tab)
    assert_whole(app, caplog)
    assert number(task_named("chinese").frequency_loss) in prose(app)
    assert [b.disabled for b in app.button if b.key == "training start"] == [False]
    assert len(app.get("vega_lite_chart")) == 1


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", ["gradients", "heads", "data", "code", "takeaway", "where"])
@pytest.mark.parametrize("values", [DIVERGES, SHORT | {"task": "reverse", "look": "cross"}])
def test_what_somebody_has_run_is_shown_at_once_and_every_tab_stands(lang, tab, values, caplog):
    put(values)
    app = page(values, lang, tab)
    assert_whole(app, caplog)
    assert [b.disabled for b in app.button if b.key == "training start"] == [True]
    assert not app.warning
    for name in ("loss", "layers", "rate"):
        result = figure.result(DEFAULTS | values, server().find("x", settings_of(DEFAULTS | values)))
        charts.charts(result, Words(lang, "training"))[name].altair()


def test_the_table_is_what_a_plain_loop_gives():
    values = put(SHORT)
    story = prose(page(SHORT))
    ends, held = [], []
    for settings in settings_of(values):
        steps = list(train(settings, task_named("chinese"), every=40))
        ends.append(number(sum(step.loss for step in steps[-10:]) / 10))
        held.append(number(steps[-1].record.held_out_loss))
    assert f"| {ends[0]} | {ends[1]} |" in story
    assert f"| Held-out loss | {held[0]} | {held[1]} |" in story


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("cell", "extra"),
    [
        (("held_out", 0, 20), {}),
        (("held_out", 1, 20), DIVERGES),
        (("map_a", 3, 1), {}),
        (("map_b", 1, 3), {}),
        (("map_b", 2, 1), {"task": "reverse", "look": "cross"}),
        (("map_a", 2, 1), {"task": "reverse", "look": "encoder", "find": "induction"}),
        (("map_a", 20, 10), {"task": "repeat", "find": "previous"}),
    ],
)
def test_every_kind_of_number_has_its_story(cell, extra, lang, caplog):
    values = SHORT | extra
    put(values)
    app = page(values | {"cell": cell}, lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 1


def test_a_weight_is_the_softmax_of_the_trained_model():
    """The map of the last look, recomputed from the weights that the training left."""
    from core.models.training import begin_run

    values = put(SHORT | {"find": "chosen", "layer": 1, "head": 2})
    result = figure.result(values, server().find("x", settings_of(values)))
    s, task = settings_of(values)[0], task_named("chinese")
    state = begin_run(s, task)
    list(train(s, task, state, every=s.steps))
    model, attention = state.model, state.model.blocks[0].attention
    with torch.no_grad():
        x = model.embeddings(task.shown.tokens).output[0]
        x = torch.nn.functional.layer_norm(x, (16,), model.blocks[0].norm1.gamma, model.blocks[0].norm1.beta)
        q, k = (
            (x @ w.weight.T + (0 if w.bias is None else w.bias))[:, 4:8]
            for w in (attention.w_q, attention.w_k)
        )
        scores = (q @ k.T / 2).masked_fill(torch.ones(len(x), len(x)).triu(1) > 0, -torch.inf)
    np.testing.assert_allclose(
        result.values("map_a"),
        scores.softmax(-1)[: len(result.values("map_a")), : len(result.values("map_a"))],
        atol=1e-6,
        rtol=1e-3,
    )


def test_the_gradient_s_share_is_of_the_whole(caplog):
    values = put(SHORT)
    app = page(SHORT | {"grad_cell": ("grad_b", 1, 20)}, tab="gradients")
    assert_whole(app, caplog)
    last = taken(settings_of(values)[1])[-1]
    share = 100 * (float(last.record.gradient_by_layer[1]) / last.gradient_norm) ** 2
    assert f"this block has {number(share)} % of its square" in prose(app)


def test_a_run_goes_on_while_the_language_changes_and_the_page_is_left(caplog):
    values = SHORT | {"steps": 200, "layers_a": 4}
    app = page(values)
    app.button(key="training start").click().run()
    assert_whole(app, caplog)
    assert [b.key for b in app.button if b.key in ("training start", "training stop")] == ["training stop"]
    app.button_group(key="language switch").set_value("zh").run()
    assert_whole(app, caplog)
    (name,) = server().runs
    until(lambda: server().runs[name].done > 20)
    app.query_params.clear()
    app.switch_page(str(course.file_of(course.PAGES["home"]))).run()
    assert server().runs[name].status == "running"
    app.query_params.clear()
    app.switch_page(str(course.file_of(course.PAGES["training"]))).run()
    assert_whole(app, caplog)
    assert list(server().runs) == [name]
    assert "训练中" in app.get("progress")[0].proto.text
    app.button(key="training stop").click().run()
    until(lambda: not server().runs[name].answer_due)
    app.run()
    stopped = server().runs[name].done
    assert 0 < stopped < 400
    assert "training go_on" in [b.key for b in app.button]
    app.button(key="training go_on").click().run()
    until(lambda: server().runs[name].status == "done")
    app.run()
    assert_whole(app, caplog)
    assert server().runs[name].done == 400
    losses = [step.loss for step in server().runs[name].steps[0]]
    told = taken(settings_of(DEFAULTS | values)[0])
    np.testing.assert_allclose(losses[:100], [step.loss for step in told[:100]], rtol=1e-3)


def until(condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_moved_controls_do_not_lose_the_run_and_say_whose_curves_these_are(caplog):
    app = page(SHORT)
    app.button(key="training start").click().run()
    (name,) = server().runs
    until(lambda: server().runs[name].status == "done")
    app.number_input(key="training.layers_a").set_value(3).run()
    assert_whole(app, caplog)
    assert "belong to your run with these settings" in app.info[0].value
    assert "1 layer · Pre-LN" in app.info[0].value
    app.button(key="training belongs.take").click().run()
    assert not app.info
    assert link_of(app)["layers_a"] == "1"


def test_a_browser_s_run_is_its_own_in_every_tab_and_pushes_in_nowhere(monkeypatch, caplog):
    monkeypatch.setattr(training_desk, "visitor", lambda: "one browser")
    long = SHORT | {"steps": 400, "layers_b": 8}
    first = page(long)
    first.button(key="training start").click().run()
    (name,) = server().runs
    again, other = page(long), page(SHORT | {"seed": 5})
    for app in (again, other):
        assert_whole(app, caplog)
    assert [b.key for b in again.button if b.key in ("training start", "training stop")] == ["training stop"]
    assert "goes on meanwhile" in other.info[0].value
    assert "Nobody has run these settings" in prose(other)
    assert not other.get("progress")
    other.button(key="training belongs.show").click().run()
    assert link_of(other)["steps"] == "400"
    other.button(key="training stop").click().run()
    assert server().runs[name].status == "stopped"
    monkeypatch.setattr(training_desk, "visitor", lambda: "another browser")
    assert "Nobody has run these settings" in prose(page(long))


def test_two_readers_with_the_same_settings_share_one_run(caplog):
    first, second = page(SHORT | {"steps": 200}), None
    first.button(key="training start").click().run()
    second = page(SHORT | {"steps": 200})
    assert_whole(second, caplog)
    assert len(server().runs) == 1
    assert [b.disabled for b in second.button if b.key == "training start"] == [True]


def test_others_wait_and_are_told_their_place(monkeypatch, caplog):
    monkeypatch.setattr(server(), "at_once", 1)
    apps = [page(SHORT | {"steps": 400, "layers_a": 8, "seed": i}) for i in range(2)]
    for app in apps:
        app.button(key="training start").click().run()
        assert_whole(app, caplog)
    assert sorted(r.status for r in server().runs.values()) == ["running", "waiting"]
    assert "Your place in the queue: 1." in apps[1].get("progress")[0].proto.text


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_state_of_the_page(name, caplog):
    values = PRESETS[name]
    assert set(values) <= {p.name for p in PAGE.parameters}
    for key, value in values.items():
        assert PAGE.parameter(key).read(PAGE.parameter(key).write(value)) == (value, None)
    settings_of(DEFAULTS | values)
    app = page(values)
    assert_whole(app, caplog)
    assert link_of(app).items() >= query(values).items()


@pytest.mark.parametrize(
    ("lang", "values"),
    [
        ("zh", DIVERGES),
        ("en", SHORT | {"task": "translate", "look": "cross", "at": 7, "clip_a": "0.25", "drop_b": "0.2"}),
    ],
)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(lang, values, tmp_path, monkeypatch):
    put(values, until=30 if "task" in values else None)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    files: dict = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: files.update({kind: make}))
    app = page(values, lang, "takeaway")
    assert not app.exception
    shown, computed = matrices(files["csv"]()), run(files["ipynb"](), tmp_path)
    assert set(shown) == set(computed)
    for name, numbers in shown.items():
        tolerance = {"rtol": 5e-2, "atol": 2e-2} if values is DIVERGES else {"rtol": 5e-3, "atol": 2e-3}
        np.testing.assert_allclose(computed[name], numbers, err_msg=name, **tolerance)
    assert "html" in files
    assert len(files["html"]()) > 1000


@pytest.mark.parametrize(
    "values",
    [
        SHORT,
        SHORT | {"clip_a": "0.1", "smooth_b": "0.2", "drop_a": "0.3", "plan_a": "cosine", "plan_b": "linear"},
        SHORT | {"task": "translate", "plan_a": "inverse_sqrt", "warm_b": 400},
        DIVERGES | {"norm_a": "post", "res_a": False, "layers_a": 24},
    ],
)
def test_the_checks_hold(values, caplog):
    app = page(values, tab="code")
    assert_whole(app, caplog)
    assert not app.warning
    assert any("32-bit numbers" in said.value for said in app.caption), "a training is not 64-bit"


@pytest.mark.parametrize(
    ("values", "set_apart"),
    [
        ({}, {"en": "", "zh": ""}),
        (
            {"res_a": False, "clip_a": "0.25"},
            {"en": "no residual · clipped at 0.25", "zh": "无残差 · 裁剪到 0.25"},
        ),
        (
            {"plan_a": "cosine", "drop_a": "0.5", "smooth_a": "0.1"},
            {"en": "cosine · dropout 0.5 · smoothing 0.1", "zh": "余弦下降 · dropout 0.5 · 平滑 0.1"},
        ),
    ],
)
def test_what_stands_behind_a_button_is_named_on_it_and_kept(values, set_apart, caplog):
    for lang in LANGUAGES:
        assert figure.set_apart("a", DEFAULTS | values, Words(lang, "training")) == set_apart[lang]
        assert figure.set_apart("b", DEFAULTS | values, Words(lang, "training")) == ""
    app = page(values)
    app.number_input(key="training.layers_a").set_value(3).run()
    assert link_of(app).items() >= query(values | {"layers_a": 3}).items()
    assert not [box for box in app.selectbox if box.key == "training.drop_a"]
    app.session_state["training more a"] = True
    app.run()
    assert_whole(app, caplog)
    assert app.selectbox(key="training.drop_a").value == (DEFAULTS | values)["drop_a"]
    app.selectbox(key="training.drop_a").set_value("0.2").run()
    assert_whole(app, caplog)
    assert link_of(app)["drop_a"] == "0.2"


def test_a_held_out_loss_that_jumps_once_is_not_called_overfitting():
    settings = settings_of(DEFAULTS)[0]
    falling, looked = np.linspace(3, 0.5, 160), np.array([1, *range(8, 161, 8)])
    rest = {
        "rates": falling,
        "norms": falling,
        "accuracy": looked,
        "gradients": looked,
        "maps": (),
        "failed": 0,
    }

    def side(held_out):
        return Side(settings, falling, looked=looked, held_out=np.array(held_out), **rest)

    assert turned(side([*np.linspace(3, 0.7, 20), 0.9])) is None
    assert turned(side([*np.linspace(3, 0.7, 18), 0.9, 0.71, 0.9])) is None
    assert turned(side([*np.linspace(3, 0.7, 18), 0.8, 0.85, 0.9])) == (136, pytest.approx(0.7), 0.9)


def test_play_goes_through_the_looks_and_ends(caplog):
    put(SHORT)
    app = page(SHORT)
    app.button(key="training play").click().run()
    assert_whole(app, caplog)
    for _ in range(25):
        app.run()
    assert_whole(app, caplog)
    assert link_of(app)["at"] == "20"
    assert "training play" in [b.key for b in app.button]
    app.button(key="training back").click().run()
    assert link_of(app)["at"] == "19"


def test_a_click_on_a_point_is_the_loss_behind_it():
    values, words = put(SHORT), Words("en", "training")
    result = figure.result(values, server().find("x", settings_of(values)))
    name = words.plain("series.held_out", side="B")
    assert charts.pointed(name, 40.0, result, words) == ("held_out", 1, 20)
    assert charts.pointed(name, 1.0, result, words) == ("held_out", 1, 0)
    assert charts.pointed(name, 3.0, result, words) is None
    assert charts.pointed("another", 40.0, result, words) is None
