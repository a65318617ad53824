"""The papers behind the pages: assets/content/sources.toml, one list for both languages."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache

from ui.words import CONTENT, Raw, Words


@dataclass(frozen=True)
class Source:
    """One entry. `en` and `zh` say in a clause what the source is for."""

    key: str
    authors: str
    year: int
    title: str
    venue: str
    url: str
    en: str
    zh: str


@cache
def bibliography() -> dict[str, Source]:
    """Every source under its key. Raises TypeError for an entry with a field too many or too few."""
    with (CONTENT / "sources.toml").open("rb") as file:
        return {key: Source(key, **fields) for key, fields in tomllib.load(file).items()}


def short(key: str, words: Words) -> str:
    """A source as a link: first author and year."""
    source = bibliography()[key]
    name = source.authors.removesuffix(" et al.").split(",")[0]
    others = words("where.others") if source.authors != name else ""
    return f"[{name}{others} {source.year}]({source.url})"


def cited(key: str, words: Words) -> str:
    """A source as a line of Markdown: authors, year, linked title, venue, and what it is for."""
    source = bibliography()[key]
    fields = {name: Raw(getattr(source, name)) for name in ("authors", "title", "venue", "url")}
    return words("where.source", year=Raw(source.year), use=Raw(getattr(source, words.lang)), **fields)
