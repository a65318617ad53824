"""The pieces below and around a picture, a line or two each in a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from ui import course, matrix
from ui.frame.guard import guarded
from ui.result import Result
from ui.source import line_that_makes
from ui.state import State
from ui.words import Raw, Words


class Pieces:
    """Matrices, why this number, what to notice."""

    entry: course.Page
    values: State
    words: Words

    def matrices(self, rows: matrix.Rows, *, summary: str, focus: str = "step", cell: str = "cell") -> None:
        """The linked matrices; the parameters named `focus` and `cell` hold what the reader chose in them."""
        matrix.linked(
            f"{self.entry.stem} matrices",
            rows,
            focus=self.values[focus],
            cell=_inside(rows, self.values[cell]),
            words=matrix.spoken(self.words),
            summary=summary,
            on_change=lambda event: self.values.set(**{focus: event.focus, cell: event.cell}),
            lang=self.words.lang,
        )

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

    def tabs(self, **contents: Callable[[], None]) -> None:
        """Lazy tabs: only the open one is computed. Labels are the words `tab.<name>`; the language keeps it open."""
        memory = f"{self.entry.stem} open tab"
        labels = {name: self.words(f"tab.{name}") for name in contents}
        remembered = st.session_state.get(memory, next(iter(labels)))
        tabs = st.tabs(
            list(labels.values()),
            key=f"{self.entry.stem} tabs {self.words.lang}",
            default=labels[remembered],
            on_change="rerun",
        )
        for name, tab in zip(contents, tabs, strict=True):
            if tab.open:
                st.session_state[memory] = name
                with tab:
                    guarded(contents[name])

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
