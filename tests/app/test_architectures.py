"""The page on architectures: its counts against the published ones, every model, every story, and what it hands out."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from core.models.configs import PRESETS
from core.text.tokens import split
from tests.app.claims import runs
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from tests.core.cost.test_sizes import PUBLISHED
from ui import strips
from ui.checks import architectures as checks
from ui.course.architectures import MODELS, PARTS
from ui.figures import architectures_counts as counted
from ui.figures import architectures_maps as maps
from ui.frame import takeaway
from ui.numbers import number
from ui.words import LANGUAGES, Words

WORDS = Words("en", "architectures")


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def test_gpt_1_against_gpt_2_is_what_the_page_opens_with(caplog):
    app = open_page("architectures", {"lang": "en"})
    assert_whole(app, caplog)
    told = prose(app)
    for count in ("116,534,784", "124,439,808", "7,510,272"):
        assert count in told
    assert "≠ **Place of the norm** | behind the addition (Post-LN) | before the sub-layer (Pre-LN)" in told
    assert "traits that differ: **5**" in told
    assert "Positions: learned table, added" in told.split("**Alike in both.**")[1]


@pytest.mark.parametrize("name", [name for name in MODELS if name in PUBLISHED])
def test_every_published_total_is_on_the_page(name, caplog):
    app = open_page("architectures", {"lang": "en", "right": name})
    assert_whole(app, caplog)
    assert f"{PUBLISHED[name]:,}" in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("part", PARTS)
def test_every_part_has_its_story(part, lang, caplog):
    app = open_page("architectures", {"lang": lang, "left": "t5-base", "right": "mixtral-8x7b", "part": part})
    assert_whole(app, caplog)
    story = next(m.value for m in app.markdown if "$$" in m.value)
    for name in ("t5-base", "mixtral-8x7b"):
        value = getattr(counted.count_parameters(PRESETS[name]), part)
        assert f"{value:,}".replace(",", "{,}") in story
    assert story.rstrip().endswith("`")


def test_a_pair_of_the_list_sets_both_choosers_and_swaps_them(caplog):
    app = open_page("architectures", {"lang": "en"})
    for name, pair in (("gpt_llama", ("gpt2-small", "llama-7b")), ("swap", ("llama-7b", "gpt2-small"))):
        app.session_state["architectures presets"] = True  # the list closes behind each choice
        app.run()
        app.button(key=f"architectures presets {name}").click().run()
        assert_whole(app, caplog)
        assert (link_of(app)["left"], link_of(app)["right"]) == pair


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("tab", ["parts", "masks", "goals", "own", "code", "where"])
def test_each_tab_is_whole(tab, lang, caplog):
    app = open_page("architectures", {"lang": lang, "left": "bert-base", "right": "own"}, tab=tab)
    assert_whole(app, caplog)
    assert not app.warning


def test_the_list_of_published_numbers_has_every_total(caplog):
    told = prose(open_page("architectures", {"lang": "en"}, tab="parts"))
    assert all(f"{PUBLISHED[name]:,}" in told for name in counted.PUBLISHED if name in PUBLISHED)


def test_a_model_of_ones_own_is_taken_as_b(caplog):
    app = open_page("architectures", {"lang": "en", "own_heads": "8", "own_tied": "0"}, tab="own")
    app.button(key="architectures own set").click().run()
    assert_whole(app, caplog)
    assert link_of(app)["right"] == "own"
    d, f, v = 512, 1408, 32000  # 8/3 · 512 = 1365.3, up to a multiple of 64
    size = 2 * v * d + 12 * (4 * d * d + 3 * d * f + 2 * d) + d
    assert f"B **{size:,}**" in prose(app)


@pytest.mark.parametrize(
    "pair", [("gpt1", "bert-base"), ("t5-base", "llama3-8b"), ("mistral-7b", "mixtral-8x7b")]
)
def test_the_checks_hold_and_would_not_for_another_model(pair):
    result = counted.of_pair(*(PRESETS[name] for name in pair))
    made = checks.architecture_checks(result)
    assert all(check.difference == 0 for check in made)
    assert len(made) >= 2
    counts = result.facts["counts"]
    wrong = counted.of_pair(PRESETS["gpt2-small"], PRESETS["gpt2-small"])
    wrong.facts["counts"] = counts
    assert not all(check.holds for check in checks.architecture_checks(wrong))


@pytest.mark.parametrize(
    ("name", "right", "told"),
    [
        ("grows", "tokens", "7,510,272 in the token table, 393,216 in the positions, 1,536 in the norms"),
        ("direction", "stays", "Attention had 28,348,416 parameters and has 28,348,416"),
        ("grouped", "falls", "from 2,147,483,648 to 1,342,177,280"),
        ("untied", "table", "added: 24,576,000"),
    ],
)
def test_predictions_are_answered_by_what_was_counted(name, right, told, caplog):
    app = open_page("architectures", {"lang": "en"})
    app.button(key="architectures predict").click().run()
    app.button_group(key="architectures predict which").set_value(name).run()
    app.button(key="architectures predict.set_up").click().run()
    app.radio(key=f"architectures predict guess {name}").set_value(right).run()
    app.button(key="architectures predict.show").click().run()
    assert_whole(app, caplog)
    assert app.success[0].value == f"Your guess was right: {WORDS(f'predict.{name}.{right}')}."
    assert told in prose(app)


def test_what_is_said_of_sizes_is_so(monkeypatch):
    for said in runs("architectures", 25, 0, monkeypatch):
        assert not said.number_slips(), said.number_slips()
        a, b = (counted.config_of(said.settings[side], said.settings) for side in ("left", "right"))
        sizes = [counted.count_parameters(c).total for c in (a, b)]
        key = "equal_size" if sizes[0] == sizes[1] else "larger_b" if sizes[1] > sizes[0] else "larger_a"
        assert f"**{sizes[0]:,}**" in said.of(f"notice.{key}")
        assert (said.of("notice.same") is not None) == (a == b)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "cell", ["encoder.1.1", "decoder.0.1", "prefix.0.2", "source.0.0", "target.2.1", "cross.3.1"]
)
def test_every_map_has_its_story(cell, lang, caplog):
    app = open_page("architectures", {"lang": lang, "map_cell": cell}, tab="masks")
    assert_whole(app, caplog)
    assert lines_of_code(app)[-1].split(" = ")[0] in ("reading", "writing", "prefixed", "two")
    name, i, j = cell.split(".")
    seen = maps.compute(
        split("the kitten eats fish , the puppy eats bones .", 24).tokens,
        tuple("小猫吃鱼，小狗吃骨头。"),
        3,
        7,
    )
    value = seen.values(name)[int(i), int(j)]
    assert ("-\\infty" in prose(app)) == (value == 0)
    assert number(value) in prose(app).rsplit("A_{ij}", 1)[1]


def test_pairs_are_counted_at_every_setting(monkeypatch):
    for said in runs("architectures", 25, 1, monkeypatch, tab="masks", figure="architectures_maps"):
        assert not said.number_slips(), said.number_slips()
        result = said.results[0][0]
        n, m = len(result.parameters["source"]), len(result.parameters["target"])
        prefix = min(said.settings["prefix"], n)
        seen = sum(j <= i or j < prefix for i in range(n) for j in range(n))
        told = said.of("map.notice.pairs")
        assert f"**{n * n}** in the encoder, **{n * (n + 1) // 2}** in the decoder, **{seen}** with" in told
        assert (seen == n * n and n > 1) == (said.of("map.notice.prefix_all") is not None)
        same = said.of("map.notice.prefix_causal") is not None
        assert same == (seen == n * (n + 1) // 2 and seen < n * n)
        for name in maps.NAMES:
            np.testing.assert_allclose(result.values(name).sum(1), 1)
        assert f"together {n * n + m * (m + 1) // 2 + n * m}" in said.of("map.notice.three")


def test_what_is_said_of_exercises_is_so(monkeypatch):
    drawn = {}
    real = strips.draw
    monkeypatch.setattr(
        strips, "draw", lambda key, shown, **more: drawn.update({"": shown}) or real(key, shown, **more)
    )
    for said in runs("architectures", 40, 2, monkeypatch, tab="goals"):
        assert not said.number_slips(), said.number_slips()
        p = said.settings
        text = split(p["source"], 24).tokens
        if p["goal"] == "nsp":
            (pair,) = drawn[""]
            assert [t.text for t in pair.tokens].count("[SEP]") == 2
            assert [t.below for t in pair.tokens] == sorted(t.below for t in pair.tokens)
            continue
        if p["goal"] == "spans" and len(text) < 2:
            assert said.of("goal.too_short")
            continue
        shown = {strip.name: strip for strip in drawn[""]}
        assert [t.text for t in shown["text"].tokens] == list(text)
        targets = [t.text for t in shown["targets"].tokens]
        losses = sum(t != "·" for t in targets)
        expected = {
            "next": len(text) - 1,
            "mlm": max(1, round(p["share"] / 100 * len(text))),
            "infill": len(text),
        }
        assert losses == expected.get(p["goal"], losses)
        notice = said.of(f"goal.notice.{p['goal']}")
        assert f"**{losses}**" in notice
        if p["goal"] == "next":
            assert targets[:-1] == list(text[1:])
        elif p["goal"] == "mlm":
            for token, seen, target in zip(text, shown["read"].tokens, targets, strict=True):
                assert target in ("·", token)
                assert seen.text == token or target == token
                assert (seen.below == "as it is") == (target == "·")
        elif p["goal"] == "infill":
            assert targets == list(text)
        else:
            pieces = "\0".join(targets).split("⟨")[1:]
            missing = {piece.split("⟩")[0]: piece.split("\0")[1:] for piece in pieces}
            back = [
                w
                for t in shown["read"].tokens
                for w in (missing[t.text[1:-1]] if t.text[0] == "⟨" else [t.text])
            ]
            assert [w for w in back if w] == list(text)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("goal", ["next", "mlm", "nsp", "spans", "infill"])
@pytest.mark.parametrize("s", ["a", "<end> [MASK] | `x` $y$ **b**", "你好，世界🙂"])
def test_any_text_can_be_an_exercise(goal, s, lang, caplog):
    app = open_page("architectures", {"lang": lang, "goal": goal, "source": s, "share": "50"}, tab="goals")
    assert_whole(app, caplog)
    assert bool(app.info) == (goal == "spans" and s == "a")


STATES = {
    "default": {},
    "experts": {"left": "mixtral-8x7b", "right": "t5-base"},
    "own": {"left": "bert-base", "right": "own", "own_stack": "encoder-decoder", "own_positions": "learned"},
}


@pytest.mark.parametrize("state", STATES)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(state, monkeypatch, tmp_path):
    makers = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: makers.update({kind: make}))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    open_page("architectures", {"lang": "en"} | STATES[state], tab="takeaway")
    shown, made = matrices(makers["csv"]()), run(makers["ipynb"](), tmp_path)
    assert set(shown) == set(made) == {"counts"}
    np.testing.assert_array_equal(made["counts"], shown["counts"])
    lines = makers["csv"]().decode("utf-8-sig").splitlines()[1:]
    assert all(re.fullmatch(r"\d+", line.rpartition(",")[2]) for line in lines), "counts are whole numbers"
    if state == "default":
        assert lines[-2:] == ['"counts",8,1,"total","A",116534784', '"counts",8,2,"total","B",124439808']
    page = makers["html"]().decode()
    data = json.loads(page.split("for (const data of ")[1].split(") {\n  const parentElement")[0])
    assert [drawn["compact"] for drawn in data] == [True, True]
    assert not any(node["href"] for drawn in data for node in drawn["nodes"])
    assert "</script>" not in page.split("for (const data of ")[1].split("parentElement")[0]


@pytest.mark.parametrize("tab", ["", "parts", "masks", "goals", "own"])
def test_brackets_in_chinese_are_chinese(tab):
    """Outside code, formulas and links there is no half-width bracket in a Chinese page."""
    text = re.sub(
        r"`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)",
        "",
        prose(open_page("architectures", {"lang": "zh"}, tab=tab)),
        flags=re.DOTALL,
    )
    assert not re.findall(r".{0,30}\([^)]*\)", text)
