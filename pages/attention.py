"""Attention step by step: the reader's sentence through scores, scaling, mask, softmax and the average."""

import streamlit as st
import torch

from core.attention import masks
from core.attention.dot_product import attention
from core.attention.statistics import describe
from core.attention.toy import toy_inputs
from ui import frame
from ui.cached import cached
from ui.checks.attention import attention_checks
from ui.figures import attention as figure
from ui.figures import attention_backward as backwards
from ui.figures import attention_dropout as dropouts
from ui.figures import attention_order as orders
from ui.figures import attention_rows as rows_of
from ui.figures import attention_saturation as saturations
from ui.predictions.attention import PREDICTIONS
from ui.result import Array, Result

page = frame.open_page("attention")


@cached(max_entries=64, shared=True)
def drawn(sentence, seed):
    """The widest inputs of a sentence, of which every setting is a slice."""
    return toy_inputs(sentence, seed, d_k=64)


@cached(max_entries=512)
def compute(sentence, tokens, dk, tau, scaled, mask, window, pad, seed) -> Result:
    """Attention over the first tokens of the sentence, and the numbers the page speaks of."""
    widest = drawn(sentence, seed)
    tokens = sentence[:tokens]
    t = len(tokens)
    toy = widest.first(t, dk)
    allowed = {
        "none": torch.ones(t, t, dtype=torch.bool),
        "causal": masks.causal(t),
        "padding": masks.padding([max(t - pad, 0)], t)[0].expand(t, t),
        "window": masks.sliding_window(t, window),
    }[mask]
    trace = attention(toy.q, toy.k, toy.v, allowed, scale=1 / (tau * dk**0.5) if scaled else 1 / tau)

    steps = ("scores", "scaled", "masked", "weights")
    arrays = {"x": Array.of(toy.x, tokens, axes=("token", "feature"))}
    arrays["q"] = Array.of(toy.q, tokens, axes=("query", "feature"))
    arrays |= {name: Array.of(getattr(toy, name), tokens, axes=("key", "feature")) for name in ("k", "v")}
    arrays |= {name: Array.of(getattr(trace, name), tokens, tokens, axes=("query", "key")) for name in steps}
    arrays["output"] = Array.of(trace.output, tokens, axes=("query", "feature"))

    facts = {
        "statistics": describe(trace, allowed),
        "scale": trace.scale,
        "w_q": toy.w_q.numpy(),
        "w_k": toy.w_k.numpy(),
        "w_v": toy.w_v.numpy(),
    }
    settings = {"dk": dk, "tau": tau, "scaled": scaled, "mask": mask, "window": window, "pad": pad}
    settings |= {"tokens": tokens, "seed": seed}
    return Result(settings, arrays, facts, hidden=~allowed.numpy())


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    names = ("tokens", "dk", "tau", "scaled", "mask", "window", "pad", "seed")
    return compute(page.read("s", values["s"]).tokens, *(values[name] for name in names))


def two_queries(result: Result) -> None:
    with page.controls("rows"):
        page.slider("row_a", width=160)
        page.slider("row_b", width=160)
    count = len(result.arrays["weights"].rows)
    pair = rows_of.pair(result, page.within("row_a", count), page.within("row_b", count))
    left, right = st.columns(2, gap="large")
    with left:
        page.chart(
            "rows", rows_of.chart(result, pair, page.words), summary=rows_of.summary(result, pair, page.words)
        )
    with right:
        page.notice(rows_of.notices(result, pair, page.words))


def saturation() -> None:
    st.markdown(page.words("sat.intro"))
    with page.controls("saturation"):
        page.slider("sat_draws", width=160)
        page.slider("sat_keys", width=160)
    measured = saturations.measure(page["sat_draws"], page["sat_keys"], page["seed"])
    charts = saturations.charts(measured, page["dk"], page.words)
    for column, (name, chart) in zip(st.columns(len(charts), gap="medium"), charts.items(), strict=True):
        with column:
            page.chart(name, chart, summary=saturations.summary(name, measured, page.words))
    page.notice(saturations.notices(measured, page["dk"], page.words))


def backward(result: Result) -> None:
    st.markdown(page.words("grad.intro"))
    with page.controls("backward"):
        page.choice("grad", width=300)
        page.slider("grad_row", width=160)
        if page["grad"] == "one":
            page.slider("grad_col", width=160)
        if page["grad"] == "random":
            page.number("draw", width=110)
    row = page.within("grad_row", len(result.arrays["weights"].rows))
    column = page.within("grad_col", page["dk"]) if page["grad"] == "one" else 0
    back = backwards.compute(result, page["grad"], row, column, page["draw"])
    page.experiment(back, backwards, at="grad", code=backwards.code_of(page["grad"]))
    st.markdown(backwards.table(back, page.words))


def order_test(result: Result) -> None:
    count = len(result.arrays["weights"].rows)
    with page.controls("order"):
        page.choice("order", width=160)
        if page["order"] == "random":
            page.number("draw", width=110)
        typed = page.text("order_own", width=250) if page["order"] == "own" else ""
    if orders.left_out(typed, count):
        st.info(page.words("order.left_out", count=count))
    places = orders.permutation(page["order"], typed, count, page["draw"])
    st.markdown(page.words("order.now", count=count, order=orders.listed(places)))
    moved = orders.compute(result, places)
    page.experiment(moved, orders, at="order")


def dropout(result: Result) -> None:
    with page.controls("dropout"):
        page.slider("drop_p", width=160)
        page.number("draw", width=110)
    dropped = dropouts.compute(result, page["drop_p"], page["draw"])
    summary = dropouts.summary(dropped, page.words)
    page.matrices(
        dropouts.matrices(dropped, page.words), summary=summary, focus="drop_step", cell="drop_cell"
    )
    left, right = st.columns(2, gap="large")
    with left:
        page.why(dropped, dropouts.why, code=dropouts.code_of, cell="drop_cell")
        page.chart(
            "sums", dropouts.sums(dropped, page.words), summary=dropouts.sums_summary(dropped, page.words)
        )
    with right:
        page.notice(dropouts.notices(dropped, page.words))


def controls() -> None:
    extra = {"padding": "pad", "window": "window"}.get(page["mask"])
    page.sentence("s", count="tokens", width=160 if extra else 250)  # one row at 1366 px either way
    page.slider("tokens", width=110)
    page.slider("dk", width=110)
    page.slider("tau", width=124)
    page.switch("scaled")
    page.choice("mask", width=150)
    if extra:
        page.slider(extra, width=128)
    page.number("seed", width=100)


@page.live
def step_by_step() -> None:
    page.above(controls)
    page.remarks(page.read("s", page["s"]), shown=page["tokens"])

    page.predict(PREDICTIONS, result_of)
    picture = page.lesson(result_of, figure, footnote="notice.toy")
    page.tabs(
        picture,
        attention_checks,
        rows=lambda: two_queries(picture.result),
        saturation=saturation,
        backward=lambda: backward(picture.result),
        order=lambda: order_test(picture.result),
        dropout=lambda: dropout(picture.result),
    )


page.close()
