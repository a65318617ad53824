"""The page on tokens: its words against tokens counted here, hostile texts, every tab, and what it hands out."""

import json
import re
import unicodedata

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer

from core.text import byte_pairs
from core.text.lookup import seeded_table
from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from tests.app.test_takeaway import matrices, run
from ui import course, strips
from ui.figures import tokens as figure
from ui.figures import (
    tokens_bytes,
    tokens_learning,
    tokens_lookup,
    tokens_neighbours,
    tokens_path,
    tokens_tied,
)
from ui.frame import takeaway
from ui.numbers import number
from ui.trained_toy import table_before, trained_toy
from ui.words import LANGUAGES, Words

WORDS = Words("en", "tokens")
DEFAULT = course.PAGES["tokens"].parameter("s").default
HOSTILE = [
    "你好，世界🙂",
    "the cat saw the cat",
    "<script>alert(1)</script>",
    "$x$ **b** `c` | d",
    ":material/home: [l](u)",
    "👨\u200d👩\u200d👧 🇨🇳 👍🏽 ❤\ufe0f",
    "a\u202eb\u0000c",
    "e\u0301\u0327\u0300",
    "می\u200cخواهم नमस्ते 한국어",
    "😀" * 200,
    "   ",
    "Ġ ␣ � Ġthe",
]


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


@pytest.fixture
def drawn(monkeypatch):
    """The strips that pages draw, by key."""
    seen = {}
    real = strips.draw

    def draw(key, shown, **more):
        seen[key] = shown
        return real(key, shown, **more)

    monkeypatch.setattr(strips, "draw", draw)
    return seen


@pytest.mark.parametrize("merges", [0, 1, 300, 400, 600])
def test_the_strips_are_those_counted_here(merges, drawn, caplog):
    app = open_page("tokens", {"lang": "en", "merges": str(merges)})
    assert_whole(app, caplog)
    rows = {strip.name: strip for strip in drawn["tokens cell strips"]}
    assert [token.text for token in rows["characters"].tokens] == [c.replace(" ", "␣") for c in DEFAULT]
    assert [token.text for token in rows["words"].tokens] == [
        "the",
        "kitten",
        "eats",
        "fish",
        *"小猫爱吃鱼🙂",
    ]
    pairs = rows["pairs"].tokens
    assert b"".join(bytes.fromhex(token.facts[0]) for token in pairs) == DEFAULT.encode()
    ids = byte_pairs.encoder(figure.merges()[:merges]).encode(DEFAULT).ids
    assert [int(token.below) for token in pairs] == ids
    told = (
        "No merge applies"
        if len(ids) == 41
        else f"As byte pairs the text has {len(ids)} tokens, as characters 28"
    )
    assert told in prose(app)
    unknown = [t.text for name in ("characters", "words") for t in rows[name].tokens if t.look == "unknown"]
    assert unknown == ["🙂", "🙂"]
    assert "lacks 1 of these characters and 1 of these words" in prose(app)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_is_shown_as_text(text, drawn, caplog):
    app = open_page("tokens", {"lang": "en", "merges": "333"}, tab="bytes")
    app = app.text_input(key="tokens.s").set_value(text).run()
    app = app.selectbox(key="tokens.sign").set_value("own").run()
    assert_whole(app, caplog)
    used = course.PAGES["tokens"].parameter("s").tidy(text)
    for strip in drawn["tokens cell strips"]:
        shown = "".join(token.text for token in strip.tokens)
        assert "�" not in shown or "�" in used
        whole = b"".join(bytes.fromhex(token.facts[0]) for token in strip.tokens)
        assert whole == used.encode() or (strip.name == "words" and whole == used.replace(" ", "").encode())
        for token in strip.tokens:
            assert token.text.strip(), "no token is invisible"
            assert not any(unicodedata.category(sign) == "Cc" for sign in token.text)


