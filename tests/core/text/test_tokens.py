import time
import unicodedata

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.text.tokens import clean, split

FAMILY = "👨\u200d👩\u200d👧"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
SHRUG = "🤷🏽\u200d♀\ufe0f"
HEART, KEYCAP, CHINA, PHONE = "❤\ufe0f", "1\ufe0f\u20e3", "🇨🇳", "☎\ufe0e"
PICTURES = [FAMILY, ENGLAND, SHRUG, HEART, KEYCAP, CHINA, PHONE, "🙂"]

nasty = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("aé我学1２'’ \t\n\u00a0\u3000-，。"),
        st.sampled_from("\u0301\u0300\u0327\u200d\u200c\u200b\ufe0f\ufe0e\u202e\u2066\u00ad\ufeff\x00\x1c\ud800\udc00"),
        st.sampled_from("👨👩🙂❤☎♀🏽🇨🇳\U0001f3f4\U000e0067\U000e007f\u20e3क\u094dषمی한ᄒ\u1160\u0600"),
    ),
    max_size=40,
)  # fmt: skip
modest = settings(max_examples=150, deadline=None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我爱学习", ["我", "爱", "学", "习"]),
        ("苹果，很亲民", ["苹", "果", "，", "很", "亲", "民"]),
        ("the cat saw the cat", ["the", "cat", "saw", "the", "cat"]),
        ("Don't, don’t", ["Don't", ",", "don’t"]),
        ("‘cats’ 'n' dogs'", ["‘", "cats", "’", "'", "n", "'", "dogs", "'"]),
        ("GPT2有15亿参数", ["GPT", "2", "有", "15", "亿", "参", "数"]),
        ("3.14 well-known", ["3", ".", "14", "well", "-", "known"]),
        ("你好，世界🙂", ["你", "好", "，", "世", "界", "🙂"]),
        ("привет שלום 한국어 naïve", ["привет", "שלום", "한국어", "naïve"]),
        ("e\u0301tude", ["e\u0301tude"]),
        ("カレーをひとつ", ["カ", "レ", "ー", "を", "ひ", "と", "つ"]),
        ("नमस्ते", ["नमस्ते"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("วันดี", ["วั", "น", "ดี"]),
        ("a  \n b\u3000c", ["a", "b", "c"]),
        ("12" + KEYCAP + "3", ["12", KEYCAP, "3"]),
        ("", []),
        (" \t ", []),
    ],
)
def test_split_by_hand(text, expected):
    assert list(split(text).tokens) == expected


@pytest.mark.parametrize("picture", PICTURES)
def test_an_emoji_is_one_token_and_survives_cleaning(picture):
    assert split(f"我{picture}{picture}cat{picture}").tokens == ("我", picture, picture, "cat", picture)
    cleaned = clean(f"我{picture}")
    assert cleaned.text == f"我{picture}"
    assert not cleaned.removed_controls


def test_split_says_what_it_left_out():
    whole, part = split("a b c", limit=3), split("a b c", limit=2)
    assert (whole.tokens, whole.n_found, whole.cut) == (("a", "b", "c"), 3, False)
    assert (part.tokens, part.n_found, part.cut) == (("a", "b"), 3, True)
    assert len(split("字" * 30).tokens) == 24


def bare(text):
    return "".join(c for c in text if not c.isspace())


@modest
@given(nasty)
@example("x\r\ny")
def test_split_loses_nothing_but_spaces(text):
    found = split(text, limit=1000)
    assert not found.cut
    assert bare("".join(found.tokens)) == bare(text)
    assert all(found.tokens), "no empty token"


@modest
@given(nasty)
def test_split_never_parts_a_grapheme(text):
    """Word by word, the graphemes of the tokens are those of the text, by the segmentation of `regex`."""
    text = clean(text).text
    apart = [g for token in split(text, 1000).tokens for g in regex.findall(r"\X", token)]
    assert [g for g in apart if not g.isspace()] == [g for g in regex.findall(r"\X", text) if not g.isspace()]


# Cleaning


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e\u0301", "é"),
        ("  a \t\r\n b\u3000\u00a0c ", "a b c"),
        ("a\x00b\x1bc\x7f", "abc"),
        ("abc\u202edef\u202c", "abcdef"),
        ("\u2066a\u2069\u200e\u200f\u061c", "a"),
        ("a\ud800b\udc00", "ab"),
        ("\ud83d\ude42", "🙂"),
        ("ca\u200dt z\u200bw\u200cn\u00adj\ufeff", "cat zwnj"),
        ("\u200d\u200d", ""),
        ("🙂\u200d", "🙂"),
        ("🙂\u200da", "🙂a"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
        ("葛\U000e0100", "葛\U000e0100"),
        ("a\ufe0f\U000e0041", "a"),
        ("<b>&amp;</b> $x$ `rm`", "<b>&amp;</b> $x$ `rm`"),
    ],
)
def test_clean_by_hand(text, expected):
    assert clean(text).text == expected


