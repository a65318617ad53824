"""The way of one word of the reader's text: from bytes to tokens, a merge at a time."""

from __future__ import annotations

from core.text import byte_pairs
from ui.figures.tokens import merges, shown, still
from ui.result import Result
from ui.strips import Strip
from ui.words import Words


def pieces(result: Result) -> tuple[bytes, ...]:
    """The words of the text, as the merges see them."""
    return byte_pairs.words_of(result.parameters["text"])


def strips(result: Result, place: int, words: Words) -> tuple[Strip, ...]:
    """The word as bytes, then after every merge; the rule under the token that it has just made."""
    word = pieces(result)[place]
    learned = merges()[: result.parameters["n_merges"]]
    parts = tuple(bytes([byte]) for byte in word)
    made = [
        still(
            "step0",
            words.plain("path.start"),
            words.plain("learn.note", count=len(parts)),
            parts,
            ("",) * len(parts),
        )
    ]
    for number, step in enumerate(byte_pairs.path(word, learned), start=1):
        merge = learned[step.rule - 1]
        below = tuple(str(step.rule) if part == merge.joined else "" for part in step.parts)
        title = words.plain("path.step", rule=step.rule)
        note = f"{shown(merge.left)} + {shown(merge.right)}"
        made.append(still(f"step{number}", title, note, step.parts, below))
    return tuple(made)


def summary(result: Result, place: int, words: Words) -> str:
    """The strips in one line of plain text."""
    return words.plain("path.summary", **_told(result, place))


def notices(result: Result, place: int, words: Words) -> list[str]:
    """What to notice: the order of the rules, and where the words end."""
    told = _told(result, place)
    first = "path.notice.none" if told["steps"] == 0 else "path.notice.order"
    return [words(first, **told), words("path.notice.edges", **told)]


def _told(result: Result, place: int) -> dict:
    word = pieces(result)[place]
    learned = merges()[: result.parameters["n_merges"]]
    steps = byte_pairs.path(word, learned)
    tokens = steps[-1].parts if steps else tuple(bytes([byte]) for byte in word)
    told = {"word": shown(word), "n": len(word), "steps": len(steps), "tokens": len(tokens)}
    return told | {"merges": len(learned), "words": len(pieces(result))}
