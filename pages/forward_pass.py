"""Forward pass: a tiny decoder, trained on the spot, from the reader's prompt to the next token and on."""

import streamlit as st

from core.models.corpus import corpus, tokens_of
from core.models.prompt import Prompt, Replacement, read_prompt
from core.models.toy import Toy
from core.text.tokens import clean
from ui import frame, toys
from ui.cached import cached
from ui.checks.forward_pass import forward_checks
from ui.figures import forward_pass as figure
from ui.figures import forward_pass_embeddings as beginnings
from ui.figures import forward_pass_lens as lenses
from ui.figures import forward_pass_sampling as sampling
from ui.figures import forward_pass_training as training
from ui.figures import forward_pass_why as whys
from ui.figures import forward_pass_writing as writing
from ui.numbers import listed
from ui.predictions.forward_pass import PREDICTIONS
from ui.result import Result
from ui.words import Raw, quote

page = frame.open_page("forward_pass")

EXAMPLES = (
    "小猫爱吃",
    "the kitten eats",
    "小猫",
    "小熊爱",
    "熊猫在树下",
    "妈妈喜欢小",
    "my brother",
    "it snowed",
)
LAST = ("normed", "logits", "probs")  # where the last place is the one that matters
TOY_READS = 10  # tokens after END: the length of the longest sentence
SETTINGS = ("temperature", "top_k", "top_p", "layer", "draw", "training", "new")


@cached(max_entries=256)
def compute(tokens, settings, _toy) -> Result:
    """One forward pass."""
    return figure.compute(_toy, tokens, dict(settings))


@cached(max_entries=64)
def written_of(tokens, settings, wanted, _toy, _result) -> writing.Written:
    """The text written on, twice."""
    return writing.write(_toy, _result, wanted)


@cached(max_entries=1, shared=True)
def known_sentences() -> tuple[tuple[str, ...], ...]:
    """What the toy was trained on, as tokens."""
    return tuple(tokens_of(s) for lang in ("zh", "en") for s in corpus(lang).train)


@cached(max_entries=256)
def read(text, vocabulary, limit) -> Prompt:
    """The prompt in words that the toy knows."""
    return read_prompt(text, vocabulary, known_sentences(), limit)


def toy_of(seed: int) -> Toy:
    """The toy of a training; while it is trained, a bar and a sentence say so."""
    if ready := toys.shared().get(seed):
        return ready
    place = st.empty()

    def tell(waiting: toys.Waiting) -> None:
        key = "train.queue" if waiting.before else "train.wait"
        told = page.words(key, seed=seed, percent=round(100 * waiting.share), before=waiting.before)
        place.progress(waiting.share, text=told)

    toy = toys.shared().wait(seed, tell)
    place.empty()
    return toy


def prompt_of(values, toy: Toy) -> Prompt:
    text = page.entry.parameter("s").tidy(values["s"])
    return read(text, toy.vocabulary, toy.longest - 1)


def settings_of(values) -> tuple:
    return tuple((name, values[name]) for name in SETTINGS)


def result_of(values) -> Result:
    """The page's one value under any set of parameters."""
    toy = toy_of(values["training"])
    return compute(prompt_of(values, toy).tokens, settings_of(values), toy)


def written(result: Result) -> writing.Written:
    """The reader's prompt written on."""
    toy = toy_of(page["training"])
    return written_of(result.parameters["tokens"], settings_of(page.values), page["new"], toy, result)


def remarks() -> None:
    """What was done to the reader's text: cut, replaced."""
    parameter, toy = page.entry.parameter("s"), toy_of(page["training"])
    cleaned, prompt = clean(page["s"], parameter.limit), prompt_of(page.values, toy)
    told = [page.words("text.controls_removed")] if cleaned.removed_controls else []
    if cleaned.cut:
        told.append(page.words("text.cut_characters", limit=parameter.limit))
    if not cleaned.text:
        told.append(page.words("text.empty", used=parameter.default))
    if prompt.n_found > len(prompt.tokens):
        told.append(page.words("prompt.long", count=prompt.n_found, limit=toy.longest - 1))
    if prompt.replaced:
        told.append(page.words("prompt.unknown", vocab=len(toy.vocabulary), count=len(prompt.replaced)))
    kinds: dict[tuple[str, str], Replacement] = {}
    for one in prompt.replaced:
        kinds.setdefault((one.unknown, one.used), one)
    told += map(replacement, kinds.values())
    if told:
        st.info("\n\n".join(told))


def replacement(one: Replacement) -> str:
    """A token that the toy does not know: what it reads instead, why, and what else there is."""
    others = page.words("prompt.others", listed=Raw(listed(map(quote, one.others), page.words.lang)))
    told = {"token": one.unknown, "used": one.used, "others": Raw(others if one.others else "")}
    if one.alike:
        return page.words("prompt.alike", **told)
    if not one.after:
        return page.words("prompt.frequent", **told)
    return page.words("prompt.place", after=Raw(" ".join(map(quote, one.after))), **told)


def embeddings(result: Result) -> None:
    st.markdown(page.words("emb.intro"))
    shown = beginnings.compute(result)
    page.experiment(shown, beginnings, at="emb")
    st.markdown(beginnings.table(shown, page.words))


def lens(result: Result) -> None:
    st.markdown(page.words("lens.intro"))
    shown = lenses.compute(result)
    page.experiment(shown, lenses, at="lens")
    st.markdown(lenses.table(shown, page.words))
    page.chart("lens", lenses.chart(shown, page.words), summary=lenses.summary(shown, page.words))


