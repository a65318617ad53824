"""Components of our own: how the browser gets the code in static/, and what it shows if it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable

import streamlit as st

from ui.words import LANGUAGES, Words


def component(script: str, version: str) -> Callable:
    """A components.v2 component whose code is static/<script>.js; `version` changes when that code does.

    The loader is short, because it is sent again at every rerun. It has line breaks, or it would be taken for a
    file's path. A reader whose browser cannot fetch the script sees a sentence, in both languages, since the
    words of the page are inside what was not loaded.
    """
    sorry = json.dumps(" ".join(Words(lang).plain("not_loaded") for lang in LANGUAGES), ensure_ascii=False)
    loader = (
        "export default c => import(\n"
        f"new URL('app/static/{script}.js?v={version}', document.baseURI)\n"
        ").then(m => m.default(c), () => { const p = document.createElement('p')\n"
        f"p.role = 'alert'; p.textContent = {sorry}; c.parentElement.replaceChildren(p) }})\n"
    )
    return st.components.v2.component(f"glassformer_{script}", js=loader, isolate_styles=True)
