"""A page with nothing but linked matrices: one head of attention over a few tokens, and a slider.

The link chooses the scene: t (tokens), d (features), text=hostile, lang, big=40 (one large map; limit=0.25 ends its scale there), large=2 (three to be compared, with so many
rows), look=1 (NaN and u8).
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from tests.browser.apps.matrix_scene import CHINESE, ENGLISH, HOSTILE, WORDS, scene
from ui.matrix import LinkedEvent, Matrix, linked


def choice(name: str, default: int) -> int:
    """A number from the link."""
    return int(st.query_params.get(name, default))


def remember(event: LinkedEvent) -> None:
    """Keep what the reader chose, as a page would in its link."""
    st.session_state["focus"], st.session_state["cell"] = event.focus, event.cell


st.set_page_config(layout="wide")
lang = st.query_params.get("lang", "en")
t = choice("t", 6)
if st.query_params.get("text") == "hostile":
    labels = HOSTILE[:t]
else:
    labels = tuple((CHINESE if lang == "zh" else ENGLISH)[i % 20] for i in range(t))
temperature = st.slider("temperature", 0.2, 3.0, 1.0, 0.1)
if big := choice("big", 0):
    wave = np.sin(np.arange(big)[:, None] * np.arange(big)[None, :] / 30)
    words = tuple(f"t{i}" for i in range(big))
    most = float(st.query_params.get("limit", 1))
    rows = [
        [
            Matrix(
                "weights", "Large map", wave / temperature, words, words, "signed", (-most, most), wire="f32"
            )
        ]
    ]
elif large := choice("large", 0):  # three maps to be compared, of few rows with a long name
    names, titles = tuple(f"t{i}" for i in range(large)), ("a long name of the rows", "keys")
    even = np.full((large, large), 1 / large)
    rows = [
        [
            Matrix(n, n, even, names, names, "weight", (0, 1), axis_titles=titles, large=True)
            for n in ("weights", "second", "third")
        ]
    ]
else:
    rows = scene(t, choice("d", 8), temperature, lang, labels, choice("look", 0) == 1)
st.session_state.setdefault("focus", st.query_params.get("focus", "weights"))
st.session_state.setdefault("cell", None)
shown = linked(
    "picture",
    rows,
    focus=st.session_state["focus"],
    cell=st.session_state["cell"],
    words=WORDS[lang],
    summary="Attention in five steps, from scores to output",
    on_change=remember,
    lang=lang,
)
st.text(f"python: {shown.focus} {shown.cell}")
