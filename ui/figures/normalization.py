"""One batch and what three norms make of it, each with its means and variances as margins; the story of each number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.block.normalization import NormTrace, batch_norm, layer_norm, moments, rms_norm
from core.block.toy_batch import toy_batch
from ui.cached import cached
from ui.figures.matrices import matrix_of
from ui.formulas import bracketed, sum_of_numbers
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.source import line_that_makes
from ui.words import Raw, Words, quote

KINDS = ("layer", "rms", "batch")
STEPS = ("x", *KINDS)
MARGINS = ("μ", "σ²")
SPREAD = 3.0  # where the colours end: three standard deviations of a normalised number
DIGITS = 7  # decimals beyond which a difference is rounding, made larger by a small ε
MOST = 24  # tokens
SETTINGS = ("d", "shift", "scale", "outlier", "row", "col", "gamma", "beta", "eps", "seed")


@dataclass(frozen=True)
class Batch:
    """The tokens of all sentences under each other, and which sentence each comes from (from 1)."""

    tokens: tuple[str, ...]
    sentences: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Sentence and token of every row."""
        return tuple(f"{s}·{token}" for s, token in zip(self.sentences, self.tokens, strict=True))

    def first(self, count: int) -> Batch:
        """The first tokens only."""
        return Batch(self.tokens[:count], self.sentences[:count])


def batch_of(sentences: tuple[tuple[str, ...], ...]) -> Batch:
    """All tokens of the sentences, one row each."""
    pairs = [(token, s + 1) for s, tokens in enumerate(sentences) for token in tokens]
    return Batch(tuple(token for token, _ in pairs), tuple(s for _, s in pairs))


def norms_of(x: Tensor, p: Mapping[str, Any]) -> dict[str, NormTrace]:
    """The three norms of a batch [N, d] under the page's γ, β and ε, the same for every feature."""
    gamma, beta = (torch.full((x.shape[-1],), p[name], dtype=x.dtype) for name in ("gamma", "beta"))
    eps = float(p["eps"])
    return {
        "layer": layer_norm(x, gamma, beta, eps),
        "rms": rms_norm(x, gamma, eps),
        "batch": batch_norm(x, gamma, beta, eps),
    }


def remarks(batch: Batch, values: Mapping[str, Any], words: Words) -> list[str]:
    """What of the controls finds no place in the batch."""
    told, found = [], len(batch.tokens)
    if found > MOST:
        told.append(words("remark.more", count=found, limit=MOST))
    if found < values["tokens"]:
        told.append(words("remark.fewer", count=found))
    n, d = min(found, values["tokens"]), values["d"]
    if values["row"] > n or values["col"] > d:
        place = {"row": values["row"], "col": values["col"], "n": n, "d": d}
        used = {"i": min(values["row"], n), "c": min(values["col"], d)}
        told.append(words("remark.place", **place, **used))
    return told


@cached(max_entries=512)
def compute(tokens: tuple[str, ...], sentences: tuple[int, ...], settings: tuple) -> Result:
    """The batch, the three norms, and what they would be without the outlier. `settings` as in SETTINGS."""
    p = dict(zip(SETTINGS, settings, strict=True))
    batch, d = Batch(tokens, sentences), p["d"]
    p["row"], p["col"] = min(p["row"], len(tokens)), min(p["col"], d)
    place = p["row"] - 1, p["col"] - 1
    x = toy_batch(tokens, p["seed"], d, p["shift"], p["scale"], p["outlier"], *place)
    clean = toy_batch(tokens, p["seed"], d, p["shift"], p["scale"])
    traces, before = norms_of(x, p), norms_of(clean, p)
    outputs = {"x": x} | {kind: trace.output for kind, trace in traces.items()}
    rows, columns = (*batch.labels, *MARGINS), (*map(str, range(1, d + 1)), *MARGINS)
    arrays = {
        name: Array(with_margins(value), rows, columns, ("token", "feature"))
        for name, value in outputs.items()
    }
    corner = np.zeros((len(rows), len(columns)), dtype=bool)
    corner[-2:, -2:] = True
    facts = {
        "e": toy_batch(tokens, p["seed"], d).numpy(),
        "clean": {kind: trace.output.numpy() for kind, trace in before.items()},
        "mean": {kind: trace.mean.flatten().numpy() for kind, trace in traces.items()},
        "variance": {kind: trace.variance.flatten().numpy() for kind, trace in traces.items()},
        "x": x.numpy(),
        "square": {name: value.square().mean(-1).numpy() for name, value in outputs.items()},
    }
    told = p | {"tokens": tokens, "sentences": sentences, "eps": float(p["eps"])}
    return Result(told, arrays, facts, corner, {name: tuple(x.shape) for name in arrays})


