"""Past the trained length: RoPE's frequencies before and after each way of stretching, and a head's scores far out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from core.block.extrapolation import even_head, fit_head, range_test, scores_of, unseen_angles, wavelengths
from core.block.frequencies import (
    illustrative_longrope_factors,
    inverse_frequencies,
    longrope,
    longrope_attention_factor,
    ntk_aware,
    position_interpolation,
    spread_factors,
    yarn,
    yarn_ramp,
)
from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, as_read, curves
from ui.figures.positions import thin
from ui.numbers import listed
from ui.result import Result
from ui.words import Raw, Words

HEIGHT = 420
POINTS = 90  # of a curve by distance
SCORES = {"even": (-1.0, 2.0), "fitted": (-4.0, 4.0)}  # limits of the chart; both heads were made for −1..1
SMALLEST, LARGEST = 0.1, 1000.0  # factors of LongRoPE that are taken
PRESET = 16  # the width for which the illustrative factors are made: eight of them


def illustrative(factor: float) -> str:
    """The preset as the reader would type it; made up, not searched."""
    return " ".join(f"{x:.3g}" for x in illustrative_longrope_factors(PRESET, factor))


def read_factors(typed: str, pairs: int) -> tuple[tuple[float, ...], bool]:
    """The factors in a reader's text, and whether anything in it could not be used. One factor of 1 if none is left."""
    text = unicodedata.normalize("NFKC", typed)
    found = [piece for piece in re.split(r"[\s,;、，；]+", text) if piece]
    plain = (float(piece) for piece in found if re.fullmatch(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)", piece))
    usable = tuple(x for x in plain if SMALLEST <= x <= LARGEST)[:pairs]
    return usable or (1.0,), len(usable) != len(found)


def compute(
    d: str,
    base: str,
    trained: str,
    factor: int,
    beta_fast: int,
    beta_slow: float,
    head: str,
    methods: Sequence[str],
    typed: str,
) -> Result:
    """Frequencies of every chosen method, the angles they meet at factor × trained, and the head's scores there."""
    width, rate, length, s = int(d), float(base), int(trained), float(factor)
    plain = inverse_frequencies(width, rate, dtype=torch.float64)  # [d/2]
    factors, changed = read_factors(typed, width // 2)
    spread = spread_factors(factors, width // 2)
    ways: dict[str, tuple[Tensor, float]] = {"plain": (plain, 1.0)}
    if "interpolation" in methods:
        ways["interpolation"] = position_interpolation(width, rate, s, torch.float64), 1.0
    if "ntk" in methods:
        ways["ntk"] = ntk_aware(width, rate, s, torch.float64), 1.0
    if "yarn" in methods:
        ways["yarn"] = yarn(width, rate, s, length, beta_fast, beta_slow, torch.float64)
    if "longrope" in methods:
        ways["longrope"] = longrope(width, rate, spread, torch.float64), longrope_attention_factor(s, length)
    one = even_head(width) if head == "even" else fit_head(plain, length)
    distances = torch.tensor(np.unique(np.geomspace(1, s * length, POINTS).round()))  # [D]
    ramp = yarn_ramp(width, rate, length, beta_fast, beta_slow)  # [d/2]
    facts = {
        "distances": distances.numpy(),
        "changed": changed,
        "given": factors,
        "slow_pairs": int((wavelengths(plain) > length).sum()),
        "kept": int((ramp == 0).sum()),
        "stretched": int((ramp == 1).sum()),
        "ways": {
            name: {
                "waves": wavelengths(theta).numpy(),
                "slow": round(float(plain[-1] / theta[-1]), 9),
                "fast": round(float(plain[0] / theta[0]), 9),
                "unseen": int(unseen_angles(plain, theta, length, s * length).sum()),
                "attention": attention,
                "scores": scores_of(one, distances, theta, attention).numpy(),
                "range": range_test(one, plain, theta, length, int(s) * length, attention),
            }
            for name, (theta, attention) in ways.items()
        },
    }
    settings = {"d": width, "base": rate, "trained": length, "factor": factor, "beta_fast": beta_fast}
    settings |= {"beta_slow": beta_slow, "head": head, "methods": tuple(methods), "factors": spread}
    return Result(settings, {}, facts)


def remark(shown: Result, words: Words) -> str:
    """What is said when the reader's factors could not all be used."""
    if "longrope" not in shown.parameters["methods"] or not shown.facts["changed"]:
        return ""
    listed = " ".join(as_read(x) for x in shown.facts["given"])
    told = {"low": SMALLEST, "high": LARGEST, "pairs": shown.parameters["d"] // 2, "used": Raw(listed)}
    return words("long.changed", **told)


def chart(shown: Result, words: Words) -> Chart:
    """How many positions a turn of each pair takes, before and after. Guides are named on the left: fast pairs lie below."""
    p, ways = shown.parameters, shown.facts["ways"]
    series = [Curve(words.plain(f"long.way.{name}"), way["waves"]) for name, way in ways.items()]
    x, longest = np.arange(1, p["d"] // 2 + 1), p["trained"] * p["factor"]
    guides = [
        Guide(
            words.plain("long.guide.trained", length=p["trained"]),
            np.full(len(x), p["trained"]),
            at_start=True,
        ),
        Guide(words.plain("long.guide.long", length=longest), np.full(len(x), longest), at_start=True),
    ]
    slowest = 2 * np.pi * p["base"] * 32  # the slowest pair of any width, 32 times slower
    drawn = curves(
        x,
        series,
        Axis(words.plain("long.axis.pair"), (0.5, len(x) + 0.5)),
        Axis(words.plain("long.axis.wave"), (1.0, float(slowest)), log=10, format="~s"),
        guides=guides,
        height=HEIGHT,
    )
    return thin(drawn)


def far(shown: Result, words: Words) -> Chart:
    """The fitted head's score by distance under each method, on a logarithmic scale of distance."""
    p, facts = shown.parameters, shown.facts
    series = [Curve(words.plain(f"long.way.{name}"), way["scores"]) for name, way in facts["ways"].items()]
    low, high = SCORES[p["head"]]
    title = words.plain("long.axis.score", low=int(low), high=int(high))
    drawn = curves(
        facts["distances"],
        series,
        Axis(words.plain("axis.distance"), (1.0, 32.0 * p["trained"]), log=2, format=","),
        Axis(title, (low, high)),
        marker=Marker(words.plain("long.marker"), p["trained"]),
        height=HEIGHT,
    )
    return thin(drawn)


def table(shown: Result, words: Words) -> str:
    """One line a method: how much slower, which pairs meet new angles, how far the scores go, what neighbours keep."""
    columns = ("fast", "slow", "unseen", "attention", "near", "outside")
    heads = [words(f"long.head.{name}") for name in ("way", *columns)]
    lines = ["| " + " | ".join(heads) + " |", "|:--" + "|--:" * len(columns) + "|"]
    for name, way in shown.facts["ways"].items():
        values = way | {"near": way["range"].near, "outside": 100 * way["range"].outside}
        cells = [as_read(values[key]) + (" %" if key == "outside" else "") for key in columns]
        lines.append(f"| {words(f'long.way.{name}')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def notices(shown: Result, words: Words) -> list[str]:
    """What to notice: the pairs that never turned once, what plain RoPE does out there, and each method's bargain."""
    p, facts = shown.parameters, shown.facts
    ways, longest = facts["ways"], p["trained"] * p["factor"]
    told = {"pairs": p["d"] // 2, "slow": facts["slow_pairs"], "trained": p["trained"], "longest": longest}
    told |= {"s": p["factor"], "d": p["d"], "kept": facts["kept"], "stretched": facts["stretched"]}
    told |= {
        "ramp": p["d"] // 2 - facts["kept"] - facts["stretched"],
        "plain_near": ways["plain"]["range"].near,
    }
    said = [words("long.notice.slow", **told)]
    for name, way in ways.items():
        found = way["range"]
        told |= {"unseen": way["unseen"], "attention": way["attention"], "square": way["attention"] ** 2}
        told |= {"outside": 100 * found.outside, "near": found.near}
        told |= {"low": found.low, "high": found.high, "least": found.least, "most": found.most}
        key = "plain_calm" if name == "plain" and not found.outside else name
        said.append(words(f"long.notice.{key}", **told))
    return said


def chart_summary(shown: Result, words: Words) -> str:
    """The wavelengths in one line of plain text."""
    ways = shown.facts["ways"]
    each = (f"{words.plain(f'long.way.{n}')} {as_read(w['waves'][-1])}" for n, w in ways.items())
    return words.plain("long.chart_summary", each=listed(each, words.lang, long=True))


def far_summary(shown: Result, words: Words) -> str:
    """The scores far out in one line of plain text."""
    ways = shown.facts["ways"]
    shares = (
        f"{words.plain(f'long.way.{n}')} {as_read(100 * w['range'].outside)} %" for n, w in ways.items()
    )
    return words.plain("long.far_summary", each=listed(shares, words.lang, long=True))
