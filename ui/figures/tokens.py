"""One text as characters, words and byte pairs: the strips, the story of each number, and what to notice."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np

from core.text import byte_pairs, closed_vocabulary
from core.text.prose import learned_text
from core.text.tokens import graphemes, split
from core.text.utf8 import hexadecimal, is_whole, stretches
from ui.numbers import listed
from ui.result import Array, Result
from ui.strips import Strip, Token
from ui.words import Raw, Words, quote

ROWS = ("characters", "words", "pairs")
MOST = 600  # merges that the corpus has to give
CORPUS_WORDS = 100_000  # more than any text here has
_INVISIBLE = {"Cf", "Mn", "Me", "Zs", "Cc"}


@cache
def merges() -> tuple[byte_pairs.Merge, ...]:
    """The merges learned from the project's prose."""
    return byte_pairs.learn(learned_text(), MOST)


@cache
def closed(name: str) -> dict[str, int]:
    """The characters or the words of the corpus with their ids."""
    return closed_vocabulary.numbered(cut(learned_text(), name))


def cut(text: str, name: str) -> tuple[str, ...]:
    """A text as characters or as words."""
    return graphemes(text) if name == "characters" else split(text, CORPUS_WORDS).tokens


def compute(text: str, n: int, seed: int) -> Result:
    """The text cut in three ways, byte pairs with the first n merges; ids by the vocabularies of the corpus."""
    learned = merges()[:n]
    encoded = byte_pairs.encode(text, learned)
    parts = {name: tuple(t.encode() for t in cut(text, name)) for name in ROWS[:2]}
    parts["pairs"] = encoded.tokens
    ids = {name: closed_vocabulary.look_up(cut(text, name), closed(name)) for name in ROWS[:2]}
    ids["pairs"] = encoded.ids
    arrays = {
        name: Array(
            np.array([ids[name]], dtype=np.int64), ("id",), tuple(map(shown, parts[name])), ("", "token")
        )
        for name in ROWS
    }
    facts = {
        "parts": parts,
        "spans": {name: spans(text.encode(), parts[name]) for name in ROWS},
        "sizes": {name: len(closed(name)) + 1 for name in ROWS[:2]}
        | {"pairs": len(byte_pairs.vocabulary(learned))},
        "bytes": len(text.encode()),
        "broken": [token for token in encoded.tokens if not is_whole(token)],
        "unknown": {name: ids[name].count(closed_vocabulary.UNKNOWN) for name in ROWS[:2]},
    }
    settings = {"text": text, "n_merges": n, "seed": seed, "corpus": learned_text()}
    return Result(settings, arrays, facts, shapes={name: (len(ids[name]),) for name in ROWS})


def spans(whole: bytes, parts: tuple[bytes, ...]) -> tuple[tuple[int, int], ...]:
    """Where each token stands in the bytes of the text; words leave the spaces between them out."""
    found, at = [], 0
    for part in parts:
        at = whole.index(part, at)
        found.append((at, at + len(part)))
        at += len(part)
    return tuple(found)


def shown(token: bytes) -> str:
    """A token as text: spaces as ␣, what cannot be seen by its code, and bytes of a broken character as numbers."""
    return " ".join(_seen(part.text) if part.whole else part.text for part in stretches(token))


def _seen(text: str) -> str:
    text = text.replace(" ", "␣")
    if all(unicodedata.category(sign) in _INVISIBLE for sign in text):
        return " ".join(f"U+{ord(sign):04X}" for sign in text)
    return text


def strips(result: Result, words: Words) -> tuple[Strip, ...]:
    """The three strips, the finest and the coarsest cut first, byte pairs last."""
    return tuple(_strip(name, result, words) for name in ROWS)


def _strip(name: str, result: Result, words: Words) -> Strip:
    array, parts = result.arrays[name], result.facts["parts"][name]
    tokens = []
    for label, number, part, span in zip(
        array.columns, array.values[0], parts, result.facts["spans"][name], strict=True
    ):
        unknown = name != "pairs" and number == closed_vocabulary.UNKNOWN
        look = "unknown" if unknown else "" if is_whole(part) else "bytes"
        tokens.append(Token(label, str(number), span, look, (hexadecimal(part),)))
    note = words.plain("strip.note", count=len(tokens), size=result.facts["sizes"][name])
    return Strip(name, words.plain(f"title.{name}"), note, tuple(tokens))


