"""Multi-head attention: several small attentions side by side, joined again, and what they cost."""

import streamlit as st

from core.attention import masks
from core.attention.toy_heads import at_temperature, toy_heads
from ui import frame
from ui.cached import cached
from ui.checks.multi_head import multi_head_checks
from ui.figures import batch_first, head_costs, head_likeness, heads_off
from ui.figures import multi_head as figure
from ui.predictions.multi_head import PREDICTIONS
from ui.result import Result

page = frame.open_page("multi_head")


drawn = cached(max_entries=64, shared=True)(toy_heads)


@cached(max_entries=512)
def compute(tokens, d_model, heads, kv, mask, tau, off, seed) -> Result:
    """Multi-head attention over the tokens, with all heads and with those that are on."""
    x, plain = drawn(tokens, seed, d_model, heads, kv)
    module = at_temperature(plain, tau)
    allowed = masks.causal(len(tokens)) if mask == "causal" else None
    whole = module(x, mask=allowed)
    kept = figure.head_mask(heads, off)
    shown = module(x, mask=allowed, head_mask=kept)
    settings = {"tokens": tokens, "d_model": d_model, "heads": heads, "kv": kv, "mask": mask, "tau": tau}
    settings |= {"off": off, "seed": seed}
    return figure.result(settings, x, module, whole, shown)


def result_of(values) -> Result:
    """The page's one value under any set of parameters; what does not divide is replaced, see `remarks`."""
    tokens = page.read("s", values["s"]).tokens[: values["tokens"]]
    heads = int(values["heads"])
    off = tuple(int(head) for head in values["off"] if int(head) <= heads)
    rest = (values[name] for name in ("mask", "tau"))
    return compute(
        tokens,
        int(values["d_model"]),
        heads,
        figure.kv_heads(heads, values["kv"]),
        *rest,
        off,
        values["seed"],
    )


def remarks() -> None:
    page.remarks(page.read("s", page["s"]), shown=page["tokens"])
    told = figure.substitutions(page["heads"], page["kv"], page["off"], page.words)
    if told:
        st.info(page.words.sentences(told))


def switch_off(result: Result) -> None:
    st.markdown(page.words("off.intro"))
    with page.controls("off"):
        page.several("off")
    switched = heads_off.compute(result)
    page.matrices(
        heads_off.matrices(switched, page.words),
        summary=heads_off.summary(switched, page.words),
        focus="off_step",
        cell="off_cell",
    )
    left, right = st.columns(2, gap="large")
    with left:
        page.why(switched, heads_off.why, code=heads_off.code_of, cell="off_cell")
        page.notice(heads_off.notices(switched, page.words))
    with right:
        chart = heads_off.chart(switched, page.words)
        page.chart("off", chart, summary=heads_off.chart_summary(switched, page.words))


def alike(result: Result) -> None:
    st.markdown(page.words("alike.intro"))
    compared = head_likeness.compute(result)
    left, right = st.columns(2, gap="large")
    with left:
        page.matrices(
            head_likeness.matrices(compared, page.words),
            summary=head_likeness.summary(compared, page.words),
            focus="alike_step",
            cell="alike_cell",
        )
        page.why(compared, head_likeness.why, code=head_likeness.code_of, cell="alike_cell")
    with right:
        chart = head_likeness.chart(compared, page.words)
        page.chart("entropy", chart, summary=head_likeness.chart_summary(compared, page.words))
        page.notice(head_likeness.notices(compared, page.words))


def cost(result: Result) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(head_costs.counts(result, page.words))
    with right:
        st.markdown(head_costs.shared(result, page.words))
    with page.controls("cost"):
        page.slider("context", width=300)
    st.markdown(head_costs.caches(page["context"], page.words))


def trap(result: Result) -> None:
    st.markdown(page.words("trap.intro"))
    if figure.all_equal(result):
        st.info(page.words("trap.short"))
        return
    trapped = batch_first.compute(result)
    page.experiment(trapped, batch_first, at="trap")
    st.markdown(batch_first.table(trapped, page.words))


def controls() -> None:
    page.sentence("s", count="tokens", width=190)
    page.slider("tokens", width=110)
    page.choice("d_model", width=90)
    page.choice("heads", width=90)
    page.choice("kv", width=150)
    page.choice("mask", width=110)
    page.slider("tau", width=120)
    page.number("seed", width=110)


@page.live
def multi_head() -> None:
    page.above(controls)
    remarks()

    page.predict(PREDICTIONS, result_of)
    picture = page.lesson(result_of, figure, footnote="notice.toy")
    page.tabs(
        picture,
        multi_head_checks,
        off=lambda: switch_off(picture.result),
        alike=lambda: alike(picture.result),
        cost=lambda: cost(picture.result),
        trap=lambda: trap(picture.result),
    )


page.close()
