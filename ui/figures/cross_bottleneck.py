"""The fixed vector of the RNN encoder-decoder against cross-attention: what is left of each source token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from core.attention.recurrent import attention_influence, recurrent_encoder, toy_recurrent
from ui.figures.charts import Axis, Chart, bars
from ui.figures.cross_attention import token
from ui.result import Result
from ui.words import Words


@dataclass(frozen=True, eq=False)
class Influence:
    """Shares of the influence of each real source token; each sums to 1."""

    row: int
    recurrent: np.ndarray  # [S]  on the last state of the recurrent encoder
    attention: np.ndarray  # [S]  on what cross-attention gives the query of that row
    width: int  # numbers in the fixed vector, and in an embedding


def measure(result: Result, row: int, gain: float) -> Influence:
    """From the reader's source: derivatives of the last state, and of one row of the output."""
    row = min(row, len(result.parameters["target"]) - 1)
    real = result.facts["real"]
    x = torch.from_numpy(result.facts["x_source"][:real].copy())  # [S, d_in]: padding is not read by the RNN
    learned = toy_recurrent(result.parameters["seed"], x.shape[1], gain)
    q, v, weights = (torch.from_numpy(result.values(name).copy()) for name in ("q", "v", "weights"))
    w_k, w_v = (torch.from_numpy(result.facts[name].copy()) for name in ("w_k", "w_v"))
    attended = attention_influence(q[row], v, weights[row], w_k, w_v, result.facts["scale"])[:real]
    shares = (_shares(given.numpy()) for given in (recurrent_encoder(x, learned).influence, attended))
    return Influence(row, *shares, width=x.shape[1])


def _shares(influence: np.ndarray) -> np.ndarray:
    return influence / influence.sum()


def chart(result: Result, found: Influence, words: Words) -> Chart:
    """Bars of both shares over the source's tokens."""
    source = result.parameters["source"]
    labels = [token(source, j) for j in range(len(source))]
    series = {words.plain("neck.series.recurrent"): found.recurrent}
    name = words.plain("neck.series.attention", i=found.row + 1, query=result.parameters["target"][found.row])
    series[name] = found.attention
    return bars(labels, series, words.plain("axis.key"), Axis(words.plain("neck.axis"), (0, 1)))


def notices(result: Result, found: Influence, gain: float, words: Words) -> list[str]:
    """What to notice: how much room there is, what is left of the first token, and what this does not prove."""
    source, dk = result.parameters["source"], result.parameters["dk"]
    n = len(source)
    told = {"n": n, "width": found.width, "numbers": n * found.width, "kept": 2 * n * dk, "dk": dk}
    told |= {"gain": gain, "first": source[0], "last": source[-1], "i": found.row + 1}
    told |= {"query": result.parameters["target"][found.row]}
    told |= {"rnn_first": found.recurrent[0], "rnn_last": found.recurrent[-1]}
    told |= {"attention_first": found.attention[0], "steps": n + found.row}
    return [
        words("neck.notice.room", **told),
        words("neck.notice.fades" if n > 1 else "neck.notice.single", **told),
        words("neck.notice.path", **told),
        words("neck.notice.honest"),
    ]


def summary(result: Result, found: Influence, words: Words) -> str:
    """The chart in one line of plain text."""
    source = result.parameters["source"]
    return words.plain(
        "neck.summary",
        n=len(source),
        first=source[0],
        recurrent=found.recurrent[0],
        attention=found.attention[0],
        i=found.row + 1,
    )
