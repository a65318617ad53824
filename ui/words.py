"""Words are data: prose in one Markdown file per page and language, short strings in one file per language.

A page's file is cut into sections by lines `## key`; `strings.toml` holds what several pages share. Both may
contain placeholders `{{name}}`, and `{{name|token|tokens}}` for the word that goes with a number. A missing key or a placeholder without a value raises: it is a mistake in the
project, found by a test, and never shown to a reader half filled.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from ui.numbers import number

CONTENT = Path(__file__).resolve().parents[1] / "assets" / "content"
LANGUAGES = {"en": "English", "zh": "中文"}
PLACEHOLDER = re.compile(r"\{\{(\w+)(?:\|([^|{}]*)\|([^|{}]*))?\}\}")
_HEADING = re.compile(r"^## (\S+)[ \t]*$", re.MULTILINE)


class Raw(str):
    """Text that is already Markdown or LaTeX of our own, to be put into prose as it stands."""


class Words:
    """The words of one page in one language: `words("notice", entropy=1.2)`."""

    def __init__(self, lang: str, stem: str = ""):
        self.lang = lang
        self.stem = stem
        self._texts = shared_strings(lang) | (page_sections(lang, stem) if stem else {})

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text under `key` for st.markdown; numbers are rounded, a reader's text is quoted.

        Raises KeyError if the key or the value of a placeholder is missing.
        """
        return fill(self._texts[key], {name: in_markdown(value) for name, value in values.items()})

    def plain(self, key: str, /, **values: Any) -> str:
        """The same for places that show text as text (labels of our components, alt text, files)."""
        return fill(self._texts[key], {name: as_text(value) for name, value in values.items()})

    def table(self, prefix: str) -> dict[str, str]:
        """All texts whose key begins with `prefix.`, under the rest of the key, placeholders unfilled."""
        return {
            key.removeprefix(f"{prefix}."): t
            for key, t in self._texts.items()
            if key.startswith(f"{prefix}.")
        }

    def sentences(self, parts: Iterable[str]) -> str:
        """Whole sentences one after the other: with a space between them, or none in Chinese."""
        return ("" if self.lang == "zh" else " ").join(parts)

    def __contains__(self, key: str) -> bool:
        return key in self._texts


def in_markdown(value: Any) -> str:
    """A value as it may stand in Markdown: a string is a reader's text unless it is marked Raw."""
    if isinstance(value, str):
        return value if isinstance(value, Raw) else quote(value)
    return as_text(value)


def as_text(value: Any) -> str:
    """A value as plain text."""
    return value if isinstance(value, str) else number(value)


def quote(text: str) -> str:
    """A reader's text as a code span, which Markdown, HTML, LaTeX and emoji codes all leave alone.

    What would end the line, and with it the span, or turn the direction of what follows is shown as "�".
    Streamlit replaces icon codes even in a code span, so a word joiner is put behind the colon that starts one.
    """
    text = "".join("�" if _breaks_out(sign) else sign for sign in text)
    text = text.replace(":material", ":\u2060material")
    fence = "`"
    while fence in text:
        fence += "`"
    return f"{fence} {text} {fence}" if text.strip() else "␣"


def _breaks_out(sign: str) -> bool:
    """Controls, line and paragraph separators, lone surrogates, and the marks that change direction."""
    turns = unicodedata.bidirectional(sign) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return turns or unicodedata.category(sign) in {"Cc", "Zl", "Zp", "Cs"}


def fill(template: str, values: dict[str, str]) -> str:
    """The template with every `{{name}}` replaced, and `{{name|one|many}}` by the word that fits the number.

    Raises KeyError for a name without a value.
    """

    def filled(match: re.Match) -> str:
        name, one, many = match.groups()
        value = values[name]
        return value if one is None else one if value == "1" else many

    return PLACEHOLDER.sub(filled, template)


@cache
def shared_strings(lang: str) -> dict[str, str]:
    """Every string of strings.toml under its dotted key."""
    with (CONTENT / lang / "strings.toml").open("rb") as file:
        return dict(_flatten(tomllib.load(file)))


@cache
def page_sections(lang: str, stem: str) -> dict[str, str]:
    """The sections of a page's Markdown file under their keys. Raises ValueError for a key used twice."""
    text = (CONTENT / lang / f"{stem}.md").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(text)
    keys, bodies = parts[::2], parts[1::2]
    if len(set(keys)) != len(keys):
        raise ValueError(
            f"{lang}/{stem}.md has a key twice: {sorted({k for k in keys if keys.count(k) > 1})}"
        )
    return {key: body.strip() for key, body in zip(keys, bodies, strict=True)}


def _flatten(table: dict[str, Any], prefix: str = ""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
