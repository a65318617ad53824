"""One page in one run: its words, its values, and what all pages share from title to link."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

import streamlit as st

from ui import course, state
from ui.frame.comparing import pin_button
from ui.frame.controls import Controls
from ui.frame.guard import guarded
from ui.frame.pieces import Pieces
from ui.frame.predicting import predict_button
from ui.parameters import Problem
from ui.words import LANGUAGES, Raw, Words

# The browser gathers what arrives within 10 ms into one redraw. A breath after the page's own picture makes the
# picture a redraw of its own, in half the time, and delays the rest of the page by less than that saves. The breath is
# longer than those 10 ms by what two busy processes are late: half of the redraws missed it at 12 ms, few at 24.
AHEAD = 0.024  # s
AHEAD_AT_FIRST = 0.12  # s: a page that opens has hundreds of ms of other things to set up
MOST_STRANGE = 5  # unknown names told one by one; a link can hold any number of them


class PageFrame(Controls, Pieces):
    """What a page file talks to: `page["dk"]`, `page.slider("dk")`, `page.notice(…)`."""

    def __init__(self, stem: str):
        self.entry = course.PAGES[stem]
        self.values = state.State(self.entry)
        self.words = Words(state.lang(), stem)
        self._seen = False  # the live part has been drawn before
        self._last: list[tuple[st.delta_generator.DeltaGenerator, Callable[[], None]]] = []

    def above(self, controls: Callable[[], None]) -> None:
        """The row of the page's controls; it stands here and is drawn at the end of the run.

        The values are known before the widgets are drawn, and the picture is what a reader who drags a slider
        waits for, so it goes to the browser first.
        """
        self._last.append((self.controls(), controls))

    def open(self) -> None:
        """Read the link, then draw title, language switch, answer, and what the link could not give."""
        problems = self.values.enter()
        with st.container(horizontal=True, vertical_alignment="center", key="head"):
            st.title(self.words("question"), anchor=False)
            predict_button(self)
            pin_button(self)
            _language_switch(self.words)
        st.markdown(self.words("answer"))
        if problems:
            strange = [problem for problem in problems if problem.reason == "unknown_name"]
            told = [self._told(problem) for problem in problems if problem not in strange[MOST_STRANGE:]]
            if len(strange) > MOST_STRANGE:
                told.append(self.words("problem.many_more", count=len(strange) - MOST_STRANGE))
            st.info("\n\n".join(told))

    def live(self, draw: Callable[[], None]) -> None:
        """Run `draw` as a fragment, now and whenever one of its controls moves; then write the link."""

        @st.fragment
        @functools.wraps(draw)
        def fragment() -> None:
            self._last = []
            self.values.begin()
            guarded(draw)
            for place, finish in self._last:
                with place:
                    guarded(finish)
            self._seen = True
            self.values.leave()

        fragment()

    def breathe(self) -> None:
        """A pause after the main picture, so that it is on screen before the rest of the page is computed."""
        time.sleep(AHEAD if self._seen else AHEAD_AT_FIRST)

    def close(self) -> None:
        """The end of every page: the complete link, also where nothing is live."""
        self.values.leave()

    def _told(self, problem: Problem) -> str:
        key = f"control.{problem.name}.label"
        return self.words(
            f"problem.{problem.reason}",
            name=Raw(self.words(key)) if key in self.words else shortened(problem.name),
            given=shortened(problem.given),
            used=shortened(problem.used),
            allowed=problem.allowed,
            parts=Raw("\n\n".join(self._told(part) for part in problem.parts)),
        )


def shortened(text: str, limit: int = 40) -> str:
    """The beginning of a long text, with an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _language_switch(words: Words) -> None:
    """English or Chinese; every value stays."""
    key = "language switch"
    st.session_state[key] = state.lang()
    st.segmented_control(
        words("language"),
        options=tuple(LANGUAGES),
        format_func=LANGUAGES.get,
        key=key,
        label_visibility="collapsed",
        required=True,
        on_change=lambda: state.set_lang(st.session_state[key] or state.lang()),
        width="content",
    )
