"""Positions: five ways of telling attention where a token stands, on the reader's sentence, and what becomes of them far out."""

import streamlit as st

from core.attention.toy import toy_inputs
from ui import frame
from ui.cached import cached
from ui.checks.positions import position_checks
from ui.figures import positions as figure
from ui.figures import positions_curves as waves
from ui.figures import positions_layouts as layouts
from ui.figures import positions_learned as tables
from ui.figures import positions_long as longer
from ui.figures import positions_order as orders
from ui.figures import positions_rotation as rotations
from ui.figures import positions_slopes as slopes
from ui.figures import positions_turning as turning
from ui.predictions.positions import PREDICTIONS
from ui.result import Result

page = frame.open_page("positions")


@cached(max_entries=64, shared=True)
def drawn(sentence, seed):
    """The widest inputs of a sentence, of which every setting is a slice."""
    return toy_inputs(sentence, seed, d_k=64, d_model=figure.D_MODEL)


@cached(max_entries=512)
def compute(sentence, tokens, scheme, start, head, dk, mask, seed) -> Result:
    """The page's one value under plain settings."""
    tokens = sentence[:tokens]
    toy = drawn(sentence, seed).first(len(tokens), dk)
    return figure.compute(toy, tokens, scheme, start, head, mask, seed)


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    names = ("tokens", "scheme", "start", "head", "dk", "mask", "seed")
    return compute(page.read("s", values["s"]).tokens, *(values[name] for name in names))


def curves() -> None:
    st.markdown(page.words("curve.intro"))
    with page.controls("curves"):
        page.choice("curve_d", width=110)
        page.choice("curve_base", width=120)
        for name in ("dim_a", "dim_b", "dim_c"):
            page.slider(name, width=130)
    shown = waves.compute(
        int(page["curve_d"]), int(page["curve_base"]), [page[n] for n in ("dim_a", "dim_b", "dim_c")]
    )
    if told := waves.remark(shown, page.words):
        st.info(told)
    page.chart("curves", waves.chart(shown, page.words), summary=waves.chart_summary(shown, page.words))
    page.experiment(shown, waves, at="curve")


def rotation() -> None:
    st.markdown(page.words("rot.intro"))
    with page.controls("rotation"):
        page.choice("rot_d", width=110)
        page.slider("rot_t", width=180)
        page.slider("delta", width=180)
    shown = rotations.compute(int(page["rot_d"]), page["rot_t"], page["delta"])
    page.experiment(shown, rotations, at="rot")
    page.chart(
        "similarity", rotations.chart(shown, page.words), summary=rotations.chart_summary(shown, page.words)
    )


def learned() -> None:
    st.markdown(page.words("learn.intro"))
    with page.controls("learned"):
        page.slider("t_max", width=180)
        page.slider("want", width=180)
    shown = tables.compute(page["t_max"], page["want"], page["seed"])
    page.experiment(shown, tables, at="learn")
    if error := tables.error_of(shown):
        st.markdown(page.words("learn.error", want=page["want"]))
        st.code(error, language=None, wrap_lines=True)


def pairs_turning(result: Result) -> None:
    st.markdown(page.words("turn.intro"))
    with page.controls("turning"):
        page.slider("turn_q", width=160)
        page.slider("turn_k", width=160)
        page.choice("turn_base", width=120)
    count = len(result.parameters["tokens"])
    if max(page["turn_q"], page["turn_k"]) > count:
        st.info(page.words("turn.beyond", tokens=count))
    shown = turning.compute(
        result, drawn_inputs(result), page["turn_q"], page["turn_k"], int(page["turn_base"])
    )
    turning.draw("positions turning", shown, page.words)
    left, right = st.columns([3, 2], gap="large")
    with left:
        page.chart("decay", turning.chart(shown, page.words), summary=turning.summary(shown, page.words))
    with right:
        page.notice(turning.notices(shown, page.words))


def drawn_inputs(result: Result):
    """Queries and keys of the sentence without any position."""
    p = result.parameters
    return toy_inputs(p["tokens"], p["seed"], d_k=64, d_model=figure.D_MODEL).first(len(p["tokens"]), p["dk"])


