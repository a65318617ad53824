"""The residual page: what its words say is what an independent computation finds, at every setting."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from core.block.depth import DepthSettings, drawn
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui.figures import residual as figure
from ui.figures import residual_alike as alike
from ui.figures import residual_charts as charts
from ui.figures.residual_notices import notices
from ui.frame import takeaway
from ui.numbers import number
from ui.predictions.residual import PREDICTIONS
from ui.words import LANGUAGES, Words

DEFAULTS = {"norm_a": "pre", "res_a": True, "init_a": "fan_in", "norm_b": "post", "res_b": True}
DEFAULTS |= {"init_b": "fan_in", "layers": 24, "width": "64", "seed": 0}
TABS = ("block", "layers", "alike", "deep", "seeds", "init", "dropout")
OVERFLOWS = {"norm_b": "none", "res_b": "0", "init_b": "he"}


def page(query: dict[str, str] | None = None, lang: str = "en", tab: str = ""):
    return open_page("residual", {"lang": lang} | (query or {}), tab=tab)


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def independent(norm: str, residual: bool, layers: int, width: int = 64, seed: int = 0, init: str = "fan_in"):
    """Length, gradient and likeness by layer: the formulas written down again, with PyTorch's own functions."""
    settings = DepthSettings(norm, residual, layers, init, d_model=width, seeds=(seed,))
    x, targets, readout, stack = drawn(settings, seed)

    def normed(y):
        return F.layer_norm(y, (width,))

    def around(y, inner):
        new = inner(normed(y) if norm == "pre" else y)
        new = y + new if residual else new
        return normed(new) if norm == "post" else new

    states = [x]
    for block in stack.blocks:
        a, f = block.attention, block.feed_forward

        def attend(y, a=a):
            heads = [(y @ w.weight.T).unflatten(-1, (4, -1)).transpose(1, 2) for w in (a.w_q, a.w_k, a.w_v)]
            return (
                F.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).flatten(-2)
                @ a.w_o.weight.T
            )

        y = around(states[-1], attend)
        states.append(around(y, lambda y, f=f: F.relu(y @ f.w1.weight.T) @ f.w2.weight.T))
    loss = F.cross_entropy((normed(states[-1]) @ readout).flatten(0, 1), targets.flatten())
    gradients = torch.autograd.grad(loss, [block.feed_forward.w1.weight for block in stack.blocks])
    rows, columns = torch.triu_indices(32, 32, 1)
    likeness = [
        F.cosine_similarity(s[:, rows], s[:, columns], dim=-1).mean().item()
        for s in (s.detach() for s in states)
    ]
    lengths = [s.detach().norm(dim=-1).mean().item() for s in states]
    return np.array(lengths), np.array([g.norm().item() for g in gradients]), np.array(likeness)


def test_the_table_is_an_independent_computation():
    story = prose(page())
    a, b = independent("pre", True, 24), independent("post", True, 24)
    for label, one, other in (
        ("Gradient, layer 1", a[1][0], b[1][0]),
        ("Gradient, layer 24", a[1][-1], b[1][-1]),
        ("Length after layer 24", a[0][-1], b[0][-1]),
    ):
        assert f"| {label} | {number(one)} | {number(other)} | × {number(other / one)} |" in story
    assert f"| Similarity after layer 24 | {number(a[2][-1])} | {number(b[2][-1])} | +" in story


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("residual", [True, False])
def test_every_arrangement_is_an_independent_computation(norm, residual):
    measured = figure.measure(norm, residual, "xavier", 6, 32, 3)
    lengths, gradients, likeness = independent(norm, residual, 6, 32, 3, "xavier")
    np.testing.assert_allclose(measured.norm, lengths, rtol=1e-4)
    np.testing.assert_allclose(measured.gradient, gradients, rtol=1e-3)
    np.testing.assert_allclose(measured.similarity, likeness, atol=1e-4)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("cell", "query"),
    [
        ("norm.0.0", {}),
        ("norm.0.12", {}),
        ("norm.1.12", {}),
        ("norm.1.5", {"res_b": "0", "norm_b": "pre"}),
        ("norm.1.5", {"res_b": "0", "init_b": "gpt2", "layers": "48"}),
        ("norm.2.3", {}),
        ("gradient.0.23", {}),
        ("gradient.1.0", OVERFLOWS),
        ("gradient.2.0", {}),
        ("similarity.0.24", {}),
        ("similarity.1.24", {"norm_b": "none", "res_b": "0", "init_b": "gpt2"}),
        ("similarity.2.7", {}),
    ],
)
def test_every_kind_of_number_has_its_story(cell, query, lang, caplog):
    app = page({"cell": cell} | query, lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 1
    name, row, column = cell.split(".")
    if row != "2" and not query:
        norm = ("pre", "post")[int(row)]
        values = dict(zip(("norm", "gradient", "similarity"), independent(norm, True, 24), strict=True))
        assert f"= {number(values[name][int(column)])}\n" in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"layers": "1", "width": "16", "layer": "48", "p": "0", "draws": "1"},
        OVERFLOWS | {"layers": "48", "norm_a": "none", "init_a": "he", "p": "0.9", "draws": "1000"},
        {"norm_a": "none", "res_a": "0", "init_a": "gpt2", "layers": "30", "scheme_of": "b", "layer": "0"},
    ],
)
def test_a_tab_stands_the_ends_of_its_parameters(tab, query, lang, caplog):
    app = page(query, lang, tab)
    assert_whole(app, caplog)
    for chart in app.get("vega_lite_chart"):
        assert "layer" in json.loads(chart.proto.spec)


