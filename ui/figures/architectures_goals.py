"""What each family is trained to do with one text: what it reads, what it is to predict, and where there is a loss."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import torch

from core.models.corpus import END, corpus, tokens_of
from core.models.denoising import next_sentence_pair
from core.models.families import Exercise, exercise, first_pass
from core.models.masked_language import IGNORED, mask_tokens
from core.text.prose import prose
from ui.cached import cached
from ui.numbers import number
from ui.strips import Strip, Token
from ui.words import Raw, Words

GOALS = ("next", "mlm", "nsp", "spans", "infill")
MASK, START, NOTHING = "[MASK]", "[START]", "·"
FEW = 16  # sentinels: enough for any text in the box
N_SENTINELS = 400  # the whole corpus at a share of one half needs about as many


@dataclass(frozen=True)
class Vocabulary:
    """The corpus's words and the reader's, then the special tokens."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, tokens: tuple[str, ...]) -> Vocabulary:
        """With the reader's tokens behind those of the corpus."""
        known = dict.fromkeys((END, *corpus("en").words, *corpus("zh").words, *tokens))
        return cls(tuple(known))

    @property
    def mask(self) -> int:
        """The number of [MASK]."""
        return len(self.words)

    @property
    def start(self) -> int:
        """The number of the token that a decoder begins with."""
        return len(self.words) + 1

    @property
    def sentinels(self) -> range:
        """The numbers of the sentinels."""
        return range(len(self.words) + 2, len(self.words) + 2 + N_SENTINELS)

    @property
    def size(self) -> int:
        """All that a text of a page needs, for the model that is run."""
        return len(self.words) + 2 + FEW

    def encode(self, tokens) -> torch.Tensor:
        """Numbers [T]."""
        places = {word: i for i, word in enumerate(self.words)}
        return torch.tensor([places[token] for token in tokens])

    def text(self, number: int) -> str:
        """What a number stands for."""
        if number == IGNORED:
            return NOTHING
        if number < len(self.words):
            return self.words[number]
        return {self.mask: MASK, self.start: START}.get(number, f"⟨{number - self.start}⟩")


@dataclass(frozen=True)
class Count:
    """An exercise in numbers."""

    goal: str
    tokens: int
    read: int
    written: int
    losses: int


def make(goal: str, tokens: tuple[str, ...], share: int, seed: int) -> tuple[Vocabulary, Exercise]:
    """The exercise of one text; END in it is never hidden by mlm. `share` in percent."""
    known = Vocabulary.of(tokens)
    generator = torch.Generator().manual_seed(seed)
    made = exercise(
        goal,
        known.encode(tokens),
        len(known.words),
        known.mask,
        known.start,
        known.sentinels,
        generator,
        share / 100,
        special=(0,),
    )
    return known, made


@cached(max_entries=64)
def counts(tokens: tuple[str, ...], share: int, seed: int) -> list[Count]:
    """All four exercises of one text; those that need two tokens are left out of a shorter one."""
    found = []
    for goal in ("next", "mlm", "spans", "infill"):
        if goal == "spans" and len(tokens) < 2:
            continue
        _, made = make(goal, tokens, share, seed)
        written = 0 if made.written is None else len(made.written)
        found.append(Count(goal, len(tokens), len(made.read), written, made.n_losses))
    return found


def corpus_tokens(lang: str) -> tuple[str, ...]:
    """The project's sentences one after the other, END between them."""
    return tuple(word for line in corpus(lang).train for word in (*tokens_of(line), END))


@cached(max_entries=64)
def fates(lang: str, share: int, seed: int) -> dict[str, int]:
    """What became of the chosen positions of the whole corpus."""
    tokens = corpus_tokens(lang)
    known = Vocabulary.of(())
    generator = torch.Generator().manual_seed(seed)
    made = mask_tokens(known.encode(tokens), known.mask + 1, known.mask, generator, share / 100, special=(0,))
    found = {name: int(getattr(made, name).sum()) for name in ("chosen", "masked", "replaced", "unchanged")}
    return found | {"tokens": len(tokens), "maskable": int(made.maskable.sum())}


