"""The smallest app with a control."""

import streamlit as st

st.title("Plain")
st.write("value", st.slider("n", 1, 9, 3))
