"""Learning, merge by merge: what stood together most often, and what one merge does to the corpus."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.text import byte_pairs
from core.text.byte_pairs import Merge, Pair, Parts
from core.text.prose import learned_text
from ui.figures.charts import Axis, Chart, Curve, Marker, curves
from ui.figures.tokens import MOST, merges, shown, still
from ui.numbers import listed
from ui.strips import Strip
from ui.words import Raw, Words, quote

AROUND = 3  # rows of the table before and after the present merge
RIVALS = 5


@dataclass(frozen=True, eq=False)
class Learned:
    """The corpus right before one merge, and a word of it before and after."""

    k: int  # from 1
    merge: Merge
    rivals: tuple[tuple[Pair, int], ...]  # the most frequent pairs, the chosen one first
    tied: int  # pairs as frequent as the chosen one, itself included
    word: Parts
    times: int  # how often that word occurs
    after: Parts
    tokens: tuple[int, int]  # of the whole corpus, before and after


def measure(k: int) -> Learned:
    """Everything about merge k, counted in the corpus."""
    merge = merges()[k - 1]
    pair = (merge.left, merge.right)
    words = byte_pairs.cut_words(learned_text(), [(m.left, m.right) for m in merges()[: k - 1]])
    counts = byte_pairs.pair_counts(words)
    ranked = sorted(counts.items(), key=lambda item: (item[0] != pair, -item[1]))[:RIVALS]
    word = max((w for w in words if pair in pairwise(w)), key=lambda w: (words[w], w))
    joined = {w: byte_pairs.join(w, pair) for w in words}
    lengths = (sum(len(w) * n for w, n in words.items()), sum(len(joined[w]) * n for w, n in words.items()))
    tied = sum(count == counts[pair] for count in counts.values())
    return Learned(k, merge, tuple(ranked), tied, word, words[word], joined[word], lengths)


def strips(found: Learned, words: Words) -> tuple[Strip, Strip]:
    """The most frequent word that holds the pair, before and after the merge."""
    made = []
    for name, parts in (("before", found.word), ("after", found.after)):
        ids = byte_pairs.vocabulary(merges()[: found.k])
        note = words.plain("learn.note", count=len(parts))
        numbers = tuple(str(ids[part]) for part in parts)
        made.append(still(name, words.plain(f"learn.{name}"), note, parts, numbers))
    return made[0], made[1]


def table(k: int, words: Words) -> str:
    """The merges around merge k, that one in bold."""
    heads = [words(f"learn.head.{name}") for name in ("rule", "left", "right", "joined", "count", "id")]
    lines = ["| " + " | ".join(heads) + " |", "|--:|:--|:--|:--|--:|--:|"]
    first = max(1, min(k - AROUND, MOST - 2 * AROUND))
    ids = byte_pairs.vocabulary(merges())
    for rule in range(first, min(first + 2 * AROUND, MOST) + 1):
        merge = merges()[rule - 1]
        mark = "**" if rule == k else ""
        parts = [in_table(merge.left), in_table(merge.right), in_table(merge.joined)]
        lines.append(
            f"| {mark}{rule}{mark} | {' | '.join(parts)} | {mark}{merge.count}{mark} | {ids[merge.joined]} |"
        )
    return "\n".join(lines)


def in_table(token: bytes) -> str:
    """A token in a cell; a bar would end the cell, even in a code span."""
    return quote(shown(token).replace("|", "¦"))


def chart(k: int, words: Words) -> Chart:
    """The count of every merge, on a logarithmic axis."""
    counts = np.array([merge.count for merge in merges()], dtype=float)
    places = np.unique(np.concatenate([np.arange(20), np.geomspace(20, MOST - 1, 40).astype(int)]))
    return curves(
        places + 1.0,
        [Curve(words.plain("learn.series"), counts[places])],
        Axis(words.plain("learn.axis.rule"), (1, MOST), log=10),
        Axis(words.plain("learn.axis.count"), (1, 200), log=10),
        marker=Marker(words.plain("learn.marker", k=k), float(k)),
        height=250,
    )


def notices(found: Learned, words: Words) -> list[str]:
    """What to notice: why this pair, what it saves, how the gain shrinks."""
    merge = found.merge
    told = {
        "k": found.k,
        "left": shown(merge.left),
        "right": shown(merge.right),
        "joined": shown(merge.joined),
    }
    told |= {"count": merge.count, "tied": found.tied, "others": found.tied - 1, "id": 255 + found.k}
    told |= {"before": found.tokens[0], "after": found.tokens[1], "saved": found.tokens[0] - found.tokens[1]}
    told |= {"first": merges()[0].count, "last": merges()[-1].count, "most": MOST}
    pairs = (
        f"{quote(f'{shown(left)} + {shown(right)}')} {count}" for (left, right), count in found.rivals[1:]
    )
    rivals = listed(pairs, words.lang)
    told |= {"word": shown(b"".join(found.word)), "times": found.times}
    first = "rest" if not rivals else "chosen" if found.tied == 1 else "tied"
    return [
        words(f"learn.notice.{first}", rivals=Raw(rivals), **told),
        words("learn.notice.word", **told),
        words("learn.notice.saved" if told["saved"] == merge.count else "learn.notice.overlap", **told),
        words("learn.notice.gain", **told),
    ]


def summary(found: Learned, words: Words) -> str:
    """The chart in one line of plain text."""
    merge = found.merge
    told = {"first": merges()[0].count, "last": merges()[-1].count, "most": MOST}
    told |= {"k": found.k, "left": shown(merge.left), "right": shown(merge.right), "count": merge.count}
    return words.plain("learn.summary", **told)
