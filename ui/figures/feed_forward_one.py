"""One token replaced: what moves after the feed-forward layer, and what moves after attention."""

from __future__ import annotations

import numpy as np

from core.attention.masks import causal
from core.attention.toy_heads import toy_heads
from core.block.feed_forward import feed_forward
from core.block.one_token import change_of
from core.block.toy_feed_forward import toy_tokens
from ui.figures import charts
from ui.figures import feed_forward as forward
from ui.formulas import bracketed
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words

AFTER = ("x_after", "ffn_after", "att_after")
CHANGES = ("x_change", "ffn_change", "att_change")
SMALL = 1.0  # where the colours of changed outputs end: attention averages, and moves little
NOTHING = 1e-12  # a smaller difference is rounding


def compute(result: Result, place: int, word: str, sight: str) -> Result:
    """The page's layer, and one head of attention, on the sentence with the token at `place` (from 0) replaced."""
    p = result.parameters
    place = min(place, len(p["tokens"]) - 1)
    changed = (*p["tokens"][:place], word, *p["tokens"][place + 1 :])
    x, layer = forward.layer_of(result)
    new = toy_tokens(changed, p["seed"], p["d_model"])
    _, attend = toy_heads(p["tokens"], p["seed"], p["d_model"], 1)
    mask = causal(len(x)) if sight == "causal" else None
    ffn = change_of(
        lambda h: feed_forward(h, layer.w1, layer.b1, layer.w2, layer.b2, p["act"]).output, x, new
    )
    attention = change_of(lambda h: attend(h, mask=mask).output, x, new)
    changes = (change.round(decimals=12) for change in (new - x, ffn.change, attention.change))
    values = (new, ffn.after, attention.after, *changes)
    arrays = {
        name: Array.of(value, changed, axes=("token", "feature" if name[0] == "x" else "output"))
        for name, value in zip((*AFTER, *CHANGES), values, strict=True)
    }
    facts = {
        "before": {"x": x.numpy(), "ffn": ffn.before.numpy(), "att": attention.before.numpy()},
        "ffn_moved": ffn.moved.numpy(),
        "att_moved": attention.moved.numpy(),
    }
    told = {"place": place, "word": word, "old": p["tokens"][place], "sight": sight, "changed": changed}
    return Result(p | told, arrays, facts)


def remarks(words_read: tuple[str, ...], at: int, result: Result, words: Words) -> list[str]:
    """What the page took of a longer text, and of a place behind the last token."""
    count = len(result.parameters["tokens"])
    told = [words("one.first", word=words_read[0])] if len(words_read) > 1 else []
    return told + ([words("one.last", at=at, count=count)] if at > count else [])


def moved(result: Result, name: str) -> list[int]:
    """The places, from 0, whose output moved."""
    return [i for i, length in enumerate(result.facts[f"{name}_moved"]) if length > NOTHING]


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """Tokens and outputs after the change above, what changed below."""
    return tuple(_matrix(n, result, words) for n in AFTER), tuple(_matrix(n, result, words) for n in CHANGES)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    return forward.drawn(name, result, words, limit=SMALL if name in CHANGES[1:] else forward.SPREAD)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """A difference of two numbers, and why it is or is not 0."""
    name, row, column = cell
    p, which = result.parameters, name.partition("_")[0]
    old = float(result.facts["before"][which][row, column])
    new = float(result.values(f"{which}_after")[row, column])
    told = {"i": row + 1, "c": column + 1, "token": p["changed"][row], "old": old, "new": new}
    told |= {"value": result.values(name)[row, column], "place": p["place"] + 1}
    if name in AFTER:
        return words(f"why.{name}", **told)
    own = "own" if row == p["place"] else "other"
    if which == "att" and own == "other" and p["sight"] == "causal" and row < p["place"]:
        own = "hidden"
    return words(f"why.{which}_change.{own}", **told | {"old": bracketed(old)})


def notices(result: Result, words: Words) -> list[str]:
    """Who noticed the change: the rows that moved after each sub-layer, counted."""
    p = result.parameters
    count, place = len(p["tokens"]), p["place"]
    ffn, attention = moved(result, "ffn"), moved(result, "att")
    told = {"i": place + 1, "old": p["old"], "word": p["word"], "count": count, "others": count - 1}
    if p["old"] == p["word"]:
        return [words("one.notice.same", **told)]
    others = [i for i in attention if i != place]
    told |= {
        "ffn": len(ffn),
        "own": result.facts["ffn_moved"][place],
        "noticed": len(others),
        "before": place,
    }
    said = [words("one.notice.ffn" if ffn == [place] else "one.notice.ffn_none", **told)]
    if count == 1:
        return [*said, words("one.notice.single")]
    rest = result.facts["att_moved"][others] if others else np.zeros(1)
    told |= {"farthest": float(rest.max()), "att_own": result.facts["att_moved"][place]}
    key = "none" if not others else "causal" if p["sight"] == "causal" and place else "all"
    return [*said, words(f"one.notice.attention_{key}", **told), words("one.notice.so")]


def chart(result: Result, words: Words) -> charts.Chart:
    """How far the output of every token moved, after each of the two."""
    tokens, lengths = result.parameters["changed"], [result.facts[f"{n}_moved"] for n in ("ffn", "att")]
    names = [words.plain(f"one.series.{name}") for name in ("ffn", "att")]
    most = max(result.parameters["d_model"] ** 0.5, float(np.max(lengths)))
    return charts.bars(
        [f"{i + 1} {token}" for i, token in enumerate(tokens)],
        dict(zip(names, lengths, strict=True)),
        words.plain("axis.token"),
        charts.Axis(words.plain("one.axis"), (0.0, most)),
        height=260,
    )


def chart_summary(result: Result, words: Words) -> str:
    """The bars as text."""
    places = {n: listed((i + 1 for i in moved(result, n)), words.lang) for n in ("ffn", "att")}
    told = {n: Raw(where or words.plain("setting.none")) for n, where in places.items()}
    return words.plain("one.chart", i=result.parameters["place"] + 1, **told)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p = result.parameters
    counts = {n: len(moved(result, n)) for n in ("ffn", "att")}
    told = {"i": p["place"] + 1, "old": p["old"], "word": p["word"], "count": len(p["tokens"])}
    return words.plain("one.summary", **told, **counts)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it."""
    if name.startswith("x"):
        return "core.block.toy_feed_forward.toy_tokens", "x"
    return "core.block.one_token.change_of", "change" if name in CHANGES else "after"
