"""From characters to code points to bytes: what UTF-8 makes of Chinese, emoji and accents."""

from __future__ import annotations

from core.text.tokens import graphemes
from core.text.utf8 import Character, CodePoint, characters, hexadecimal
from ui.figures.tokens import _seen
from ui.strips import Strip, Token
from ui.words import Raw, Words, quote

SAMPLES = {  # written with escapes where a reader of the code could not see what is there
    "mixed": "aé鱼🙂",
    "accents": "\u00e9 e\u0301",
    "family": "👨\u200d👩\u200d👧",
    "tone": "👍👍🏽",
    "flag": "🇨🇳",
    "heart": "❤ ❤\ufe0f",
}
MOST_ROWS = 12


def sample(name: str, own: str) -> str:
    """The text of a choice: the reader's own, or an example that is taken as it stands."""
    return own if name == "own" else SAMPLES[name]


def strips(text: str, words: Words) -> tuple[Strip, ...]:
    """Characters, code points and bytes of a text, tied together by the bytes."""
    signs = characters(text)
    rows: dict[str, list[Token]] = {"signs": [], "points": [], "bytes": []}
    at = 0
    for sign in signs:
        start = at
        for point in sign.points:
            span = (at, at + len(point.encoded))
            label = f"U+{point.number:04X}"
            rows["points"].append(Token(_alone(point), label, span, "", (hexadecimal(point.encoded),)))
            for byte in point.encoded:
                look = "" if len(point.encoded) == 1 else "bytes"
                rows["bytes"].append(Token(f"{byte:02X}", str(byte), (at, at + 1), look, (f"{byte:08b}",)))
                at += 1
        code = words.plain("bytes.below", count=at - start)
        rows["signs"].append(Token(_seen(sign.text), code, (start, at), "", (hexadecimal(text_bytes(sign)),)))
    return tuple(
        Strip(
            name,
            words.plain(f"bytes.title.{name}"),
            words.plain("bytes.count", count=len(tokens)),
            tuple(tokens),
            still=True,
        )
        for name, tokens in rows.items()
    )


def _alone(point: CodePoint) -> str:
    """A code point by itself; what cannot stand alone or be seen, by a short name."""
    sign = chr(point.number)
    short = {"\u200d": "ZWJ", "\ufe0f": "VS16", "\ufe0e": "VS15"}
    return short.get(sign) or ("◌" + sign if _is_mark(sign) else _seen(sign))


def _is_mark(sign: str) -> bool:
    return len(graphemes("a" + sign)) == 1


def text_bytes(sign: Character) -> bytes:
    """All bytes of a character."""
    return b"".join(point.encoded for point in sign.points)


def table(text: str, words: Words) -> str:
    """Every different code point with its bits, the marks of UTF-8 in bold."""
    heads = [words(f"bytes.head.{name}") for name in ("sign", "number", "name", "bits")]
    lines = ["| " + " | ".join(heads) + " |", "|:--|:--|:--|:--|"]
    points = list(dict.fromkeys(point for sign in characters(text) for point in sign.points))
    for point in points[:MOST_ROWS]:
        bits = " ".join(f"**{mark}** {rest}" for mark, rest in point.bits)
        alone = quote(_alone(point).replace("|", "¦"))
        lines.append(f"| {alone} | U+{point.number:04X} | {point.name or '–'} | {bits} |")
    if len(points) > MOST_ROWS:
        lines += ["", words("bytes.more", count=len(points) - MOST_ROWS)]
    return "\n".join(lines)


def notices(name: str, text: str, words: Words) -> list[str]:
    """What to notice: how long the characters are, what they consist of, and what this example shows."""
    signs = characters(text)
    longest = max(signs, key=lambda sign: sign.n_bytes)
    told = {
        "signs": len(signs),
        "points": sum(len(s.points) for s in signs),
        "bytes": sum(s.n_bytes for s in signs),
    }
    told |= {"longest": _seen(longest.text), "most": longest.n_bytes, "parts": len(longest.points)}
    told |= {"hex": Raw(hexadecimal(text_bytes(longest)))}
    return [
        words("bytes.notice.count", **told),
        words("bytes.notice.utf8"),
        words(f"bytes.notice.{name}", **told),
    ]


def summary(text: str, words: Words) -> str:
    """The strips in one line of plain text."""
    signs = characters(text)
    told = {
        "signs": len(signs),
        "points": sum(len(s.points) for s in signs),
        "bytes": sum(s.n_bytes for s in signs),
    }
    return words.plain("bytes.summary", **told)