def test_what_left_float32_is_told_and_not_drawn(caplog):
    app = page(OVERFLOWS)
    assert_whole(app, caplog)
    measured = figure.measure("none", False, "he", 24, 64, 0)
    missing = int((~np.isfinite(measured.gradient)).sum())
    assert 0 < missing < 24
    assert f"the gradient is not finite in layers: {missing} of 24" in prose(app)
    result = figure.result(DEFAULTS | {"norm_b": "none", "res_b": False, "init_b": "he"})
    drawn_charts = charts.charts(result, Words("en", "residual"), None)
    points = drawn_charts["gradient"].data.query("layer == 'series' and name.str.startswith('B')")
    assert points.x.tolist() == list(range(missing + 1, 25))
    for chart in drawn_charts.values():
        chart.altair()


def test_a_click_on_a_point_is_the_cell_behind_it():
    words, result = Words("en", "residual"), figure.result(DEFAULTS)
    assert charts.pointed("B: Post-LN", "gradient", 5.0, result, words) == ("gradient", 1, 4)
    assert charts.pointed("A: Pre-LN", "norm", 0.0, result, words) == ("norm", 0, 0)
    assert charts.pointed("A: Post-LN", "norm", 0.0, result, words) is None
    assert charts.pointed("A: Pre-LN", "norm", 25.0, result, words) is None


class Recorder(Words):
    """Words that remember what was said, with which values."""

    def __init__(self):
        super().__init__("en", "residual")
        self.said: list[tuple[str, dict]] = []

    def __call__(self, key, /, **values):
        self.said.append((key, values))
        return super().__call__(key, **values)


