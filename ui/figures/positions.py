"""The picture of positions: what a scheme adds, turns or subtracts, the scores and weights it leads to, and the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import torch

from core.attention import masks
from core.attention.toy import ToyInputs, seeded
from core.block.position_schemes import PlaceTest, place_test, untrained_table
from ui.figures.charts import Chart
from ui.figures.matrices import axis_titles, matrix_of
from ui.formulas import bracketed, sum_of_exponentials, sum_of_products
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

D_MODEL = 16
TABLE = 64  # rows of the learned table
BASE = 10000.0
FURTHER = 10  # places by which a text at the beginning is moved on, to see whether that matters
ROUNDING = 1e-9  # a difference below this is the arithmetic's
SMALL_POINT = 14
SPREAD = 3.0  # standard deviations that the colours of unit-variance numbers reach
LOGITS = 4.0  # what softmax should meet
CARRIES = {"sinusoidal": "pe", "learned": "lp", "rope": "tq", "alibi": "bias"}  # where a scheme can be seen


def place_in(scheme: str, start: int, tokens: int) -> int:
    """Where the text starts: where the reader wants it, or the last place that the learned table has room for."""
    return min(start, TABLE - tokens) if scheme == "learned" else start


def learned_table(seed: int) -> torch.Tensor:
    """The table [64, 16] of a seed. Nothing has trained it."""
    return untrained_table(TABLE, D_MODEL, seeded("position table", seed))


def compute(
    toy: ToyInputs, tokens: Sequence[str], scheme: str, start: int, head: int, mask: str, seed: int
) -> Result:
    """Attention over the tokens from place `start` on, without places, and with the text moved."""
    t, dk = len(tokens), toy.q.shape[1]
    start = place_in(scheme, start, t)
    elsewhere = 0 if start else FURTHER
    allowed = masks.causal(t) if mask == "causal" else torch.ones(t, t, dtype=torch.bool)
    test = place_test(
        toy.x,
        toy.w_q,
        toy.w_k,
        toy.w_v,
        scheme,
        start,
        elsewhere,
        allowed,
        learned_table(seed),
        head - 1,
    )
    facts = {
        "w_q": toy.w_q.numpy(),
        "w_k": toy.w_k.numpy(),
        "scale": test.shown.attention.scale,
        "scaled": test.shown.attention.scaled.numpy(),
        "plain_scaled": test.plain.attention.scaled.numpy(),
        "plain": test.plain.attention.weights.numpy(),
        "twins": twins(tokens, test),
        "moved": float(test.moved.abs().max()),
        "change": float(test.change.abs().max()),
        "distance": mean_distance(test.shown.attention.weights.numpy()),
        "plain_distance": mean_distance(test.plain.attention.weights.numpy()),
    }
    settings = {"tokens": tuple(tokens), "scheme": scheme, "start": start, "head": head, "dk": dk}
    settings |= {"mask": mask, "seed": seed, "elsewhere": elsewhere}
    return Result(
        settings, arrays_of(toy, test, scheme, tuple(tokens), start), facts, hidden=~allowed.numpy()
    )


def arrays_of(
    toy: ToyInputs, test: PlaceTest, scheme: str, tokens: tuple[str, ...], start: int
) -> dict[str, Array]:
    """Every matrix that the scheme has, in the order of the computation."""
    shown, places = test.shown, tuple(f"t = {start + i}" for i in range(len(tokens)))
    arrays = {"x": Array.of(toy.x, tokens, axes=("token", "feature"))}
    if shown.added is not None:
        name = CARRIES[scheme]
        arrays[name] = Array.of(shown.added, places, axes=("token", "feature"))
        arrays["xp"] = Array.of(shown.x, tokens, axes=("token", "feature"))
    arrays["q"] = Array.of(shown.q, tokens, axes=("query", "feature"))
    arrays["k"] = Array.of(shown.k, tokens, axes=("key", "feature"))
    if shown.turned_q is not None:
        arrays["tq"] = Array.of(shown.turned_q, tokens, axes=("query", "feature"))
        arrays["tk"] = Array.of(shown.turned_k, tokens, axes=("key", "feature"))
    pairs = {"bias": shown.bias, "scores": shown.attention.masked, "weights": shown.attention.weights}
    pairs["change"] = test.change
    return arrays | {
        name: Array.of(values, tokens, tokens, axes=("query", "key"))
        for name, values in pairs.items()
        if values is not None
    }


def twins(tokens: Sequence[str], test: PlaceTest) -> tuple[int, int, float, float] | None:
    """The first two places with the same token, and how far their rows of weights differ with and without places."""
    for i, j in combinations(range(len(tokens)), 2):
        if tokens[i] == tokens[j]:
            rows = (one.attention.weights for one in (test.shown, test.plain))
            return i, j, *(float((w[i] - w[j]).abs().max()) for w in rows)
    return None


def mean_distance(weights: np.ndarray) -> float:
    """How far away a query looks, on average: Σ a_ij |i − j| / T."""
    place = np.arange(len(weights))
    return float((weights * np.abs(place[:, None] - place)).sum() / len(weights))


def steps(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """The inputs above; below what carries the places, the scores, the weights, and what the places changed."""
    scheme = result.parameters["scheme"]
    first = {"rope": ("tq", "tk"), "none": ()}.get(scheme, (CARRIES.get(scheme, ""),))
    main = (*first, "scores", "weights", *(() if scheme == "none" else ("change",)))
    above = tuple(name for name in ("x", "xp", "q", "k") if name in result.arrays)
    return tuple(_matrix(n, result, words) for n in above), tuple(_matrix(n, result, words) for n in main)


def one_step(name: str, result: Result, words: Words) -> Matrix:
    """One matrix, to be set beside that of another result; the weights for a matrix that not every scheme has."""
    name = name if name in ("x", "q", "k", "scores", "weights", "change") else "weights"
    return replace(_matrix(name, result, words), arrow="")


def numbers(result: Result, words: Words) -> dict[str, float]:
    """The numbers by which two results are compared, under their labels."""
    facts = result.facts
    values = {name: _settled(facts[name]) for name in ("change", "moved", "distance")}
    if facts["twins"]:
        values["twins"] = _settled(facts["twins"][2])
    return {words(f"number.{name}"): value for name, value in values.items()}


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    array = result.arrays[name]
    titles = ["position" if name in ("pe", "lp") else array.axes[0], array.axes[1]]
    return matrix_of(
        result,
        name,
        words,
        values=array.values.round(12) if name == "change" else array.values,
        fill="weight" if name == "weights" else "signed",
        limits=_limits(name),
        axis_titles=axis_titles(titles, words),
        identity={"x": "residual", "xp": "residual", "q": "q", "k": "k", "tq": "q", "tk": "k"}.get(name, ""),
        hidden=result.hidden if name == "scores" else None,
        note=_note(name, result, words),
        arrow=_arrow(name, result, words),
    )


def _limits(name: str) -> tuple[float, float]:
    if name in ("weights", "change"):
        return (0.0, 1.0) if name == "weights" else (-1.0, 1.0)
    largest = {"scores": LOGITS, "bias": LOGITS, "pe": 1.0}.get(name, SPREAD)
    return (-largest, largest)


def _note(name: str, result: Result, words: Words) -> str:
    if name == "bias":
        return words.plain("note.bias", head=result.parameters["head"], slope=_slope(result))
    return " × ".join(map(str, result.values(name).shape))


def _arrow(name: str, result: Result, words: Words) -> str:
    scheme = result.parameters["scheme"]
    if name == "scores" and scheme != "none":
        return words.plain(f"arrow.scores_{scheme}")
    return words.plain(f"arrow.{name}") if name in ("weights", "change") else ""


def _slope(result: Result) -> float:
    return 2.0 ** -result.parameters["head"]


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made: the formula, then the formula with the numbers on screen."""
    name, row, column = cell
    p = result.parameters
    told = {"i": row + 1, "query": p["tokens"][row], "value": result.values(name)[row, column]}
    told |= {"t": p["start"] + row, "d": D_MODEL, "dk": p["dk"], "head": p["head"], "slope": _slope(result)}
    if result.arrays[name].axes[1] == "key":
        return _why_pair(result, name, row, column, words, told)
    told["c"] = column + 1
    if name == "pe":
        told |= {"pair": column // 2 + 1, "pe": pe_formula(p["start"] + row, column, D_MODEL, BASE)}
    if name == "xp":
        given = "pe" if p["scheme"] == "sinusoidal" else "lp"
        told |= {
            "x": result.values("x")[row, column],
            "added": bracketed(result.values(given)[row, column]),
        }
    if name in ("q", "k"):
        x = result.values("xp" if "xp" in result.arrays else "x")[row]
        told["sum"] = sum_of_products(x, result.facts[f"w_{name}"][:, column])
        told["letter"], told["capital"] = Raw(name), Raw(name.upper())
    if name in ("tq", "tk"):
        return words("why.turned", **told, **_turn(result, name[1], row, column))
    return words(f"why.{name}", **told)


def pe_formula(t: int, column: int, d: int, base: float) -> Raw:
    """sin or cos of t divided by the power of the base that belongs to a column, as LaTeX."""
    wave = r"\cos" if column % 2 else r"\sin"
    return Raw(rf"{wave}\frac{{{t}}}{{{base:g}^{{{column // 2 * 2}/{d}}}}}")


def _turn(result: Result, letter: str, row: int, column: int) -> dict:
    """What the story of a turned component tells: its pair, the angle, and both members before the turn."""
    p, half = result.parameters, result.parameters["dk"] // 2
    pair = column % half
    theta = BASE ** (-2 * pair / p["dk"])
    y, first = result.values(letter)[row], column < half
    one, other = (y[pair], y[pair + half]) if first else (y[pair + half], y[pair])
    told = {"letter": Raw(letter), "pair": pair + 1, "a": pair + 1, "b": pair + half + 1, "theta": theta}
    told |= {"angle": (p["start"] + row) * theta, "one": bracketed(one), "other": bracketed(other)}
    return told | {
        "one_at": column + 1,
        "other_at": pair + half + 1 if first else pair + 1,
        "sign": Raw("-" if first else "+"),
    }


def _why_pair(result: Result, name: str, row: int, column: int, words: Words, told: dict) -> str:
    p, facts, hidden = result.parameters, result.facts, result.hidden[row, column]
    told |= {"j": column + 1, "key": p["tokens"][column], "distance": abs(row - column)}
    if hidden and name in ("scores", "weights", "change"):
        return words("why.hidden", **told)
    if name == "scores":
        pair = ("tq", "tk") if "tq" in result.arrays else ("q", "k")
        told["sum"] = sum_of_products(result.values(pair[0])[row], result.values(pair[1])[column])
        if "bias" in result.arrays:
            told |= {"scaled": facts["scaled"][row, column]}
            told["bias"] = bracketed(result.values("bias")[row, column])
        key = {"alibi": "why.scores_alibi", "rope": "why.scores_rope"}.get(p["scheme"], "why.scores")
        return words(key, apart=row - column, **told)
    if name == "weights":
        logits = result.values("scores")[row]
        seen = logits[np.isfinite(logits)]
        return words(
            "why.weights", score=logits[column], sum=sum_of_exponentials(seen), visible=len(seen), **told
        )
    if name == "change":
        told |= {"after": result.values("weights")[row, column]}
        told |= {"before": facts["plain"][row, column], "value": _settled(told["value"])}
    return words(f"why.{name}", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: what the scheme does, equal tokens, moving the whole text, and how far queries look."""
    p, facts = result.parameters, result.facts
    scheme, t = p["scheme"], len(p["tokens"])
    told = {"tokens": t, "d": D_MODEL, "dk": p["dk"], "head": p["head"], "slope": _slope(result)}
    told |= {"start": p["start"], "last": p["start"] + t - 1, "change": facts["change"], "table": TABLE}
    causal = p["mask"] == "causal"
    if t == 1:
        return [words("notice.one_token")]
    said = [words(f"notice.{scheme}" + ("_causal" if scheme == "none" and causal else ""), **told)]
    if scheme == "alibi":
        said.append(words("notice.reach", distance=facts["distance"], plain=facts["plain_distance"], **told))
    said += [_twins_told(result, words)] if facts["twins"] else []
    if scheme != "none":
        key = "notice.moves" if facts["moved"] > ROUNDING else "notice.stays"
        reason = words(f"notice.because_{scheme}")
        where = {"elsewhere": p["elsewhere"], "start": p["start"]}
        said.append(words(key, moved=facts["moved"], reason=Raw(reason), **where))
    return said


def _twins_told(result: Result, words: Words) -> str:
    i, j, shown, plain = result.facts["twins"]
    p = result.parameters
    told = {"token": p["tokens"][i], "i": i + 1, "j": j + 1, "shown": shown, "plain": plain}
    if shown <= ROUNDING:
        return words("notice.twins_equal", **told)
    if p["scheme"] == "none":
        return words("notice.twins_mask", **told)
    return words("notice.twins_differ" if plain <= ROUNDING else "notice.twins_both", **told)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p, facts = result.parameters, result.facts
    return words.plain(
        "summary",
        scheme=words.plain(f"choice.scheme.{p['scheme']}"),
        mask=words.plain(f"choice.mask.{p['mask']}"),
        tokens=len(p["tokens"]),
        start=p["start"],
        change=_settled(facts["change"]),
        moved=_settled(facts["moved"]),
        by=p["elsewhere"],
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    schemes = "core.block.position_schemes"
    special = {
        "x": ("core.attention.toy.toy_inputs", "x"),
        "pe": ("core.block.positions.sinusoidal", "pairs"),
        "lp": (f"{schemes}.attend_at", "added"),
        "xp": (f"{schemes}.attend_at", "x"),
        "tq": ("core.block.rope.apply_rope", "turned"),
        "tk": ("core.block.rope.apply_rope", "turned"),
        "bias": (f"{schemes}.attend_at", "bias"),
        "scores": ("core.attention.dot_product.attention", "masked"),
        "weights": ("core.attention.dot_product.attention", "softmaxed"),
        "change": (f"{schemes}.place_test", "change"),
    }
    return special.get(name, (f"{schemes}.attend_at", name))


def thin(chart: Chart) -> Chart:
    """The chart with small points, where many of them make a line."""
    layers = [
        layer | {"mark": layer["mark"] | {"size": SMALL_POINT}} if layer["mark"]["type"] == "point" else layer
        for layer in chart.spec["layer"]
    ]
    return replace(chart, spec=chart.spec | {"layer": layers})


def _settled(value: float) -> float:
    """A number without the arithmetic's rounding."""
    return 0.0 if abs(value) < ROUNDING else float(value)
