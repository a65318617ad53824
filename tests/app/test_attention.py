"""The attention page's own behaviour: the reader's text, the chosen cell, the words that follow the numbers."""

import pytest

from tests.app.harness import assert_whole, lines_of_code, link_of, open_page


def type_sentence(text: str, lang: str = "en"):
    app = open_page("attention", {"lang": lang})
    return app.text_input(key="attention.s").set_value(text).run()


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


@pytest.mark.parametrize(
    ("text", "n_tokens", "words"),
    [
        ("我爱学习", 4, []),
        ("你好，世界🙂", 6, []),
        ("the cat saw the cat", 5, []),
        ("👩\u200d👩\u200d👧 🇨🇳 e\u0301", 3, []),
        ("", 6, ["example"]),
        ("   \n\t ", 6, ["example"]),
        ("a\u0000b \u202ec", 2, ["Invisible"]),
        ("a\ufffdb", 1, ["broken"]),
        ("a" + "\u0301\u0316" * 15000, 1, ["200 characters"]),
        ("word " * 30, 24, ["30 tokens"]),
        ("x" * 5000, 1, ["200 characters"]),
        ("<script>alert(1)</script>", 11, []),
        ("**bold**", 5, []),
        (":material/home:", 5, []),
    ],
)
def test_any_sentence_is_read_and_told(text, n_tokens, words, caplog):
    app = type_sentence(text)
    assert_whole(app, caplog)
    assert link_of(app)["tokens"] == str(n_tokens)
    told = " ".join(info.value for info in app.info)
    assert all(word in told for word in words), told
    assert bool(app.info) == bool(words), told
    assert app.text_input(key="attention.s").value == text


def test_the_chosen_weight_is_explained_by_the_numbers_on_screen():
    app = open_page("attention", {"lang": "en", "s": "我爱学习", "tokens": "4", "cell": "weights.3.1"})
    story = prose(app)
    assert "query 4 ` 习 ` gives to key 2 ` 爱 `" in story
    assert "softmax over the 4 keys" in story
    assert lines_of_code(app) == ["softmaxed = masked_softmax(masked)  # [..., T_q, T_k]"]


@pytest.mark.parametrize(
    "cell", ["x.0.31", "q.1.7", "k.1.0", "v.1.0", "scores.1.0", "scaled.1.0", "masked.0.3", "output.3.7"]
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_kind_of_number_has_its_story(cell, lang, caplog):
    app = open_page("attention", {"lang": lang, "cell": cell})
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 1
    assert "=" in prose(app)


def test_a_cell_outside_the_picture_is_kept_and_said():
    app = open_page("attention", {"lang": "en", "tokens": "2", "cell": "weights.5.5"})
    assert "outside the present picture" in prose(app)
    assert link_of(app)["cell"] == "weights.5.5"


def test_everything_hidden_gives_zeros_and_a_note(caplog):
    app = open_page("attention", {"lang": "en", "mask": "padding", "pad": "24", "cell": "weights.0.0"})
    assert_whole(app, caplog)
    assert "6 of the queries have no key left" in prose(app)
    assert "would give NaN" in prose(app)


def test_examples_replace_the_sentence_and_show_all_of_it():
    app = open_page("attention", {"lang": "en"})
    assert not any(b.label == "我爱学习" for b in app.button)  # not sent before they are wanted
    app.session_state["attention examples"] = True
    app.run()
    example = next(b for b in app.button if b.label == "我爱学习")
    app = example.click().run()
    assert link_of(app)["s"] == "我爱学习"
    assert link_of(app)["tokens"] == "4"


def test_scaling_off_is_told_with_both_numbers():
    with_scaling = prose(open_page("attention", {"lang": "en", "dk": "64"}))
    without = prose(open_page("attention", {"lang": "en", "dk": "64", "scaled": "0"}))
    assert "1/(τ√d_k) = 0.125" in with_scaling
    assert "since the division by √64 is off" in without
