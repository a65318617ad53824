"""The forward-pass page: its words tell what PyTorch computes, any prompt is read, every tab and take-away works."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest
import torch

from core.models.corpus import corpus
from core.models.prompt import read_prompt
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui.checks.forward_pass import forward_checks, logits_by_pytorch
from ui.course.forward_pass import EMBEDDINGS, STEPS
from ui.figures import forward_pass as figure
from ui.figures import forward_pass_sampling as sampling
from ui.figures import forward_pass_training as training
from ui.figures import forward_pass_writing as writing
from ui.frame import takeaway
from ui.numbers import number
from ui.toys import shared
from ui.words import LANGUAGES, Words

STEM = "forward_pass"
WORDS = Words("en", STEM)
KITTEN = ("小", "猫", "爱", "吃")
SETTINGS = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "layer": "2", "draw": 1, "training": 0, "new": 6}
HOSTILE = [
    "你好，世界🙂",
    "<script>alert(1)</script>",
    "$x$ **b** `c` | d",
    ":material/home: [l](u)",
    "a\u202eb\u0000c",
    "👨\u200d👩\u200d👧",
    "😀" * 200,
    "   ",
    "小猫 <end> 爱",
]


@pytest.fixture(scope="session")
def toy():
    """The server's toy: trained once in this process, for the pages too."""
    return shared().wait(0)


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def opened(query: dict | None = None, tab: str = "", lang: str = "en"):
    return open_page(STEM, {"lang": lang} | {n: str(v) for n, v in (query or {}).items()}, tab=tab)


def computed(toy, tokens=KITTEN, **settings):
    return figure.compute(toy, tokens, SETTINGS | settings)


@cache
def theirs(tokens=KITTEN) -> torch.Tensor:
    """Logits [T, V] by PyTorch's functions."""
    toy = shared().wait(0)
    return logits_by_pytorch(toy.model, toy.encode(" ".join(tokens)))