def strips(goal: str, tokens: tuple[str, ...], share: int, seed: int, words: Words) -> tuple[Strip, ...]:
    """The text, what the model reads, and what it is to predict."""
    if goal == "nsp":
        return (_pair(seed, words),)
    known, made = make(goal, tokens, share, seed)
    original = [Token(word, str(i + 1), (i, i + 1), facts=("",)) for i, word in enumerate(tokens)]
    text = Strip(
        "text", words.plain("goal.text"), words.plain("goal.count", count=len(tokens)), tuple(original), True
    )
    read = _read(known, made, tokens, words)
    shown = [
        Strip(
            "read",
            words.plain(f"goal.read_{_reader(goal)}"),
            words.plain("goal.count", count=len(read)),
            tuple(read),
            True,
        )
    ]
    if made.written is not None:
        written = _plain(known, made.written)
        shown.append(
            Strip(
                "written",
                words.plain("goal.written"),
                words.plain("goal.count", count=len(written)),
                written,
                True,
            )
        )
        targets = _plain(known, made.targets)
    else:
        targets = tuple(
            Token(
                known.text(t),
                words.plain("goal.loss" if t != IGNORED else "goal.no_loss"),
                (i, i + 1),
                "" if t != IGNORED else "unknown",
                ("",),
            )
            for i, t in enumerate(made.targets.tolist())
        )
    note = words.plain("goal.losses", losses=made.n_losses, count=len(targets))
    return (text, *shown, Strip("targets", words.plain("goal.targets"), note, targets, True))


def _reader(goal: str) -> str:
    return {"next": "decoder", "mlm": "encoder"}.get(goal, "encoder_two")


def _plain(known: Vocabulary, numbers: torch.Tensor) -> tuple[Token, ...]:
    return tuple(
        Token(known.text(t), str(i + 1), (1000 + i, 1001 + i), "unknown" if t >= known.mask else "", ("",))
        for i, t in enumerate(numbers.tolist())
    )


def _read(known: Vocabulary, made: Exercise, tokens: tuple[str, ...], words: Words) -> list[Token]:
    """What is read, each token over the piece of text that it stands for."""
    numbers, read = made.read.tolist(), []
    if made.goal in ("next", "mlm"):
        for i, n in enumerate(numbers):
            told = words.plain(f"goal.{fate(known, n, made, i, tokens)}")
            look = "unknown" if n >= known.mask or known.text(n) != tokens[i] else ""
            read.append(Token(known.text(n), told, (i, i + 1), look, ("",)))
        return read
    at, spans = 0, iter(made.spans)
    for n in numbers:
        if n < known.mask:
            read.append(Token(known.text(n), str(at + 1), (at, at + 1), facts=("",)))
            at += 1
            continue
        span = next(spans)
        told = words.plain("goal.stands_for", count=span.length)
        read.append(
            Token(known.text(n), told, (span.start, max(span.end, span.start + 0.01)), "unknown", ("",))
        )
        at = span.end
    return read


def fate(known: Vocabulary, number: int, made: Exercise, i: int, tokens: tuple[str, ...]) -> str:
    """What became of a position: plain, masked, replaced (perhaps by itself), or chosen and left alone."""
    if made.goal == "next" or made.targets[i] == IGNORED:
        return "plain"
    if number == known.mask:
        return "masked"
    return "unchanged" if known.text(number) == tokens[i] else "replaced"


@cached(max_entries=2)
def sentences(lang: str) -> tuple[str, ...]:
    """The project's prose, sentence by sentence."""
    text = prose(lang).learned.replace("\n", " " if lang == "en" else "")
    return tuple(s for s in re.split(r"(?<=[.?。？])\s*", text) if s)


def pair_of(seed: int, lang: str):
    """The pair that the seed draws."""
    n = len(sentences(lang))
    return next_sentence_pair(n, seed % (n - 1), torch.Generator().manual_seed(seed))


def _pair(seed: int, words: Words) -> Strip:
    pair, said = pair_of(seed, words.lang), sentences(words.lang)
    parts = [("[CLS]", 0), *((w, 0) for w in tokens_of(said[pair.first])), ("[SEP]", 0)]
    parts += [*((w, 1) for w in tokens_of(said[pair.second])), ("[SEP]", 1)]
    tokens = tuple(
        Token(word, f"{segment}", (i, i + 1), "unknown" if word.startswith("[") else "", ("",))
        for i, (word, segment) in enumerate(parts)
    )
    answer = words.plain("goal.follows" if pair.follows else "goal.strange")
    return Strip("pair", words.plain("goal.pair"), answer, tokens, True)


