"""Token strips: a text cut in several ways, one strip under the other, tied together by the bytes they share.

Python owns the chosen token; a click is shown at once in the browser and reported here. The browser code is
static/strips.js; ui.offline uses the same code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from ui.browser_code import component
from ui.callbacks import whole
from ui.matrix import Cell, sendable
from ui.words import Words

SCRIPT = Path(__file__).resolve().parent.parent / "static" / "strips.js"


@dataclass(frozen=True)
class Token:
    """One token as it is drawn.

    `span` is where it stands in the text, in any unit that all strips share; what overlaps is marked together.
    """

    text: str
    below: str  # its number
    span: tuple[float, float]
    look: Literal["", "bytes", "unknown"] = ""
    facts: tuple[str, ...] = ()  # further columns of the table


@dataclass(frozen=True)
class Strip:
    """One way to cut the text. With `still` nothing in it can be chosen."""

    name: str
    title: str
    note: str
    tokens: tuple[Token, ...]
    still: bool = False


def payload(
    strips: Sequence[Strip],
    chosen: Cell | None,
    *,
    words: Mapping[str, str],
    summary: str,
    lang: str,
    seen: int = 0,
) -> dict[str, Any]:
    """What the browser is given. `words` has "token" (what a screen reader says of one, with {text}, {number},
    {place}), "table", and "columns", the table's heads with | between them.

    Raises ValueError for two strips with one name, and KeyError for a missing word.
    """
    if len({strip.name for strip in strips}) != len(strips):
        raise ValueError("two strips share a name")
    return {
        "lang": "zh-CN" if lang == "zh" else lang,
        "summary": sendable(summary),
        "words": {name: words[name] for name in ("token", "table")},
        "columns": words["columns"].split("|"),
        "chosen": [chosen[0], chosen[2]] if chosen else None,
        "seen": seen,
        "strips": [
            {
                "name": strip.name,
                "title": strip.title,
                "note": strip.note,
                "still": strip.still,
                "tokens": [
                    [sendable(t.text), t.below, *t.span, t.look, [sendable(fact) for fact in t.facts]]
                    for t in strip.tokens
                ],
            }
            for strip in strips
        ],
    }


def draw(
    key: str,
    strips: Sequence[Strip],
    *,
    chosen: Cell | None,
    words: Mapping[str, str],
    summary: str,
    lang: str,
    on_choose: Callable[[Cell | None], Any],
) -> None:
    """Show the strips under `key`; `on_choose` gets the token that was clicked, as (strip, 0, place), or None."""
    seen = f"{key}.seen"

    @whole
    def report() -> None:
        event = reported(strips, st.session_state.get(key))
        if event is not None and event[0] > st.session_state.get(seen, 0):
            st.session_state[seen] = event[0]
            on_choose(event[1])

    data = payload(
        strips, chosen, words=words, summary=summary, lang=lang, seen=st.session_state.get(seen, 0)
    )
    _component()(key=key, data=data, on_event_change=report)


def spoken(words: Words) -> dict[str, str]:
    """The words of the component from strings.toml, section [strips]."""
    keep = {mark: f"{{{mark}}}" for mark in ("text", "number", "place")}  # filled in by the browser
    return {name: words.plain(f"strips.{name}", **keep) for name in ("token", "table", "columns")}


def reported(strips: Sequence[Strip], state: Any) -> tuple[int, Cell | None] | None:
    """The browser's last report with its number, if it names a token of these strips: what comes from outside is checked."""
    event = state.get("event") if isinstance(state, Mapping) else None
    if not isinstance(event, Mapping):
        return None
    number, chosen = event.get("n"), event.get("chosen")
    if type(number) is not int or not 0 < number < 2**53:
        return None
    if chosen is None:
        return number, None
    sizes = {strip.name: len(strip.tokens) for strip in strips if not strip.still}
    if not (isinstance(chosen, list | tuple) and len(chosen) == 2):
        return None
    name, place = chosen
    if not (isinstance(name, str) and type(place) is int and 0 <= place < sizes.get(name, 0)):
        return None
    return number, (name, 0, place)


@cache
def _component() -> Callable:
    return component("strips", hashlib.sha256(SCRIPT.read_bytes()).hexdigest()[:12])
