"""Attention step by step: the reader's sentence through scores, scaling, mask, softmax and the average."""

import streamlit as st
import torch

from core.attention import masks
from core.attention.dot_product import attention
from core.attention.statistics import describe, largest_partial_score
from core.attention.toy import toy_inputs
from ui import frame
from ui.figures import attention as figure
from ui.result import Array, Result

page = frame.open_page("attention")


@st.cache_data(max_entries=512, show_spinner=False)
def compute(sentence, tokens, dk, tau, scaled, mask, window, pad, seed) -> Result:
    """Attention over the first tokens of the sentence, and the numbers the page speaks of."""
    widest = toy_inputs(sentence, seed, d_k=64)
    tokens = sentence[:tokens]
    t = len(tokens)
    toy = toy_inputs(tokens, seed, dk)
    allowed = {
        "none": torch.ones(t, t, dtype=torch.bool),
        "causal": masks.causal(t),
        "padding": masks.padding([max(t - pad, 0)], t)[0].expand(t, t),
        "window": masks.sliding_window(t, window),
    }[mask]
    trace = attention(toy.q, toy.k, toy.v, allowed, scale=1 / (tau * dk**0.5) if scaled else 1 / tau)

    steps = ("scores", "scaled", "masked", "weights")
    arrays = {name: Array.of(getattr(toy, name), tokens, axes=("query", "feature")) for name in ("x", "q")}
    arrays |= {name: Array.of(getattr(toy, name), tokens, axes=("key", "feature")) for name in ("k", "v")}
    arrays |= {name: Array.of(getattr(trace, name), tokens, tokens, axes=("query", "key")) for name in steps}
    arrays["output"] = Array.of(trace.output, tokens, axes=("query", "feature"))

    facts = {
        "statistics": describe(trace, allowed),
        "scale": trace.scale,
        "score_limit": largest_partial_score(widest.q, widest.k),
        "w_q": toy.w_q.numpy(),
        "w_k": toy.w_k.numpy(),
        "w_v": toy.w_v.numpy(),
    }
    settings = {"dk": dk, "tau": tau, "scaled": scaled, "mask": mask, "window": window, "pad": pad}
    return Result(settings, arrays, facts, hidden=~allowed.numpy())


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    names = ("tokens", "dk", "tau", "scaled", "mask", "window", "pad", "seed")
    return compute(page.read("s", values["s"]).tokens, *(values[name] for name in names))


@page.live
def step_by_step() -> None:
    with page.controls():
        reading = page.sentence("s", count="tokens", width=250)
        page.slider("tokens", width=120)
        page.slider("dk", width=120)
        page.slider("tau", width=120)
        page.switch("scaled")
        page.choice("mask", width=150)
        if page["mask"] == "padding":
            page.slider("pad", width=120)
        if page["mask"] == "window":
            page.slider("window", width=120)
        page.number("seed", width=110)
    page.remarks(reading, shown=page["tokens"])

    result = result_of(page.values)
    page.matrices(figure.steps(result, page.words), summary=figure.summary(result, page.words))

    left, right = st.columns(2, gap="large")
    with left:
        page.why(result, figure.why, code=figure.code_of)
    with right:
        page.notice(figure.notices(result, page.words), footnote="notice.toy")


page.close()
