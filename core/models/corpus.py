"""The project's own small corpus: short sentences about one small world, in Chinese and English, line by line the same.

The sentences are data, to be read in assets/corpus: one a line, under headings that begin with "#". Those under
"held out" are never trained on; each is a new pairing of parts that occur in training.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from core.text.tokens import split

Language = Literal["zh", "en"]
FOLDER = Path(__file__).parents[2] / "assets" / "corpus"
HELD_OUT = "# held out"
END = "<end>"  # stands before and after every sentence, and fills up the shorter ones of a batch


@dataclass(frozen=True)
class Corpus:
    """One language. Sentence i of `train` or `held_out` says the same as sentence i of the other language."""

    language: Language
    train: tuple[str, ...]
    held_out: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """Every token that occurs, in the order of first occurrence."""
        return tuple(dict.fromkeys(w for s in self.train + self.held_out for w in tokens_of(s)))


@cache
def corpus(language: Language) -> Corpus:
    """Read the sentences of one language. Raises FileNotFoundError for a language there is not."""
    lines = (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines()
    cut = lines.index(HELD_OUT)
    train, held_out = (tuple(s for s in part if not s.startswith("#")) for part in (lines[:cut], lines[cut:]))
    return Corpus(language, train, held_out)


def tokens_of(text: str) -> tuple[str, ...]:
    """Characters of Chinese, words of English, punctuation by itself."""
    return split(text, limit=1000).tokens
