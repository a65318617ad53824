"""Byte pairs: the library's tokens against merges retraced here, counts against a recount from the raw text."""

import re
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from core.text.byte_pairs import (
    cut_words,
    encode,
    encoder,
    join,
    learn,
    letters,
    pair_counts,
    path,
    spelled,
    unspelled,
    vocabulary,
    words_of,
)
from core.text.prose import learned_text, prose

CORPUS = learned_text()
MERGES = learn(CORPUS, 600)
TEXTS = st.text(
    st.one_of(st.characters(exclude_categories=("Cs",)), st.sampled_from("the kitten 小猫爱吃鱼。'a"))
)


def by_hand(text: str, merges) -> list[int]:
    """Ids by the step-by-step merges, word by word."""
    ids = vocabulary(merges)
    found = []
    for word in words_of(text):
        parts = tuple(bytes([byte]) for byte in word)
        for step in path(word, merges):
            parts = step.parts
        found += [ids[part] for part in parts]
    return found


def test_the_letters_of_bytes_are_the_librarys():
    assert set(letters()) == set(pre_tokenizers.ByteLevel.alphabet())
    assert spelled(" 鱼".encode()) == "Ġé±¼"
    assert unspelled("Ġé±¼") == " 鱼".encode()


def test_the_corpus_gives_as_many_merges_as_the_page_offers():
    assert len(MERGES) == 600
    assert len(vocabulary(MERGES)) == 856, "no two rules make the same token, so that id = 255 + rule"
    assert MERGES[-1].count >= 2


def test_every_learned_pair_was_the_most_frequent_one_and_ties_go_to_the_older_tokens():
    """Counted again from scratch before every merge; the library's own numbers decide between equals."""
    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.train_from_iterator(
        CORPUS.splitlines(),
        trainers.BpeTrainer(
            vocab_size=856,
            min_frequency=2,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    age = {unspelled(token): number for token, number in theirs.get_vocab().items()}
    words = cut_words(CORPUS, ())
    for merge in MERGES:
        counts = pair_counts(words)
        best = min(counts, key=lambda pair: (-counts[pair], age.get(pair[0], 9999), age.get(pair[1], 9999)))
        assert best == (merge.left, merge.right)
        assert counts[best] == merge.count
        words = Counter({join(parts, best): n for parts, n in words.items()})


def test_the_first_count_is_that_of_the_raw_text():
    """The first merge is a space and t: counted with a regular expression."""
    assert (MERGES[0].left, MERGES[0].right) == (b" ", b"t")
    assert MERGES[0].count == len(re.findall(r"(?<! ) t", CORPUS))


@pytest.mark.parametrize("n", [0, 1, 37, 300, 405, 600])
@pytest.mark.parametrize("text", [CORPUS, prose("en").held_out, prose("zh").held_out])
def test_the_library_and_the_steps_agree_on_prose(n, text):
    assert by_hand(text, MERGES[:n]) == list(encode(text, MERGES[:n]).ids)


@settings(max_examples=50)
@given(TEXTS, st.integers(0, 600))
@example("aaaaaaa aaa", 600)
@example("\u0301\u200d🙂👨\u200d👩\u200d👧 ", 600)
@example("", 5)
def test_any_text_is_represented_and_comes_back(text, n):
    merges = MERGES[:n]
    encoded = encode(text, merges)
    assert b"".join(encoded.tokens) == text.encode()
    assert by_hand(text, merges) == list(encoded.ids)
    assert all(
        vocabulary(merges)[token] == number for token, number in zip(encoded.tokens, encoded.ids, strict=True)
    )
    tokenizer = encoder(merges)
    tokenizer.decoder = decoders.ByteLevel()
    assert tokenizer.decode(list(encoded.ids), skip_special_tokens=False) == text


@settings(max_examples=50)
@given(TEXTS, st.integers(0, 599))
def test_one_more_merge_never_makes_a_text_longer(text, n):
    assert len(encode(text, MERGES[: n + 1]).ids) <= len(encode(text, MERGES[:n]).ids)


@settings(max_examples=50)
@given(TEXTS)
def test_a_token_alone_is_made_by_the_merges_that_made_it_in_the_text(text):
    for token in encode(text, MERGES).tokens:
        steps = path(token, MERGES)
        assert (steps[-1].parts if steps else (token,)) == (token,)


def test_a_merge_by_hand():
    assert join((b"a", b"a", b"a", b"b"), (b"a", b"a")) == (b"aa", b"a", b"b")
    merges = learn("low low low lower lower newest newest", 3)
    made = [(m.left, m.right, m.count) for m in merges]
    assert made == [(b"l", b"o", 5), (b"lo", b"w", 5), (b" ", b"low", 4)]
    assert learn("abc", 5) == (), "what occurs once is not merged"


def test_words_keep_the_space_before_them_and_chinese_runs_on():
    assert words_of("the cat, 小猫爱吃鱼。") == tuple(
        w.encode() for w in ("the", " cat", ",", " 小猫爱吃鱼", "。")
    )


def test_ids_of_bytes_are_the_bytes():
    assert encode("鱼", ()).ids == (0xE9, 0xB1, 0xBC)
    assert encode("fish", ()).ids == tuple(b"fish")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_kept_apart_was_not_learned_from(language):
    text = prose(language)
    sentences = [s for s in re.split(r"[.?。？]\s*", text.held_out) if s]
    assert len(sentences) >= 3
    assert not [s for s in sentences if s in CORPUS]
    assert text.learned in CORPUS
