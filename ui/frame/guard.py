"""A reader never sees a traceback: a failure is logged whole and told in a sentence."""

from __future__ import annotations

import logging
from collections.abc import Callable

import streamlit as st

from ui import state
from ui.words import Words

_LOG = logging.getLogger("glassformer")


def guarded(draw: Callable[[], None]) -> None:
    """Run a page or its live part; if it fails, log the exception and tell the reader so."""
    try:
        draw()
    except Exception:
        _LOG.exception("a part of a page failed")
        st.error(Words(state.lang())("failed"))
