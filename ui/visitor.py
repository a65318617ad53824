"""Which browser a session belongs to: a reload begins a new session, and must still find what the browser has started."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping

import streamlit as st

# Streamlit gives every browser a random token against forged requests: "2|mask|masked token|time", all in hexadecimal.
# The mask is new at every answer, the token stays for as long as the browser is open.
COOKIE = "_streamlit_xsrf"


def visitor() -> str:
    """A name for the browser of this session; where it keeps no cookies, a name for the session alone."""
    return browser_of(st.context.cookies) or st.session_state.setdefault("visitor", uuid.uuid4().hex)


def browser_of(cookies: Mapping[str, str]) -> str | None:
    """The browser's name, made from its token by a hash, so that the token itself stays where it was."""
    try:
        version, mask, masked, _ = cookies.get(COOKIE, "").strip("\"'").split("|")
        key, hidden = bytes.fromhex(mask), bytes.fromhex(masked)
        token = bytes(byte ^ key[i % 4] for i, byte in enumerate(hidden))
    except (ValueError, IndexError):
        return None
    if version != "2" or len(key) != 4 or len(token) < 16:
        return None
    return hashlib.sha256(token).hexdigest()
