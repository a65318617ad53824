"""Linear maps: what a matrix does to the plane, what makes it linear, and from X to queries, keys and values."""

import streamlit as st
import torch

from core.attention.linear_maps import additivity_gap, compare, homogeneity_gap, worked_map
from ui import frame
from ui.cached import cached
from ui.checks.linear_maps import linear_maps_checks
from ui.figures import linear_maps as figure
from ui.figures import linear_maps_cosine as cosine
from ui.figures import linear_maps_heads as heads
from ui.figures import linear_maps_product as product
from ui.figures import linear_maps_tests as linearity
from ui.predictions.linear_maps import PREDICTIONS
from ui.result import Array, Result

page = frame.open_page("linear_maps")


@cached(max_entries=512)
def compute(m11, m12, m21, m22, u1, u2, b1, b2, v1, v2, k) -> Result:
    """The map at work on u, e₁ and e₂, and on two vectors for the tests of linearity and likeness."""
    worked = worked_map((m11, m12, m21, m22), (u1, u2), (b1, b2))
    ij, images = ("1", "2"), ("T(u)", "T(e₁)", "T(e₂)")
    arrays = {
        "m": Array.of(worked.m, ij, ij, axes=("output", "input")),
        "x": Array.of(worked.x, ij, ("u", "e₁", "e₂"), axes=("input", "vector")),
        "b": Array.of(worked.b, ij, ("b",), axes=("output", "offset")),
        "y": Array.of(worked.y, ij, images, axes=("output", "vector")),
    }
    m, b, u = worked.m, worked.b[:, 0], worked.x[:, 0]
    v = torch.tensor([v1, v2], dtype=m.dtype)
    facts = figure.facts_of(m, b) | {
        "additivity": additivity_gap(m, u, v, b).numpy(),
        "homogeneity": homogeneity_gap(m, u, k, b).numpy(),
        "likeness": compare(u, v),
        "likeness_after": compare(m @ u, m @ v),
        "v": v.numpy(),
        "k": k,
    }
    settings = {"m11": m11, "m12": m12, "m21": m21, "m22": m22, "u1": u1, "u2": u2, "b1": b1, "b2": b2}
    settings |= {"v1": v1, "v2": v2, "k": k}
    return Result(settings, arrays, facts)


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    names = ("m11", "m12", "m21", "m22", "u1", "u2", "b1", "b2", "v1", "v2", "k")
    return compute(*(values[name] for name in names))


def controls() -> None:
    page.presets("maps", figure.PRESETS)
    for name in ("m11", "m12", "m21", "m22", "u1", "u2", "b1", "b2"):
        page.slider(name, width=105)


def second_vector(*names: str) -> None:
    with page.controls("second"):
        for name in names:
            page.slider(name, width=160)


def product_rule() -> None:
    with page.controls("product"):
        typed = page.text("shape_a", width=220), page.text("shape_b", width=220)
        page.presets("products", product.PRESETS)
    shapes, remarks = product.read(typed, page.words)
    if remarks:
        st.info(page.words.sentences(remarks))
    st.markdown(product.verdict(shapes, page.words))
    multiplied = product.compute(shapes)
    if multiplied is None:
        st.caption(page.words("product.not_drawn", most=product.DRAWN))
        return
    rows, summary = product.matrices(multiplied, page.words), product.summary(multiplied, page.words)
    page.matrices(rows, summary=summary, focus="product_step", cell="product_cell")
    if shapes.shape is not None:
        page.why(multiplied, product.why, code=product.code_of, cell="product_cell")


def linear_or_not(result: Result) -> None:
    st.markdown(page.words("test.intro"))
    second_vector("v1", "v2", "k")
    charts = linearity.charts(result, page.words)
    for column, (name, chart) in zip(st.columns(2, gap="large"), charts.items(), strict=True):
        with column:
            st.markdown(page.words(f"test.title.{name}"))
            page.chart(name, chart, summary=linearity.summary(name, result, page.words))
    st.markdown(linearity.table(result, page.words))
    page.notice(linearity.notices(result, page.words))


def likeness(result: Result) -> None:
    second_vector("v1", "v2")
    left, right = st.columns([2, 3], gap="large")
    with left:
        page.chart("cosine", cosine.chart(result, page.words), summary=cosine.summary(result, page.words))
    with right:
        st.markdown(cosine.story(result, page.words))
    page.notice(cosine.notices(result, page.words))


def from_x_to_qkv() -> None:
    st.markdown(page.words("qkv.intro"))
    with page.controls("qkv"):
        page.segments("qkv")
        for name in ("batch", "tokens", "heads", "d_head", "sentence"):
            page.slider(name, width=120)
        page.number("seed", width=110)
    sizes = (page["batch"], page["tokens"], page["heads"], page["d_head"])
    sentence = page.within("sentence", page["batch"]) + 1
    shaped = heads.compute(page["qkv"], *sizes, sentence, page["seed"])
    page.experiment(shaped, heads, at="qkv")
    st.markdown(heads.table(shaped, page.words))


@page.live
def linear_maps() -> None:
    page.above(controls)
    page.predict(PREDICTIONS, result_of)
    result = result_of(page.values)
    rows, summary = figure.matrices(result, page.words), figure.summary(result, page.words)
    plane = figure.chart(result, page.words)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        page.chart("plane", plane, summary=summary)
    with right:
        page.matrices(rows, summary=summary)
        page.why(result, figure.why, code=figure.code_of)
    page.notice(figure.notices(result, page.words), footnote="notice.where")

    page.tabs(
        frame.Picture(result, rows, summary, {"plane": plane}),
        linear_maps_checks,
        product=product_rule,
        linear=lambda: linear_or_not(result),
        qkv=from_x_to_qkv,
        cosine=lambda: likeness(result),
    )


page.close()