def test_no_stray_letters_of_the_library_are_shown():
    result = figure.compute("the cat", 600, 7)
    assert "".join(result.arrays["pairs"].columns) == "the␣cat"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "cell",
    [
        "characters.0.1",
        "characters.0.27",
        "words.0.1",
        "words.0.9",
        "pairs.0.2",
        "pairs.0.10",
        "pairs.0.1",
        "pairs.0.15",
    ],
)
def test_every_kind_of_number_has_its_story(cell, lang, caplog):
    app = open_page("tokens", {"lang": lang, "cell": cell})
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 1
    name, _, place = cell.split(".")
    number = figure.compute(DEFAULT, 400, 7).values(name)[0, int(place)]
    story = next(m.value for m in app.markdown if m.value.startswith("## "))
    assert f" {number}" in story or number == 0


def test_the_story_of_a_token_leads_from_its_bytes_to_its_number():
    told = prose(open_page("tokens", {"lang": "en", "cell": "pairs.0.2"}))
    assert "20 6B 69 74 74 65 6E. Merge 201" in told
    assert r"\text{id} = 255 + 201 = 456" in told
    states = re.search(r"by merges [\d, ]+: (.*)", told).group(1).split("→")
    assert len(states) == 6
    assert states[-1].strip() == "` ␣kitten `"
    assert "only part of a character" in prose(open_page("tokens", {"lang": "en", "cell": "pairs.0.10"}))


def test_a_token_outside_a_shorter_text_is_told():
    app = open_page("tokens", {"lang": "en", "s": "a", "cell": "pairs.0.9"})
    assert "outside the present text" in prose(app)
    assert link_of(app)["cell"] == "pairs.0.9"