def true(key: str, told: dict, result) -> bool:
    """Whether a sentence of the notices holds, asked of the arrays again."""
    layers, side = result.parameters["layers"], str(told.get("side", "A"))[0].lower()
    m = result.facts[side]
    own = result.facts["settings"][side]
    with np.errstate(invalid="ignore"):
        checks = {
            "notice.forward": lambda: not np.isfinite(m.norm[told["layer"]]) and np.isfinite(m.norm[: told["layer"]]).all() and not np.isfinite(m.gradient).any(),
            "notice.backward": lambda: np.isfinite(m.norm).all() and told["count"] == np.sum(~np.isfinite(m.gradient)),
            "notice.rounding": lambda: own["norm"] == "none" and np.isfinite(m.norm).all() and np.isclose(told["growth"], m.norm.max() / m.norm[0]) and told["growth"] > 10,
            "notice.zero": lambda: m.norm[told["layer"]] == 0 and (m.norm[: told["layer"]] > 0).all(),
            "notice.gradient_zero": lambda: told["count"] == np.sum(m.gradient == 0),
            "notice.gradient": lambda: layers > 1,
            "notice.gradient_one": lambda: layers == 1,
            "notice.gradient_ratio": lambda: np.isclose(told["ratio"], result.facts["b"].gradient[-1] / result.facts["a"].gradient[-1]),
            "notice.pre_falls": lambda: own["norm"] == "pre" and own["res"] and m.gradient[0] > 1.5 * m.gradient[-1] and np.polyfit(range(layers), np.log(m.gradient), 1)[0] < 0,
            "notice.root": lambda: own["norm"] == "pre" and own["res"] and abs(told["along"]) < 0.5,
            "notice.held": lambda: np.allclose(m.norm[1:], told["root"], rtol=0.02),
            "notice.held_both": lambda: all(np.allclose(result.facts[s].norm[1:], told["root"], rtol=0.02) for s in "ab"),
            "notice.length": lambda: told["end_b"] == result.facts["b"].norm[-1] or np.isnan(told["end_b"]),
            "notice.likeness": lambda: abs(result.facts["a"].similarity[0]) < 0.05,
            "notice.alike": lambda: (m.similarity[told["layer"] :] >= 0.99).all() and not m.similarity[told["layer"] - 1] >= 0.99,
            "notice.lost": lambda: any(not result.parameters[f"res_{s}"] and result.facts[s].similarity[-1] >= 0.99 for s in "ab"),
            "notice.normed_holds": lambda: own["norm"] != "none" and not own["res"] and m.gradient.min() >= 1e-3 and m.gradient.max() <= 1e3,
            "notice.normed_vanishes": lambda: own["norm"] != "none" and m.gradient.min() < 1e-3,
            "notice.normed_explodes": lambda: own["norm"] != "none" and m.gradient.max() > 1e3,
            "notice.bare_holds": lambda: own["norm"] == "none" and m.gradient.min() >= 1e-3 and m.gradient.max() <= 1e3,
            "notice.bare_vanishes": lambda: own["norm"] == "none" and m.gradient.min() < 1e-3 and m.gradient.max() <= 1e3,
            "notice.bare_explodes": lambda: own["norm"] == "none" and m.gradient.max() > 1e3,
            "notice.bare_overflows": lambda: not np.isfinite(m.gradient).all(),
        }  # fmt: skip
        return bool(checks[key]())


def test_what_to_notice_holds_at_any_setting():
    dice = random.Random(5)
    seen = set()
    for _ in range(90):
        values = {
            "layers": dice.choice((1, 2, 5, 9, 16, 24, 48)),
            "width": dice.choice(("16", "32")),
            "seed": dice.randrange(99),
        }
        for side in "ab":
            own = (
                dice.choice(("pre", "post", "none")),
                dice.random() < 0.6,
                dice.choice(("fan_in", "he", "xavier", "gpt2")),
            )
            values |= dict(zip((f"norm_{side}", f"res_{side}", f"init_{side}"), own, strict=True))
        result, words = figure.result(values), Recorder()
        notices(result, words)
        for key, told in words.said:
            assert true(key, told, result), (key, told, values)
            seen.add(key)
    assert len(seen) > 15, seen


def test_a_likeness_lost_to_some_vectors_of_0_is_not_blamed_on_large_numbers():
    """One layer before the whole stream is 0, a few of its vectors are: their length has a mean above 0, no likeness."""
    gone = {"norm_b": "none", "res_b": False, "init_b": "gpt2", "layers": 12, "width": "16"}
    result, words = figure.result(DEFAULTS | gone), Recorder()
    m = result.facts["b"]
    (partly,) = np.flatnonzero(np.isnan(m.similarity) & (m.norm > 0))
    for layer in (partly, partly + 1):
        figure.why(result, ("similarity", 1, int(layer)), words)
        assert words.said[-1][0] == "why.no_direction"
    huge = {"norm_b": "none", "res_b": True, "init_b": "he", "layers": 48}
    result = figure.result(DEFAULTS | huge)
    layer = int(np.flatnonzero(~np.isfinite(result.facts["b"].norm))[0])
    figure.why(result, ("similarity", 1, layer), words)
    assert words.said[-1][0] == "why.not_finite"


