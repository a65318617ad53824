"""The yardstick: the least that a slider can do in Streamlit, on a server tuned like the app's."""

import streamlit as st

from ui.tuning import tune_process

tune_process()


@st.fragment
def live() -> None:
    """A slider and its value."""
    st.write(st.slider("n", 1, 64, 8))


live()
