"""An app with a mistake: the log must show it, the reader must not."""

import streamlit as st

st.title("Failing")
1 / st.number_input("n", 0)
