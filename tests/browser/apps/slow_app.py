"""The app on a slow machine: every slider takes its time, so that a reader can click before the controls are there."""

import time

import streamlit as st

from ui.frame import run_app
from ui.frame.controls import Controls

quick = getattr(Controls.slider, "quick", Controls.slider)


def slow(self, name, **look):
    """The slider, late; most of all the first, so that a busy browser too is there before it."""
    time.sleep(1.2 if st.session_state.get("slowed") else 4)
    st.session_state["slowed"] = True
    return quick(self, name, **look)


slow.quick = quick
Controls.slider = slow
run_app()
