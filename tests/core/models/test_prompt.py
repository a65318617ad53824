"""A prompt in words that a small vocabulary knows: what is replaced, by what, and what is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.models.corpus import END, corpus, tokens_of
from core.models.prompt import read_prompt, script
from core.models.tasks import task_named

KNOWN = tuple(tokens_of(s) for lang in ("zh", "en") for s in corpus(lang).train)
VOCABULARY = task_named("both").vocabulary


def read(text: str, limit: int = 10):
    return read_prompt(text, VOCABULARY, KNOWN, limit)


@pytest.mark.parametrize("text", ["小猫爱吃", "the kitten eats", "妈妈 eats 。", "小猫爱吃鱼。"])
def test_what_is_known_stays(text):
    prompt = read(text)
    assert prompt.tokens == tokens_of(text)
    assert prompt.replaced == ()


@pytest.mark.parametrize(
    ("text", "unknown", "used"),
    [
        ("The kitten", "The", "the"),
        ("the kittens", "kittens", "kitten"),
        ("THE PUPPY", "PUPPY", "puppy"),
        ("the elefant", "elefant", "elephant"),
        ("小猫爱吃巧", "巧", "鱼"),
        ("小熊爱吃糕", "糕", "蜂"),
        ("the kitten eats xylophones", "xylophones", "fish"),
        ("the kitten eats fish!", "!", "."),
    ],
)
def test_what_is_unknown_is_named_and_replaced(text, unknown, used):
    replaced = {one.unknown: one for one in read(text).replaced}[unknown]
    assert replaced.used == used
    assert replaced.alike == (script(unknown) == "letters" and used != "fish")
    assert len({replaced.used, *replaced.others}) == len(replaced.others) + 1


def test_alternatives_are_of_the_same_script_and_follow_what_stands_before():
    (replaced,) = read("小狗爱喝可乐").replaced[-1:]
    assert replaced.unknown == "乐"
    assert all(script(word) == "chinese" for word in (replaced.used, *replaced.others))
    (first,) = read("小猫爱吃巧").replaced
    followers = {s[i + 1] for s in KNOWN for i, w in enumerate(s[:-1]) if w == "吃"}
    assert {first.used, *first.others} <= followers


def test_a_long_prompt_is_cut_and_an_empty_one_refused():
    prompt = read("小猫爱吃鱼小猫爱吃鱼小猫", limit=10)
    assert (len(prompt.tokens), prompt.n_found) == (10, 12)
    with pytest.raises(ValueError, match="at least one token"):
        read("  ")


@given(st.text(min_size=1, max_size=30))
def test_whatever_is_typed_becomes_a_prompt_that_the_toy_can_read(text):
    if not tokens_of(text):
        return
    prompt = read(text)
    assert 1 <= len(prompt.tokens) <= 10
    assert set(prompt.tokens) <= set(VOCABULARY) - {END}
    assert len(prompt.tokens) == min(prompt.n_found, 10)
    for one in prompt.replaced:
        assert one.unknown not in VOCABULARY or one.unknown == END
        assert prompt.tokens[one.place] == one.used


def test_the_sign_for_the_end_cannot_be_typed():
    assert END not in read("小猫 <end>").tokens


SMALL = (("the", "cat", "eats", "fish", "."), ("the", "cat", "sleeps", "."), ("小", "猫", "吃", "鱼", "。"))
WORDS = (END, *dict.fromkeys(word for sentence in SMALL for word in sentence))


@pytest.mark.parametrize(
    ("text", "used", "after"),
    [
        ("the cat eats 🙂", "fish", (END, "the", "cat", "eats")),
        ("小猫吃🙂", "鱼", (END, "小", "猫", "吃")),
        ("3", "the", (END,)),
        ("fish eats *", "fish", ("eats",)),
        ("the fish . *", "the", ()),  # nothing follows a full stop: the commonest word of the language
        ("鱼。*", "小", ()),
        ("小丙", "猫", (END, "小")),
        ("鱼。丙", "小", ()),
        ("the qqqqq", "cat", (END, "the")),
    ],
)
def test_what_stands_in_is_said_to_follow_only_what_it_follows(text, used, after):
    (one,) = read_prompt(text, WORDS, SMALL, 10).replaced
    assert (one.used, one.alike, one.after) == (used, False, after)
    if after:
        width = len(after) + 1
        whole = [(END, *sentence) for sentence in SMALL]
        assert (*after, used) in {s[i : i + width] for s in whole for i in range(len(s))}


@given(st.text("the kiten猫小吃 *3🙂丙", min_size=1, max_size=20))
def test_the_end_that_a_word_follows_stands_before_it_in_the_prompt(text):
    if not tokens_of(text):
        return
    prompt = read(text)
    for one in prompt.replaced:
        before = (END, *prompt.tokens[: one.place])
        assert one.after == before[len(before) - len(one.after) :]
        assert one.alike <= (one.after == ())
