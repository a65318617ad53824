"""Parameters ↔ link ↔ widgets.

A page's values live in the session under its stem and outlive the widgets, so that another page or language
loses nothing. In a full run the link is read if it is not the one we wrote ourselves (a first visit, a pasted
link, the Back button). Otherwise the values stand. After every run the complete canonical link is written.

A widget that has just been moved wins over the link: the browser may still hold the previous one.
"""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import quote, urlencode

import streamlit as st

from ui import course
from ui.callbacks import finish, whole
from ui.course.page import Page
from ui.parameters import Choice, Problem, Text, read_link, write_link
from ui.told import Told
from ui.words import LANGUAGES

_VALUES = "values"  # stem → parameter name → value
_LANG = "lang"
_WRITTEN = "link written"  # (stem, link): what the address bar should say since our last run
_MOVED = "a widget was moved"
_TOLD = "what the browser has been told"


def choose_language() -> None:
    """Settle the language of this run: the link's, the session's, or at first the browser's."""
    finish()
    asked = st.query_params.get("lang", "")
    if asked in LANGUAGES and not st.session_state.get(_MOVED):
        st.session_state[_LANG] = asked
    elif _LANG not in st.session_state:
        st.session_state[_LANG] = "zh" if (st.context.locale or "").lower().startswith("zh") else "en"


def lang() -> str:
    """The language of this session, `en` or `zh`."""
    return st.session_state.get(_LANG, "en")


@whole
def set_lang(code: str) -> None:
    """Change the language; everything else stays."""
    st.session_state[_LANG] = code
    st.session_state[_MOVED] = True
    _told().acts += 1
    # A list in the browser holds the label of its choice, in the language it was chosen in. Setting every value
    # again makes it take the new label; else it would send the old one back with the next move.
    for stem, values in st.session_state.get(_VALUES, {}).items():
        for name, value in values.items():
            key = f"{stem}.{name}"
            if key not in st.session_state:
                continue
            if isinstance(course.PAGES[stem].parameter(name), Text):
                # What is typed and not yet entered comes with the click on the switch.
                values[name] = value = st.session_state[key]
            _put(key, value)


def _put(key: str, value: Any) -> None:
    """Set a widget's value, and remember that the browser has to be told.

    What has no widget gets none in the session: Streamlit goes through all of them for every slider it draws.
    """
    if key in st.session_state:
        st.session_state[key] = value
    _told().put(key)


def _told() -> Told:
    return st.session_state.setdefault(_TOLD, Told())


class State:
    """The values of one page's parameters in this session."""

    def __init__(self, page: Page):
        self.page = page
        self.begin()

    def begin(self) -> None:
        """Start a run, of the whole page or of its live part."""
        self._began = time.monotonic()
        self._drawn: set[str] = set()  # widget keys of this run
        moves, echoes = _told().settle()
        for (stem, name), value in moves.items():
            self._all()[stem][name] = value
        for stem, name in echoes:
            _put(f"{stem}.{name}", self._all()[stem][name])

    def __getitem__(self, name: str) -> Any:
        return self._values()[name]

    def as_dict(self) -> dict[str, Any]:
        """All values under their names."""
        return {p.name: self._values()[p.name] for p in self.page.parameters}

    @whole
    def set(self, **values: Any) -> None:
        """Change values, and the widgets that show them, from a callback."""
        told = _told()
        for name, value in values.items():
            self.page.parameter(name)
            told.replace(self.key(name), self._values()[name], time.monotonic())
            self._values()[name] = value
            _put(self.key(name), value)
        told.acts += 1
        st.session_state[_MOVED] = True

    def key(self, name: str) -> str:
        """The session key of the widget that shows a parameter."""
        return f"{self.page.stem}.{name}"

    def seed(self, name: str) -> str:
        """Give the widget its value before it is drawn, and return its key."""
        key = self.key(name)
        told = _told()
        if key not in st.session_state:
            told.put(key)
        if told.is_to_be_sent(key, self._began):
            st.session_state[key] = self._values()[name]
        self._drawn.add(key)
        return key

    @whole
    def moved(self, name: str) -> None:
        """Callback of a widget: take its value over.

        An emptied box gets its value back, and so does a list that sends a label, and a widget that only repeats what
        `set` has replaced: a click made before the browser knew the new value still carries the old one, and that
        is no move.
        """
        key, now, told = self.key(name), time.monotonic(), _told()
        value = st.session_state[key]
        value = tuple(value) if isinstance(value, list) else value
        old = told.is_old(key, value, now)
        if value is None or self._foreign(name, value) or (old and told.is_to_be_sent(key, now)):
            _put(key, self._values()[name])
        elif old and not isinstance(self.page.parameter(name), Text):  # a text is not typed again by chance
            told.doubted[self.page.stem, name] = value  # `begin` decides, knowing all that the reader did
        else:
            self._values()[name] = value
            told.acts += 1
        st.session_state[_MOVED] = True

    def _foreign(self, name: str, value: Any) -> bool:
        """Whether a list sent what is none of its codes: a label in the language that has just been left.

        A timer of the browser can send it, before the lists there have got their new labels.
        """
        parameter = self.page.parameter(name)
        return isinstance(parameter, Choice) and value not in parameter.codes

    def enter(self) -> list[Problem]:
        """Start a full run: read the link if it is news. Returns what had to be changed in it."""
        query = st.query_params.to_dict()
        moved = st.session_state.pop(_MOVED, False)
        ours = st.session_state.get(_WRITTEN) == (self.page.stem, query)
        returning = not query and self.page.stem in st.session_state.get(_VALUES, {})
        if moved or ours or returning:
            return []
        values, problems = read_link(query, self.page.parameters)
        twice = [name for name in query if len(st.query_params.get_all(name)) > 1]
        problems += [Problem(name, "given_twice", query[name], query[name]) for name in twice]
        self._all()[self.page.stem] = values
        for name, value in values.items():
            _put(self.key(name), value)
        if query.get("lang", lang()) not in LANGUAGES:
            problems.append(Problem("lang", "unknown_choice", query["lang"], lang(), ", ".join(LANGUAGES)))
        return problems

    def leave(self) -> None:
        """End a run: write the complete link if it is not in the address bar already."""
        st.session_state.pop(_MOVED, None)
        _told().finished(self._drawn, time.monotonic())
        link = write_link(self._values(), self.page.parameters, lang())
        if st.query_params.to_dict() != link:
            st.query_params.from_dict(link)
        st.session_state[_WRITTEN] = (self.page.stem, link)

    def address(self) -> str:
        """The whole address of the present state, percent-encoded; only its query where the server is unknown."""
        query = urlencode(write_link(self._values(), self.page.parameters, lang()), quote_via=quote)
        return f"{st.context.url or ''}?{query}"  # the context's URL ends with the page's path

    def _all(self) -> dict[str, dict[str, Any]]:
        return st.session_state.setdefault(_VALUES, {})

    def _values(self) -> dict[str, Any]:
        return self._all().setdefault(self.page.stem, {p.name: p.default for p in self.page.parameters})
