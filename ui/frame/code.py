"""The code that ran: the core's own source, alone or as one file, its NumPy twin, and the check against others."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

import streamlit as st

from ui import course
from ui.checks.attention import TransposeTrap, transpose_trap
from ui.checks.check import Check
from ui.result import Result
from ui.source import closure, file_of, source_of
from ui.words import Raw, Words

TALLEST = 460  # px: a longer source scrolls in its own frame, so that the check stays in sight


def draw_code(entry: course.Page, result: Result, checks: Sequence[Check], words: Words) -> None:
    """The source on the left; on the right the shown result against what others computed."""
    left, right = st.columns([3, 2], gap="large") if checks else (st.container(), None)
    with left:
        _draw_source(entry, result, words)
    if right:
        with right:
            _draw_checks(checks, result, words)


def _draw_source(entry: course.Page, result: Result, words: Words) -> None:
    part = st.segmented_control(
        words("code.part"),
        options=("alone", "whole", *(("numpy",) if entry.twins else ())),
        format_func=lambda name: words.plain(f"code.{name}"),
        default="alone",
        required=True,
        key=f"{entry.stem} code part",
        label_visibility="collapsed",
    )
    if part == "numpy":
        st.markdown(words("code.numpy_note"))
        if {"q", "k"} <= result.arrays.keys():
            _draw_trap(transpose_trap(result.values("q"), result.values("k")), words)
        text, shown = closure(entry.twins), entry.twins
    else:
        shown = (entry.shows[0],)
        if len(entry.shows) > 1:
            shown = (st.selectbox(words("code.function"), entry.shows, key=f"{entry.stem} code function"),)
        text = source_of(shown[0]) if part == "alone" else closure(shown)
    st.caption(words(f"code.{part}_file", file=file_of(shown[0])))
    st.code(text, language="python", height=TALLEST if text.count("\n") > 24 else "content")


def _draw_trap(trap: TransposeTrap, words: Words) -> None:
    """What happens to these very arrays when K is transposed the wrong way, in NumPy's own words."""
    shape = Raw(" × ".join(map(str, trap.shape)))
    st.markdown(words("trap.text", shape=shape))
    if trap.error:
        st.code(f"ValueError: {trap.error}", language=None, wrap_lines=True)
    else:
        st.markdown(words("trap.silent" if trap.difference else "trap.same", difference=trap.difference))
    st.markdown(words("trap.cure"))


def _draw_checks(checks: Sequence[Check], result: Result, words: Words) -> None:
    st.header(words("check.title"), anchor=False)
    lines = [f"| {words('check.compared')} | {words('check.difference')} |", "|:--|--:|"]
    lines += [
        f"| {words(f'check.{check.name}')} | {words('check.value', value=check.difference)} |"
        for check in checks
    ]
    st.markdown("\n".join(lines))
    if all(check.holds for check in checks):
        st.caption(words("check.holds"))
    else:
        st.warning(words("check.fails"))
    empty = 0 if result.hidden is None else int(result.hidden.all(-1).sum())
    if empty:
        st.markdown(
            words("check.empty", rows=empty, keys=result.hidden.shape[-1], share=1 / result.hidden.shape[-1])
        )
    sources = [inspect.getsource(check.theirs) for check in checks if check.theirs]
    if sources:
        with st.expander(words("check.how")):
            st.code("\n\n".join(sources).rstrip(), language="python", height="content")
