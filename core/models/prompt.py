"""A reader's prompt as tokens that a small closed vocabulary knows; what it lacks is named and replaced.

A real model has byte pairs and lacks nothing. A toy with a few hundred words does, and should say so.
"""

import difflib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.models.corpus import END, tokens_of

Script = Literal["chinese", "letters", "other"]
OFFERED = 4  # alternatives at most
ALIKE = 0.6  # of 1: how alike two spellings must be


@dataclass(frozen=True)
class Replacement:
    """A token that the vocabulary lacks, and what stands in its place."""

    place: int  # in the prompt, from 0
    unknown: str
    used: str  # the first of the alternatives
    others: tuple[str, ...]  # the rest of them
    alike: bool  # `used` is spelled alike
    after: tuple[
        str, ...
    ]  # if not: the last tokens before it that it follows somewhere in the sentences; () for none


@dataclass(frozen=True)
class Prompt:
    """What the model reads after END."""

    tokens: tuple[str, ...]
    replaced: tuple[Replacement, ...]
    n_found: int  # tokens in the text, before the limit


def read_prompt(
    text: str, vocabulary: Sequence[str], sentences: Sequence[tuple[str, ...]], limit: int
) -> Prompt:
    """The first `limit` tokens of a text; each that the vocabulary lacks is replaced by its first alternative.

    sentences: what the model was trained on, as tokens. Raises ValueError for a text without tokens.
    """
    found = tokens_of(text)
    if not found:
        raise ValueError("a prompt needs at least one token")
    known, tokens, replaced = frozenset(vocabulary) - {END}, [], []
    for place, token in enumerate(found[:limit]):
        if token in known:
            tokens.append(token)
            continue
        spelled, fitting = spelled_alike(token, known), at_that_place(token, tokens, sentences)
        used, *others = dict.fromkeys((*spelled, *fitting))
        after = () if used in spelled else fitting[used]
        tokens.append(used)
        replaced.append(Replacement(place, token, used, tuple(others[: OFFERED - 1]), used in spelled, after))
    return Prompt(tuple(tokens), tuple(replaced), len(found))


def spelled_alike(token: str, known: frozenset[str]) -> tuple[str, ...]:
    """Words written almost like the token, capital letters aside. A Chinese character is like no other."""
    if script(token) != "letters":
        return ()
    by_small = {word.casefold(): word for word in sorted(known)}
    close = difflib.get_close_matches(token.casefold(), by_small, OFFERED, ALIKE)
    return tuple(by_small[word] for word in close)


def at_that_place(
    token: str, before: Sequence[str], sentences: Sequence[tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Words of the sentences for the place after `before`, the best first, each with the end of `before` it follows.

    Best is a word of the token's own script; of those, one that follows the longest end of `before`; of those, the one
    that occurs most often. A sign of no script, such as a digit or an emoji, comes in whatever language stands before
    it: for it, what follows counts first.
    """
    context = (END, *before)
    longest: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for sentence in sentences:
        whole = (END, *sentence)
        for i in range(1, len(whole)):
            count[whole[i]] += 1
            longest[whole[i]] = max(longest[whole[i]], shared_end(context, whole[:i]))
    own = script(token)
    spoken = next((script(w) for w in reversed(before) if script(w) != "other"), "other")

    def rank(word: str) -> tuple[bool | int, ...]:
        if own == "other":
            return -longest[word], script(word) != spoken, -count[word]
        return script(word) != own, -longest[word], -count[word]

    return {word: context[len(context) - longest[word] :] for word in sorted(count, key=rank)}


def shared_end(a: Sequence[str], b: Sequence[str]) -> int:
    """How many of the last tokens of two texts are the same."""
    n = 0
    while n < min(len(a), len(b)) and a[-1 - n] == b[-1 - n]:
        n += 1
    return n


def script(token: str) -> Script:
    """What a token is written in: a Chinese character, letters, or anything else."""
    if any("CJK UNIFIED" in unicodedata.name(sign, "") for sign in token):
        return "chinese"
    return "letters" if token[0].isalpha() else "other"
