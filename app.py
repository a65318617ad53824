"""The door of the app: process tuning, language and navigation. The pages are in pages/."""

import gc

import streamlit as st
import torch

from ui.frame import run_app


@st.cache_resource
def tune_process() -> None:
    """Once per process: keep torch on one thread and the loaded modules out of garbage collection.

    Streamlit collects garbage after every run; with torch loaded that costs more than most pages do.
    """
    torch.set_num_threads(1)
    gc.collect()
    gc.freeze()


tune_process()
run_app()
