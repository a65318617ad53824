"""What to notice about two stacks: sentences that ask the numbers first whether they may be said."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ui.figures.residual import SIDES, Measured, name_of
from ui.result import Result
from ui.words import Raw, Words

ALIKE = 0.99  # from here on tokens count as alike
GONE = 1e-3  # a gradient below counts as vanished, one above its inverse as exploded
DEEP = 8  # fewer layers show no law of growth
FALLS = 1.5  # first over last gradient, beyond what one seed does
WIDE = (
    10.0  # without a norm, a stream that grows by more makes scores 100 times as large: attention saturates
)


def notices(result: Result, words: Words) -> list[str]:
    """Gradient, length, likeness, and the tutorials' sentence where a residual is off; first what left float32."""
    told = _told(result)
    trouble = [sentence for side in SIDES for sentence in _trouble(side, result, words)]
    return [
        *trouble,
        _gradient(result, told, words),
        _length(result, told, words),
        _likeness(result, told, words),
        *_without_residual(result, words),
    ]


def _told(result: Result) -> dict[str, float]:
    told = dict(result.parameters)
    for side in SIDES:
        m: Measured = result.facts[side]
        told |= {f"first_{side}": float(m.gradient[0]), f"last_{side}": float(m.gradient[-1])}
        told |= {f"start_{side}": float(m.norm[0]), f"end_{side}": float(m.norm[-1])}
        told[f"alike_{side}"] = float(m.similarity[-1])
    return told


def _trouble(side: str, result: Result, words: Words) -> list[str]:
    """What is missing in the charts, and why."""
    m: Measured = result.facts[side]
    name, layers = Raw(name_of(side, result, words)), result.parameters["layers"]
    broken = np.flatnonzero(~np.isfinite(m.norm))
    if broken.size:
        return [words("notice.forward", side=name, layer=int(broken[0]))]
    rounding = rounding_notice(side, [m], result, words)
    if not np.isfinite(m.gradient).all():
        return [
            words("notice.backward", side=name, layers=layers, count=int((~np.isfinite(m.gradient)).sum())),
            *rounding,
        ]
    if (m.norm == 0).any():
        return [words("notice.zero", side=name, layer=int(np.flatnonzero(m.norm == 0)[0]))]
    if (m.gradient == 0).any():
        return [words("notice.gradient_zero", side=name, layers=layers, count=int((m.gradient == 0).sum()))]
    return rounding


def rounding_notice(side: str, runs: Iterable[Measured], result: Result, words: Words) -> list[str]:
    """That gradients may be rounding: no norm, and numbers so large in a run that attention's softmax saturates."""
    if result.parameters[f"norm_{side}"] != "none":
        return []
    growth = max(float(np.nanmax(m.norm) / m.norm[0]) for m in runs)
    if growth <= WIDE:
        return []
    return [words("notice.rounding", side=Raw(name_of(side, result, words)), growth=growth)]


def _usable(*values: float) -> bool:
    return all(np.isfinite(v) and v > 0 for v in values)


def _gradient(result: Result, told: dict, words: Words) -> str:
    ends = [told[f"{end}_{side}"] for side in SIDES for end in ("first", "last")]
    if told["layers"] == 1:
        return words("notice.gradient_one", **told)
    parts = [words("notice.gradient", **told)]
    if _usable(*ends):
        parts.append(words("notice.gradient_ratio", ratio=ends[3] / ends[1], **told))
    falling = [s for s in SIDES if _pre(s, told) and told[f"first_{s}"] > FALLS * told[f"last_{s}"] > 0]
    if falling:
        parts.append(words("notice.pre_falls", side=Raw(falling[0].upper())))
    return words.sentences(parts)


def _pre(side: str, told: dict) -> bool:
    return told[f"norm_{side}"] == "pre" and told[f"res_{side}"]


def _length(result: Result, told: dict, words: Words) -> str:
    parts = [words("notice.length", **told)]
    for side in SIDES:
        m: Measured = result.facts[side]
        half = told["layers"] // 2
        name = Raw(side.upper())
        grown = _usable(m.norm[-1]) and m.norm[-1] > 1.5 * m.norm[0]
        if _pre(side, told) and told["layers"] >= DEEP and grown:
            ratio, root = float(m.norm[-1] / m.norm[half]), float(np.sqrt(told["layers"] / half))
            added = {"added_half": float(m.added[half - 1]), "added_last": float(m.added[-1])}
            added["along"] = float(m.along[half:].mean())
            parts.append(words("notice.root", side=name, half=half, ratio=ratio, root=root, **added, **told))
            break
    held = [s for s in SIDES if told[f"norm_{s}"] == "post" and _held(result.facts[s], told["width"])]
    if held:
        key = "notice.held_both" if len(held) == 2 else "notice.held"
        root = told["width"] ** 0.5
        parts.append(words(key, side=Raw(held[0].upper()), d=told["width"], root=root))
    return words.sentences(parts)


def _held(m: Measured, width: int) -> bool:
    return bool(np.isfinite(m.norm).all() and (abs(m.norm[1:] / width**0.5 - 1) < 0.02).all())


def _likeness(result: Result, told: dict, words: Words) -> str:
    parts = [words("notice.likeness", **told)]
    for side in SIDES:
        below = np.flatnonzero(~(result.facts[side].similarity >= ALIKE))  # NaN counts as below
        if (first := int(below[-1]) + 1) <= told["layers"]:
            parts.append(words("notice.alike", side=Raw(side.upper()), layer=first))
    return words.sentences(parts)


def _without_residual(result: Result, words: Words) -> list[str]:
    """Whether the gradient vanishes without a residual, as these numbers have it."""
    sentences = []
    for side in (s for s in SIDES if not result.parameters[f"res_{s}"]):
        m: Measured = result.facts[side]
        told = {"side": Raw(name_of(side, result, words)), "layers": result.parameters["layers"]}
        if not np.isfinite(m.gradient).all():
            sentences.append(words("notice.bare_overflows", **told))
            continue
        low, high = float(m.gradient.min()), float(m.gradient.max())
        grows = "explodes" if high > 1 / GONE else "vanishes" if low < GONE else "holds"
        kind = "bare" if result.parameters[f"norm_{side}"] == "none" else "normed"
        sentence = words(f"notice.{kind}_{grows}", low=low, high=high, **told)
        lost = kind == "normed" and grows == "holds" and m.similarity[-1] >= ALIKE
        sentences.append(words.sentences([sentence, *([words("notice.lost")] if lost else [])]))
    return sentences
