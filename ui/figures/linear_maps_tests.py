"""Is it linear: the two conditions on two vectors and a number, as pictures and as numbers."""

from __future__ import annotations

import numpy as np

from ui.figures.charts import Chart, as_read
from ui.figures.plane import GREY, Arrow, Shape, accent, coordinates, plane, settled
from ui.result import Result
from ui.words import Raw, Words

HALF = 5.0  # units above and below the origin that are drawn
HEIGHT = 350


def points(result: Result) -> dict[str, np.ndarray]:
    """Every vector that the two tests speak of, by its name on the page."""
    m, b = result.values("m"), result.values("b")[:, 0]
    u, v, k = result.values("x")[:, 0], result.facts["v"], result.facts["k"]
    t = {"u": m @ u + b, "v": m @ v + b}
    return {
        "T(u)": t["u"],
        "T(v)": t["v"],
        "T(u+v)": m @ (u + v) + b,
        "T(u)+T(v)": t["u"] + t["v"],
        "T(ku)": m @ (k * u) + b,
        "kT(u)": k * t["u"],
        "T(0)": b,
    }


def charts(result: Result, words: Words) -> dict[str, Chart]:
    """Additivity as a parallelogram, homogeneity as two arrows on a line."""
    p = points(result)
    together, apart = words.plain("test.first"), words.plain("test.after")
    gap, given = words.plain("test.gap"), words.plain("test.given")
    colours = {given: GREY, together: accent(0), apart: accent(1), gap: accent(3)}
    frame = np.stack([np.zeros(2), p["T(u)"], p["T(u)+T(v)"], p["T(v)"], np.zeros(2)])
    additive = [
        Shape(given, frame),
        Arrow(given, tuple(p["T(u)"]), label="T(u)"),
        Arrow(given, tuple(p["T(v)"]), label="T(v)"),
        *_pair(p["T(u)+T(v)"], p["T(u+v)"], apart, together, gap),
    ]
    homogeneous = [
        Arrow(given, tuple(p["T(u)"]), label="T(u)", aside=True),
        *_pair(p["kT(u)"], p["T(ku)"], apart, together, gap),
    ]
    legend = (together, apart, gap)
    return {
        name: plane(parts, colours, half=HALF, legend=legend, dashed=(apart,), height=HEIGHT)
        for name, parts in (("additivity", additive), ("homogeneity", homogeneous))
    }


def _pair(apart: np.ndarray, together: np.ndarray, apart_name: str, together_name: str, gap: str) -> list:
    """The two sides of the equation and, where they differ, the arrow between them."""
    sides = [Arrow(together_name, tuple(together), label=""), Arrow(apart_name, tuple(apart), label="")]
    differ = np.abs(together - apart).max() > 1e-9
    return sides + ([Arrow(gap, tuple(together), tuple(apart), label="")] if differ else [])


def table(result: Result, words: Words) -> str:
    """Both sides of every condition, and whether they agree."""
    p = points(result)
    rows = [
        ("T(u + v) = T(u) + T(v)", p["T(u+v)"], p["T(u)+T(v)"]),
        (f"T({_k(result)}u) = {_k(result)} T(u)", p["T(ku)"], p["kT(u)"]),
        ("T(0) = 0", p["T(0)"], np.zeros(2)),
    ]
    lines = [
        f"| {words('test.condition')} | {words('test.left')} | {words('test.right')} | {words('test.difference')} | |",
        "|:--|:--|:--|:--|:--|",
    ]
    for name, left, right in rows:
        difference = [settled(x) for x in left - right]
        verdict = words("test.fails" if any(difference) else "test.holds")
        lines.append(
            f"| {name} | {coordinates(left)} | {coordinates(right)} | {coordinates(difference)} | {verdict} |"
        )
    return "\n".join(lines)


def notices(result: Result, words: Words) -> list[str]:
    """Whether the bias breaks the conditions, by how much, and what that means for a layer."""
    b, k = result.values("b")[:, 0], result.facts["k"]
    if not b.any():
        first = words("test.notice.linear")
    else:
        first = words(
            "test.notice.affine",
            b=Raw(coordinates(b)),
            additive=Raw(coordinates(result.facts["additivity"])),
            k=Raw(_k(result)),
            homogeneous=Raw(coordinates(result.facts["homogeneity"])),
            rest=Raw(as_read(settled(1 - k))),
        )
    lucky = [words("test.notice.one")] if b.any() and k == 1 else []
    return [first, *lucky, words("test.notice.layers"), words("test.notice.attention")]


def summary(name: str, result: Result, words: Words) -> str:
    """One picture in one line of plain text."""
    p = points(result)
    left, right = ("T(u+v)", "T(u)+T(v)") if name == "additivity" else ("T(ku)", "kT(u)")
    return words.plain(
        f"test.summary.{name}", left=coordinates(p[left]), right=coordinates(p[right]), k=_k(result)
    )


def _k(result: Result) -> str:
    return as_read(settled(result.facts["k"]))
