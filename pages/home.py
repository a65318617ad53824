"""The map of the Transformer, and where to begin."""

import streamlit as st

from ui import course, diagram, frame, transformer_map
from ui.course.routes import ROUTES

LAYERS = {"decoder": 12, "encoder_decoder": 6}
DRAW = {"decoder": transformer_map.decoder_only, "encoder_decoder": transformer_map.encoder_decoder}
page = frame.open_page("home")


@page.live
def the_map() -> None:
    with page.controls():
        page.segments("map")
        page.slider("batch", width=150)
        page.slider("tokens", width=150)
        page.slider("width", width=150)
    drawing = DRAW[page["map"]](
        True,
        page["batch"],
        page["tokens"],
        page["width"],
        LAYERS[page["map"]],
        page.words.table("map"),
        stems={built.stem for built in course.built()},
    )
    chosen = diagram.draw("home diagram", drawing, words=page.words.table("map"), lang=page.words.lang)
    if chosen:
        st.switch_page(course.file_of(course.PAGES[chosen]))


st.header(page.words("routes.title"), anchor=False)
for column, (minutes, stems) in zip(st.columns(len(ROUTES)), ROUTES.items(), strict=True):
    with column:
        st.markdown(page.words(f"routes.{minutes}"))
        page.route(stems)

page.close()
