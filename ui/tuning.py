"""What is done once per server process, so that a slider feels like a handle on the picture."""

from __future__ import annotations

import gc
import socket

import streamlit as st
import torch


@st.cache_resource(show_spinner=False)
def tune_process() -> None:
    """Tune this process; call it first in app.py, after the heavy imports. Later calls do nothing.

    Three things, each measured (milliseconds of a rerun, before → after):
    torch otherwise sets up a pool of threads for every thread that Streamlit runs a script in;
    Streamlit collects garbage after every run, and with torch loaded that took longer than most pages (140 → 2);
    Streamlit's socket holds small messages back, see `send_at_once` (44 → 6 while a slider is dragged).
    """
    torch.set_num_threads(1)
    send_at_once()
    gc.collect()
    gc.freeze()


def send_at_once() -> int:
    """Turn Nagle's algorithm off on the sockets of this process that listen or are connected; returns how many.

    A run answers with several small messages. With Nagle's algorithm all but the first wait until the browser has
    acknowledged it, and browsers' systems delay that by 40 ms and more. asyncio turns it off by itself, but only on
    sockets made with an explicit protocol number, and Streamlit makes its own without. A connection inherits the
    setting from the socket that listens, so once is enough.
    """
    changed = 0
    for thing in gc.get_objects():
        # type(), not isinstance(): some lazy objects answer a question for __class__ with a warning.
        if not issubclass(type(thing), socket.socket) or thing.fileno() < 0:
            continue
        if thing.family in (socket.AF_INET, socket.AF_INET6) and thing.type == socket.SOCK_STREAM:
            thing.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            changed += 1
    return changed
