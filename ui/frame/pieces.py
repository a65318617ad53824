"""The pieces below and around a picture, a line or two each in a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import streamlit as st

from ui import course, matrix, strips
from ui.checks.check import Check
from ui.figures.charts import Chart
from ui.frame import comparing, predicting
from ui.frame.code import draw_code
from ui.frame.guard import guarded
from ui.frame.picture import Picture
from ui.frame.takeaway import draw_takeaway
from ui.frame.where import draw_where
from ui.predict import Prediction
from ui.result import Result
from ui.source import line_that_makes
from ui.state import State
from ui.words import Raw, Words, quote


class Pieces:
    """From the main picture to the tabs below it.

    A figure module is what a page's picture consists of: functions of one result, the same names everywhere.
    """

    entry: course.Page
    values: State
    words: Words
    breathe: Callable[[], None]  # a pause that lets the browser draw what it has
    asking: Prediction | None = None  # a question that waits for its answer, in this run

    def lesson(
        self,
        result_of: Callable[[Mapping[str, Any]], Result],
        figure: ModuleType,
        *,
        footnote: str = "",
        draw: Callable[[Sequence[matrix.Cell]], None] | None = None,
    ) -> Picture:
        """The page's picture, the pinned state beside it, the chosen number explained, and what to notice.

        `figure` has steps, summary, why, code_of and notices; one_step and numbers too, if the page can compare;
        drawable, if its cells can be clicked to `draw`.
        """
        result = result_of(self.values)
        rows, summary = figure.steps(result, self.words), figure.summary(result, self.words)
        self.matrices(figure.drawable(rows, self.words) if draw else rows, summary=summary, draw=draw)
        if comparing.pin_of(self):
            self.compare(
                result_of,
                shown=lambda some: figure.one_step(self.values["step"], some, self.words),
                numbers=lambda some: figure.numbers(some, self.words),
            )
        self._story(result, figure, "cell", figure.code_of, footnote)
        return Picture(result, rows, summary)

    def experiment(
        self,
        result: Result,
        figure: ModuleType,
        *,
        at: str,
        code: Callable[[str], tuple[str, str]] | None = None,
        footnote: str = "",
    ) -> None:
        """A picture inside a tab, explained; the parameters `<at>_step` and `<at>_cell` hold what is chosen in it.

        `figure` has matrices, summary, why, notices and, unless `code` is given, code_of.
        """
        rows, summary = figure.matrices(result, self.words), figure.summary(result, self.words)
        self.matrices(rows, summary=summary, focus=f"{at}_step", cell=f"{at}_cell")
        self._story(result, figure, f"{at}_cell", code or figure.code_of, footnote)

    def _story(
        self,
        result: Result,
        figure: ModuleType,
        cell: str,
        code: Callable[[str], tuple[str, str]],
        footnote: str,
    ) -> None:
        left, right = st.columns(2, gap="large")
        with left:
            self.why(result, figure.why, code=code, cell=cell)
        with right:
            self.notice(figure.notices(result, self.words), footnote=footnote)

    def matrices(
        self,
        rows: matrix.Rows,
        *,
        summary: str,
        focus: str = "step",
        cell: str = "cell",
        draw: Callable[[Sequence[matrix.Cell]], None] | None = None,
    ) -> None:
        """The linked matrices; the parameters named `focus` and `cell` hold what the reader chose in them.

        A second picture on a page has a `cell` of its own, and by that its own place in the browser.
        `draw` gets the cells that were clicked in a matrix that is there to be drawn in.
        """

        before = self.values[focus]

        def take(event: matrix.LinkedEvent) -> None:
            chosen = _followed(rows, event) if event.focus != before else event.cell
            self.values.set(**{focus: event.focus, cell: chosen})
            if event.toggled and draw:
                draw(event.toggled)

        matrix.linked(
            f"{self.entry.stem} matrices" if cell == "cell" else f"{self.entry.stem} {cell} matrices",
            rows,
            focus=_drawn(rows, self.values[focus]),
            cell=_inside(rows, self.values[cell]),
            words=matrix.spoken(self.words),
            summary=summary,
            on_change=take,
            lang=self.words.lang,
        )

        if cell == "cell":
            self.breathe()

    def strips(
        self, shown: Sequence[strips.Strip], *, summary: str, cell: str = "cell", key: str = ""
    ) -> None:
        """A text as token strips; the parameter named `cell` holds the token that the reader chose.

        Strips in which nothing can be chosen have a `key` instead, their own on the page.
        """
        strips.draw(
            f"{self.entry.stem} {key or cell} strips",
            shown,
            chosen=None if key else _on_strip(shown, self.values[cell]),
            words=strips.spoken(self.words),
            summary=summary,
            lang=self.words.lang,
            on_choose=lambda place: self.values.set(**{cell: place}),
        )
        if cell == "cell" and not key:
            self.breathe()

    def chart(
        self,
        name: str,
        chart: Chart,
        *,
        summary: str,
        choose: Callable[[str, float], None] | None = None,
    ) -> None:
        """A chart as wide as its place; `summary` is what a screen reader says.

        `choose` gets the series and the x of the point that was clicked, or that lay next to the click.
        """
        # One description for the whole; the single marks would be images without any.
        layers = [layer | {"mark": layer["mark"] | {"aria": False}} for layer in chart.spec["layer"]]
        key, spec = f"{self.entry.stem} {name}", chart.spec | {"layer": layers}
        if choose is None:
            st.vega_lite_chart(chart.data, spec, key=key, alt=summary)
            return

        def clicked() -> None:
            if points := st.session_state[key].selection.point:
                choose(points[0]["name"], points[0]["x"])

        layers[-1] = layers[-1] | {"name": "points"}
        select = {"type": "point", "fields": ["name", "x"], "nearest": True, "toggle": False}
        spec |= {"params": [{"name": "point", "select": select, "views": ["points"]}]}
        st.vega_lite_chart(chart.data, spec, key=key, alt=summary, on_select=clicked, selection_mode="point")

    def why(
        self,
        result: Result,
        story: Callable[[Result, tuple[str, int, int], Words], str],
        *,
        code: Callable[[str], tuple[str, str]],
        cell: str = "cell",
    ) -> None:
        """How the chosen number was made: the formula, the formula with numbers, the shape, the line of code."""
        st.markdown(f"## {self.words('why.title')}\n\n{self._why(result, story, code, self.values[cell])}")

    def _why(
        self, result: Result, story: Callable, code: Callable, chosen: tuple[str, int, int] | None
    ) -> str:
        if chosen is None:
            return self.words("why.none")
        name, row, column = chosen
        title = Raw(self.words(f"title.{name}"))
        values = result.values(name) if name in result.arrays else None
        if values is None or row >= values.shape[0] or column >= values.shape[1]:
            return self.words("why.outside", matrix=title, row=row + 1, column=column + 1)
        function, variable = code(name)
        shape = self.words("why.shape", name=title, shape=Raw(" × ".join(map(str, result.shape(name)))))
        # A code span: a code block brings a syntax highlighter, which costs as much as the formulas at every move.
        return "\n\n".join(
            [story(result, chosen, self.words), f"{shape} {quote(line_that_makes(variable, function))}"]
        )

    def notice(self, sentences: Sequence[str], *, footnote: str = "") -> None:
        """What to notice: sentences whose numbers come from the present computation."""
        # One element, not three: the browser goes over every element of the page at every move of a slider.
        parts = [f"## {self.words('notice.title')}", "\n".join(f"- {sentence}" for sentence in sentences)]
        parts += [f":small[:gray[{self.words(footnote)}]]"] if footnote else []
        st.markdown("\n\n".join(parts))

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

    def tabs(
        self, picture: Picture, checks: Callable[[Result], Sequence[Check]], **contents: Callable[[], None]
    ) -> None:
        """Lazy tabs: only the open one is computed and sent, at first none. Labels are the words `tab.<name>`.

        The code that ran, what to take away and where to go stand at the end of every page. A row of segments,
        since st.tabs is an element for each tab, and every element costs time at every move.
        """
        contents["code"] = lambda: self.code(picture.result, checks=checks)
        contents["takeaway"] = lambda: self.takeaway(picture)
        contents["where"] = self.where_to_go
        opened = st.segmented_control(
            self.words("tabs"),
            options=tuple(contents),
            format_func=lambda name: self.words.plain(f"tab.{name}"),
            key=f"{self.entry.stem} open tab",
            label_visibility="collapsed",
        )
        if opened:
            guarded(contents[opened])

    def code(self, result: Result, *, checks: Callable[[Result], Sequence[Check]]) -> None:
        """The code that ran, alone or with everything it calls, and the result against what others computed."""
        draw_code(self.entry, result, checks(result), self.words)

    def summary(self, text: str) -> None:
        """The picture in one line of text, with a button that copies it."""
        st.caption(self.words("takeaway.summary"))
        st.code(text, language=None, wrap_lines=True)

    def takeaway(self, picture: Picture) -> None:
        """Numbers, offline page and notebook of the present state; assets/notebooks/<stem>.py is the notebook."""
        self.summary(picture.summary)
        draw_takeaway(
            self.entry,
            self.values,
            self.words,
            picture,
            focus=_drawn(picture.rows, self.values["step"]) if picture.rows else "",
            cell=self._chosen(picture),
        )

    def _chosen(self, picture: Picture) -> tuple[str, int, int] | None:
        if picture.strips:
            return _on_strip(picture.strips, self.values["cell"])
        return _inside(picture.rows, self.values["cell"]) if picture.rows else None

    def where_to_go(self) -> None:
        """What to know before this page, what comes next, and the sources."""
        draw_where(self.entry, self.words, self.link_to)

    def route(self, stems: Sequence[str]) -> None:
        """Links to pages in the order given; those that are not there yet are named in one line below."""
        ready = [stem for stem in stems if course.is_built(course.PAGES[stem])]
        for stem in ready:
            self.link_to(stem)
        if planned := [self.words(f"page.{stem}") for stem in stems if stem not in ready]:
            st.caption(self.words("planned", pages=Raw(" · ".join(planned))))

    def link_to(self, stem: str) -> None:
        """A link to another page by its title; a page that is not there yet is named and says so."""
        title = self.words.plain(f"page.{stem}")
        entry = course.PAGES[stem]
        if course.is_built(entry):
            st.page_link(course.file_of(entry), label=title)
        else:
            st.caption(f"{title} · {self.words('not_built')}")


def _followed(rows: matrix.Rows, event: matrix.LinkedEvent) -> matrix.Cell | None:
    """The chosen cell after another matrix was drawn large: the same query and key in it, if it has them."""
    shown = {drawn.name: drawn for row in rows for drawn in row}
    if event.cell is None or shown[event.cell[0]].axes != shown[event.focus].axes:
        return event.cell
    return (event.focus, *event.cell[1:])


def _drawn(rows: matrix.Rows, focus: str) -> str:
    """The matrix in focus, or the first one where the present picture has no such matrix."""
    names = [drawn.name for row in rows for drawn in row]
    return focus if focus in names else names[0]


def _on_strip(
    shown: Sequence[strips.Strip], cell: tuple[str, int, int] | None
) -> tuple[str, int, int] | None:
    """The chosen token, if a strip has it."""
    sizes = {strip.name: len(strip.tokens) for strip in shown if not strip.still}
    return cell if cell and cell[1] == 0 and cell[2] < sizes.get(cell[0], 0) else None


def _inside(rows: matrix.Rows, cell: tuple[str, int, int] | None) -> tuple[str, int, int] | None:
    """The chosen cell, if the present picture has it; it stays in the state either way."""
    for drawn in (m for row in rows for m in row):
        if cell and drawn.name == cell[0] and cell[1] < drawn.shape[0] and cell[2] < drawn.shape[1]:
            return cell
    return None
