"""What a reader did is taken over as a whole, and before the next run looks at it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

P = ParamSpec("P")
R = TypeVar("R")

_AT_WORK = "a callback is at work"  # the session's lock


def whole(callback: Callable[P, R]) -> Callable[P, R]:
    """A callback of a widget that is never cut short.

    A run of the whole page (the language switch, say) ends the run of a part wherever that next touches the session,
    also in the middle of a callback. What it had still to change would be lost: nothing calls it again.
    """

    @functools.wraps(callback)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        session = get_script_run_ctx().session_state
        look_for_requests = session._yield_callback
        object.__setattr__(session, "_yield_callback", lambda: None)  # the way Streamlit sets it
        try:
            with _lock():
                return callback(*args, **kwargs)
        finally:
            object.__setattr__(session, "_yield_callback", look_for_requests)

    return run


def finish() -> None:
    """Wait for a callback of this session that is still at work: a run of the whole page begins beside it."""
    with _lock():
        pass


def _lock() -> threading.RLock:
    return st.session_state.setdefault(_AT_WORK, threading.RLock())