def test_a_pair_is_told_with_what_it_began_with():
    result = figure.result(DEFAULTS | {"layers": 3, "width": "16"})
    x = drawn(figure.settings("pre", True, "fan_in", 3, 16, 0), 0)[0][0]
    start = F.cosine_similarity(x[20], x[3], dim=0).item()
    story = alike.why(alike.compute(result, 3), ("cos_a", 20, 3), Words("en", "residual"))
    assert f"Before layer 1 this pair had {number(start)}." in story
    told = alike.why(alike.compute(result, 0), ("cos_a", 20, 3), Words("en", "residual"))
    assert f"\\frac{{{number(float(x[20] @ x[3]))}}}{{{number(x[20].norm().item())}\\cdot" in told


@pytest.mark.parametrize(
    ("name", "right"),
    [("no_residual", "holds"), ("deeper", "falls"), ("alike", "more"), ("neither", "much")],
)
def test_the_questions_have_the_answers_that_their_reasons_give(name, right):
    (asked,) = [p for p in PREDICTIONS if p.name == name]
    start = DEFAULTS | dict(asked.start)
    for seed in range(4):
        before, after = (figure.result(s | {"seed": seed}) for s in (start, start | dict(asked.change)))
        assert asked.verdict(before, after) == {right}
        assert np.isfinite(list(asked.measure(before, after).values())).all()


def test_dropout_says_what_the_draws_give():
    app = page({"p": "0.5", "draws": "200", "drop_cell": "mean.5.2"}, tab="dropout")
    story = prose(app)
    assert "1/(1 − p) = 2" in story
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(8, 8, generator=generator, dtype=torch.float64)
    weights = torch.softmax(scores.masked_fill(torch.ones(8, 8).triu(1) > 0, -torch.inf), -1)
    assert f"in inference it is {number(weights[5, 2].item())}" in story
    expected = (weights**2).mean().sqrt().item() / 200**0.5  # √(p/(1−p)) = 1
    assert f"Theory expects {number(expected)}" in story


@pytest.mark.parametrize(
    ("lang", "query"),
    [
        ("en", {}),
        ("zh", OVERFLOWS | {"layers": "12"}),
        ("en", {"norm_b": "none", "width": "16", "seed": "7"}),
    ],
)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(lang, query, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    files: dict = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: files.update({kind: make}))
    app = page(query, lang, "takeaway")
    assert not app.exception
    shown, computed = matrices(files["csv"]()), run(files["ipynb"](), tmp_path)
    assert set(shown) == set(computed)
    for name, values in shown.items():
        np.testing.assert_allclose(computed[name], values, rtol=2e-3, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("query", "count"), [({"layers": "48"}, 4), ({"norm_b": "none", "res_a": "0"}, 2)])
def test_the_checks_hold(query, count, lang, caplog):
    app = page(query, lang, "code")
    assert_whole(app, caplog)
    assert not app.warning
    table = next(
        m.value for m in app.markdown if m.value.startswith("|") and "TransformerEncoderLayer" in m.value
    )
    assert len(table.splitlines()) == 2 + count


def test_both_sides_and_every_chosen_number_are_in_the_link():
    app = page({"norm_b": "none", "res_a": "0", "init_b": "gpt2", "cell": "norm.0.3"})
    assert {"norm_b": "none", "res_a": "0", "init_b": "gpt2", "cell": "norm.0.3"}.items() <= link_of(
        app
    ).items()
    app.slider(key="residual.layers").set_value(6).run()
    assert link_of(app)["layers"] == "6"
    assert "Gradient, layer 6" in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", [p.name for p in PREDICTIONS])
def test_a_question_is_asked_set_up_shown_and_explained(name, lang, caplog):
    app = page(lang=lang)
    app.button(key="residual predict").click().run()
    app.button_group(key="residual predict which").set_value(name).run()
    for step in ("set_up", "show"):
        if f"residual predict.{step}" in [b.key for b in app.button]:
            app.button(key=f"residual predict.{step}").click().run()
    assert_whole(app, caplog)
    assert Words(lang, "residual")(f"predict.{name}.because") in prose(app)
    (asked,) = [p for p in PREDICTIONS if p.name == name]
    for changed, value in asked.change.items():
        assert link_of(app)[changed] == in_link(value)


def in_link(value) -> str:
    """A value as the link has it."""
    return str(int(value)) if isinstance(value, bool) else str(value)
