"""Tidy a reader's text and split it into tokens that a person would count: words, Chinese characters, emoji.

A grapheme cluster is what a reader takes for one character, whatever its number of code points:
a letter with its accents, a flag, a family emoji (Unicode Standard Annex 29).
"""

import unicodedata
from dataclasses import dataclass

import regex

# Letters of scripts that put spaces between words; the scripts taken out are read character by character.
_LETTER = r"[\p{L}--[\p{Han}\p{scx=Hiragana}\p{scx=Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]]"
_WORD = rf"(?:(?={_LETTER})\X)+"
_DIGIT = r"\p{Nd}(?![\p{M}\p{Emoji_Modifier}\u200D])"  # not the 1 of a keycap emoji, which is a cluster
_TOKEN = regex.compile(rf"(?V1){_WORD}(?:['’]{_WORD})*|(?:{_DIGIT})+|\X")

_VARIATION = r"\uFE00-\uFE0F\U000E0100-\U000E01EF"
_PICTURE = (  # one emoji: a skin tone, a style and a frame, or the tags of a regional flag may follow
    r"\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|[\uFE0E\uFE0F]\u20E3?|[\U000E0020-\U000E007E]+\U000E007F)?"
)
# Scripts in which an invisible joiner between two letters changes how they are written.
_JOINED = r"[[\p{L}\p{M}]--[\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]]"
_MEANT = rf"{_PICTURE}(?:\u200D{_PICTURE})*|[\p{{Emoji}}\p{{S}}\p{{P}}\p{{Han}}][{_VARIATION}]|{_JOINED}[\u200C\u200D](?={_JOINED})"
# Controls, lone surrogates, non-characters, the sign for bytes that were no character, and all that is invisible or turns the direction of the text.
_UNSEEN = r"[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\uFFF9-\uFFFB\uFFFD]"
_SIFT = regex.compile(rf"(?V1)({_MEANT})|{_UNSEEN}")
_SPACES = regex.compile(r"\s+")
_GRAPHEME = regex.compile(r"\X")


@dataclass(frozen=True)
class Tokens:
    """The tokens of a text, and how many there were before the limit."""

    tokens: tuple[str, ...]
    n_found: int  # tokens in the whole text
    cut: bool  # True when n_found is above the limit


@dataclass(frozen=True)
class Cleaned:
    """A text made fit to show, and what was done to it."""

    text: str
    removed_controls: bool  # control, direction-changing or otherwise invisible characters were taken out
    joined_spaces: bool  # line breaks, tabs or repeated spaces became one space, or ends were trimmed
    normalized: bool  # characters were composed to Unicode normal form C
    cut: bool  # the text was longer than the limit
    n_characters: int  # code points before the cut to the limit, of the first 20 times as many


def split(text: str, limit: int = 24) -> Tokens:
    """Split into at most `limit` tokens; spaces separate and are not kept.

    Chinese, Japanese and other scripts without spaces by character; words of alphabetic scripts whole,
    with the apostrophe in "don't"; digits as runs; anything else by grapheme cluster.
    """
    found = [token for token in _TOKEN.findall(text) if not token.isspace()]
    return Tokens(tuple(found[:limit]), len(found), len(found) > limit)


def graphemes(text: str) -> tuple[str, ...]:
    """What a reader takes for the characters of a text, spaces included."""
    return tuple(_GRAPHEME.findall(text))


def clean(text: str, limit: int = 200) -> Cleaned:
    """Normal form C, nothing invisible outside emoji and joining scripts, single spaces, at most `limit` long.

    The limit counts code points; a grapheme cluster that would cross it is left out whole,
    unless it is the first.
    Cleaning the result again changes nothing.
    """
    # Composing a heap of accents takes time that grows with its square, so what is far too long is cut before.
    head = text[: 20 * limit]
    tidied, changed = _tidy(head)
    kept = _tidy(_cut(tidied, limit))[0]  # again: the cut may leave a space or a joiner at the end
    return Cleaned(
        text=kept,
        removed_controls="removed" in changed,
        joined_spaces="spaces" in changed,
        normalized="normalized" in changed,
        cut=len(tidied) > limit or len(head) < len(text),
        n_characters=len(tidied),
    )


def _tidy(text: str) -> tuple[str, set[str]]:
    """Repeat the steps until none of them changes the text: removing one thing can uncover another."""
    steps = (("spaces", _join_spaces), ("removed", _remove_unseen), ("normalized", _normalize))
    changed: set[str] = set()
    before = None
    while text != before:
        before = text
        for name, step in steps:
            after = step(text)
            if after != text:
                changed.add(name)
            text = after
    return text, changed


def _join_spaces(text: str) -> str:
    return _SPACES.sub(" ", text).strip(" ")


def _remove_unseen(text: str) -> str:
    # Two surrogates that make a pair are one character in another spelling; the decoder drops lone ones.
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
    return _SIFT.sub(r"\1", whole)


def _normalize(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _cut(text: str, limit: int) -> str:
    """The longest start of the text that has at most `limit` code points and ends between graphemes."""
    if len(text) <= limit:
        return text
    end = 0
    for grapheme in _GRAPHEME.finditer(text):
        if grapheme.end() > limit:
            break
        end = grapheme.end()
    return text[: end or limit]  # a single cluster that is too long by itself loses its last marks
