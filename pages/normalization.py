"""Normalisation: along a token or down a feature, and what each way forgets, needs and passes back."""

import streamlit as st

from ui import frame
from ui.batch import read_own
from ui.checks.normalization import normalization_checks
from ui.figures import normalization as figure
from ui.figures import normalization_eps as epsilon
from ui.figures import normalization_forget as forget
from ui.figures import normalization_gradient as gradient
from ui.figures import normalization_padding as padding
from ui.figures import normalization_reads as reads
from ui.figures import normalization_running as running
from ui.figures import normalization_statistics as statistics
from ui.predictions.normalization import PREDICTIONS
from ui.result import Result

page = frame.open_page("normalization")
WIDTHS = {"tokens": 82, "d": 72, "shift": 82, "scale": 82, "outlier": 88, "row": 80, "col": 80}


def batch_of(values) -> tuple[figure.Batch, list[str]]:
    """All tokens of the reader's sentences, and what was done to the text."""
    text = page.entry.parameter("s")
    # Whole sentences: what is cut is cut from all of them together, and told once.
    sentences, remarks = read_own(values["s"], text, page.words, limit=text.limit)
    return figure.batch_of(sentences), remarks


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    batch = batch_of(values)[0].first(values["tokens"])
    return figure.compute(batch.tokens, batch.sentences, tuple(values[name] for name in figure.SETTINGS))


def controls() -> None:
    page.text("s", width=150)
    for name, width in WIDTHS.items():
        page.slider(name, width=width)
    page.slider("gamma", width=66)
    page.slider("beta", width=66)
    page.choice("eps", width=92)
    page.number("seed", width=92)


def remarks() -> None:
    batch, told = batch_of(page.values)
    told += figure.remarks(batch, page.values, page.words)
    if told:
        st.info(page.words.sentences(told))


def every_statistic(result: Result) -> None:
    with page.controls("statistics"):
        by = page.segments("by")
    for column, (what, chart) in zip(
        st.columns(2, gap="large"), statistics.charts_of(result, by, page.words).items(), strict=True
    ):
        with column:
            page.chart(what, chart, summary=statistics.summary(result, by, what, page.words))
    page.notice(statistics.notices(result, by, page.words))
    st.markdown(statistics.table(result, by, page.words))


def what_is_read(result: Result) -> None:
    st.markdown(page.words("reads.intro"))
    page.experiment(reads.compute(result, page["reads_cell"]), reads, at="reads")


def what_is_forgotten(result: Result) -> None:
    st.markdown(page.words("forget.intro"))
    with page.controls("forget"):
        page.segments("who")
        page.slider("add", width=160)
        page.slider("times", width=160)
    shown = forget.compute(result, page["who"], page["add"], page["times"])
    page.experiment(shown, forget, at="moved")
    st.markdown(page.words("forget.table") + "\n\n" + forget.table(shown, page.words))


def training_and_inference(result: Result) -> None:
    st.markdown(page.words("run.intro"))
    with page.controls("running"):
        page.slider("seen", width=180)
        page.slider("momentum", width=180)
        page.slider("size", width=180)
    shown = running.compute(result, page["seen"], page["momentum"], page["size"])
    for column, (what, chart) in zip(
        st.columns(2, gap="large"), running.charts_of(shown, page.words).items(), strict=True
    ):
        with column:
            page.chart(f"running {what}", chart, summary=running.chart_summary(shown, what, page.words))
    page.experiment(shown, running, at="run")


def small_variance(result: Result) -> None:
    st.markdown(page.words("eps.intro"))
    with page.controls("epsilon"):
        page.slider("spread", width=260)
    left, right = st.columns(2, gap="large")
    with left:
        chart = epsilon.chart(result, page["spread"], page.words)
        page.chart("epsilon", chart, summary=epsilon.summary(result, page["spread"], page.words))
    with right:
        page.notice(epsilon.notices(result, page["spread"], page.words))
    st.markdown(epsilon.table(result, page.words))


def padding_counts(result: Result) -> None:
    st.markdown(page.words("pad.intro"))
    with page.controls("padding"):
        page.slider("pads", width=180)
    page.experiment(padding.compute(result, page["pads"]), padding, at="pad")


def backward(result: Result) -> None:
    st.markdown(page.words("grad.intro"))
    page.experiment(gradient.compute(result), gradient, at="grad")


@page.live
def one_batch_three_norms() -> None:
    page.above(controls)
    remarks()

    page.predict(PREDICTIONS, result_of)
    picture = page.lesson(result_of, figure, footnote="notice.toy")
    page.tabs(
        picture,
        lambda shown: normalization_checks(shown, page["momentum"], page["size"]),
        statistics=lambda: every_statistic(picture.result),
        reads=lambda: what_is_read(picture.result),
        forget=lambda: what_is_forgotten(picture.result),
        running=lambda: training_and_inference(picture.result),
        epsilon=lambda: small_variance(picture.result),
        padding=lambda: padding_counts(picture.result),
        gradient=lambda: backward(picture.result),
    )


page.close()