def cuts(result: Result) -> None:
    st.markdown(page.words("sam.intro"))
    for column, (name, chart) in zip(
        st.columns(2, gap="large"), sampling.charts(result, page.words).items(), strict=True
    ):
        with column:
            page.chart(name, chart, summary=sampling.chart_summary(name, result, page.words))
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(sampling.table(result, page.words))
    with right:
        page.notice(sampling.notices(result, page.words))


def generation(result: Result) -> None:
    st.markdown(page.words("gen.intro"))
    with page.controls("generation"):
        page.slider("new", width=220)
        page.slider("at", width=220)
    shown = written(result)
    if told := writing.remarks(shown, page.words):
        st.info(page.words.sentences(told))
    at = page.within("at", len(shown.cached))
    step = shown.cached[at]
    st.markdown(writing.text_so_far(step, page.words))
    page.chart("line", writing.line(step, page.words), summary=writing.line_summary(step, page.words))
    setting = sampling.setting(result, page.words)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(writing.story(step, at, result, setting, page.words))
        st.markdown(writing.table(shown, at, page.words))
    with right:
        page.notice(writing.notices(shown, result, page.words))


def cache(result: Result) -> None:
    st.markdown(page.words("cache.intro"))
    with page.controls("cache"):
        page.slider("new", width=220)
    shown = written(result)
    if told := writing.remarks(shown, page.words):
        st.info(page.words.sentences(told))
    charts = writing.cost_charts(shown, page.words)
    for column, (name, chart) in zip(st.columns(2, gap="large"), charts.items(), strict=True):
        with column:
            page.chart(name, chart, summary=writing.cost_summary(name, shown, page.words))
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.markdown(writing.cost_table(shown, page.words))
    with right:
        page.notice(writing.cost_notices(shown, page.words))


def train() -> None:
    st.markdown(page.words("train.intro"))
    seed = page["training"]
    trained = training.measure(toy_of(seed), seed)
    following = (seed + 1) % (page.entry.parameter("training").high + 1)
    left, right = st.columns([3, 2], gap="large")
    with left:
        page.chart("loss", training.chart(trained, page.words), summary=training.summary(trained, page.words))
        st.button(
            page.words("train.again", seed=following),
            key="forward_pass train again",
            on_click=page.values.set,
            kwargs={"training": following},
        )
    with right:
        page.notice(training.notices(trained, page.words))
    st.markdown(page.words("train.corpus"))
    page.text("find", width=250)
    found = training.sentences(page.entry.parameter("find").tidy(page["find"]), page.words)
    st.caption(page.words("train.found", count=len(found)))
    st.dataframe(found, hide_index=True, height=280)


def limits() -> None:
    st.markdown(page.words("limits.intro"))
    st.markdown(training.limits(toy_of(page["training"]), page.words))
    st.markdown(page.words("limits.told"))


def last_place(text: str) -> int:
    """Where the last token of a prompt stands, END being at 0."""
    return min(len(tokens_of(page.entry.parameter("s").tidy(text))), TOY_READS)


def answers_to(text: str) -> dict[str, tuple[str, int, int]]:
    """The cells that tell of the likeliest token after a prompt."""
    last = last_place(text)
    return {"cell": ("probs", last, 0), "lens_cell": ("lens", 2, last)}


def follow() -> None:
    """A new prompt: what was explained at the last place, is explained at the new one."""
    last, cell, lens_cell = last_place(page["s"]), page["cell"], page["lens_cell"]
    if cell is not None:
        page.values.set(cell=(cell[0], last if cell[0] in LAST else min(cell[1], last), cell[2]))
    if lens_cell is not None:
        page.values.set(lens_cell=(*lens_cell[:2], last))


def controls() -> None:
    page.text("s", then=follow, width=190)
    page.presets("examples", {f"p{i}": {"s": text} | answers_to(text) for i, text in enumerate(EXAMPLES)})
    page.slider("temperature", width=120)
    page.slider("top_k", width=120)
    page.slider("top_p", width=120)
    page.segments("layer")
    page.number("draw", width=110)
    page.number("training", width=110)


def side_by_side(a: Result, b: Result) -> None:
    page.chart("both", figure.both(a, b, page.words), summary=figure.chart_summary(b, page.words))


@page.live
def forward_pass() -> None:
    if toys.shared().get(page["training"]):
        page.above(controls)
    else:
        with page.controls():  # at once: the training takes some seconds
            controls()
    remarks()

    page.predict(PREDICTIONS, result_of)
    result = result_of(page.values)
    rows, summary = figure.steps(result, page.words), figure.summary(result, page.words)
    page.matrices(rows, summary=summary)
    chart = figure.chart(result, page.words)
    page.compare(result_of, draw=side_by_side, numbers=lambda some: figure.numbers(some, page.words))
    left, right = st.columns(2, gap="large")
    with left:
        page.chart("next", chart, summary=figure.chart_summary(result, page.words))
        page.why(result, whys.why, code=whys.code_of)
    with right:
        page.notice(figure.notices(result, page.words), footnote="notice.toy")
    page.tabs(
        frame.Picture(result, rows, summary, charts={"next": chart}),
        lambda shown: forward_checks(shown, toy_of(page["training"]), written(shown)),
        embeddings=lambda: embeddings(result),
        lens=lambda: lens(result),
        sampling=lambda: cuts(result),
        writing=lambda: generation(result),
        cache=lambda: cache(result),
        training=train,
        limits=limits,
    )


page.close()
