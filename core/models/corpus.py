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
SCENES = ("# what animals do, and where", "# what the family does, and where", "# who likes whom")
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
    """All sentences of one language. Raises FileNotFoundError for a language there is not."""
    by_heading = sections(language)
    train = tuple(s for heading, part in by_heading.items() if heading != HELD_OUT for s in part)
    return Corpus(language, train, by_heading[HELD_OUT])


@cache
def scenes(language: Language) -> Corpus:
    """The part that says who does what and where: few words in many pairings, so that new pairings can be foreseen."""
    by_heading = sections(language)
    train = tuple(s for heading in SCENES for s in by_heading[heading])
    known = {word for sentence in train for word in tokens_of(sentence)}
    held_out = tuple(s for s in by_heading[HELD_OUT] if known.issuperset(tokens_of(s)))
    return Corpus(language, train, held_out)


@cache
def sections(language: Language) -> dict[str, tuple[str, ...]]:
    """The sentences under each heading of the file."""
    found: dict[str, tuple[str, ...]] = {}
    heading = ""
    for line in (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line
        found[heading] = found.get(heading, ()) if line == heading else (*found[heading], line)
    return found


def tokens_of(text: str) -> tuple[str, ...]:
    """Characters of Chinese, words of English, punctuation by itself."""
    return split(text, limit=1000).tokens
