"""Where to go: what to know before this page, what comes next, and the sources."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from ui import course
from ui.bibliography import cited
from ui.words import Words


def draw_where(entry: course.Page, words: Words, link_to: Callable[[str], None]) -> None:
    """Links before and after on the left, sources on the right; pages not built yet are named as such."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        if entry.needs:
            st.header(words("where.before"), anchor=False)
            for stem in entry.needs:
                link_to(stem)
        following = pages_after(entry.stem)
        if following:
            st.header(words("where.next"), anchor=False)
            for stem in following:
                link_to(stem)
    with right:
        if entry.sources:
            st.header(words("where.sources"), anchor=False)
            st.markdown("\n".join(f"- {cited(key, words)}" for key in entry.sources))


def pages_after(stem: str) -> tuple[str, ...]:
    """The page that the course plans next and, if that is not built yet, the next one that is."""
    stems = list(course.PAGES)
    planned = stems[stems.index(stem) + 1 : stems.index(stem) + 2]
    built = course.next_page(stem)
    return tuple(dict.fromkeys([*planned, *([built.stem] if built else [])]))
