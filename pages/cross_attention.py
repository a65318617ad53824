"""Cross-attention: a target that asks, a source that answers, and why the fixed vector had to go."""

from dataclasses import replace

import streamlit as st

from ui import frame
from ui.checks.cross_attention import cross_attention_checks
from ui.figures import cross_additive as kinds
from ui.figures import cross_attention as figure
from ui.figures import cross_bottleneck as neck
from ui.figures import cross_masks as two
from ui.figures import layer_costs
from ui.frame.controls import Reading
from ui.predictions.cross_attention import PREDICTIONS
from ui.result import Result
from ui.words import Raw

page = frame.open_page("cross_attention")
SENTENCES = ("src", "tgt")


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    source, target = (page.read(name, values[name]).tokens for name in SENTENCES)
    result = figure.compute(source, target, *(values[name] for name in ("pad", "masked", "dk", "seed")))
    # The notebook computes the additive kind as well.
    return replace(result, parameters=result.parameters | {"da": values["da"]})


def controls() -> None:
    page.pair(*SENTENCES, width=205)
    page.slider("pad", width=130)
    page.switch("masked")
    page.slider("dk", width=130)
    page.number("seed", width=110)


def remarks() -> None:
    told = [
        page.words(
            "remark",
            name=Raw(page.words(f"control.{name}.label")),
            remarks=Raw(page.words.sentences(reading.remarks)),
        )
        for name in SENTENCES
        if (reading := page.read(name, page[name])).remarks
    ]
    page.remarks(Reading((), tuple(told)), shown=0)


def target_row(result: Result) -> int:
    return page.within("row", len(result.parameters["target"]))


def additive(result: Result) -> None:
    st.markdown(page.words("add.intro"))
    with page.controls("additive"):
        page.slider("row", width=160)
        page.slider("da", width=160)
    both = kinds.compute(result, target_row(result), page["da"])
    page.experiment(both, kinds, at="add")


def two_masks(result: Result) -> None:
    st.markdown(page.words("two.intro"))
    with page.controls("masks"):
        page.slider("row", width=160)
    masks = two.compute(result, target_row(result))
    page.experiment(masks, two, at="mask")


def bottleneck(result: Result) -> None:
    st.markdown(page.words("neck.intro"))
    with page.controls("bottleneck"):
        page.slider("gain", width=160)
        page.slider("row", width=160)
    found = neck.measure(result, target_row(result), page["gain"])
    left, right = st.columns(2, gap="large")
    with left:
        page.chart(
            "influence",
            neck.chart(result, found, page.words),
            summary=neck.summary(result, found, page.words),
        )
    with right:
        page.notice(neck.notices(result, found, page["gain"], page.words))


def costs() -> None:
    st.markdown(page.words("costs.intro"))
    with page.controls("costs"):
        sizes = [page.number(name, width=180) for name in ("n", "d", "kernel", "near")]
    st.markdown(layer_costs.table(*sizes, page.words))
    charts = layer_costs.charts(*sizes, page.words)
    above, below = st.columns(2, gap="large"), st.columns(2, gap="large")
    for column, (name, chart) in zip((*above, below[0]), charts.items(), strict=True):
        with column:
            page.chart(name, chart, summary=layer_costs.summary(name, *sizes, page.words))
    with below[1]:
        page.notice(layer_costs.notices(*sizes, page.words), footnote="costs.note")


@page.live
def cross() -> None:
    page.above(controls)
    remarks()

    page.predict(PREDICTIONS, result_of)
    picture = page.lesson(result_of, figure, footnote="notice.toy")
    page.tabs(
        picture,
        lambda shown: cross_attention_checks(shown, page["da"]),
        additive=lambda: additive(picture.result),
        masks=lambda: two_masks(picture.result),
        bottleneck=lambda: bottleneck(picture.result),
        costs=costs,
    )


page.close()
