"""A reader's prompt as tokens that a small closed vocabulary knows; what it lacks is named and replaced.

A real model has byte pairs and lacks nothing. A toy with a few hundred words does, and should say so.
"""

import difflib
import unicodedata
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
    alike: bool  # True: `used` is spelled alike; False: it stands at that place in the sentences


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
        spelled = spelled_alike(token, known)
        used, *others = (*spelled, *(w for w in at_that_place(token, tokens, sentences) if w not in spelled))
        tokens.append(used)
        replaced.append(Replacement(place, token, used, tuple(others[: OFFERED - 1]), used in spelled))
    return Prompt(tuple(tokens), tuple(replaced), len(found))


def spelled_alike(token: str, known: frozenset[str]) -> tuple[str, ...]:
    """Words written almost like the token, capital letters aside. A Chinese character is like no other."""
    if script(token) != "letters":
        return ()
    by_small = {word.casefold(): word for word in sorted(known)}
    close = difflib.get_close_matches(token.casefold(), by_small, OFFERED, ALIKE)
    return tuple(by_small[word] for word in close)


def at_that_place(token: str, before: Sequence[str], sentences: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Words of the sentences for the place after `before`, the best first.

    Best is a word of the token's own script; of those, one that follows the longest end of `before`; of those, the one
    that occurs most often.
    """
    context = (END, *before)
    longest: dict[str, int] = {}
    count: dict[str, int] = {}
    for sentence in sentences:
        whole = (END, *sentence)
        for i in range(1, len(whole)):
            count[whole[i]] = count.get(whole[i], 0) + 1
            longest[whole[i]] = max(longest.get(whole[i], 0), shared_end(context, whole[:i]))
    own = script(token)
    return tuple(sorted(count, key=lambda w: (script(w) != own, -longest[w], -count[w])))


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
