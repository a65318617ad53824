"""Vocabulary size against length: more merges, fewer tokens, a larger table; measured on texts that were and were not learned from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from core.cost.sizes import count_parameters
from core.models.configs import PRESETS
from core.text import byte_pairs
from core.text.prose import prose
from ui.figures.charts import Axis, Chart, Curve, Marker, curves
from ui.figures.tokens import MOST, merges
from ui.words import LANGUAGES, Words

PLACES = (*range(0, 100, 20), *range(100, MOST + 1, 50))
TEXTS = ("learned", "held_out")
MODELS = ("gpt2-small", "gpt2-xl", "smollm2-135m", "llama2-7b", "llama3-8b")


@dataclass(frozen=True, eq=False)
class Lengths:
    """Tokens per character of the four texts at every number of merges, and at the present one."""

    places: np.ndarray  # [N]
    per_character: dict[tuple[str, str], np.ndarray]  # (language, text) → [N]
    now: dict[tuple[str, str], float]
    merges: int


@cache
def per_character(lang: str, text: str, n: int) -> float:
    """Tokens per character of one of the texts with the first n merges."""
    written = getattr(prose(lang), text)
    return len(byte_pairs.encode(written, merges()[:n]).ids) / len(written)


def measure(n: int) -> Lengths:
    """All four curves, and where the slider stands."""
    kinds = [(lang, text) for lang in LANGUAGES for text in TEXTS]
    curve = {kind: np.array([per_character(*kind, place) for place in PLACES]) for kind in kinds}
    return Lengths(np.array(PLACES, dtype=float), curve, {kind: per_character(*kind, n) for kind in kinds}, n)


def chart(found: Lengths, words: Words) -> Chart:
    """Four curves over the number of merges."""
    series = [
        Curve(words.plain(f"length.{lang}.{text}"), y) for (lang, text), y in found.per_character.items()
    ]
    return curves(
        found.places,
        series,
        Axis(words.plain("length.axis.merges"), (0, MOST)),
        Axis(words.plain("length.axis.tokens"), (0, 3.2)),
        marker=Marker(words.plain("length.marker", merges=found.merges), float(found.merges)),
    )


def notices(found: Lengths, words: Words) -> list[str]:
    """What to notice: what the merges save, what they save elsewhere, and what Chinese pays."""
    now = {f"{lang}_{text}": value for (lang, text), value in found.now.items()}
    told = now | {"merges": found.merges, "ratio": now["zh_held_out"] / now["en_held_out"]}
    told |= {"start": 1, "zh_start": found.per_character["zh", "learned"][0]}
    fitted = now["zh_learned"] < now["zh_held_out"] and now["en_learned"] < now["en_held_out"]
    first = (
        "length.notice.none" if not found.merges else "length.notice.fit" if fitted else "length.notice.even"
    )
    return [words(first, **told), words("length.notice.chinese", **told), words("length.notice.table")]


def table(words: Words) -> str:
    """What the embedding table costs in models that everybody knows."""
    heads = [words(f"length.head.{name}") for name in ("model", "vocab", "width", "table", "tied", "share")]
    lines = ["| " + " | ".join(heads) + " |", "|:--|--:|--:|--:|:--|--:|"]
    for name, share in shares().items():
        config = PRESETS[name]
        tied = words("length.yes" if config.tied else "length.no")
        size = f"{config.vocab * config.d_model / 1e6:.1f}"
        lines.append(
            f"| {words.plain('model.' + name)} | {config.vocab:,} | {config.d_model:,} | {size} M | {tied} | {100 * share:.1f} % |"
        )
    return "\n".join(lines)


@cache
def shares() -> dict[str, float]:
    """The part of all parameters that input and output tables take."""
    found = {}
    for name in MODELS:
        config = PRESETS[name]
        tables = config.vocab * config.d_model * (1 if config.tied else 2)
        found[name] = tables / count_parameters(config).total
    return found


def summary(found: Lengths, words: Words) -> str:
    """The chart in one line of plain text."""
    now = {f"{lang}_{text}": value for (lang, text), value in found.now.items()}
    return words.plain("length.summary", merges=found.merges, **now)
