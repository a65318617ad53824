"""A Streamlit app without torch and without anything else: what a cold start costs before a line of ours runs."""

import streamlit as st

st.write("ready")