@pytest.mark.parametrize(
    ("tokens", "answer"),
    [(KITTEN, "鱼"), (("the", "kitten", "eats"), "fish"), (("小", "熊", "爱", "吃"), "蜂")],
)
def test_the_toy_answers_what_the_page_is_about(toy, tokens, answer):
    p = theirs(tokens)[-1].softmax(-1)
    assert toy.vocabulary[int(p.argmax())] == answer
    assert p.max() > 0.5
    result = computed(toy, tokens)
    assert result.arrays["probs"].columns[0] == answer
    np.testing.assert_allclose(result.facts["all_logits"], theirs(tokens), atol=1e-10)
    np.testing.assert_allclose(result.facts["lens"][-1], theirs(tokens).softmax(-1), atol=1e-10)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_words_tell_pytorchs_numbers(toy, lang, caplog):
    app = opened(lang=lang)
    assert_whole(app, caplog)
    p = theirs()[-1].softmax(-1)
    told = prose(app)
    assert f"` 鱼 ` ({number(float(p.max()))})" in told.replace("（", " (").replace("）", ")")
    assert f"= {number(float(p.max()))}$$" in told.replace("\n", "")
    lengths = " → ".join(number(float(np.linalg.norm(x[-1]))) for x in computed(toy).facts["states"])
    assert lengths in told


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("layer", ["1", "2"])
@pytest.mark.parametrize("step", STEPS)
def test_every_kind_of_number_has_its_story(toy, step, layer, lang, caplog):
    app = opened({"layer": layer, "step": step, "cell": f"{step}.3.1", "top_k": "5"}, lang=lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 1
    story = next(m.value for m in app.markdown if m.value.startswith("## ") and m.value.endswith(" `"))
    value = float(computed(toy, layer=layer, top_k=5).values(step)[3, 1])
    assert re.search(rf"= {re.escape(number(value))}\$\$", story.replace("\n", "")) or value == 0
    assert "$$" in story


@pytest.mark.parametrize(
    ("settings", "cell", "said"),
    [
        ({"temperature": 0}, "probs.4.0", "greedy"),
        ({"temperature": 0}, "probs.4.1", "greedy"),
        ({"top_k": 1}, "probs.4.1", "gets 0"),
        ({"top_k": 3}, "probs.4.1", "The cuts leave 3 tokens"),
        ({"top_p": 0.05}, "probs.4.0", "The cuts leave 1 token "),
        ({}, "h2.1.3", "causal mask"),
    ],
)
def test_stories_at_the_edges(settings, cell, said, caplog):
    app = opened(settings | {"cell": cell})
    assert_whole(app, caplog)
    assert said in prose(app)


def test_what_is_replaced_is_told_in_the_order_of_the_prompt_and_each_kind_once(caplog):
    app = opened({"s": "the draggon . qqqqq qqqqq"})
    assert_whole(app, caplog)
    told = app.info[0].value
    assert told.index("draggon") < told.index("qqqqq")
    assert told.count("qqqqq") == 2, "one that nothing goes on to, one that follows what replaced it"
    assert "no sentence of its training goes on from here" in told


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("text", HOSTILE)
def test_any_prompt_is_read_and_told_as_text(toy, text, lang, caplog):
    app = opened(lang=lang)
    app.text_input(key="forward_pass.s").set_value(text).run()
    assert_whole(app, caplog)
    assert app.info
    assert "<script>" not in re.sub(r"`[^`]*`", "", "\n".join(i.value for i in app.info) + prose(app))


@pytest.mark.parametrize(
    ("text", "lang", "parts"),
    [
        ("小猫爱吃巧", "en", ["` 巧 ` is unknown", "reads ` 鱼 `", "324 tokens", "You could also take"]),
        ("the kittens eats", "en", ["` kittens ` is unknown", "` kitten `", "spelled most alike"]),
        ("小猫爱吃巧", "zh", ["不认识 ` 巧 `", "改读 ` 鱼 `", "也可以换成"]),
        ("小猫爱吃鱼小猫爱吃鱼小猫", "en", ["12 tokens", "first 10"]),
    ],
)
def test_an_unknown_token_is_named_and_replaced(text, lang, parts, caplog):
    app = opened({"s": text}, lang=lang)
    assert_whole(app, caplog)
    told = app.info[0].value
    assert all(part in told for part in parts), told
    assert link_of(app)["s"] == text


@pytest.mark.parametrize("t", [0.0, 0.1, 0.7, 1.0, 3.0])
@pytest.mark.parametrize(("k", "p"), [(0, 1.0), (1, 1.0), (5, 0.9), (0, 0.05), (40, 0.95)])
def test_the_cuts_are_those_of_pytorchs_sort(toy, t, k, p):
    result = computed(toy, ("小", "猫"), temperature=t, top_k=k, top_p=p)
    ours = result.facts["last"]["probabilities"]
    logits = theirs(("小", "猫"))[-1]
    if t == 0:
        assert ours[int(logits.argmax())] == 1
        assert figure.left(result) == 1
        return
    full, order = (logits / t).softmax(-1).sort(descending=True)
    stay = torch.ones_like(full, dtype=torch.bool)
    if k:
        stay[k:] = False
    if p < 1:
        stay &= full.cumsum(-1) - full < p - 1e-12
    expected = torch.zeros_like(full)
    expected[order] = torch.where(stay, full, 0.0) / full[stay].sum()
    np.testing.assert_allclose(ours, expected, atol=1e-12)
    assert figure.left(result) == int(stay.sum())


def test_temperature_flattens_and_the_stream_grows_its_answer(toy):
    """The contrasts that the page promises, with margins: weights differ between machines."""
    cold, warm, hot = (computed(toy, ("小", "猫"), temperature=t) for t in (0.3, 1.0, 3.0))
    best = [r.facts["last"]["probabilities"].max() for r in (cold, warm, hot)]
    assert best[0] > best[1] + 0.1 > best[2] + 0.2
    assert figure.entropy(cold) < figure.entropy(warm) - 0.3 < figure.entropy(hot) - 1.0
    lens = warm.facts["lens"]
    own = lens[0].argmax(-1) == np.array(warm.facts["ids"])
    assert own.all(), "from the embeddings the model would repeat what it read"
    assert not (lens[-1].argmax(-1) == np.array(warm.facts["ids"])).any()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_the_embeddings_have_their_stories(name, lang, caplog):
    app = opened({"s": "小猫小", "cell": "probs.3.0", "emb_cell": f"{name}.1.3"}, "embeddings", lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2


def test_equal_tokens_differ_by_their_positions(toy, caplog):
    app = opened({"s": "小猫小"}, "embeddings")
    x = toy.model.embeddings(toy.encode("小 猫 小")).output.detach()
    cosine = float(torch.cosine_similarity(x[1], x[3], dim=0))
    assert (
        f"positions 2 and 4. Its two embeddings are one and the same row, cosine 1; with the positions the cosine is {number(cosine)}"
        in prose(app)
    )
    assert cosine < 0.95


@pytest.mark.parametrize("text", ["#" * 40, "the cat saw the cat", "qq qq qq"])
def test_an_unknown_token_is_named_once_however_often_it_stands_there(text):
    lines = [line for info in opened({"s": text}).info for line in info.value.split("\n")]
    readings = [line.split(" in its place")[0] for line in lines if "is unknown" in line]
    assert readings
    assert len(set(readings)) == len(readings)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "tab", ["lens", "sampling", "writing", "cache", "training", "limits", "code", "takeaway", "where"]
)
@pytest.mark.parametrize(
    "query",
    [
        {},
        {"s": "小猫", "temperature": 2.5, "top_k": 7, "top_p": 0.9, "new": 10, "at": 10},
        {"temperature": 0, "new": 1},
    ],
)
def test_every_tab_is_whole(tab, lang, query, caplog):
    app = opened(query, tab, lang)
    assert_whole(app, caplog)
    assert not app.warning


def test_the_lens_says_what_each_layer_would(toy):
    app = opened({"s": "小猫"}, "lens")
    with torch.no_grad():
        states = toy.model(toy.encode("小 猫")).states
        norm, table = toy.model.final_norm, toy.model.embeddings.token.weight
        for state in states:
            normed = torch.nn.functional.layer_norm(state, (48,), norm.gamma, norm.beta, norm.eps)
            p = (normed @ table.T).softmax(-1)
            for row in p:
                assert f"` {toy.vocabulary[int(row.argmax())]} ` {number(float(row.max()))}" in prose(app)


@pytest.mark.parametrize("draw", range(6))
@pytest.mark.parametrize(
    "cuts", [{}, {"top_k": 3}, {"top_p": 0.8}, {"temperature": 2.0}, {"temperature": 0.0}]
)
def test_writing_with_and_without_the_cache_is_the_same_text_for_less(toy, draw, cuts):
    result = computed(toy, ("小", "猫"), draw=draw, **cuts)
    written = writing.write(toy, result, 8)
    assert [s.token for s in written.cached] == [s.token for s in written.plain]
    assert written.gap < 1e-10
    assert written.cached[0].work == written.plain[0].work
    assert all(a.work < b.work for a, b in zip(written.cached[1:], written.plain[1:], strict=True))
    for step in written.cached:
        assert step.drawn is None or step.begins <= step.drawn < step.ends
        assert step.ends - step.begins == pytest.approx(step.probability)
        p = theirs(step.text[1:])[-1] if len(step.text) > 1 else None
        np.testing.assert_allclose(step.logits, p, atol=1e-9)
    checks = forward_checks(result, toy, written)
    assert all(check.holds for check in checks), checks


def test_the_same_seed_writes_the_same_and_others_write_others(toy):
    texts = {
        draw: tuple(s.token for s in writing.write(toy, computed(toy, ("小", "猫"), draw=draw), 8).cached)
        for draw in (*range(12), 0)
    }
    assert len(set(texts.values())) > 2


def test_the_position_table_ends_the_writing():
    app = opened({"s": "小猫爱吃鱼小猫爱吃鱼", "new": 10}, "writing")
    assert "room for 1 of the 10 tokens" in app.info[0].value
    assert "beyond" not in prose(app)


def test_the_corpus_is_there_and_can_be_searched(toy, caplog):
    every = training.sentences("", WORDS)
    zh, en = corpus("zh"), corpus("en")
    assert len(every) == len(zh.train) + len(zh.held_out)
    app = opened({"find": "kitten eats"}, "training")
    assert_whole(app, caplog)
    found = app.dataframe[0].value
    assert found.iloc[0].tolist() == ["小猫爱吃鱼。", "the kitten eats fish .", "trained on"]
    assert (
        training.sentences("小马在树下", WORDS).iloc[0]
        == ["小马在树下睡觉。", "the pony sleeps under the tree .", "kept apart"]
    ).all()
    trained = training.measure(toy, 0)
    assert trained.end < 0.5 * trained.frequency
    assert f"{len(zh.train + en.train)} sentences were trained on" in prose(app)


def test_training_again_takes_the_next_seed():
    app = opened(tab="training")
    assert app.button(key="forward_pass train again").label.endswith("seed 1")


@pytest.mark.parametrize("name", training.CASES)
def test_the_limits_say_what_is_so(toy, name):
    train = {lang: corpus(lang).train for lang in ("zh", "en")}
    whole = [s for sentences in train.values() for s in sentences]
    text = training.CASES[name]
    seen = any(s.startswith(text) for s in whole)
    assert seen == (name in ("seen", "twin", "pairing"))
    unknown = toy.unknown(text)
    assert unknown == (("不",) if name == "unknown" else ())
    if name == "pairing":
        assert "中午下雨了。" in corpus("zh").held_out
        assert "中午下雪了。" in train["zh"]


@pytest.mark.parametrize(
    ("name", "right"),
    [("temperature", "falls"), ("nucleus", "few"), ("verb", "other"), ("cache", "less")],
)
def test_predictions_are_answered_by_what_was_computed(name, right, caplog):
    app = opened()
    app.button(key="forward_pass predict").click().run()
    app.button_group(key="forward_pass predict which").set_value(name).run()
    if any(b.key == "forward_pass predict.set_up" for b in app.button):
        app.button(key="forward_pass predict.set_up").click().run()
    app.radio(key=f"forward_pass predict guess {name}").set_value(right).run()
    app.button(key="forward_pass predict.show").click().run()
    assert_whole(app, caplog)
    assert app.success[0].value == f"Your guess was right: {WORDS(f'predict.{name}.{right}')}."


@pytest.mark.parametrize("lang", LANGUAGES)
def test_two_temperatures_are_compared(toy, lang, caplog):
    app = opened({"s": "小猫"}, lang=lang)
    app.button(key="forward_pass pin").click().run()
    app.slider(key="forward_pass.temperature").set_value(2.0).run()
    assert_whole(app, caplog)
    entropies = [number(figure.entropy(computed(toy, ("小", "猫"), temperature=t))) for t in (1.0, 2.0)]
    unit = {"en": "nat", "zh": "奈特"}[lang]
    row = next(
        line for m in app.markdown for line in m.value.splitlines() if unit in line and line.count("|") == 5
    )
    assert [cell.strip() for cell in row.split("|")[2:4]] == entropies


def test_cutting_one_after_the_other_keeps_fewer(toy):
    result = computed(toy, ("小", "猫"), temperature=2.0, top_k=10, top_p=0.6)
    full = np.sort(result.facts["last"]["full"])[::-1][:10]
    before = np.cumsum(full / full.sum()) - full / full.sum()
    assert sampling.one_after_the_other(result) == int((before < 0.6).sum()) <= figure.left(result)


STATES = {
    "default": {},
    "cut": {"s": "the kitten", "layer": "1", "top_k": "4", "top_p": "0.8", "temperature": "1.5"},
}


@pytest.mark.parametrize("state", STATES)
def test_the_notebook_trains_alone_and_gives_the_pages_numbers(state, monkeypatch, tmp_path):
    makers = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: makers.update({kind: make}))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    opened(STATES[state], tab="takeaway")
    shown, made = matrices(makers["csv"]()), run(makers["ipynb"](), tmp_path)
    assert set(shown) == set(made) == set(STEPS)
    for name, values in shown.items():
        np.testing.assert_allclose(made[name], values, atol=1e-6, err_msg=name)
    assert "<html" in makers["html"]().decode()


