"""Take it away: the summary, the numbers, the picture, the notebook. A file is made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from ui import course, diagram, matrix, strips
from ui.frame.picture import Picture
from ui.frame.settings import value_of
from ui.offline import offline_html
from ui.parameters import Choice, Pinned, Real, Several, Switch, Text, Whole
from ui.state import State
from ui.takeaway import csv_of, notebook_of
from ui.words import Words


def draw_takeaway(
    entry: course.Page,
    values: State,
    words: Words,
    picture: Picture,
    *,
    focus: str,
    cell: matrix.Cell | None,
) -> None:
    """One line for each thing to take, with its button."""
    # Settled now: by the time of the click the session may be elsewhere.
    link, about = values.address(), settings_told(entry, values.as_dict(), words)

    def page_as_html() -> bytes:
        return offline_html(
            picture.rows,
            focus=focus,
            cell=cell,
            words=strips.spoken(words) if picture.strips else matrix.spoken(words),
            summary=picture.summary,
            title=words.plain("question"),
            about=about,
            link=(words.plain("takeaway.link"), link),
            lang=words.lang,
            charts=tuple(picture.charts.values()),
            strips=picture.strips,
            diagrams=[diagram.still(drawn, lang=words.lang) for drawn in picture.diagrams],
        ).encode("utf-8", "replace")

    def notebook() -> bytes:
        return notebook_of(entry.stem, picture.result, words, summary=picture.summary, link=link)

    _offer(entry.stem, "csv", lambda: csv_of(picture.result), "text/csv", words)
    _offer(entry.stem, "html", page_as_html, "text/html", words)
    _offer(entry.stem, "ipynb", notebook, "application/x-ipynb+json", words)
    st.caption(words("takeaway.picture"))


def _offer(stem: str, kind: str, make: Callable[[], bytes], mime: str, words: Words) -> None:
    left, right = st.columns([1, 4], vertical_alignment="center")
    with left:
        st.download_button(
            words.plain(f"takeaway.{kind}"),
            data=make,
            file_name=f"glassformer-{stem}.{kind}",
            mime=mime,
            on_click="ignore",
            key=f"{stem} download {kind}",
            width="stretch",
        )
    with right:
        st.markdown(words(f"takeaway.{kind}_note"))


def settings_told(entry: course.Page, values: Mapping[str, Any], words: Words) -> list[tuple[str, str]]:
    """The settings of a page as a reader knows them: translated names and values, as plain text.

    Those that the numbers depend on, where the page says which they are by what it pins.
    """
    pinned = next((p.parameters for p in entry.parameters if isinstance(p, Pinned)), entry.parameters)
    return [
        (
            words.plain(f"control.{p.name}.label"),
            p.tidy(values[p.name]) if isinstance(p, Text) else value_of(words, p, values[p.name]),
        )
        for p in pinned
        if isinstance(p, Whole | Real | Choice | Several | Switch | Text)
    ]
