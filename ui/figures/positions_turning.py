"""RoPE's pairs turning, in the browser, and the score of one query and one key by their distance."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from core.attention.toy import ToyInputs
from core.block.extrapolation import wavelengths
from core.block.frequencies import inverse_frequencies
from core.block.rope import decay_bound, scores_by_distance, split_pairs
from ui.browser_code import component
from ui.figures.charts import Axis, Chart, Curve, curves
from ui.figures.positions import LOGITS, ROUNDING, thin
from ui.result import Result
from ui.words import Words

FARTHEST = 64
_SCRIPT = Path(__file__).resolve().parents[2] / "static" / "pairs.js"
_WORDS = ("play", "pause", "step", "reset", "query", "both", "distance", "moved")
_FILLED = {"pair": "i", "turn": "n", "adds": "part"}


def compute(result: Result, toy: ToyInputs, query: int, key: int, base: int) -> Result:
    """One query and one key of the sentence, counted from 1, cut to the tokens there are, at distances 0..64."""
    tokens, dk = result.parameters["tokens"], result.parameters["dk"]
    i, j = min(query, len(tokens)) - 1, min(key, len(tokens)) - 1
    theta = inverse_frequencies(dk, base, dtype=torch.float64)  # [d_k/2]
    distances = torch.arange(FARTHEST + 1)
    trace = scores_by_distance(toy.q[i], toy.k[j], distances, theta)
    scale = dk**-0.5
    q, k = (torch.stack(split_pairs(y, "half"), -1) for y in (toy.q[i], toy.k[j]))  # [d_k/2, 2] each
    facts = {
        "q": q.numpy(),
        "k": k.numpy(),
        "theta": theta.numpy(),
        "waves": wavelengths(theta).numpy(),
        "scores": (trace.scores * scale).numpy(),
        "by_pair": (trace.by_pair * scale).numpy(),
        "largest": float((q.norm(dim=-1) * k.norm(dim=-1)).sum() * scale),
        "bound": decay_bound(distances, theta).numpy(),
    }
    settings = {"query": i, "key": j, "base": base, "dk": dk, "scale": scale}
    return Result(settings | {"tokens": tokens}, {}, facts)


def payload(shown: Result, words: Words) -> dict[str, Any]:
    """What the browser is given: the pairs, how fast each turns, and every word."""
    facts, p = shown.facts, shown.parameters
    told = {name: words.plain(f"turn.{name}") for name in _WORDS}
    told |= {name: words.plain(f"turn.{name}", **{mark: f"{{{mark}}}"}) for name, mark in _FILLED.items()}
    told["told"] = words.plain("turn.told", query="{q}", key="{k}", apart="{apart}", score="{score}")
    told["q_at"] = words.plain("turn.q_at", m="{m}", query="{token}")
    told["k_at"] = words.plain("turn.k_at", n="{n}", key="{token}")
    columns = (facts[name].tolist() for name in ("theta", "waves", "q", "k"))
    pairs = [dict(zip(("theta", "wave", "q", "k"), one, strict=True)) for one in zip(*columns, strict=True)]
    return {
        "lang": "zh-CN" if words.lang == "zh" else words.lang,
        "words": told,
        "pairs": pairs,
        "apart": abs(p["query"] - p["key"]),
        "most": FARTHEST,
        "scale": p["scale"],
        "tokens": {"q": p["tokens"][p["query"]], "k": p["tokens"][p["key"]]},
    }


def draw(key: str, shown: Result, words: Words) -> None:
    """The circles, with play, pause and step."""
    _component()(key=key, data=payload(shown, words))


def chart(shown: Result, words: Words) -> Chart:
    """The score by distance, and what the fastest and the slowest pair add to it."""
    facts = shown.facts
    series = [Curve(words.plain("turn.series.score"), facts["scores"])]
    if len(facts["theta"]) > 1:
        series.append(Curve(words.plain("turn.series.fast"), facts["by_pair"][:, 0]))
        series.append(Curve(words.plain("turn.series.slow"), facts["by_pair"][:, -1]))
    x = np.arange(FARTHEST + 1)
    limits = (-LOGITS, LOGITS)
    drawn = curves(
        x,
        series,
        Axis(words.plain("axis.distance"), (0, FARTHEST)),
        Axis(words.plain("turn.axis"), limits),
        height=280,
    )
    return thin(drawn)


def notices(shown: Result, words: Words) -> list[str]:
    """What to notice: how far the pairs turn, that the distance decides, and that nothing forces scores to fall."""
    p, facts = shown.parameters, shown.facts
    scores, waves = facts["scores"], facts["waves"]
    told = {"query": p["tokens"][p["query"]], "key": p["tokens"][p["key"]], "pairs": len(waves)}
    told |= {"i": p["query"] + 1, "j": p["key"] + 1, "first": waves[0], "last": waves[-1], "most": FARTHEST}
    told |= {"here": scores[0], "best": int(scores.argmax()), "top": scores.max(), "end": scores[-1]}
    told |= {"largest": facts["largest"], "bound": facts["bound"][-1] / facts["bound"][0]}
    one = "turn.notice.one_pair" if len(waves) == 1 else "turn.notice.pairs"
    peak = "turn.notice.peak_here" if told["best"] == 0 else "turn.notice.peak_far"
    falls = ["turn.notice.bound"] if facts["bound"][-1] < facts["bound"][0] * (1 - ROUNDING) else []
    return [words(key, **told) for key in (one, "turn.notice.same", peak, *falls)]


def summary(shown: Result, words: Words) -> str:
    """The curve in one line of plain text."""
    p, scores = shown.parameters, shown.facts["scores"]
    told = {"query": p["tokens"][p["query"]], "key": p["tokens"][p["key"]], "most": FARTHEST}
    return words.plain("turn.summary", here=scores[0], best=int(scores.argmax()), top=scores.max(), **told)


@cache
def _component() -> Callable:
    return component("pairs", hashlib.sha256(_SCRIPT.read_bytes()).hexdigest()[:12])