def test_prompts_of_the_examples_are_known(toy):
    from core.models.corpus import tokens_of

    known = tuple(tokens_of(s) for lang in ("zh", "en") for s in corpus(lang).train)
    for i in range(8):
        assert not read_prompt(WORDS(f"preset.p{i}"), toy.vocabulary, known, 10).replaced


def test_the_explained_place_follows_the_prompt(toy, caplog):
    app = opened()
    for text, places in (("the kitten eats", 3), ("小猫爱吃鱼小猫爱吃鱼小猫", 10), ("小", 1)):
        app.text_input(key="forward_pass.s").set_value(text).run()
        assert_whole(app, caplog)
        assert link_of(app)["cell"] == f"probs.{places}.0"
        assert link_of(app)["lens_cell"] == f"lens.2.{places}"
        assert len(lines_of_code(app)) == 1
    assert toy.longest - 1 == 10


@pytest.mark.parametrize("tab", ["", "lens", "sampling", "writing", "limits"])
def test_brackets_in_chinese_are_chinese(tab):
    """Outside code, formulas and links there is no half-width bracket in a Chinese page."""
    text = re.sub(
        r"`[^`]*`|\$\$.*?\$\$|\$[^$]*\$|\]\([^)]*\)", "", prose(opened(tab=tab, lang="zh")), flags=re.DOTALL
    )
    assert not re.findall(r".{0,30}\([^)]*\)", text)
