"""Tokens and embeddings: the reader's text as characters, words and byte pairs, and from numbers to vectors."""

import streamlit as st

from core.text.tokens import clean
from ui import frame
from ui.cached import cached
from ui.checks.tokens import token_checks
from ui.figures import tokens as figure
from ui.figures import tokens_bytes as signs
from ui.figures import tokens_learning as learning
from ui.figures import tokens_lengths as lengths
from ui.figures import tokens_lookup as lookups
from ui.figures import tokens_neighbours as near
from ui.figures import tokens_path as paths
from ui.figures import tokens_tied as ties
from ui.predictions.tokens import PREDICTIONS
from ui.result import Result
from ui.trained_toy import table_after, table_before, trained_toy

page = frame.open_page("tokens")
EXAMPLES = {
    "both": page.entry.parameter("s").default,
    "chinese": "苹果发布了新款手机，它的价格很亲民",
    "names": "Ngũgĩ wa Thiong’o, Björk, 李小龍, Владимир",
    "code": "for i in range(10): print(i * 3.14)",
    "emoji": "👨\u200d👩\u200d👧 🇨🇳 👍🏽 ❤\ufe0f",
}


@cached(max_entries=256)
def compute(text, n, seed) -> Result:
    """The text under the first n merges."""
    return figure.compute(text, n, seed)


@cached(max_entries=64)
def learned(k) -> learning.Learned:
    """The corpus before and after merge k."""
    return learning.measure(k)


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    return compute(page.entry.parameter("s").tidy(values["s"]), values["merges"], values["seed"])


def remarks() -> None:
    """What was done to the reader's text."""
    parameter = page.entry.parameter("s")
    cleaned = clean(page["s"], parameter.limit)
    told = [page.words("text.controls_removed")] if cleaned.removed_controls else []
    if cleaned.cut:
        told.append(page.words("text.cut_characters", limit=parameter.limit))
    if not cleaned.text:
        told.append(page.words("text.empty", used=parameter.default))
    if told:
        st.info(page.words.sentences(told))


def learn() -> None:
    st.markdown(page.words("learn.intro"))
    with page.controls("learning"):
        page.slider("merge", width=420)
    found = learned(page["merge"])
    page.strips(learning.strips(found, page.words), summary=learning.summary(found, page.words), key="learn")
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(learning.table(found.k, page.words))
        page.chart("counts", learning.chart(found.k, page.words), summary=learning.summary(found, page.words))
    with right:
        page.notice(learning.notices(found, page.words))


def path(result: Result) -> None:
    st.markdown(page.words("path.intro"))
    count = len(paths.pieces(result))
    with page.controls("path"):
        page.slider("word", width=420)
    place = min(page["word"], count) - 1
    if page["word"] > count:
        st.info(page.words("path.fewer", count=count))
    page.strips(
        paths.strips(result, place, page.words), summary=paths.summary(result, place, page.words), key="path"
    )
    page.notice(paths.notices(result, place, page.words))


def length() -> None:
    st.markdown(page.words("length.intro"))
    found = lengths.measure(page["merges"])
    left, right = st.columns([3, 2], gap="large")
    with left:
        page.chart("lengths", lengths.chart(found, page.words), summary=lengths.summary(found, page.words))
    with right:
        page.notice(lengths.notices(found, page.words))
    st.markdown(lengths.table(page.words))


def characters(result: Result) -> None:
    with page.controls("bytes"):
        page.choice("sign", width=300)
    text = signs.sample(page["sign"], result.parameters["text"])
    page.strips(signs.strips(text, page.words), summary=signs.summary(text, page.words), key="bytes")
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(signs.table(text, page.words))
    with right:
        page.notice(signs.notices(page["sign"], text, page.words))


def embeddings(result: Result) -> None:
    st.markdown(page.words("emb.intro"))
    with page.controls("embeddings"):
        page.slider("d", width=160)
        page.switch("scaled")
        page.number("seed", width=110)
    page.experiment(
        lookups.compute(result, page["d"], page["scaled"]), lookups, at="emb", footnote="emb.untrained"
    )


def neighbours() -> None:
    st.markdown(page.words("near.intro"))
    with page.controls("neighbours"):
        page.text("near", width=250)
    with st.spinner(page.words("near.wait")):
        vocabulary = trained_toy().vocabulary
    word = near.known(page["near"], vocabulary)
    if word is None:
        word = page.entry.parameter("near").default
        st.info(page.words("near.unknown", typed=page["near"][:40], count=len(vocabulary), used=word))
    found = near.measure(word, vocabulary, table_before(), table_after())
    left, right = st.columns([3, 2], gap="large")
    with left:
        page.chart("near", near.chart(found, page.words), summary=near.summary(found, page.words))
    with right:
        page.notice(near.notices(found, page.words), footnote="near.footnote")


def tied(result: Result) -> None:
    st.markdown(page.words("tied.intro"))
    with page.controls("tied"):
        page.slider("d", width=160)
        page.number("seed", width=110)
    page.experiment(lookups.compute(result, page["d"], False), ties, at="tied", footnote="emb.untrained")


def controls() -> None:
    page.text("s", width=420)
    page.presets("examples", {name: {"s": text} for name, text in EXAMPLES.items()})
    page.slider("merges", width=320)


@page.live
def from_text_to_numbers() -> None:
    page.above(controls)
    remarks()

    page.predict(PREDICTIONS, result_of)
    result = result_of(page.values)
    strips, summary = figure.strips(result, page.words), figure.summary(result, page.words)
    page.strips(strips, summary=summary)
    left, right = st.columns(2, gap="large")
    with left:
        page.why(result, figure.why, code=figure.code_of)
    with right:
        page.notice(figure.notices(result, page.words), footnote="notice.corpus")
    page.tabs(
        frame.Picture(result, (), summary, strips=strips),
        token_checks,
        learning=learn,
        path=lambda: path(result),
        lengths=length,
        bytes=lambda: characters(result),
        embeddings=lambda: embeddings(result),
        neighbours=neighbours,
        tied=lambda: tied(result),
    )


page.close()