def still(name: str, title: str, note: str, parts: tuple[bytes, ...], below: tuple[str, ...]) -> Strip:
    """A strip to look at."""
    ends = np.cumsum([0, *map(len, parts)]).tolist()
    tokens = (
        Token(shown(part), under, (start, end), "" if is_whole(part) else "bytes", (hexadecimal(part),))
        for part, under, start, end in zip(parts, below, ends, ends[1:], strict=False)
    )
    return Strip(name, title, note, tuple(tokens), still=True)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a token got its number."""
    name, _, place = cell
    part, number = result.facts["parts"][name][place], int(result.values(name)[0, place])
    told = {"place": place + 1, "token": shown(part), "bytes": Raw(hexadecimal(part)), "n": len(part)}
    told |= {"id": number, "size": result.facts["sizes"][name], "entries": result.facts["sizes"][name] - 1}
    if name != "pairs":
        return words(f"why.{name}_unknown" if number == closed_vocabulary.UNKNOWN else f"why.{name}", **told)
    if len(part) == 1:
        high, low = divmod(number, 16)
        kind = "byte" if number < 128 else "byte_part"
        return words(f"why.{kind}", high=high, low=low, **told)
    return _why_merged(part, result.parameters["n_merges"], told, words)


def _why_merged(part: bytes, n: int, told: dict, words: Words) -> str:
    steps = byte_pairs.path(part, merges()[:n])
    rule = next(i for i, merge in enumerate(merges(), start=1) if merge.joined == part)
    merge = merges()[rule - 1]
    way = " → ".join(quote(" | ".join(map(shown, step.parts))) for step in steps)
    told |= {"rule": rule, "left": shown(merge.left), "right": shown(merge.right), "count": merge.count}
    told |= {"way": Raw(way), "rules": Raw(listed((str(step.rule) for step in steps), words.lang))}
    story = words("why.pairs", **told)
    return story if is_whole(part) else story + "\n\n" + words("why.broken", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: the bargain between length and table, strangers, and tokens that are no characters."""
    facts = result.facts
    told = {name: len(facts["parts"][name]) for name in ROWS} | {"bytes": facts["bytes"]}
    told |= {"merges": result.parameters["n_merges"], "size": facts["sizes"]["pairs"]}
    told |= {"share": facts["bytes"] / told["pairs"]}
    first = words("notice.bytes" if told["pairs"] == told["bytes"] else "notice.length", **told)
    unknown = facts["unknown"]
    told |= {"unknown_characters": unknown["characters"], "unknown_words": unknown["words"]}
    second = words("notice.unknown" if any(unknown.values()) else "notice.known", **told)
    return [first, second, _broken(facts["broken"], told, words)]


def _broken(broken: list[bytes], told: dict, words: Words) -> str:
    told |= {"broken": len(broken)}
    if not broken:
        return words("notice.whole", **told)
    mixed = next((token for token in broken if _crosses(token)), None)
    told |= {"example": shown(broken[0] if mixed is None else mixed)}
    return words("notice.broken" if mixed is None else "notice.crossing", **told)


def _crosses(token: bytes) -> bool:
    """Whether a token holds the end of one character and the beginning of the next."""
    starts = [i for i, byte in enumerate(token) if byte & 0xC0 != 0x80]  # not 10xxxxxx: a character begins
    return any(i > 0 for i in starts)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    facts = result.facts
    counts = {name: len(facts["parts"][name]) for name in ROWS}
    told = {"text": result.parameters["text"], "merges": result.parameters["n_merges"], **counts}
    return words.plain("summary", bytes=facts["bytes"], size=facts["sizes"]["pairs"], **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes the ids of a strip."""
    if name == "pairs":
        return "core.text.byte_pairs.encode", "ids"
    return "core.text.closed_vocabulary.look_up", "ids"
