import pytest

from core.models.corpus import END, corpus, tokens_of


@pytest.mark.parametrize("language", ["zh", "en"])
def test_no_sentence_occurs_twice_and_none_that_is_held_out_is_trained_on(language):
    c = corpus(language)
    assert len(set(c.train + c.held_out)) == len(c.train) + len(c.held_out)
    assert len(c.train) >= 150
    assert len(c.held_out) >= 20


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_is_held_out_is_made_of_tokens_that_are_trained_on(language):
    c = corpus(language)
    known = {word for sentence in c.train for word in tokens_of(sentence)}
    assert {word for sentence in c.held_out for word in tokens_of(sentence)} <= known


def test_the_two_files_say_the_same_line_by_line():
    zh, en = corpus("zh"), corpus("en")
    assert len(zh.train) == len(en.train)
    assert len(zh.held_out) == len(en.held_out)
    place = zh.train.index("小猫爱吃鱼。")
    assert en.train[place] == "the kitten eats fish ."
    for chinese, english in zip(zh.train + zh.held_out, en.train + en.held_out, strict=True):
        assert ("小猫" in chinese) == ("kitten" in english.split())
        assert ("妈妈" in chinese) == (not {"mom", "mother"}.isdisjoint(english.split()))


def test_sentences_are_spelt_as_their_language_has_it():
    zh, en = corpus("zh"), corpus("en")
    for sentence in zh.train + zh.held_out:
        assert sentence.endswith("。")
        assert not any(ch.isascii() for ch in sentence)
        assert tokens_of(sentence) == tuple(sentence)  # characters
    for sentence in en.train + en.held_out:
        assert sentence.isascii()
        assert " ".join(tokens_of(sentence)) == sentence  # words, and the full stop by itself


@pytest.mark.parametrize(
    ("language", "start", "only"), [("zh", "小猫爱吃", "鱼"), ("en", "the kitten eats", "fish")]
)
def test_the_course_s_prompt_has_one_continuation(language, start, only):
    c = corpus(language)
    n = len(tokens_of(start))
    following = {tokens_of(s)[n] for s in c.train + c.held_out if tokens_of(s)[:n] == tokens_of(start)}
    assert following == {only}
    assert END not in c.words
