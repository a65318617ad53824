"""What the small models are trained on: sentences, repeated symbols, and pairs of a source and a target.

A task is frozen, and its batches depend on the given generator alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, get_args

import torch
from torch import Tensor

from core.attention.masks import padding
from core.models.corpus import END, Corpus, corpus, scenes, tokens_of

IGNORED = -100  # a target that carries no loss: padding, or what nobody could predict
TaskName = Literal["chinese", "english", "both", "repeat", "repeat-fixed", "reverse", "translate"]
SYMBOLS = tuple("abcdefghijklmnop")  # 16


@dataclass(frozen=True)
class Batch:
    """B texts: at each position the token that is read and the one to be predicted there."""

    tokens: Tensor  # [B, T]  begins with END in the tasks that have one
    targets: Tensor  # [B, T]  IGNORED where there is no loss
    source: Tensor | None = None  # [B, S]  what an encoder reads
    source_mask: Tensor | None = None  # [B, 1, S]  True = a token, False = padding

    def rows(self, chosen: Tensor | slice) -> "Batch":
        """Some of the texts."""
        parts = (self.tokens, self.targets, self.source, self.source_mask)
        return Batch(*(None if x is None else x[chosen] for x in parts))


class Task(Protocol):
    """What `train` needs of a task."""

    name: str
    vocabulary: tuple[str, ...]
    length: int  # T, the most tokens a text has
    held_out: Batch  # never trained on
    shown: Batch  # one text, whose attention maps are looked at

    @property
    def has_source(self) -> bool:
        """True for an encoder-decoder's task."""

    @property
    def frequency_loss(self) -> float:
        """The loss in nats of a model that knows how frequent each token is and nothing else."""

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """A batch to train on."""


@dataclass(frozen=True)
class Sentences:
    """Texts from a fixed list, of which a batch takes some at random, none twice."""

    name: str
    vocabulary: tuple[str, ...]
    train: Batch
    held_out: Batch
    shown: Batch

    @property
    def length(self) -> int:
        """T: the longest sentence, and END."""
        return self.train.tokens.shape[-1]

    @property
    def has_source(self) -> bool:
        """True for translation."""
        return self.train.source is not None

    @property
    def frequency_loss(self) -> float:
        """Of the sentences that are trained on."""
        return frequency_loss(self.train.targets)

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """`size` different sentences, or all of them if there are fewer."""
        return self.train.rows(torch.randperm(len(self.train.tokens), generator=generator)[:size])


@dataclass(frozen=True)
class Repetition:
    """Symbols in random order, repeated with a period that varies from text to text, or one that is always the same.

    Within a period no symbol occurs twice, so that what followed a symbol last time follows it again. There is a
    loss from the second time on: the first cannot be predicted. With a fixed period the answer always stands at the same
    distance, and a single layer finds it by position; with a varying one it must be found by content, which takes an
    induction head. Source: Olsson et al. 2022, "In-context Learning and Induction Heads".
    """

    name: str
    shortest: int = 4
    longest: int = 12
    length: int = 31  # T; the text has one symbol more, which is only predicted
    vocabulary: tuple[str, ...] = SYMBOLS

    has_source = False

    @property
    def frequency_loss(self) -> float:
        """Of symbols that are all equally frequent: ln 16."""
        return float(torch.tensor(float(len(self.vocabulary)), dtype=torch.float64).log())

    @property
    def held_out(self) -> Batch:
        """Texts drawn once: with 16 symbols in random order, practically never met in training."""
        return self.draw(32, generator_for(-1, "data"))

    @property
    def shown(self) -> Batch:
        """The first of them."""
        return self.held_out.rows(slice(0, 1))

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """`size` texts."""
        symbols = torch.rand(size, len(self.vocabulary), generator=generator).argsort(-1)  # [B, 16]
        periods = torch.randint(self.shortest, self.longest + 1, (size, 1), generator=generator)  # [B, 1]
        places = torch.arange(self.length + 1)  # [T + 1]
        texts = symbols.gather(1, places % periods)  # [B, T + 1]
        predictable = places[1:] >= periods  # [B, T]
        return Batch(texts[:, :-1], texts[:, 1:].masked_fill(~predictable, IGNORED))


