"""The pieces below and around a picture, a line or two each in a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from ui import course, matrix
from ui.checks.check import Check
from ui.figures.charts import Chart
from ui.frame import comparing, predicting
from ui.frame.code import draw_code
from ui.frame.guard import guarded
from ui.frame.takeaway import draw_takeaway
from ui.frame.where import draw_where
from ui.predict import Prediction
from ui.result import Result
from ui.source import line_that_makes
from ui.state import State
from ui.words import Raw, Words


class Pieces:
    """Matrices, why this number, what to notice."""

    entry: course.Page
    values: State
    words: Words
    asking: Prediction | None = None  # a question that waits for its answer, in this run

    def matrices(self, rows: matrix.Rows, *, summary: str, focus: str = "step", cell: str = "cell") -> None:
        """The linked matrices; the parameters named `focus` and `cell` hold what the reader chose in them.

        A second picture on a page has a `cell` of its own, and by that its own place in the browser.
        """
        matrix.linked(
            f"{self.entry.stem} matrices" if cell == "cell" else f"{self.entry.stem} {cell} matrices",
            rows,
            focus=self.values[focus],
            cell=_inside(rows, self.values[cell]),
            words=matrix.spoken(self.words),
            summary=summary,
            on_change=lambda event: self.values.set(**{focus: event.focus, cell: event.cell}),
            lang=self.words.lang,
        )

    def chart(self, name: str, chart: Chart, *, summary: str) -> None:
        """A chart as wide as its place; `summary` is what a screen reader says."""
        st.vega_lite_chart(chart.data, chart.spec, key=f"{self.entry.stem} {name}", alt=summary)

    def why(
        self,
        result: Result,
        story: Callable[[Result, tuple[str, int, int], Words], str],
        *,
        code: Callable[[str], tuple[str, str]],
        cell: str = "cell",
    ) -> None:
        """How the chosen number was made: the formula, the formula with numbers, the shape, the line of code."""
        st.subheader(self.words("why.title"), anchor=False)
        chosen = self.values[cell]
        if chosen is None:
            st.markdown(self.words("why.none"))
            return
        name, row, column = chosen
        values = result.values(name)
        if row >= values.shape[0] or column >= values.shape[1]:
            title = Raw(self.words(f"title.{name}"))
            st.markdown(self.words("why.outside", matrix=title, row=row + 1, column=column + 1))
            return
        st.markdown(story(result, chosen, self.words))
        function, variable = code(name)
        shape = " × ".join(map(str, values.shape))
        st.markdown(self.words("why.shape", name=Raw(self.words(f"title.{name}")), shape=Raw(shape)))
        st.code(line_that_makes(variable, function), language="python")

    def notice(self, sentences: Sequence[str], *, footnote: str = "") -> None:
        """What to notice: sentences whose numbers come from the present computation."""
        st.subheader(self.words("notice.title"), anchor=False)
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
        if footnote:
            st.caption(self.words(footnote))

    def predict(
        self, predictions: Sequence[Prediction], result_of: Callable[[Mapping[str, Any]], Result]
    ) -> None:
        """The question that the reader has opened, between the controls and the picture."""
        self.asking = predicting.predict(self, predictions, result_of)

    def compare(
        self,
        result_of: Callable[[Mapping[str, Any]], Result],
        *,
        numbers: Callable[[Result], Mapping[str, float]],
        shown: Callable[[Result], matrix.Matrix] | None = None,
        draw: Callable[[Result, Result], None] | None = None,
    ) -> None:
        """The pinned state A against the present state B, once one is pinned; called after `predict`.

        `shown` gives the one matrix of a result that is compared; a page whose picture is something else
        draws both results itself with `draw`. `numbers` are the values to be told, under their labels.
        """

        def side_by_side(a: Result, b: Result) -> None:
            comparing.matrices(self, shown(a), shown(b))

        comparing.compare(self, result_of, draw or side_by_side, numbers)

    def tabs(self, **contents: Callable[[], None]) -> None:
        """Lazy tabs: only the open one is computed. Labels are the words `tab.<name>`; the language keeps it open."""
        memory = f"{self.entry.stem} open tab"
        labels = {name: self.words(f"tab.{name}") for name in contents}
        key = f"{self.entry.stem} tabs {self.words.lang}"
        if key not in st.session_state:
            # As a `default` that follows the reader it would send the browser back to it at every other click.
            st.session_state[key] = labels[st.session_state.get(memory, next(iter(labels)))]
        tabs = st.tabs(list(labels.values()), key=key, on_change="rerun")
        for name, tab in zip(contents, tabs, strict=True):
            if tab.open:
                st.session_state[memory] = name
                with tab:
                    guarded(contents[name])

    def code(self, result: Result, *, checks: Callable[[Result], Sequence[Check]] = lambda _: ()) -> None:
        """The code that ran, alone or with everything it calls, and the result against what others computed."""
        draw_code(self.entry, result, checks(result), self.words)

    def summary(self, text: str) -> None:
        """The picture in one line of text, with a button that copies it."""
        st.caption(self.words("takeaway.summary"))
        st.code(text, language=None, wrap_lines=True)

    def takeaway(
        self, result: Result, *, summary: str, rows: matrix.Rows, focus: str = "step", cell: str = "cell"
    ) -> None:
        """Numbers, offline page and notebook of the present state; assets/notebooks/<stem>.py is the notebook."""
        draw_takeaway(
            self.entry,
            self.values,
            self.words,
            result,
            summary=summary,
            rows=rows,
            focus=self.values[focus],
            cell=_inside(rows, self.values[cell]),
        )

    def where_to_go(self) -> None:
        """What to know before this page, what comes next, and the sources."""
        draw_where(self.entry, self.words, self.link_to)

    def link_to(self, stem: str) -> None:
        """A link to another page by its title; a page that is not there yet is named and says so."""
        title = self.words.plain(f"page.{stem}")
        entry = course.PAGES[stem]
        if course.is_built(entry):
            st.page_link(course.file_of(entry), label=title)
        else:
            st.caption(f"{title} · {self.words('not_built')}")


def _inside(rows: matrix.Rows, cell: tuple[str, int, int] | None) -> tuple[str, int, int] | None:
    """The chosen cell, if the present picture has it; it stays in the state either way."""
    for drawn in (m for row in rows for m in row):
        if cell and drawn.name == cell[0] and cell[1] < drawn.shape[0] and cell[2] < drawn.shape[1]:
            return cell
    return None