def test_clean_says_what_it_did():
    def done(text, limit=200):
        c = clean(text, limit)
        return [
            name for name in ("removed_controls", "joined_spaces", "normalized", "cut") if getattr(c, name)
        ]

    assert done("我爱学习 cat 🙂") == []
    assert done("a\u202eb") == ["removed_controls"]
    assert done("a\ud800b") == ["removed_controls"]
    assert done("a\nb") == ["joined_spaces"]
    assert done(" a") == ["joined_spaces"]
    assert done("e\u0301") == ["normalized"]
    assert done("abcd", 3) == ["cut"]
    assert clean("abcd", 3).n_characters == 4


def test_clean_cuts_between_graphemes():
    assert clean("a" * 500).text == "a" * 200
    assert clean("ab" + FAMILY, 6).text == "ab"
    assert clean("ab" + FAMILY, 7).text == "ab" + FAMILY
    assert clean("ab" + CHINA, 3).text == "ab"
    assert clean("ab cd", 3).text == "ab", "nor is a space left at the end"
    assert clean("می\u200cخ", 3).text == "می", "nor a joiner"
    assert clean("abc", 3).cut is False


@modest
@given(nasty, st.integers(0, 45))
@example(
    "e\ufe0f\u0302\u200d\u0301\u200dक", 45
)  # each removal lets two characters compose and uncovers the next
@example("\u115fa\u200d\u1160", 3)
def test_clean_is_done_after_once(text, limit):
    once = clean(text, limit)
    again = clean(once.text, limit)
    assert again.text == once.text
    said = (again.cut, again.removed_controls, again.joined_spaces, again.normalized)
    assert not any(said)


@modest
@given(nasty, st.integers(0, 45))
def test_clean_text_is_fit_to_show(text, limit):
    cleaned = clean(text, limit).text
    assert len(cleaned) <= limit
    assert unicodedata.is_normalized("NFC", cleaned)
    assert cleaned == " ".join(cleaned.split())
    assert not [c for c in cleaned if unicodedata.category(c) in ("Cc", "Cs")]
    assert not [c for c in cleaned if unicodedata.bidirectional(c) in
                ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")]  # fmt: skip
    cleaned.encode("utf-8")


@modest
@given(nasty)
def test_what_can_be_seen_stays(text):
    """Cleaning takes away no letter, digit or punctuation mark (Unicode general categories)."""

    def seen(s):
        decomposed = unicodedata.normalize("NFD", s)
        return [
            c
            for c in decomposed
            if unicodedata.category(c)[0] in "LNPS" and c not in "\u115f\u1160\u3164\uffa0"
        ]

    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    assert seen(clean(text, 1000).text) == seen(whole)


@pytest.mark.parametrize(
    "piece", ["a", "\u200d", "👨\u200d", "क\u094d\u200d", "\U0001f3f4\U000e0067", "1\ufe0f", "b'"]
)
def test_a_huge_text_is_cleaned_in_time(piece):
    start = time.process_time()  # not of the clock: others may be at work on this machine
    assert len(clean(piece * 100_000).text) <= 200
    assert time.process_time() - start < 5, "linear takes a tenth of a second, quadratic takes minutes"