@dataclass(frozen=True)
class Reversal:
    """A row of symbols of varying length, to be written backwards: attention has to walk from the end to the start."""

    name: str = "reverse"
    shortest: int = 4
    longest: int = 9
    vocabulary: tuple[str, ...] = (END, *SYMBOLS)

    has_source = True

    @property
    def length(self) -> int:
        """T: the longest row, and END."""
        return self.longest + 1

    @property
    def frequency_loss(self) -> float:
        """Of the held-out rows."""
        return frequency_loss(self.held_out.targets)

    @property
    def held_out(self) -> Batch:
        """Rows drawn once: practically never met in training."""
        return self.draw(32, generator_for(-1, "data"))

    @property
    def shown(self) -> Batch:
        """The first of them."""
        return self.held_out.rows(slice(0, 1))

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """`size` rows."""
        lengths = torch.randint(self.shortest, self.longest + 1, (size,), generator=generator)
        rows = [
            torch.randint(1, len(self.vocabulary), (int(n),), generator=generator).tolist() for n in lengths
        ]
        return batch_of([row[::-1] for row in rows], self.length, rows)


def batch_of(texts: Sequence[list[int]], length: int, sources: Sequence[list[int]] | None = None) -> Batch:
    """Texts as token numbers, each between END (0) and END, padded to `length`; sources, each with END behind it."""
    tokens = torch.zeros(len(texts), length, dtype=torch.int64)  # [B, T]
    targets = torch.full_like(tokens, IGNORED)  # [B, T]
    for i, text in enumerate(texts):
        tokens[i, 1 : len(text) + 1] = torch.tensor(text)
        targets[i, : len(text) + 1] = torch.tensor([*text, 0])
    if sources is None:
        return Batch(tokens, targets)
    widest = max(map(len, sources)) + 1
    source = torch.tensor([row + [0] * (widest - len(row)) for row in sources])  # [B, S]
    return Batch(tokens, targets, source, padding([len(row) + 1 for row in sources], widest))


def frequency_loss(targets: Tensor) -> float:
    """The entropy in nats of how often each target occurs: −Σ f ln f. IGNORED ones are left out."""
    counts = torch.bincount(targets[targets != IGNORED]).double()  # [V]
    frequencies = counts[counts > 0] / counts.sum()  # [seen]
    return -float((frequencies * frequencies.log()).sum())


def generator_for(
    seed: int, purpose: Literal["weights", "data", "dropout"], step: int = 0
) -> torch.Generator:
    """A stream of its own for each purpose and step, so that dropout changes no batch, and a run can go on anywhere."""
    number = {"weights": 0, "data": 1, "dropout": 2}[purpose]
    return torch.Generator().manual_seed((seed * 3 + number) * 2**24 + step)


def language(name: TaskName, of: Sequence[Corpus], first: str) -> Sentences:
    """Next-token prediction over one or both languages; `first` is the sentence whose maps are shown."""
    vocabulary = (END, *dict.fromkeys(word for c in of for word in c.words))
    train, held_out = (in_numbers(vocabulary, [s for c in of for s in part(c)]) for part in PARTS)
    length = max(map(len, train + held_out)) + 1
    shown = in_numbers(vocabulary, [first])
    return Sentences(name, vocabulary, *(batch_of(texts, length) for texts in (train, held_out, shown)))


def translation(source: Corpus, target: Corpus) -> Sentences:
    """From one language to the other, word by word of the target."""
    vocabulary = (END, *dict.fromkeys(source.words + target.words))
    sides = [[in_numbers(vocabulary, part(c)) for part in PARTS] for c in (source, target)]
    length = max(len(text) for texts in sides[1] for text in texts) + 1
    train, held_out = (batch_of(sides[1][i], length, sides[0][i]) for i in range(2))
    return Sentences(
        "translate", vocabulary, train, held_out, batch_of(sides[1][0][:1], length, sides[0][0][:1])
    )


PARTS = (lambda c: c.train, lambda c: c.held_out)


def in_numbers(vocabulary: tuple[str, ...], sentences: Sequence[str]) -> list[list[int]]:
    """Each sentence as the places of its tokens in the vocabulary."""
    places = {word: i for i, word in enumerate(vocabulary)}
    return [[places[word] for word in tokens_of(sentence)] for sentence in sentences]


@cache
def task_named(name: TaskName) -> Task:
    """The task of that name. "chinese" and "english" are the corpus's scenes, "both" is all of it in both languages.

    Raises ValueError with the names there are.
    """
    if name not in get_args(TaskName):
        raise ValueError(f"no task is called {name!r}; there are {', '.join(get_args(TaskName))}")
    if name == "repeat":
        return Repetition(name)
    if name == "repeat-fixed":
        return Repetition(name, shortest=8, longest=8)
    if name == "reverse":
        return Reversal()
    zh, en = corpus("zh"), corpus("en")
    if name == "translate":
        return translation(zh, en)
    chosen = {"chinese": (scenes("zh"),), "english": (scenes("en"),), "both": (zh, en)}[name]
    return language(name, chosen, chosen[0].train[0])
