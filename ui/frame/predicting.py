"""Predict first: the question, the guess, the hands of the class, and the computed answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui.frame.settings import label_of, value_of
from ui.predict import Desk, Prediction, Round, Unfinished
from ui.result import Result
from ui.words import Raw

if TYPE_CHECKING:
    from ui.frame.page import PageFrame

ResultOf = Callable[[Mapping[str, Any]], Result]


def desk_of(page: PageFrame) -> Desk:
    """The page's questions in this session."""
    return st.session_state.setdefault(f"{page.entry.stem} desk", Desk(page.entry.predictions[0]))


def predict_button(page: PageFrame) -> None:
    """The button that lays a question on the table; in the head of every page that has questions."""
    if not page.entry.predictions:
        return
    desk = desk_of(page)

    def turn() -> None:
        desk.open = not desk.open

    st.button(
        page.words("predict.close" if desk.open else "predict.open"),
        key=f"{page.entry.stem} predict",
        help=page.words("predict.help"),
        on_click=turn,
    )


def predict(page: PageFrame, predictions: Sequence[Prediction], result_of: ResultOf) -> Prediction | None:
    """The open question, if the reader has opened one. Returns the prediction that still waits for its answer."""
    desk = desk_of(page)
    if not desk.open:
        return None
    table = _Table(page, desk, {p.name: p for p in predictions}, result_of)
    with st.container(border=True, key="predict"):
        return table.draw()


class _Table:
    """One drawing of the question on the table."""

    def __init__(self, page: PageFrame, desk: Desk, predictions: dict[str, Prediction], result_of: ResultOf):
        self.page, self.words, self.stem = page, page.words, page.entry.stem
        self.desk, self.predictions, self.result_of = desk, predictions, result_of

    @property
    def prediction(self) -> Prediction:
        return self.predictions[self.desk.asked]

    @property
    def round(self) -> Round:
        return self.desk.round

    def say(self, key: str, **values: Any) -> str:
        """A text that belongs to this question."""
        return self.words(f"predict.{self.prediction.name}.{key}", **values)

    def draw(self) -> Prediction | None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{self.say('question')}**")
            self._chooser()
        if self.round.before is not None:
            self._answer()
            return None
        if not self.prediction.ready(self.page.values.as_dict()):
            self._start()
            return None
        self._ask()
        return self.prediction

    def _chooser(self) -> None:
        key = f"{self.stem} predict which"
        st.session_state[key] = self.desk.asked
        names = list(self.predictions)

        def choose() -> None:
            self.desk.asked = st.session_state[key] or self.desk.asked

        st.segmented_control(
            self.words("predict.which"),
            options=names,
            format_func=lambda name: str(names.index(name) + 1),
            key=key,
            label_visibility="collapsed",
            required=True,
            on_change=choose,
            width="content",
        )

    def _start(self) -> None:
        """The page stands elsewhere: say what has to be set for the question, and offer to set it."""
        missing = self.prediction.missing(self.page.values.as_dict())
        parameters = [self.page.entry.parameter(name) for name in missing]
        settings = [
            self.words(
                "setting.one",
                name=Raw(label_of(self.words, p)),
                value=Raw(value_of(self.words, p, self.prediction.start[p.name])),
            )
            for p in parameters
        ]
        if self.prediction.already(self.page.values.as_dict()):
            st.markdown(self.words("predict.already"))
        st.markdown(self.words("predict.starts", settings=Raw(" · ".join(settings))))
        self._row(("predict.set_up", self._set_up))

    def _ask(self) -> None:
        key = f"{self.stem} predict guess {self.prediction.name}"
        st.session_state[key] = self.round.guess
        this = self.round

        def guess() -> None:
            this.guess = st.session_state[key]

        st.radio(
            self.words("predict.guess"),
            options=self.prediction.options,
            format_func=self.say,
            index=None,
            key=key,
            horizontal=True,
            label_visibility="collapsed",
            on_change=guess,
        )
        self._row(
            ("predict.show", self._show),
            ("predict.stop_counting" if this.counting else "predict.count", self._count),
        )
        if this.counting:
            self._tally()

    def _tally(self) -> None:
        """A large button for each option, its bar, and one step back."""
        this = self.round
        with st.container(key="hands"):
            for option, column in self._columns():
                with column:
                    st.button(
                        self.words("predict.hand", option=Raw(self.say(option))),
                        key=f"{self.stem} hand {self.prediction.name} {option}",
                        on_click=this.hands.append,
                        args=(option,),
                        width="stretch",
                    )
                    self._bar(option)
            if this.hands:
                st.button(self.words("predict.undo"), key=f"{self.stem} hand back", on_click=this.hands.pop)

    def _columns(self):
        return zip(self.prediction.options, st.columns(len(self.prediction.options)), strict=True)

    def _bar(self, option: str, label: str = "") -> None:
        count = self.round.count(option)
        st.progress(count / max(len(self.round.hands), 1), text=f"{label}**{count}**")

    def _answer(self) -> None:
        """The verdict, from both results as they are computed, and where to go from here."""
        this = self.round
        before, after = self.result_of(this.before), self.result_of(this.after)
        try:
            right = self.prediction.verdict(before, after)
        except Unfinished:
            st.markdown(self.words("predict.unfinished"))
            self._row(("predict.again", self._again))
            return
        outcome = Raw(
            self.words("predict.or").join(self.say(o) for o in self.prediction.options if o in right)
        )
        if this.guess is None:
            st.markdown(self.words("predict.outcome", outcome=outcome))
        elif this.guess in right:
            st.success(self.words("predict.right", outcome=outcome))
        else:
            st.info(self.words("predict.wrong", guess=Raw(self.say(this.guess)), outcome=outcome))
        st.markdown(self.say("told", **self.prediction.measure(before, after)))
        st.markdown(self.say("because"))
        if this.hands:
            self._hands(right)
        self._row(("predict.next", self._next), ("predict.again", self._again))

    def _hands(self, right: frozenset[str]) -> None:
        hits = sum(self.round.count(option) for option in right)
        st.markdown(self.words("predict.hands", hits=hits, count=len(self.round.hands)))
        for option, column in self._columns():
            with column:
                self._bar(option, f"{self.say(option)} · ")

    def _row(self, *buttons: tuple[str, Callable[[], None]]) -> None:
        """Buttons side by side, the first of them the way on; the way back joins them once there is one."""
        if self.desk.back:
            buttons = (*buttons, ("predict.back", self._back))
        with st.container(horizontal=True):
            for place, (key, act) in enumerate(buttons):
                st.button(
                    self.words(key),
                    key=f"{self.stem} {key}",
                    type="secondary" if place else "primary",
                    on_click=act,
                )

    def _set_up(self) -> None:
        self.desk.remember(self.page.values.as_dict(), self.prediction.start)
        self.page.values.set(**self.prediction.start)

    def _show(self) -> None:
        now = self.page.values.as_dict()
        self.desk.remember(now, self.prediction.change)
        self.round.before, self.round.after = now, now | dict(self.prediction.change)
        self.page.values.set(**self.prediction.change)

    def _back(self) -> None:
        self.page.values.set(**self.desk.back)
        self.desk.back = {}

    def _next(self) -> None:
        names = list(self.predictions)
        self.desk.asked = names[(names.index(self.desk.asked) + 1) % len(names)]

    def _again(self) -> None:
        self.desk.rounds[self.desk.asked] = Round()

    def _count(self) -> None:
        self.round.counting = not self.round.counting
