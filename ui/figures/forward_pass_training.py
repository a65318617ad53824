"""How the toy was trained: its loss, the sentences it read, and what it cannot do."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from core.models.corpus import corpus, tokens_of
from core.models.prompt import read_prompt
from core.models.tasks import task_named
from core.models.toy import TOY, Toy
from ui.figures.charts import Axis, Chart, Curve, Guide, curves
from ui.numbers import listed, number
from ui.words import Raw, Words, quote

EVERY = 5  # steps between two points of the curve
# Prompts that show where a toy ends; what is new about each is told by its word.
CASES = {
    "seen": "小猫爱吃",
    "twin": "the kitten eats",
    "pairing": "中午下",
    "never": "the tiger drinks",
    "unknown": "小猫不爱吃",
    "backwards": "吃爱猫小",
    "mixed": "妈妈 eats",
}
SAID = 3


@dataclass(frozen=True, eq=False)
class Trained:
    """One training, as the page tells it."""

    seed: int
    losses: np.ndarray  # [steps]
    held_out: float
    frequency: float  # the loss of a model that knows token frequencies only
    vocab: int
    parameters: int

    @property
    def end(self) -> float:
        """Mean of the last twenty batches."""
        return float(self.losses[-20:].mean())


def measure(toy: Toy, seed: int) -> Trained:
    """The numbers of a trained toy."""
    size = sum(p.numel() for p in toy.model.parameters())
    frequency = task_named(TOY.task).frequency_loss
    return Trained(seed, np.array(toy.losses), toy.held_out_loss, frequency, len(toy.vocabulary), size)


def chart(trained: Trained, words: Words) -> Chart:
    """Loss over steps, beside what frequencies alone and the held-out sentences give."""
    steps = np.arange(1, len(trained.losses) + 1)
    shown = np.unique([*range(0, len(steps), EVERY), len(steps) - 1])
    flat = np.ones(len(shown))
    guides = [
        Guide(words.plain("train.frequency"), trained.frequency * flat),
        Guide(words.plain("train.held_out"), trained.held_out * flat),
    ]
    top = math.ceil(float(trained.losses.max()))
    return curves(
        steps[shown],
        [Curve(words.plain("train.loss"), trained.losses[shown])],
        Axis(words.plain("train.step"), (0.0, float(steps[-1]))),
        Axis(words.plain("train.loss"), (0.0, float(top))),
        guides=guides,
        height=250,
    )


def _told(trained: Trained) -> dict:
    zh, en = corpus("zh"), corpus("en")
    told = {
        "first": float(trained.losses[0]),
        "end": trained.end,
        "held": trained.held_out,
        "seed": trained.seed,
    }
    told |= {"uniform": math.log(trained.vocab), "vocab": trained.vocab, "parameters": trained.parameters}
    told |= {
        "steps": len(trained.losses),
        "frequency": trained.frequency,
        "perplexity": math.exp(trained.end),
    }
    return told | {"sentences": len(zh.train + en.train), "apart": len(zh.held_out + en.held_out)}


def summary(trained: Trained, words: Words) -> str:
    """The curve in one line of plain text."""
    return words.plain("train.summary", **_told(trained))


def notices(trained: Trained, words: Words) -> list[str]:
    """What to notice: where the loss begins, where it ends and why not at 0, and the sentences kept apart."""
    told = _told(trained)
    end = "train.notice.end" if trained.end < trained.frequency else "train.notice.failed"
    held = "train.notice.held" if trained.held_out > trained.end else "train.notice.held.low"
    return [words(key, **told) for key in ("train.notice.first", end, held)]


def sentences(find: str, words: Words) -> pd.DataFrame:
    """The corpus, line by line in both languages; those that contain the text in either."""
    zh, en = corpus("zh"), corpus("en")
    rows = [
        (a, b, words.plain(f"train.use.{part}"))
        for part in ("train", "held_out")
        for a, b in zip(getattr(zh, part), getattr(en, part), strict=True)
        if find.casefold() in a or find.casefold() in b.casefold()
    ]
    return pd.DataFrame(rows, columns=[words.plain(f"train.column.{name}") for name in ("zh", "en", "use")])


def limits(toy: Toy, words: Words) -> str:
    """Prompts at the edge of what the toy knows, each with what it makes of them."""
    known = tuple(tokens_of(s) for lang in ("zh", "en") for s in corpus(lang).train)
    lines = [words("limits.table"), "|:--|:--|:--|:--|"]
    for name, text in CASES.items():
        prompt = read_prompt(text, toy.vocabulary, known, toy.longest - 1)
        with torch.no_grad():
            p = toy.model(toy.encode(" ".join(prompt.tokens)), keep="logits").logits[-1].softmax(-1)
        best = p.topk(SAID)
        parts = [
            f"{quote(toy.vocabulary[i])} {number(float(x))}"
            for i, x in zip(best.indices, best.values, strict=True)
        ]
        said = listed(parts, words.lang)
        read = " ".join(map(quote, prompt.tokens)) if prompt.replaced else quote(text)
        lines.append(f"| {quote(text)} | {words(f'limits.case.{name}')} | {Raw(read)} | {said} |")
    return "\n".join(lines)