@pytest.mark.parametrize("k", [1, 2, 10, 319, 320, 599, 600])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_each_merge_is_told_with_its_count(k, lang, caplog):
    app = open_page("tokens", {"lang": lang, "merge": str(k)}, tab="learning")
    assert_whole(app, caplog)
    merge = figure.merges()[k - 1]
    table = next(m.value for m in app.markdown if m.value.startswith("| ") and f"**{k}**" in m.value)
    row = next(line for line in table.splitlines() if f"**{k}**" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[4:] == [f"**{merge.count}**", str(255 + k)]
    assert cells[3] == f"` {figure.shown(merge.joined)} `"


@pytest.mark.parametrize("k", range(1, 601, 37))
def test_what_learning_says_is_so(k):
    found = tokens_learning.measure(k)
    merge = figure.merges()[k - 1]
    others = [count for pair, count in found.rivals[1:]]
    assert max(others, default=0) <= merge.count
    assert (found.tied > 1) == (max(others, default=0) == merge.count)
    assert len(found.after) < len(found.word)
    assert b"".join(found.after) == b"".join(found.word)
    before = sum(
        len(byte_pairs.encode(line, figure.merges()[: k - 1]).ids)
        for line in figure.learned_text().splitlines()
    )
    after = sum(
        len(byte_pairs.encode(line, figure.merges()[:k]).ids) for line in figure.learned_text().splitlines()
    )
    assert found.tokens == (before, after)


@pytest.mark.parametrize("s", ["the kitten", "小猫爱吃鱼", "🙂", "a"])
def test_the_way_of_a_word_ends_at_the_tokens_of_the_text(s, drawn, caplog):
    app = open_page("tokens", {"lang": "en", "s": s, "word": "2"}, tab="path")
    assert_whole(app, caplog)
    way = drawn["tokens path strips"]
    result = figure.compute(s, 400, 7)
    last = [token.text for token in way[-1].tokens]
    assert list(result.arrays["pairs"].columns[-len(last) :]) == last
    assert bool(app.info) == (len(tokens_path.pieces(result)) < 2)
    for strip in way[1:]:
        assert any(token.below for token in strip.tokens), "the rule stands under what it made"


@pytest.mark.parametrize("merges", [0, 20, 400, 600])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_lengths_are_counted_on_both_texts(merges, lang, caplog):
    app = open_page("tokens", {"lang": lang, "merges": str(merges)}, tab="lengths")
    assert_whole(app, caplog)
    for known in ("38.6 M", "31.0 %", "128,256"):
        assert known in prose(app), "GPT-2 small and LLaMA-3 by their published sizes"


@pytest.mark.parametrize("sign", course.PAGES["tokens"].parameter("sign").codes)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_characters_are_taken_apart_to_their_bytes(sign, lang, drawn, caplog):
    app = open_page("tokens", {"lang": lang, "sign": sign}, tab="bytes")
    assert_whole(app, caplog)
    signs, points, parts = drawn["tokens bytes strips"]
    text = tokens_bytes.sample(sign, DEFAULT)
    assert [int(token.text, 16) for token in parts.tokens] == list(text.encode())
    assert [token.below for token in points.tokens] == [f"U+{ord(c):04X}" for c in text]
    assert sum(token.span[1] - token.span[0] for token in signs.tokens) == len(text.encode())
    counted = {"family": (1, 5, 18), "tone": (2, 3, 12), "flag": (1, 2, 8), "accents": (3, 4, 6)}
    if sign in counted:
        assert (len(signs.tokens), len(points.tokens), len(parts.tokens)) == counted[sign]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("cell", ["one_hot.1.1", "one_hot.1.0", "table.0.0", "rows.2.3", "output.2.3"])
def test_the_look_up_has_its_stories(cell, lang, caplog):
    app = open_page("tokens", {"lang": lang, "scaled": "1", "emb_cell": cell}, tab="embeddings")
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2
    assert "$$" in prose(app).rsplit("## ", 2)[-2]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("cell", ["hidden.0.0", "transposed.0.1", "logits.1.1", "logits.1.0"])
def test_the_tied_output_has_its_stories(cell, lang, caplog):
    app = open_page("tokens", {"lang": lang, "tied_cell": cell}, tab="tied")
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2


@pytest.mark.parametrize("seed", range(0, 40, 7))
@pytest.mark.parametrize("d", [2, 5, 16])
@pytest.mark.parametrize("n", [0, 100, figure.MOST])
def test_what_is_said_of_the_table_is_so(seed, d, n):
    result = figure.compute("aa the cat the cat", n, seed)
    for scaled in (False, True):
        looked = tokens_lookup.compute(result, d, scaled)
        x, table = looked.values("rows"), looked.values("table")
        np.testing.assert_array_equal(x, table[[looked.facts["used"].index(i) for i in looked.facts["ids"]]])
        whole = seeded_table(seed, 256 + n, d).numpy()  # the table that the vocabulary above has
        np.testing.assert_array_equal(table, whole[list(looked.facts["used"])])
        own = sum((whole @ whole[i]).argmax() == i for i in looked.facts["ids"])
        told = " ".join(tokens_tied.notices(looked, WORDS))
        assert f"own token: {own} of {len(looked.facts['ids'])}" in told
        assert f"among all {number(256 + n)} entries" in told
        assert f"{number(256 + n)} · {d} = {number((256 + n) * d)} numbers" in told
        used = len(looked.facts["used"])
        copied = tokens_lookup.notices(looked, WORDS)[0]
        assert f"of the {number(256 + n)} products" in copied
        assert f"the other {number(256 + n - used)}" in copied
        assert looked.shapes["logits"] == (len(looked.facts["ids"]), 256 + n)
        assert looked.facts["size"] == pytest.approx(np.sqrt((whole**2).mean()))


@pytest.mark.parametrize(
    ("name", "right", "numbers"),
    [
        ("fish", "three", ["bytes 3, tokens 3"]),
        ("merge", "same", ["with 301: 24"]),
        ("strangers", "parts", ["strangers in the text: 1 of 3"]),
        ("emoji", "many", ["Bytes: 18; tokens: 18; before, there were 4"]),
    ],
)
def test_predictions_are_answered_by_what_was_counted(name, right, numbers, caplog):
    app = open_page("tokens", {"lang": "en"})
    app.button(key="tokens predict").click().run()
    app.button_group(key="tokens predict which").set_value(name).run()
    app.button(key="tokens predict.set_up").click().run()
    app.radio(key=f"tokens predict guess {name}").set_value(right).run()
    app.button(key="tokens predict.show").click().run()
    assert_whole(app, caplog)
    assert app.success[0].value == f"Your guess was right: {WORDS(f'predict.{name}.{right}')}."
    assert all(text in prose(app) for text in numbers), prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_checks_hold(lang, caplog):
    app = open_page("tokens", {"lang": lang, "merges": "350", "s": "<b> 鱼🙂 e\u0301"}, tab="code")
    assert_whole(app, caplog)
    assert not app.warning
    assert "nn.Embedding" in prose(app)


STATES = {
    "default": {},
    "hostile": {"s": HOSTILE[3], "merges": "17"},
    "family": {"s": HOSTILE[5], "merges": "0"},
}


@pytest.mark.parametrize("state", STATES)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(state, monkeypatch, tmp_path):
    makers = {}
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: makers.update({kind: make}))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    open_page("tokens", {"lang": "en"} | STATES[state], tab="takeaway")
    shown, made = matrices(makers["csv"]()), run(makers["ipynb"](), tmp_path)
    assert set(shown) == set(made) == {"characters", "words", "pairs"}
    for name, values in shown.items():
        np.testing.assert_array_equal(made[name], values, err_msg=name)
    page = makers["html"]().decode()
    assert "</script>" not in page.split("show({ data: ")[1].split("parentElement")[0]
    data = json.loads(page.split("show({ data: ")[1].split(", parentElement: document.getElementById")[0])
    assert [len(strip["tokens"]) for strip in data["strips"]] == [shown[n].shape[1] for n in figure.ROWS]


