"""Why the scores are divided by √d_k: variance, entropy and gradient over d_k, with and without the division."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from core.attention.saturation import SaturationTrace, Spread, saturation
from ui.cached import cached
from ui.figures.charts import Axis, Chart, Curve, Guide, Marker, curves
from ui.words import Words

DRAWN = tuple(2**n for n in range(11))  # the widths that get a point
MEASURED = (*range(1, 65), *DRAWN[7:])  # and every width that the page's own slider can have
MOST_KEYS = 32
QUANTITIES = ("variance", "entropy", "gradient")


@dataclass(frozen=True)
class Measured:
    """The same draws without and with the division."""

    plain: SaturationTrace
    scaled: SaturationTrace
    keys: int
    draws: int

    def mean(self, quantity: str, d_k: int, scaled: bool) -> float:
        """A quantity's mean over the draws at one width."""
        trace = self.scaled if scaled else self.plain
        return float(_spread(trace, quantity).mean[MEASURED.index(d_k)])


@cached(max_entries=64)
def measure(draws: int, keys: int, seed: int) -> Measured:
    """The experiment at every width, both ways."""
    plain, scaled = (saturation(MEASURED, draws, keys, seed, scaled) for scaled in (False, True))
    return Measured(plain, scaled, keys, draws)


def charts(measured: Measured, dk: int, words: Words) -> dict[str, Chart]:
    """One chart for each quantity; `dk` is where the page stands now."""
    return {quantity: _chart(quantity, measured, dk, words) for quantity in QUANTITIES}


def _chart(quantity: str, measured: Measured, dk: int, words: Words) -> Chart:
    x = np.array(DRAWN, dtype=float)
    places = [MEASURED.index(d_k) for d_k in DRAWN]
    series = [
        _curve(words.plain(f"sat.series.{name}"), _spread(trace, quantity), places)
        for name, trace in (("plain", measured.plain), ("scaled", measured.scaled))
    ]
    limits = {
        "variance": Axis(
            words.plain("sat.axis.variance"), (0.1, 4000), log=10, ticks=(0.1, 1, 10, 100, 1000)
        ),
        "entropy": Axis(words.plain("sat.axis.entropy"), (0, math.log(MOST_KEYS) + 0.35)),
        "gradient": Axis(words.plain("sat.axis.gradient"), (0, 0.28)),
    }
    guides = {
        "variance": [
            Guide(words.plain("sat.guide.plain"), x),
            Guide(words.plain("sat.guide.scaled"), np.ones_like(x)),
        ],
        "entropy": [
            Guide(
                words.plain("sat.guide.entropy", keys=measured.keys), np.full_like(x, math.log(measured.keys))
            )
        ],
        "gradient": [Guide(words.plain("sat.guide.gradient"), np.full_like(x, 0.25))],
    }
    return curves(
        x,
        series,
        Axis("d_k", (1, 1024), log=2, ticks=DRAWN[::2]),
        limits[quantity],
        guides=guides[quantity],
        marker=Marker(words.plain("sat.marker", dk=dk), dk),
    )


def _spread(trace: SaturationTrace, quantity: str) -> Spread:
    return trace.largest_gradient if quantity == "gradient" else getattr(trace, quantity)


def _curve(name: str, spread: Spread, places: list[int]) -> Curve:
    return Curve(name, *(part.numpy()[places] for part in (spread.mean, spread.low, spread.high)))


def notices(measured: Measured, dk: int, words: Words) -> list[str]:
    """What to notice, with the numbers of these draws."""
    widest = DRAWN[-1]
    entropy, scaled_entropy = (measured.mean("entropy", widest, scaled) for scaled in (False, True))
    gradients = [measured.mean("gradient", d_k, False) for d_k in DRAWN]
    peak = int(np.argmax(gradients))
    return [
        words(
            "sat.notice.variance",
            dk=dk,
            draws=measured.draws,
            plain=measured.mean("variance", dk, False),
            scaled=measured.mean("variance", dk, True),
        ),
        words(
            "sat.notice.entropy",
            widest=widest,
            keys=measured.keys,
            entropy=entropy,
            effective=math.exp(entropy),
            scaled=scaled_entropy,
            scaled_effective=math.exp(scaled_entropy),
        ),
        words(
            "sat.notice.peak" if peak else "sat.notice.falls",
            keys=measured.keys,
            first=gradients[0],
            peak=DRAWN[peak],
            highest=gradients[peak],
            widest=widest,
            last=gradients[-1],
            scaled=measured.mean("gradient", widest, True),
        ),
    ]


def summary(quantity: str, measured: Measured, words: Words) -> str:
    """One chart in one line of plain text."""
    ends = {
        f"{name}_{end}": measured.mean(quantity, d_k, name == "scaled")
        for name in ("plain", "scaled")
        for end, d_k in (("first", DRAWN[0]), ("last", DRAWN[-1]))
    }
    return words.plain("sat.summary", quantity=words.plain(f"sat.axis.{quantity}"), **ends)
