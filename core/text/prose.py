"""A page of the project's own prose in two languages, about language and machines: what the merges are learned from.

The last paragraph of each language is never learned from; how well the merges fit other texts is measured on it.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).parents[2] / "assets" / "corpus"


@dataclass(frozen=True)
class Prose:
    """One language, as paragraphs with line breaks between them."""

    learned: str
    held_out: str


@cache
def prose(language: Literal["en", "zh"]) -> Prose:
    """The text of one language. Raises FileNotFoundError for a language there is not."""
    paragraphs = (FOLDER / f"prose.{language}.txt").read_text(encoding="utf-8").split("\n\n")
    return Prose("\n".join(p.strip() for p in paragraphs[:-1]), paragraphs[-1].strip())


def learned_text() -> str:
    """What the merges are learned from: both languages, one after the other."""
    return f"{prose('en').learned}\n{prose('zh').learned}"
