"""The door: one run of the app, from language and navigation to the page and its first call."""

from __future__ import annotations

import streamlit as st

from ui import course, state
from ui.frame.guard import guarded
from ui.frame.page import PageFrame
from ui.words import Words

_DOOR = "came through the door"


def pages_for_navigation(words: Words) -> dict[str, list]:
    """The built pages as Streamlit wants them, under their translated sections."""
    sections = {
        words.plain(f"section.{name}"): [
            st.Page(
                course.file_of(page),
                title=words.plain(f"page.{page.stem}"),
                url_path=None if page.stem == "home" else page.stem,
                default=page.stem == "home",
            )
            for page in pages
            if course.is_built(page)
        ]
        for name, pages in course.SECTIONS.items()
    }
    return {title: pages for title, pages in sections.items() if pages}


def run_app() -> None:
    """One run of the app: language, navigation, then the page, which never ends in a traceback."""
    state.choose_language()
    words = Words(state.lang())
    page = st.navigation(pages_for_navigation(words), position="top")
    st.set_page_config(page_title=f"{page.title} · Glassformer", layout="wide")
    st.html(course.ROOT / "assets" / "style.css")
    st.session_state[_DOOR] = True
    try:
        guarded(page.run)
    finally:
        st.session_state[_DOOR] = False


def open_page(stem: str) -> PageFrame:
    """The first call of every page: question, answer, language switch, and what the link could not give."""
    if not st.session_state.get(_DOOR):
        # A cold server still takes pages/ for its old kind of page and runs this file without app.py.
        # Declaring the navigation once turns that off for the process; the rerun comes in by the door.
        st.navigation(pages_for_navigation(Words(state.lang())), position="top")
        st.rerun()
    page = PageFrame(stem)
    page.open()
    return page
