"""A batch of sentences of unequal length: read, cut to the positions there are, and filled up with padding."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache

from core.attention.worked import TOKENS as WORKED
from core.text.tokens import clean, split
from ui import course
from ui.frame.controls import TOKEN_LIMIT
from ui.parameters import Text
from ui.words import Words

PAD = "[PAD]"
MOST = 4  # sentences of a reader's own batch
_BETWEEN = re.compile(r"[|｜]")


@dataclass(frozen=True)
class Batch:
    """Sentences in T positions: what is kept of each, what is lost, and how many tokens are real."""

    kept: tuple[tuple[str, ...], ...]  # without padding
    lost: tuple[tuple[str, ...], ...]  # the end that found no position
    positions: int  # T

    @property
    def lengths(self) -> tuple[int, ...]:
        """Real tokens of each sentence."""
        return tuple(len(tokens) for tokens in self.kept)

    def padded(self, which: int) -> tuple[str, ...]:
        """One sentence, counted from 0, with padding up to T."""
        return self.kept[which] + (PAD,) * (self.positions - len(self.kept[which]))


def arrange(sentences: tuple[tuple[str, ...], ...], limit: int) -> Batch:
    """Cut at `limit` positions, then pad to the longest that is left: what a tokenizer does with a batch."""
    positions = min(limit, max(len(tokens) for tokens in sentences))
    return Batch(
        tuple(tokens[:positions] for tokens in sentences),
        tuple(tokens[positions:] for tokens in sentences),
        positions,
    )


def read_own(
    text: str, parameter: Text, words: Words, limit: int = TOKEN_LIMIT
) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """The sentences of a reader's text, `|` between them, and a remark on everything that was done to it.

    limit: tokens that are kept of each sentence.
    """
    cleaned = clean(text, parameter.limit)
    found = [split(part, limit) for part in _BETWEEN.split(cleaned.text)]
    found = [part for part in found if part.tokens]
    remarks = []
    if cleaned.removed_controls:
        remarks.append(words("text.controls_removed"))
    if cleaned.cut:
        remarks.append(words("text.cut_characters", limit=parameter.limit))
    for part in found[:MOST]:
        if part.cut:
            remarks.append(words("text.cut_tokens", count=part.n_found, limit=limit))
    if len(found) > MOST:
        remarks.append(words("text.many_sentences", count=len(found), limit=MOST))
    if not found:
        remarks.append(words("text.empty", used=parameter.default))
        found = [split(part, limit) for part in _BETWEEN.split(parameter.default)]
    return tuple(part.tokens for part in found[:MOST]), remarks


@cache
def four_sentences() -> tuple[tuple[str, ...], ...]:
    """The batch of the second note, a character a token."""
    with (course.ROOT / "assets" / "examples" / "sentences.toml").open("rb") as file:
        return tuple(split(sentence, TOKEN_LIMIT).tokens for sentence in tomllib.load(file)["batch"])


def sentences_of(
    kind: str, text: str, parameter: Text, words: Words
) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """The sentences that the reader chose, and the remarks."""
    if kind == "own":
        return read_own(text, parameter, words)
    return ((WORKED,) if kind == "worked" else four_sentences()), []