def summary(goal: str, tokens: tuple[str, ...], share: int, seed: int, words: Words) -> str:
    """The exercise in one line."""
    if goal == "nsp":
        return words.plain("goal.summary_nsp", answer=Raw(_pair(seed, words).note))
    _, made = make(goal, tokens, share, seed)
    told = {"goal": Raw(words.plain(f"choice.goal.{goal}")), "count": len(tokens), "losses": made.n_losses}
    return words.plain("goal.summary", **told)


def table(tokens: tuple[str, ...], share: int, seed: int, goal: str, words: Words) -> str:
    """The exercises beside each other: the reader's text, and the whole corpus in both languages."""
    texts = (tokens, corpus_tokens("en"), corpus_tokens("zh"))
    found = [{count.goal: count for count in counts(text, share, seed)} for text in texts]
    lines = []
    for name in ("next", "mlm", "spans", "infill"):
        bold = "**" if name == goal else ""
        label = words.plain(f"choice.goal.{name}")
        lines.append(
            f"| {' | '.join([f'{bold}{label}{bold}', *(_share(by.get(name), words) for by in found)])} |"
        )
    lengths = {name: len(text) for name, text in zip(("own", "en", "zh"), texts, strict=True)}
    return words("goal.table", rows=Raw("\n".join(lines)), **lengths)


def _share(count: Count | None, words: Words) -> str:
    if count is None:
        return "–"
    return words.plain("goal.share", count=count.losses, share=Raw(number(100 * count.losses / count.tokens)))


def fates_table(share: int, seed: int, words: Words) -> str:
    """80, 10 and 10 % as they were drawn on the corpus."""
    lines = []
    for lang in ("en", "zh"):
        found = fates(lang, share, seed)
        parts = [
            words.plain("goal.share", count=found[n], share=Raw(f"{100 * found[n] / found['chosen']:.1f}"))
            for n in ("masked", "replaced", "unchanged")
        ]
        lines.append(
            f"| {words.plain(f'goal.corpus_{lang}')} | {found['maskable']:,} | {found['chosen']:,} | {' | '.join(parts)} |"
        )
    return words("goal.fates", share=share, rows=Raw("\n".join(lines)))


def run_told(goal: str, tokens: tuple[str, ...], share: int, seed: int, words: Words) -> str:
    """The exercise through an untrained tiny model: shapes, and the loss beside that of guessing evenly."""
    if goal == "nsp":
        return words("goal.run_nsp")
    known, made = make(goal, tokens, share, seed)
    if made.n_losses == 0:
        return words("goal.run_nothing")
    passed = first_pass(made, known.size, seed)
    told = {
        "read": len(made.read),
        "written": 0 if made.written is None else len(made.written),
        "rows": passed.logits.shape[0],
        "vocab": known.size,
        "losses": made.n_losses,
        "loss": passed.loss,
        "even": math.log(known.size),
    }
    return words("goal.run_two" if made.written is not None else "goal.run_one", **told)


def notices(goal: str, tokens: tuple[str, ...], share: int, seed: int, words: Words) -> list[str]:
    """What this exercise asks, how much of the text it learns from at once, and what that costs."""
    n = len(tokens)
    if goal == "nsp":
        pair = pair_of(seed, words.lang)
        return [
            words("goal.notice.nsp_follows" if pair.follows else "goal.notice.nsp_strange"),
            words("goal.notice.nsp_later"),
        ]
    by_goal = {count.goal: count for count in counts(tokens, share, seed)}
    told = {"n": n, "losses": by_goal[goal].losses, "next": by_goal["next"].losses, "share": share}
    said = [words(f"goal.notice.{goal}", **told)]
    if goal == "mlm":
        corpus_count = {c.goal: c for c in counts(corpus_tokens(words.lang), share, seed)}
        times = corpus_count["next"].losses / corpus_count["mlm"].losses
        said.append(
            words(
                "goal.notice.times",
                times=times,
                next=corpus_count["next"].losses,
                mlm=corpus_count["mlm"].losses,
            )
        )
        said.append(words("goal.notice.why_keep"))
    if goal in ("spans", "infill"):
        _, made = make(goal, tokens, share, seed)
        taken = sum(span.length for span in made.spans)
        told |= {
            "taken": taken,
            "spans": len(made.spans),
            "read": len(made.read),
            "written": len(made.targets),
        }
        said.append(words(f"goal.notice.{goal}_counts", **told))
        if any(span.length == 0 for span in made.spans):
            said.append(words("goal.notice.empty_span"))
    return said
