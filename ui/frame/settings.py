"""How a parameter and its value are told to a reader, for lists of settings."""

from __future__ import annotations

from typing import Any

from ui.numbers import listed
from ui.parameters import Choice, Grid, Parameter, Several, Switch, Text
from ui.words import Words, as_text, quote


def label_of(words: Words, parameter: Parameter) -> str:
    """The label of its control, as Markdown."""
    return words(f"control.{parameter.name}.label")


def value_of(words: Words, parameter: Parameter, value: Any) -> str:
    """The value as Markdown: codes by their translated names, a reader's text quoted."""
    if isinstance(parameter, Choice):
        return words(f"choice.{parameter.name}.{value}")
    if isinstance(parameter, Several):
        return listed(value, words.lang) or words("setting.none")
    if isinstance(parameter, Switch):
        return words("setting.on" if value else "setting.off")
    if isinstance(parameter, Grid):
        return words("setting.nothing_drawn") if value is None else quote(value)
    if isinstance(parameter, Text):
        return quote(value)
    return as_text(value)
