"""Residual and depth: two stacks of blocks at initialisation, side by side, and dropout."""

import streamlit as st

from ui import course, diagram, frame
from ui.checks.residual import residual_checks
from ui.figures import residual as figure
from ui.figures import residual_alike as alike
from ui.figures import residual_block as drawing
from ui.figures import residual_charts as drawn
from ui.figures import residual_deep as deep
from ui.figures import residual_dropout as dropout
from ui.figures import residual_init as start
from ui.figures.residual_notices import notices
from ui.frame import Picture
from ui.predictions.residual import PREDICTIONS
from ui.result import Result
from ui.words import Raw

page = frame.open_page("residual")
result_of = figure.result


def controls() -> None:
    for side in figure.SIDES:
        page.choice(f"norm_{side}", width=115)
        page.switch(f"res_{side}")
        page.choice(f"init_{side}", width=115)
    page.slider("layers", width=165)
    page.choice("width", width=80)
    page.number("seed", width=105)


def three(charts, summary_of, choose=None) -> None:
    """Three charts beside each other."""
    for column, (name, chart) in zip(st.columns(len(charts)), charts.items(), strict=True):
        with column:
            page.chart(name, chart, summary=summary_of(name), choose=choose and choose(name))


def choose_in(result: Result):
    """What a click in one of the charts does: its point becomes the chosen number."""

    def in_chart(name: str):
        def take(label: str, x: float) -> None:
            if cell := drawn.pointed(label, name, x, result, page.words):
                page.values.set(step=name, cell=cell)

        return take

    return in_chart


def blocks(result: Result) -> None:
    st.markdown(page.words("block.intro"))
    stems = {built.stem for built in course.built()}
    words = page.words.table("map")
    for side, picture in drawing.diagrams(result, page.words).items():
        p = result.parameters
        formula = Raw(drawing.formula(p[f"norm_{side}"], p[f"res_{side}"]))
        st.markdown(page.words("block.title", name=Raw(picture.title), formula=formula))
        shown = diagram.built(picture, stems)
        if chosen := diagram.draw(f"residual block {side}", shown, words=words, lang=page.words.lang):
            st.switch_page(course.file_of(course.PAGES[chosen]))
    st.markdown(page.words("block.reading"))


def layer_by_layer(result: Result, layer: int | None, summary: str) -> None:
    st.markdown(page.words("layers.intro"))
    charts = drawn.compared(result, page.words, layer)
    three(charts, lambda name: drawn.compared_summary(name.split()[1], result, page.words))
    page.matrices(figure.rows(result, page.words), summary=summary)


def likeness(result: Result) -> None:
    st.markdown(page.words("alike.intro"))
    with page.controls("alike"):
        page.slider("layer", width=220)
    shown = alike.compute(result, page["layer"])
    page.experiment(shown, alike, at="alike")
    page.chart(
        "differences", alike.chart(result, page.words), summary=alike.chart_summary(result, page.words)
    )


def depths(result: Result) -> None:
    st.markdown(page.words("deep.intro"))
    found = deep.sweep(result)
    charts = {end: deep.sweep_chart(end, found, result, page.words) for end in deep.ENDS}
    three(charts, lambda end: deep.sweep_summary(end, found, page.words))
    page.notice(deep.sweep_notices(found, result, page.words))


def chance(result: Result) -> None:
    st.markdown(page.words("seeds.intro"))
    runs = deep.again(result)
    charts = {f"seeds {name}": chart for name, chart in deep.seeds_charts(runs, result, page.words).items()}
    three(charts, lambda name: page.words.plain(f"axis.{name.split()[1]}"))
    left, right = st.columns((3, 2), gap="large")
    with left:
        st.markdown(deep.seeds_table(runs, result, page.words))
    with right:
        page.notice(deep.seeds_notices(runs, result, page.words))
    st.markdown(f"{page.words('seeds.reference')}\n\n{deep.reference_table(page.words)}")


def first_weights(result: Result) -> None:
    st.markdown(f"{page.words('init.intro')}\n\n{start.table(result, page.words)}")
    with page.controls("init"):
        page.segments("scheme_of")
    side = page["scheme_of"]
    charts = {f"init {name}": chart for name, chart in start.charts(result, side, page.words).items()}
    three(charts, lambda name: start.summary(name.split()[1], result, side, page.words))
    page.notice(start.notices(result, side, page.words))


def dropped() -> None:
    st.markdown(page.words("drop.intro"))
    with page.controls("dropout"):
        page.slider("p", width=180)
        page.slider("draws", width=260)
    shown = dropout.compute(page["seed"], page["p"], page["draws"])
    page.experiment(shown, dropout, at="drop")
    cell = page["drop_cell"]
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(dropout.path_title(shown, cell, page.words))
        path = dropout.path_chart(shown, cell, page.words)
        page.chart("running mean", path, summary=dropout.path_summary(shown, cell, page.words))
    with right:
        st.markdown(page.words("drop.chart_title"))
        distance = dropout.chart(shown, page.words)
        page.chart("deviation", distance, summary=dropout.chart_summary(shown, page.words))


@page.live
def two_stacks() -> None:
    page.above(controls)
    page.predict(PREDICTIONS, result_of)
    result = result_of(page.values)
    summary = figure.summary(result, page.words)
    chosen = page["cell"]
    layer = None if chosen is None else chosen[2] + (chosen[0] == "gradient")
    charts = drawn.charts(result, page.words, layer)
    three(charts, lambda name: drawn.chart_summary(name, result, page.words), choose_in(result))
    page.breathe()

    left, right = st.columns(2, gap="large")
    with left:
        page.why(result, figure.why, code=figure.code_of)
        st.markdown(figure.numbers(result, page.words))
    with right:
        page.notice(notices(result, page.words), footnote="notice.toy")

    page.tabs(
        Picture(result, figure.rows(result, page.words), summary, charts),
        residual_checks,
        block=lambda: blocks(result),
        layers=lambda: layer_by_layer(result, layer, summary),
        alike=lambda: likeness(result),
        deep=lambda: depths(result),
        seeds=lambda: chance(result),
        init=lambda: first_weights(result),
        dropout=dropped,
    )


page.close()
