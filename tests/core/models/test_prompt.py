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