def test_the_librarys_own_merges_are_in_the_page():
    """The tokenizer written to JSON and read again gives the ids on the page: no state of ours is in between."""
    copy = Tokenizer.from_str(byte_pairs.encoder(figure.merges()[:400]).to_str())
    assert copy.encode(DEFAULT).ids == figure.compute(DEFAULT, 400, 7).values("pairs")[0].tolist()


@pytest.fixture(scope="module")
def toy():
    """The toy of the page, trained once for all tests here."""
    return trained_toy()


@pytest.mark.parametrize("word", ["kitten", "鱼", "summer"])
def test_a_capital_letter_does_not_make_a_stranger(word, toy):
    app = open_page("tokens", {"lang": "en", "near": f" {word.capitalize()} "}, tab="neighbours")
    assert not app.info
    assert any(f"Nearest to ` {word} `" in m.value for m in app.markdown)


@pytest.mark.parametrize("word", ["kitten", "鱼", "summer"])
def test_neighbours_are_those_of_pytorch(word, toy, caplog):
    app = open_page("tokens", {"lang": "en", "near": word}, tab="neighbours")
    assert_whole(app, caplog)
    table = toy.model.embeddings.token.weight.detach().double()
    row = toy.vocabulary.index(word)
    cosine = torch.nn.functional.cosine_similarity(table[row], table, dim=-1)
    order = [i for i in cosine.argsort(descending=True).tolist() if i not in (row, 0)][:10]
    told = next(m.value for m in app.markdown if "Nearest to" in m.value)
    assert told.index(f"` {toy.vocabulary[order[0]]} `") < told.index(f"` {toy.vocabulary[order[1]]} `")
    assert f"mean cosine of {cosine[order].mean():.3g}" in told
    same = sum(toy.vocabulary[i].isascii() == word.isascii() for i in order)
    assert f"those of the language of ` {word} `: {same}." in told


def test_training_brings_animals_to_animals(toy):
    table = toy.model.embeddings.token.weight.detach().double()
    animals = {
        "puppy",
        "rabbit",
        "bird",
        "pony",
        "lamb",
        "monkey",
        "panda",
        "duckling",
        "bear",
        "tiger",
        "elephant",
        "chick",
        "squirrel",
        "frog",
        "mouse",
    }
    near = tokens_neighbours.measure("kitten", toy.vocabulary, table_before(), table)
    assert len(animals & set(near.names)) >= 6
    assert near.after.mean() > near.before.mean() + 0.2


def test_a_word_that_the_toy_lacks_is_named(toy, caplog):
    app = open_page("tokens", {"lang": "en", "near": "$Transformer$"}, tab="neighbours")
    assert_whole(app, caplog)
    assert "` $Transformer$ `" in app.info[0].value
    assert "Nearest to ` kitten `" in prose(app)
    assert link_of(app)["near"] == "$Transformer$"
