"""Feed-forward and experts: every token widened, bent and narrowed on its own, by one layer or by a few of many."""

import streamlit as st

from ui import frame
from ui.cached import cached
from ui.checks.feed_forward import feed_forward_checks
from ui.figures import experts, experts_balance, experts_sizes
from ui.figures import feed_forward as figure
from ui.figures import feed_forward_backward as backwards
from ui.figures import feed_forward_curves as bends
from ui.figures import feed_forward_one as one
from ui.figures import feed_forward_swiglu as gated
from ui.predictions.feed_forward import PREDICTIONS
from ui.result import Result

page = frame.open_page("feed_forward")

compute = cached(max_entries=512)(figure.compute)


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    tokens = page.read("s", values["s"]).tokens[: values["tokens"]]
    return compute(tokens, int(values["d_model"]), values["multiple"], values["act"], values["seed"])


def curves() -> None:
    st.markdown(page.words("curves.intro"))
    with page.controls("curves"):
        page.slider("z", width=300)
    z = round(page["z"], 6)  # a slider's steps add up to nearly 0
    for column, (name, chart) in zip(st.columns(2), bends.charts(z, page.words).items(), strict=True):
        with column:
            page.chart(name, chart, summary=bends.chart_summary(name, z, page.words))
    st.markdown(bends.table(z, page["act"], page.words))
    page.notice(bends.notices(z, page.words))


def one_token(result: Result) -> None:
    st.markdown(page.words("one.intro"))
    with page.controls("one"):
        page.slider("at", width=160)
        page.text("word", width=160)
        page.choice("sight", width=160)
    read = page.read("word", page["word"])
    told = [*read.remarks, *one.remarks(read.tokens, page["at"], result, page.words)]
    if told:
        st.info(page.words.sentences(told))
    changed = one.compute(result, page["at"] - 1, read.tokens[0], page["sight"])
    page.experiment(changed, one, at="one")
    page.chart("moved", one.chart(changed, page.words), summary=one.chart_summary(changed, page.words))


def backward(result: Result) -> None:
    st.markdown(page.words("grad.intro"))
    with page.controls("backward"):
        page.choice("grad", width=300)
        if page["grad"] == "one":
            page.slider("grad_row", width=160)
            page.slider("grad_col", width=160)
        if page["grad"] == "random":
            page.number("draw", width=110)
    back = backwards.compute(result, page["grad"], page["grad_row"] - 1, page["grad_col"] - 1, page["draw"])
    page.experiment(back, backwards, at="grad", code=backwards.code_of(page["grad"]))
    st.markdown(backwards.table(back, page.words))


def swiglu(result: Result) -> None:
    st.markdown(page.words("glu.intro"))
    page.experiment(gated.compute(result), gated, at="glu")
    with page.controls("swiglu"):
        page.choice("wide", width=220)
        page.choice("round", width=250)
    st.markdown(gated.costs(int(page["wide"]), int(page["round"]), page.words))
    st.markdown(gated.published(page.words))


def mixture(result: Result) -> None:
    st.markdown(page.words("moe.intro"))
    with page.controls("experts"):
        page.choice("experts", width=110)
        page.slider("k", width=180)
        page.segments("score")
        page.switch("shared")
    if told := experts.remarks(page["experts"], page["k"], page.words):
        st.info(page.words.sentences(told))
    mixed = experts.compute(result, int(page["experts"]), page["k"], page["score"], page["shared"])
    page.experiment(mixed, experts, at="moe")
    st.markdown(experts.above_chart(mixed, page.words))
    page.chart("load", experts.chart(mixed, page.words), summary=experts.chart_summary(mixed, page.words))


def balance() -> None:
    st.markdown(page.words("bal.intro"))
    with page.controls("balance"):
        page.slider("batch", width=300)
        for name in ("favour", "alpha", "speed"):
            page.slider(name, width=150)
        page.choice("experts", width=110)
        page.slider("k", width=180)
    names = ("k", "favour", "speed", "alpha", "seed")
    balanced = experts_balance.compute(int(page["experts"]), *(page[name] for name in names))
    shown = experts_balance.charts(balanced, page["batch"], page.words)
    for column, (name, chart) in zip(st.columns(2), shown.items(), strict=True):
        with column:
            summary = experts_balance.chart_summary(name, balanced, page["batch"], page.words)
            page.chart(name, chart, summary=summary)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(experts_balance.story(balanced, page["batch"], page.words))
    with right:
        page.notice(experts_balance.notices(balanced, page["batch"], page.words))


def sizes() -> None:
    with page.controls("sizes"):
        page.slider("own_experts", width=250)
        page.slider("own_k", width=250)
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(experts_sizes.table(page["own_experts"], page["own_k"], page.words))
    with right:
        page.notice(experts_sizes.notices(page["own_experts"], page["own_k"], page.words))


def controls() -> None:
    page.sentence("s", count="tokens", width=240)
    page.slider("tokens", width=120)
    page.choice("d_model", width=90)
    page.slider("multiple", width=120)
    page.choice("act", width=170)
    page.number("seed", width=110)


@page.live
def feed_forward() -> None:
    page.above(controls)
    page.remarks(page.read("s", page["s"]), shown=page["tokens"])

    page.predict(PREDICTIONS, result_of)
    picture = page.lesson(result_of, figure, footnote="notice.toy")
    page.tabs(
        picture,
        feed_forward_checks,
        curves=curves,
        one=lambda: one_token(picture.result),
        backward=lambda: backward(picture.result),
        swiglu=lambda: swiglu(picture.result),
        experts=lambda: mixture(picture.result),
        balance=balance,
        sizes=sizes,
    )


page.close()