def with_margins(x: Tensor) -> np.ndarray:
    """x [N, d] with μ and σ² of its rows on the right and of its columns below; NaN where the margins cross."""
    found = moments(x)
    whole = np.full((x.shape[0] + 2, x.shape[1] + 2), np.nan)
    whole[:-2, :-2] = x.numpy()
    whole[:-2, -2], whole[:-2, -1] = found.token_mean.numpy(), found.token_variance.numpy()
    whole[-2, :-2], whole[-1, :-2] = found.feature_mean.numpy(), found.feature_variance.numpy()
    return whole


def steps(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The batch and the three norms of it in one row, all of one size and on one scale."""
    return (tuple(_matrix(name, result, words) for name in STEPS),)


def one_step(name: str, result: Result, words: Words) -> Matrix:
    """One matrix, to be set beside the same matrix of another result."""
    return _matrix(name, result, words)


def numbers(result: Result, words: Words) -> dict[str, float]:
    """The numbers by which two results are compared, under their labels."""
    values = {"variance": float(result.facts["x"].var())}
    for kind in KINDS:
        values[f"largest_{kind}"] = float(np.abs(inner(result, kind)).max())
    values["rms_mean"] = float(np.abs(margin(result, "rms", "token", 0)).max())
    return {words(f"number.{name}"): value for name, value in values.items()}


def inner(result: Result, name: str) -> np.ndarray:
    """One matrix [N, d] without its margins."""
    return result.values(name)[:-2, :-2]


def margin(result: Result, name: str, by: str, which: int) -> np.ndarray:
    """Mean (0) or variance (1) of every token [N] or of every feature [d]."""
    values = result.values(name)
    return values[:-2, which - 2] if by == "token" else values[which - 2, :-2]


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    n, d = result.shape("x")
    return titled(
        name,
        result,
        words,
        identity="residual" if name == "x" else "norm",
        hidden=result.hidden,
        hidden_as=words.plain("hidden.corner"),
        note=words.plain(f"note.{name}", n=n, d=d),
    )


def power(value: float) -> Raw:
    """A small number as LaTeX."""
    text = f"{value:g}"
    base, _, exponent = text.partition("e")
    return Raw(f"10^{{{int(exponent)}}}" if exponent and base == "1" else text)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made: the formula, then the formula with the numbers on screen."""
    name, i, j = cell
    n, d = result.shape("x")
    if i >= n and j >= d:
        return words("why.corner")
    if i >= n or j >= d:
        return _why_margin(result, cell, words)
    return why_output(result, name, i, j, words)


def why_output(result: Result, name: str, i: int, j: int, words: Words) -> str:
    """The story of a number of the batch or of one of its norms."""
    p, facts = result.parameters, result.facts
    n, d = facts["x"].shape
    told = {"i": i + 1, "token": p["tokens"][i], "c": j + 1, "d": d, "n": n}
    told["value"] = round(float(result.values(name)[i, j]), DIGITS)
    x = facts["x"]
    if name == "x":
        here = p["outlier"] and (i + 1, j + 1) == (p["row"], p["col"])
        told |= {"e": bracketed(facts["e"][i, j]), "shift": bracketed(p["shift"]), "scale": p["scale"]}
        told["outlier"] = bracketed(float(p["outlier"]))
        return words("why.x_outlier" if here else "why.x", **told)
    at = j if name == "batch" else i
    line = x[:, j] if name == "batch" else x[i]
    told |= {"x": x[i, j], "eps": power(p["eps"]), "gamma": p["gamma"], "beta": bracketed(p["beta"])}
    told |= {"mu": facts["mean"][name][at], "variance": facts["variance"][name][at]}
    told["mean"] = bracketed(told["mu"])
    terms = line**2 if name == "rms" else line
    told["sum"] = sum_of_numbers(terms, 4)
    return words(f"why.{name}", **told)


def _why_margin(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """A mean or a variance of a row or of a column."""
    name, i, j = cell
    n, d = result.shape("x")
    values, p = inner(result, name), result.parameters
    by, which = ("token", j - d) if i < n else ("feature", i - n)
    line = values[i] if by == "token" else values[:, j]
    what = ("mean", "variance")[which]
    terms = line if what == "mean" else (line - line.mean()) ** 2
    made = line_that_makes(f"{by}_{what}", "core.block.normalization.moments")
    told = {
        "matrix": Raw(words(f"title.{name}")),
        "count": len(line),
        "sum": sum_of_numbers(terms.round(DIGITS), 4),
        "value": round(float(result.values(name)[i, j]), DIGITS),
        "mean": bracketed(round(float(line.mean()), DIGITS)),
        "line": Raw(quote(made)),
    }
    told |= {"i": i + 1, "token": p["tokens"][i]} if by == "token" else {"c": j + 1}
    return words(f"why.{by}_{what}", **told)


def span(values: np.ndarray) -> Raw:
    """The smallest and the largest of some numbers, or the one number that all are."""
    low, high = (number(round(float(v), DIGITS)) for v in (np.min(values), np.max(values)))
    return Raw(low if low == high else f"{low} … {high}")


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: what each norm levels and what it leaves, and how far an outlier reaches."""
    p, (n, d) = result.parameters, result.shape("x")
    told = {"n": n, "d": d, "beta": p["beta"], "gamma": p["gamma"]}
    told["eps"] = Raw(f"${power(p['eps'])}$")
    for name, by in (("layer", "token"), ("rms", "token"), ("batch", "feature")):
        other = "feature" if by == "token" else "token"
        for which, what in enumerate(("mean", "variance")):
            told[f"{name}_{what}"] = span(margin(result, name, by, which))
            told[f"{name}_other_{what}"] = span(margin(result, name, other, which))
            told[f"{by}_{what}"] = span(margin(result, "x", by, which))
    told |= {"square": span(result.facts["square"]["x"]), "rms_square": span(result.facts["square"]["rms"])}
    if p["gamma"] == 0:
        return [words("notice.gamma_zero", **told)]
    return [
        words("notice.layer" if d > 1 else "notice.layer_one", **told),
        words("notice.rms", **told),
        words("notice.batch" if n > 1 else "notice.batch_one", **told),
        _outlier(result, words),
    ]


def moved(result: Result, kind: str) -> np.ndarray:
    """Which outputs [N, d] of one norm the outlier changes at all, bool."""
    return np.abs(inner(result, kind) - result.facts["clean"][kind]) > 10.0**-DIGITS


def _outlier(result: Result, words: Words) -> str:
    p, (n, d) = result.parameters, result.shape("x")
    if not p["outlier"]:
        return words("notice.clean")
    i, j = p["row"] - 1, p["col"] - 1
    told = {kind: int(moved(result, kind).sum()) for kind in KINDS}
    told |= {"i": i + 1, "c": j + 1, "token": p["tokens"][i], "outlier": p["outlier"], "all": n * d}
    said = words("notice.outlier", **told)
    if d < 3:
        return said
    rest = np.delete(np.arange(d), j)
    before = float(result.facts["clean"]["layer"][i, rest].std())
    after = float(inner(result, "layer")[i, rest].std())
    rest_told = words("notice.rest", before=round(before, DIGITS), after=round(after, DIGITS))
    return words.sentences((said, rest_told))


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p, (n, d) = result.parameters, result.shape("x")
    told = {name: p[name] for name in ("shift", "scale", "outlier", "row", "col", "gamma", "beta", "eps")}
    told |= {"n": n, "d": d}
    for name, by in (("layer", "token"), ("rms", "token"), ("batch", "feature")):
        told |= {
            f"{name}_mean": span(margin(result, name, by, 0)),
            f"{name}_variance": span(margin(result, name, by, 1)),
        }
    return words.plain("summary", **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    if name == "x":
        return "core.block.toy_batch.toy_batch", "x"
    return "core.block.normalization.normalize_with", "normalized"


def titled(name: str, result: Result, words: Words, **look: Any) -> Matrix:
    """A matrix in the look of this page, also of its experiments."""
    values = result.values(name).round(DIGITS)
    return matrix_of(result, name, words, limit=SPREAD, **{"values": values, "large": True} | look)
