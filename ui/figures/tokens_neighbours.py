"""Which rows of a trained table point the same way: the nearest words by cosine, before and after training."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from core.models.corpus import END
from core.text.lookup import cosines, neighbours
from ui.figures.charts import Axis, Chart, Curve, bars
from ui.numbers import listed, number
from ui.words import Raw, Words, quote

SHOWN = 10
TWINS = ("猫", "kitten")  # the same animal in both languages


@dataclass(frozen=True, eq=False)
class Near:
    """One word of the toy's vocabulary among the others."""

    word: str
    names: tuple[str, ...]  # [SHOWN]  the nearest first
    after: np.ndarray  # [SHOWN]  cosines in the trained table
    before: np.ndarray  # [SHOWN]  the same pairs before training
    same: int  # how many of them are of the word's own language
    twins: float  # cosine between the two words for the same animal
    vocab: int
    width: int


def known(typed: str, vocabulary: tuple[str, ...]) -> str | None:
    """The word of the vocabulary that was typed, if there is one; capital letters do not matter."""
    words = {word.casefold(): word for word in vocabulary if word != END}
    return words.get(typed.strip().casefold())


def measure(word: str, vocabulary: tuple[str, ...], before: Tensor, after: Tensor) -> Near:
    """The nearest words in the trained table; END, which is no word, is left out."""
    row = vocabulary.index(word)
    found = neighbours(after, row, SHOWN + 1)
    kept = [i for i, place in enumerate(found.ids.tolist()) if vocabulary[place] != END][:SHOWN]
    ids = found.ids[kept]
    names = tuple(vocabulary[i] for i in ids)
    a, b = (vocabulary.index(twin) for twin in TWINS)
    return Near(
        word=word,
        names=names,
        after=found.cosines[kept].numpy(),
        before=cosines(before)[row, ids].numpy(),
        same=sum(is_chinese(name) == is_chinese(word) for name in names),
        twins=float(cosines(after)[a, b]),
        vocab=len(vocabulary),
        width=after.shape[1],
    )


def is_chinese(word: str) -> bool:
    """Whether a word of the vocabulary belongs to the Chinese sentences."""
    return word == "。" or any("CJK" in unicodedata.name(sign, "") for sign in word)


def chart(near: Near, words: Words) -> Chart:
    """A bar for each neighbour, with a mark where its cosine was before training."""
    ticks = Curve(words.plain("near.before"), near.before)
    series = {words.plain("near.after"): near.after}
    return bars(
        near.names,
        series,
        words.plain("near.axis.word"),
        Axis(words.plain("near.axis.cosine"), (-0.6, 1.0)),
        ticks=ticks,
    )


def notices(near: Near, words: Words) -> list[str]:
    """What to notice: who is near and why, and how far apart the languages are."""
    told = _told(near, words)
    return [words(f"near.notice.{name}", **told) for name in ("nearest", "why", "languages")]


def summary(near: Near, words: Words) -> str:
    """The chart in one line of plain text."""
    pairs = (f"{name} {number(float(x))}" for name, x in zip(near.names, near.after, strict=True))
    return words.plain("near.summary", word=near.word, listed=listed(pairs, words.lang))


def _told(near: Near, words: Words) -> dict:
    pairs = zip(near.names[:3], near.after[:3], strict=True)
    told = {
        "word": near.word,
        "first": Raw(listed((f"{quote(name)} {number(float(x))}" for name, x in pairs), words.lang)),
    }
    told |= {"after": float(near.after.mean()), "before": float(near.before.mean()), "count": len(near.names)}
    told |= {"same": near.same, "twins": near.twins, "vocab": near.vocab, "width": near.width}
    return told
