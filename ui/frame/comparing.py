"""Compare: a pinned state A, the present state B, and their difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui import matrix
from ui.compare import difference, differing, largest_change, obstacle, on_one_scale
from ui.frame.settings import label_of, value_of
from ui.matrix import Matrix
from ui.numbers import number
from ui.parameters import Pinned
from ui.result import Result
from ui.words import Raw

if TYPE_CHECKING:
    from ui.frame.page import PageFrame

ResultOf = Callable[[Mapping[str, Any]], Result]


def pin_of(page: PageFrame) -> Pinned | None:
    """The parameter that holds the page's pinned state, if the page has one."""
    return next((p for p in page.entry.parameters if isinstance(p, Pinned)), None)


def pin_button(page: PageFrame) -> None:
    """The button that makes the present state A; in the head of every page that can compare."""
    pin = pin_of(page)
    if pin is None:
        return
    st.button(
        page.words("compare.pin"),
        key=f"{page.entry.stem} pin",
        help=page.words("compare.pin_help"),
        on_click=lambda: page.values.set(**{pin.name: pin.take(page.values.as_dict())}),
    )


def compare(
    page: PageFrame,
    result_of: ResultOf,
    picture: Callable[[Result, Result], None],
    numbers: Callable[[Result], Mapping[str, float]],
) -> None:
    """Nothing while nothing is pinned; else what differs, the picture of both, and their numbers."""
    pin = pin_of(page)
    assert pin is not None, f"{page.entry.stem} declares no Pinned"
    a = page.values[pin.name]
    if a is None:
        return
    b = pin.take(page.values.as_dict())
    _head(page, pin, a, b)
    if page.asking is not None and page.asking.reveals(a):
        st.info(page.words("compare.waits"))
        return
    changes = differing(pin.parameters, a, b)
    if not changes:
        st.markdown(page.words("compare.same"))
        return
    first, second = result_of(page.values.as_dict() | a), result_of(page.values)
    picture(first, second)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(_list(page, changes))
    with right:
        st.markdown(_table(page, numbers(first), numbers(second)))


def matrices(page: PageFrame, a: Matrix, b: Matrix, *, cell: str = "cell") -> None:
    """A, B and B − A as one linked picture; a chosen cell is the page's chosen cell, under any of the three."""
    words, why = page.words, obstacle(a, b)
    a, b = on_one_scale(a, b)
    row = [_titled(page, a, "a"), _titled(page, b, "b")]
    if not why:
        title = words.plain("compare.difference", title=b.title)
        delta = difference(a, b, title=title, hidden_as=words.plain("compare.hidden"))
        row.append(replace(delta, name="difference", large=True))
    _linked(page, tuple(row), b.name, cell)
    if why:
        shapes = {"a": " × ".join(map(str, a.shape)), "b": " × ".join(map(str, b.shape))}
        st.markdown(words(f"compare.no_difference_{why}", **{n: Raw(s) for n, s in shapes.items()}))


def _linked(page: PageFrame, row: tuple[Matrix, ...], step: str, cell: str) -> None:
    """The picture; which of the three is in focus and which was clicked is remembered, the place is in the link."""
    memory = f"{page.entry.stem} compare touched"
    names = [drawn.name for drawn in row]
    remembered = st.session_state.get(memory, ("difference", "difference"))
    focus, clicked = (name if name in names else names[-1] for name in remembered)
    chosen = page.values[cell]

    def choose(event: matrix.LinkedEvent) -> None:
        st.session_state[memory] = (event.focus, event.cell[0] if event.cell else event.focus)
        if event.cell or (chosen and chosen[0] == step):
            page.values.set(**{cell: (step, *event.cell[1:]) if event.cell else None})

    matrix.linked(
        f"{page.entry.stem} compare",
        (row,),
        focus=focus,
        cell=(clicked, *chosen[1:]) if chosen and chosen[0] == step else None,
        words=matrix.spoken(page.words),
        summary=_summary(page, row),
        on_change=choose,
        lang=page.words.lang,
    )


def _titled(page: PageFrame, drawn: Matrix, which: str) -> Matrix:
    title = page.words.plain(f"compare.{which}", title=drawn.title)
    return replace(drawn, name=which, title=title, large=True, arrow="")


def _summary(page: PageFrame, row: tuple[Matrix, ...]) -> str:
    titles = " · ".join(drawn.title for drawn in row)
    change = largest_change(row[-1]) if len(row) == 3 else None
    if change is None:
        return titles
    i, j, value = change
    told = {"i": i + 1, "row": row[-1].rows[i], "j": j + 1, "column": row[-1].columns[j], "value": value}
    return f"{titles} · {page.words.plain('compare.largest', **told)}"


def _head(page: PageFrame, pin: Pinned, a: dict[str, Any], b: dict[str, Any]) -> None:
    stem = page.entry.stem
    with st.container(horizontal=True, vertical_alignment="center", key="compare head"):
        st.header(page.words("compare.title"), anchor=False)
        st.button(
            page.words("compare.swap"),
            key=f"{stem} swap",
            help=page.words("compare.swap_help"),
            on_click=lambda: page.values.set(**a, **{pin.name: b}),
        )
        st.button(
            page.words("compare.unpin"),
            key=f"{stem} unpin",
            help=page.words("compare.unpin_help"),
            on_click=lambda: page.values.set(**{pin.name: None}),
        )


def _list(page: PageFrame, changes: list) -> str:
    lines = [page.words("compare.settings")]
    for change in changes:
        told = {"a": change.a, "b": change.b}
        told = {n: Raw(value_of(page.words, change.parameter, value)) for n, value in told.items()}
        name = Raw(label_of(page.words, change.parameter))
        lines.append("- " + page.words("compare.setting", name=name, **told))
    return "\n".join([lines[0], "", *lines[1:]])


def _table(page: PageFrame, a: Mapping[str, float], b: Mapping[str, float]) -> str:
    lines = [f"| {page.words('compare.number')} | A | B | B − A |", "|:--|--:|--:|--:|"]
    lines += [
        f"| {label} | {number(a[label])} | {number(b[label])} | {_gap(a[label], b[label])} |"
        for label in a
        if label in b  # a number may exist in one of the two only
    ]
    return "\n".join(lines)


def _gap(a: float, b: float) -> str:
    gap = b - a
    return f"+{number(gap)}" if gap > 0 else number(gap)
