"""Dot product and cosine of two vectors: the shadow of one on the other."""

from __future__ import annotations

import numpy as np

from core.attention.linear_maps import Likeness
from ui.figures.charts import Chart, as_read
from ui.figures.plane import GREY, Arrow, Lines, accent, coordinates, plane, settled
from ui.formulas import bracketed, sum_of_products
from ui.numbers import listed
from ui.result import Result
from ui.words import Raw, Words

HALF = 2.6  # units above and below the origin that are drawn


def chart(result: Result, words: Words) -> Chart:
    """u, v, and the shadow of u on the line of v with the drop that makes it."""
    u, v, like = result.values("x")[:, 0], result.facts["v"], result.facts["likeness"]
    shadow = words.plain("cosine.shadow")
    parts = [Arrow("u", tuple(u)), Arrow("v", tuple(v))]
    if like.shadow is not None:
        parts += [
            Lines(GREY, np.array([[u, like.shadow.numpy()]])),
            Arrow(shadow, tuple(like.shadow.tolist()), label=""),
        ]
    colours = {"u": accent(0), "v": accent(1), shadow: accent(3), GREY: GREY}
    return plane(parts, colours, half=HALF, legend=("u", "v", shadow))


def story(result: Result, words: Words) -> str:
    """Dot product and cosine, formula and numbers; a vector of length 0 has no direction."""
    u, v, like = result.values("x")[:, 0], result.facts["v"], result.facts["likeness"]
    dot = words("cosine.dot", sum=sum_of_products(u, v), dot=_raw(like.dot))
    if like.cosine is None:
        zero = listed((name for name, x in (("u", u), ("v", v)) if not x.any()), words.lang)
        return f"{dot}\n\n{words('cosine.none', zero=Raw(zero))}"
    told = {"dot": _raw(like.dot), "a": _raw(like.length_a), "b": Raw(bracketed(like.length_b))}
    told |= {"cosine": _raw(like.cosine), "degrees": _raw(like.degrees), "side": Raw(words(_side(like)))}
    return f"{dot}\n\n{words('cosine.cosine', **told)}"


def _side(like: Likeness) -> str:
    """Whether the vectors point to the same side, apart, or neither."""
    dot = settled(like.dot)
    return "cosine.right" if dot == 0 else "cosine.same" if dot > 0 else "cosine.opposite"


def notices(result: Result, words: Words) -> list[str]:
    """What length does to both, what attention uses, and what the matrix makes of them."""
    like, after = result.facts["likeness"], result.facts["likeness_after"]
    length = words(
        "cosine.notice.length" if like.cosine is not None else "cosine.notice.length_zero",
        dot=_raw(like.dot),
        double=_raw(2 * like.dot),
    )
    told = {"dot": _raw(like.dot), "dot_after": _raw(after.dot)}
    if None in (like.cosine, after.cosine):
        image = words("cosine.notice.map_zero", **told)
    else:
        told |= {"cosine": _raw(like.cosine), "cosine_after": _raw(after.cosine)}
        image = words("cosine.notice.map", **told)
    return [length, words("cosine.notice.attention"), image]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    like = result.facts["likeness"]
    told = {
        "u": coordinates(result.values("x")[:, 0]),
        "v": coordinates(result.facts["v"]),
        "dot": _raw(like.dot),
    }
    told["cosine"] = words.plain("cosine.no_cosine") if like.cosine is None else _raw(like.cosine)
    return words.plain("cosine.summary", **told)


def _raw(value: float) -> Raw:
    return Raw(as_read(settled(value)))
