"""Controls, one line each in a page: label, help and choices come from the words, limits from the registry."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from core.text.tokens import clean, split
from ui import course
from ui.callbacks import whole
from ui.parameters import Choice, Real, Several, Text, Whole
from ui.state import State
from ui.words import Raw, Words

TOKEN_LIMIT = 24


@dataclass(frozen=True)
class Reading:
    """A reader's text as the page takes it, and what the reader should be told about that."""

    tokens: tuple[str, ...]
    remarks: tuple[str, ...]  # finished sentences


class Controls:
    """The widgets of a page. Each shows a declared parameter and writes it back when it moves."""

    entry: course.Page
    values: State
    words: Words

    def __getitem__(self, name: str):
        """The value of a parameter."""
        return self.values[name]

    def controls(self, of: str = ""):
        """One row for the controls, of the page or of an experiment on it; it wraps where the screen is narrow."""
        return st.container(horizontal=True, vertical_alignment="bottom", key=f"{of} controls".strip())

    def slider(self, name: str, **look) -> float | int:
        """A slider over the parameter's fixed limits."""
        parameter = self.entry.parameter(name)
        assert isinstance(parameter, Whole | Real)
        return st.slider(
            **self._widget(name),
            min_value=parameter.low,
            max_value=parameter.high,
            step=parameter.step,
            **look,
        )

    def within(self, name: str, most: int) -> int:
        """The place that a slider names, counted from 0; beyond the last of `most` it is the last, in words."""
        given = self[name]
        if given > most:
            label = Raw(self.words(f"control.{name}.label"))
            st.caption(self.words("text.beyond", name=label, given=given, used=most))
        return min(given, most) - 1

    def number(self, name: str, **look) -> int:
        """A box for a whole number, for values that one does not drag through, such as a seed."""
        parameter = self.entry.parameter(name)
        assert isinstance(parameter, Whole)
        st.number_input(
            **self._widget(name) | {"on_change": self._typed, "args": (parameter,)},
            value=None,  # an emptied box is told apart from a zero
            step=parameter.step,
            **look,
        )
        return self[name]

    @whole
    def _typed(self, parameter: Whole) -> None:
        """A number outside its limits becomes the nearest inside, in words: the browser would only refuse it."""
        key = self.values.key(parameter.name)
        given = st.session_state[key]
        if given is not None and not parameter.low <= given <= parameter.high:
            st.session_state[key] = min(max(given, parameter.low), parameter.high)
            st.toast(
                self.words(
                    "typed_outside",
                    given=given,
                    allowed=Raw(f"{parameter.low}–{parameter.high}"),
                    used=st.session_state[key],
                )
            )
        self.values.moved(parameter.name)

    def choice(self, name: str, **look) -> str:
        """A list of the parameter's codes under their translated names."""
        parameter = self.entry.parameter(name)
        assert isinstance(parameter, Choice)
        return st.selectbox(
            **self._widget(name), options=parameter.codes, format_func=self._code_label(name), **look
        )

    def segments(self, name: str, **look) -> str:
        """The same as buttons side by side, for two or three codes."""
        parameter = self.entry.parameter(name)
        assert isinstance(parameter, Choice)
        st.segmented_control(
            **self._widget(name),
            options=parameter.codes,
            format_func=self._code_label(name),
            required=True,
            **look,
        )
        return self[name]

    def several(self, name: str, **look) -> tuple[str, ...]:
        """Any number of a few codes, a pill each; a code without a word `choice.<name>.<code>` is its own label."""
        parameter = self.entry.parameter(name)
        assert isinstance(parameter, Several)

        def label(code: str) -> str:
            key = f"choice.{name}.{code}"
            return self.words.plain(key) if key in self.words else code

        st.pills(
            **self._widget(name), options=parameter.codes, format_func=label, selection_mode="multi", **look
        )
        return self[name]

    def switch(self, name: str, **look) -> bool:
        """On or off."""
        return st.toggle(**self._widget(name), **look)

    def text(self, name: str, *, then: Callable[[], None] | None = None, **look) -> str:
        """A box for the reader's own text. What is typed stays as typed; the tidied text is returned.

        `then` is called once a new text is there, to set what depends on it.
        """

        @whole
        def changed(_: str) -> None:
            self.values.moved(name)
            then()

        st.text_input(**self._widget(name) | ({"on_change": changed} if then else {}), **look)
        return self.entry.parameter(name).tidy(self[name])

    def presets(self, label: str, choices: Mapping[str, Mapping[str, Any]]) -> None:
        """A list of named states, each setting some of the page's values: the words `label` and `preset.<name>`.

        It closes behind the choice, since it lies over what has been chosen.
        """
        key = f"{self.entry.stem} {label}"

        @whole
        def take(values: Mapping[str, Any]) -> None:
            self.values.set(**values)
            st.session_state[key] = False

        with st.popover(self.words(label), width="content", key=key, on_change="rerun") as opened:
            if opened.open:
                for name, values in choices.items():
                    st.button(
                        self.words(f"preset.{name}"),
                        key=f"{key} {name}",
                        on_click=take,
                        args=(values,),
                        type="tertiary",
                    )

    def _widget(self, name: str) -> dict:
        return {
            "label": self.words(f"control.{name}.label"),
            "help": self.words(f"control.{name}.help"),
            "key": self.values.seed(name),
            "on_change": self.values.moved,
            "args": (name,),
        }

    def _code_label(self, name: str) -> Callable[[str], str]:
        return lambda code: self.words.plain(f"choice.{name}.{code}")

    def sentence(self, name: str, *, count: str, **look) -> Reading:
        """A box for a sentence with examples beside it, and how it is read.

        A new sentence sets the parameter `count` to its number of tokens, so that all of it is seen.
        """

        def follow() -> None:
            self.values.set(**{count: min(len(self.read(name, self[name]).tokens), TOKEN_LIMIT)})

        @whole
        def changed(_: str) -> None:
            self.values.moved(name)
            follow()

        @whole
        def take(example: str) -> None:
            self.values.set(**{name: example})
            follow()

        st.text_input(**self._widget(name) | {"on_change": changed}, **look)
        key = f"{self.entry.stem} examples"
        with st.popover(self.words("examples"), width="content", key=key, on_change="rerun") as examples:
            if examples.open:
                for position, example in enumerate(example_sentences()):
                    st.button(
                        example,
                        key=f"{self.entry.stem} example {position}",
                        on_click=take,
                        args=(example,),
                        type="tertiary",
                    )
        return self.read(name, self[name])

    def pair(self, source: str, target: str, **look) -> None:
        """Two boxes for a sentence and its translation, with pairs beside them that fill both."""
        for name in (source, target):
            st.text_input(**self._widget(name), **look)
        key = f"{self.entry.stem} pairs"
        with st.popover(self.words("examples"), width="content", key=key, on_change="rerun") as examples:
            if examples.open:
                for position, (first, second) in enumerate(example_pairs()):
                    st.button(
                        f"{first} → {second}",
                        key=f"{self.entry.stem} pair {position}",
                        on_click=self.values.set,
                        kwargs={source: first, target: second},
                        type="tertiary",
                    )

    def read(self, name: str, text: str) -> Reading:
        """The tokens of the text, with a remark on everything that was done to it."""
        parameter = self.entry.parameter(name)
        assert isinstance(parameter, Text)
        cleaned = clean(text, parameter.limit)
        tokens = split(cleaned.text, TOKEN_LIMIT)
        remarks = []
        if cleaned.removed_controls:
            remarks.append(self.words("text.controls_removed"))
        if cleaned.cut:
            remarks.append(self.words("text.cut_characters", limit=parameter.limit))
        if tokens.cut:
            remarks.append(self.words("text.cut_tokens", count=tokens.n_found, limit=TOKEN_LIMIT))
        if not tokens.tokens:
            remarks.append(self.words("text.empty", used=parameter.default))
            tokens = split(parameter.default, TOKEN_LIMIT)
        return Reading(tokens.tokens, tuple(remarks))

    def remarks(self, reading: Reading, *, shown: int) -> None:
        """What was done to the reader's text, and what of the token slider it leaves unused."""
        remarks = list(reading.remarks)
        if len(reading.tokens) < shown:
            remarks.append(self.words("text.fewer_tokens", count=len(reading.tokens)))
        if remarks:
            st.info(self.words.sentences(remarks))


@cache
def example_sentences() -> tuple[str, ...]:
    """The sentences offered beside a text box."""
    return tuple(_examples()["sentences"])


@cache
def example_pairs() -> tuple[tuple[str, str], ...]:
    """Sentences with their translations, offered beside two boxes."""
    return tuple((source, target) for source, target in _examples()["pairs"])


def _examples() -> dict:
    with (course.ROOT / "assets" / "examples" / "sentences.toml").open("rb") as file:
        return tomllib.load(file)