def two_layouts(result: Result) -> None:
    st.markdown(page.words("layout.intro"))
    shown = layouts.compute(result, drawn_inputs(result))
    page.experiment(shown, layouts, at="layout")


def alibi(result: Result) -> None:
    st.markdown(page.words("slope.intro"))
    with page.controls("alibi"):
        page.slider("heads", width=220)
        page.slider("slope", width=220)
    shown = slopes.compute(result, page["heads"], page["slope"])
    if told := slopes.remark(shown, page.words):
        st.info(told)
    left, right = st.columns(2, gap="large")
    with left:
        page.chart("slopes", slopes.chart(shown, page.words), summary=slopes.chart_summary(shown, page.words))
    with right:
        page.chart("reach", slopes.reach(shown, page.words), summary=slopes.reach_summary(shown, page.words))
    page.experiment(shown, slopes, at="alibi")


def far_out() -> None:
    st.markdown(page.words("long.intro"))
    with page.controls("long"):
        for name, width in (("long_d", 90), ("long_base", 130), ("trained", 110)):
            page.choice(name, width=width)
        page.slider("factor", width=140)
        page.segments("long_head")
        page.several("methods")
    with page.controls("stretching"):
        if "yarn" in page["methods"]:
            page.slider("beta_fast", width=140)
            page.slider("beta_slow", width=140)
        if "longrope" in page["methods"]:
            page.text("factors", width=320)
            preset = longer.illustrative(page["factor"])
            page.presets("long.preset", {"illustrative": {"factors": preset}})
    names = (
        "long_d",
        "long_base",
        "trained",
        "factor",
        "beta_fast",
        "beta_slow",
        "long_head",
        "methods",
        "factors",
    )
    shown = longer.compute(*(page[name] for name in names))
    if told := longer.remark(shown, page.words):
        st.info(told)
    left, right = st.columns(2, gap="large")
    with left:
        page.chart("waves", longer.chart(shown, page.words), summary=longer.chart_summary(shown, page.words))
    with right:
        page.chart("far", longer.far(shown, page.words), summary=longer.far_summary(shown, page.words))
    st.markdown(longer.table(shown, page.words))
    page.notice(longer.notices(shown, page.words), footnote="long.footnote")


def order_test(result: Result) -> None:
    st.markdown(page.words("order.intro"))
    with page.controls("order"):
        page.segments("order")
        if page["order"] == "random":
            page.number("draw", width=110)
    shown = orders.compute(result, drawn_inputs(result), page["order"], page["draw"])
    st.markdown(page.words("order.now", order=orders.told(shown)))
    st.markdown(orders.table(shown, page.words))
    page.experiment(shown, orders, at="order")


def controls() -> None:
    page.sentence("s", count="tokens", width=180)
    page.slider("tokens", width=110)
    page.choice("scheme", width=140)
    page.slider("start", width=120)
    if page["scheme"] == "alibi":
        page.slider("head", width=100)
    page.slider("dk", width=100)
    page.choice("mask", width=110)
    page.number("seed", width=110)


def remarks() -> None:
    page.remarks(page.read("s", page["s"]), shown=page["tokens"])
    used = min(page["tokens"], len(page.read("s", page["s"]).tokens))
    place = figure.place_in(page["scheme"], page["start"], used)
    if place != page["start"]:
        st.info(page.words("remark.table_ends", rows=figure.TABLE, start=page["start"], used=place))


@page.live
def positions() -> None:
    page.above(controls)
    remarks()
    page.predict(PREDICTIONS, result_of)
    picture = page.lesson(result_of, figure, footnote="notice.toy")
    page.tabs(
        picture,
        position_checks,
        curves=curves,
        rotation=rotation,
        learned=learned,
        turning=lambda: pairs_turning(picture.result),
        layouts=lambda: two_layouts(picture.result),
        alibi=lambda: alibi(picture.result),
        long=far_out,
        order=lambda: order_test(picture.result),
    )


page.close()
