"""Architectures: any two models drawn from one description each, what differs marked, counted, run and trained."""

import streamlit as st

from ui import course, diagram, frame
from ui.bibliography import short
from ui.checks.architectures import architecture_checks
from ui.figures import architectures as figure
from ui.figures import architectures_counts as counted
from ui.figures import architectures_goals as goals
from ui.figures import architectures_maps as maps
from ui.figures import architectures_traits as traits
from ui.predictions.architectures import PREDICTIONS
from ui.result import Result
from ui.source import line_that_makes
from ui.words import quote

page = frame.open_page("architectures")
result_of = counted.compute

PAIRS = {
    "gpts": ("gpt1", "gpt2-small"),
    "directions": ("bert-base", "gpt1"),
    "gpt_llama": ("gpt2-small", "llama-7b"),
    "llamas": ("llama-7b", "llama3-8b"),
    "first_t5": ("transformer-base", "t5-base"),
    "bert_bart": ("bert-base", "bart-base"),
    "bart_t5": ("bart-base", "t5-base"),
    "first_gpt": ("transformer-base", "gpt1"),
    "experts": ("mistral-7b", "mixtral-8x7b"),
}


def controls() -> None:
    page.choice("left", width=200)
    page.choice("right", width=200)
    pairs = {name: {"left": a, "right": b} for name, (a, b) in PAIRS.items()}
    pairs["swap"] = {"left": page["right"], "right": page["left"]}
    page.presets("presets", pairs)
    page.choice("part", width=220)


def show(key: str, picture: diagram.Diagram) -> None:
    """A drawing whose parts lead to the pages that explain them."""
    stems = {built.stem for built in course.built()}
    words = page.words.table("map") | {"hint": page.words.plain("draw.hint")}
    shown = diagram.built(picture, stems)
    if chosen := diagram.draw(f"architectures {key}", shown, words=words, lang=page.words.lang):
        st.switch_page(course.file_of(course.PAGES[chosen]))


def why(result: Result) -> None:
    """How the numbers of the chosen part are counted."""
    function, variable = counted.code_of(page["part"])
    line = quote(line_that_makes(variable, function))
    text = counted.why(result, page.words)
    st.markdown(f"## {page.words('why.title')}\n\n{text}\n\n{page.words('why.code')} {line}")


def parts(result: Result) -> None:
    st.markdown(counted.parts_table(result, page.words))
    page.chart("parts", counted.chart(result, page.words), summary=counted.chart_summary(result, page.words))
    st.markdown(counted.published_table(page.words, lambda key: short(key, page.words)))


def read(*names: str) -> list[tuple[str, ...]]:
    """The tokens of the reader's texts, remarks told."""
    readings = [page.read(name, page[name]) for name in names]
    if told := [remark for reading in readings for remark in reading.remarks]:
        st.info(page.words.sentences(told))
    return [reading.tokens for reading in readings]


def masks() -> None:
    st.markdown(page.words("map.intro"))
    with page.controls("maps"):
        page.pair("source", "target", width=300)
        page.slider("prefix", width=160)
        page.number("seed", width=110)
    source, target = read("source", "target")
    page.experiment(
        maps.compute(source, target, page["prefix"], page["seed"]), maps, at="map", footnote="map.tiny"
    )


def objectives() -> None:
    st.markdown(page.words("goal.intro"))
    with page.controls("goals"):
        page.choice("goal", width=260)
        page.text("source", width=300)
        page.slider("share", width=170)
        page.number("seed", width=110)
    (tokens,) = read("source")
    goal, settings = page["goal"], (page["share"], page["seed"])
    if goal == "spans" and len(tokens) < 2:
        st.info(page.words("goal.too_short"))
        return
    shown = goals.strips(goal, tokens, *settings, page.words)
    page.strips(shown, summary=goals.summary(goal, tokens, *settings, page.words), key="goals")
    left, right = st.columns([2, 3], gap="large")
    with left:
        page.notice(goals.notices(goal, tokens, *settings, page.words))
        st.markdown(goals.run_told(goal, tokens, *settings, page.words))
    with right:
        st.markdown(goals.table(tokens, *settings, goal, page.words))
        st.markdown(goals.fates_table(*settings, page.words))


def own(result: Result) -> None:
    st.markdown(page.words("own.intro"))
    with page.controls("own"):
        page.choice("own_stack", width=170)
        page.slider("own_layers", width=170)
        page.slider("own_heads", width=170)
        page.choice("own_d_head", width=90)
        page.slider("own_vocab", width=220)
    with page.controls("own more"):
        page.choice("own_norm", width=130)
        page.choice("own_kind", width=130)
        page.choice("own_positions", width=190)
        page.choice("own_act", width=120)
        page.choice("own_context", width=110)
        page.switch("own_tied")
    mine = counted.own_config(page.values)
    show("own", figure.drawing(mine, page.words))
    st.markdown(counted.own_told(mine, page.words))
    if page["right"] != "own":
        st.button(
            page.words("own.set"),
            key="architectures own set",
            on_click=page.values.set,
            kwargs={"right": "own"},
        )


@page.live
def two_models() -> None:
    page.above(controls)
    page.predict(PREDICTIONS, result_of)
    result = result_of(page.values)
    pictures = figure.drawings(*result.facts["configs"], page.words)
    for key, picture in zip("ab", pictures, strict=True):
        show(key, picture)
    page.breathe()
    left, right = st.columns(2, gap="large")
    with left:
        page.notice(counted.notices(result, page.words), footnote="notice.marks")
    with right:
        why(result)
    with st.container(key="differences"):
        st.markdown(traits.table(*result.facts["configs"], counted.names_of(result, page.words), page.words))
    page.tabs(
        frame.Picture(result, (), counted.summary(result, page.words), diagrams=pictures),
        architecture_checks,
        parts=lambda: parts(result),
        masks=masks,
        goals=objectives,
        own=lambda: own(result),
    )


page.close()
