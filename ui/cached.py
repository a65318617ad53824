"""What is computed once for all readers: Streamlit's caches, asked in the way in which they answer quickly."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import streamlit as st

P = ParamSpec("P")
R = TypeVar("R")


def cached(max_entries: int, *, shared: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep the last `max_entries` values of a function: every call gets a copy of its own (st.cache_data).

    With `shared` all get the very same value, which nobody may change then (st.cache_resource).
    Streamlit looks up the name of every positional argument at every call, which takes longer than the rest of the
    call: here they are looked up once, and it is given all arguments by name. `clear` empties the cache,
    `__wrapped__` is the function itself.
    """
    keep = st.cache_resource if shared else st.cache_data

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        kept = keep(function, max_entries=max_entries, show_spinner=False)
        names = tuple(inspect.signature(function).parameters)

        @functools.wraps(function)
        def ask(*args: P.args, **kwargs: P.kwargs) -> R:
            if len(args) > len(names):
                return function(*args, **kwargs)  # raises the TypeError that says so
            return kept(**dict(zip(names, args, strict=False)), **kwargs)

        ask.clear = kept.clear
        return ask

    return decorate
