"""A one-page host for the diagram: lang, model, partial and hostile come from the link."""

from dataclasses import replace

import streamlit as st

from ui.diagram import draw
from ui.transformer_map import decoder_only, encoder_decoder
from ui.words import Words

st.set_page_config(layout="wide")
ask = st.query_params
lang = ask.get("lang", "en")
words = Words(lang).table("map")
HOSTILE = "<img src=x onerror=alert(1)> $x$ **b**"
BUILT = {
    "tokens",
    "positions",
    "attention",
    "masks",
    "normalization",
    "residual",
    "feed_forward",
    "forward_pass",
}


def diagram_page() -> None:
    make = encoder_decoder if ask.get("model") == "encoder_decoder" else decoder_only
    t = st.number_input("t", 1, 64, 16, key="t")
    diagram = make(True, 4, t, 512, 6, words, stems=BUILT if "partial" in ask else None)
    if "hostile" in ask:
        nodes = (replace(diagram.nodes[0], label=HOSTILE, note=HOSTILE), *diagram.nodes[1:])
        diagram = replace(diagram, nodes=nodes, title=HOSTILE, summary=HOSTILE)
    st.session_state.setdefault("heard", [])
    stem = draw("map", diagram, words=words, lang=lang, on_go=st.session_state.heard.append)
    if stem == "attention":
        st.switch_page(attention, query_params={"lang": lang})
    st.text(f"went: {stem}, heard: {st.session_state.heard}")


def attention_page() -> None:
    st.text(f"attention page, heard: {st.session_state.get('heard')}")


home = st.Page(diagram_page, title="Map", default=True)
attention = st.Page(attention_page, title="Attention", url_path="attention")
st.navigation([home, attention], position="top").run()
