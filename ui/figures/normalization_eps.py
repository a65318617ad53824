"""ε: how a nearly constant token comes out, and what would happen to a constant one without it."""

from __future__ import annotations

import numpy as np
import torch

from core.block.normalization import layer_norm, rms_norm
from ui.figures import charts
from ui.figures.normalization import power
from ui.numbers import number
from ui.result import Result
from ui.words import Raw, Words

SPREADS = np.linspace(-8, 1, 37)  # log10 of a token's standard deviation
PATTERN = (1.0, -1.0, 1.0, -1.0)  # mean 0, variance 1
COMPARED = (1e-12, 1e-5, 0.1)
TICKS = (1e-8, 1e-6, 1e-4, 1e-2, 1.0)
CONSTANT = {"twos": (2.0, 2.0, 2.0, 2.0), "zeros": (0.0, 0.0, 0.0, 0.0)}  # exact in every format


def out(spread: np.ndarray, eps: float) -> np.ndarray:
    """Standard deviation after LayerNorm of tokens with these standard deviations, 10 to the power of `spread`."""
    x = torch.from_numpy(10.0 ** np.atleast_1d(spread))[:, None] * torch.tensor(PATTERN, dtype=torch.float64)
    return layer_norm(x, eps=eps).output.std(-1, correction=0).numpy()


def chart(result: Result, spread: float, words: Words) -> charts.Chart:
    """Spread after against spread before, for the page's ε and three that are in use or too large."""
    eps = float(result.parameters["eps"])
    series = {f"ε = {e:g}".replace("e-0", "e-"): e for e in sorted({*COMPARED, eps})}
    return charts.curves(
        10.0**SPREADS,
        [charts.Curve(name, out(SPREADS, e)) for name, e in series.items()],
        charts.Axis(words.plain("eps.axis_x"), (1e-8, 10.0), log=10, ticks=TICKS, format=".0e"),
        charts.Axis(words.plain("eps.axis_y"), (0.0, 1.2), ticks=(0, 0.2, 0.4, 0.6, 0.8, 1)),
        marker=charts.Marker(words.plain("eps.marker"), float(10.0**spread)),
    )


def summary(result: Result, spread: float, words: Words) -> str:
    """The chart as text."""
    eps = float(result.parameters["eps"])
    return words.plain("eps.summary", before=10.0**spread, after=float(out(spread, eps)[0]), eps=eps)


def notices(result: Result, spread: float, words: Words) -> list[str]:
    """Where ε begins to be felt, and what half precision makes of a small one."""
    eps = float(result.parameters["eps"])
    told = {"before": 10.0**spread, "after": float(out(spread, eps)[0]), "root": eps**0.5}
    told["eps"] = Raw(f"${power(eps)}$")
    half = float(torch.tensor(eps, dtype=torch.float16))
    said = [words("eps.notice.curve", **told)]
    said.append(words("eps.notice.half_lost" if half == 0 else "eps.notice.half", half=half, **told))
    return [*said, words("eps.notice.used")]


def table(result: Result, words: Words) -> str:
    """Constant tokens through LayerNorm and RMSNorm, without ε and with it, without γ and β."""
    eps = float(result.parameters["eps"])
    rows = {}
    for name, token in CONSTANT.items():
        x = torch.tensor(token, dtype=torch.float64)
        for kind, norm in (("layer", layer_norm), ("rms", rms_norm)):
            rows[f"{name}_{kind}"] = number(float(norm(x, eps=0.0).output[0]))
            rows[f"{name}_{kind}_eps"] = number(float(norm(x, eps=eps).output[0]))
    return words("eps.table", eps=Raw(f"${power(eps)}$"), **{k: Raw(v) for k, v in rows.items()})
