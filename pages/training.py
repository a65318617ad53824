"""Training: two small models, trained side by side while one watches."""

import streamlit as st

from ui import frame
from ui.checks.training import training_checks
from ui.course.training import RECORDS, SIDES
from ui.figures import training as figure
from ui.figures import training_charts as drawn
from ui.figures import training_gradients as gradients
from ui.figures import training_tasks as tasks
from ui.figures.training_desk import Shown, desk_of_session, seconds_of, server, shown_of, values_of
from ui.figures.training_notices import notices, told_settings
from ui.figures.training_presets import PRESETS
from ui.frame import Picture
from ui.frame.predicting import desk_of
from ui.predictions.training import PREDICTIONS
from ui.result import Result
from ui.words import Raw

LOOK_AGAIN = 0.8  # s from one picture of a run to the next
page = frame.open_page("training")
desk = desk_of_session()


def outcome_of(values) -> Result:
    """What is known under any settings: of a run that has them, or of the settings alone."""
    values = dict(values)
    return figure.result(values, desk.found(figure.settings_of(values)))


def controls() -> None:
    page.presets("presets", PRESETS)
    page.choice("task", width=300)
    page.choice("width", width=90)
    page.number("steps", width=110)
    page.number("seed", width=110)


def of_side(side: str) -> None:
    """What one run is made of; what is seldom set stands behind a button that names what is set."""
    page.number(f"layers_{side}", width=88)
    page.choice(f"norm_{side}", width=104)
    page.choice(f"rate_{side}", width=92)
    page.number(f"warm_{side}", width=100)
    apart = figure.set_apart(side, page.values.as_dict(), page.words)
    label = (
        page.words("more.set", side=Raw(side.upper()), set=Raw(apart))
        if apart
        else page.words("more", side=Raw(side.upper()))
    )
    with st.popover(label, width=154, key=f"training more {side}", on_change="rerun") as more:
        if more.open:
            page.choice(f"plan_{side}")
            page.choice(f"clip_{side}")
            page.choice(f"drop_{side}")
            page.choice(f"smooth_{side}")
            page.switch(f"res_{side}")


def buttons(shown: Shown) -> None:
    """Start, stop or continue, whichever there is to do."""
    view = shown.view
    own = view is not None and view.own and shown.fits
    if own and view.moving:
        _button("stop", desk.stop, view.name, disabled=view.settling)
    elif own and view.can_continue:
        _button("go_on", desk.go_on, view.name)
    else:
        known = shown.fits and view is not None and (view.status == "done" or view.moving)
        _button("start", desk.start, shown.asked, disabled=known)


def _button(name: str, act, *given, disabled: bool = False) -> None:
    st.button(
        page.words(f"run.{name}"),
        key=f"training {name}",
        help=page.words(f"run.{name}.help"),
        on_click=act,
        args=given,
        type="primary",
        disabled=disabled,
    )


def progress(shown: Shown) -> None:
    """The bar, and in words how the run stands."""
    view = shown.view
    if view is None:
        st.markdown(page.words("run.none", seconds=round(seconds_of(shown.asked))), width="stretch")
        return
    done = [len(steps) for steps in view.steps]
    told = {"done_a": done[0], "done_b": done[1], "steps": view.settings[0].steps, "place": view.place}
    status = "starting" if view.status == "running" and view.seconds_left is None else view.status
    if status == "waiting":
        told |= {"at_once": server().at_once}
    if view.seconds_left is not None:
        told["seconds"] = max(1, round(view.seconds_left))
    if status == "stopped" and not (view.can_continue or view.settling):
        status = "stopped_for_good"
    text = page.words(f"status.{status}", **told)
    if view.moving and not view.own:
        text = f"{text} {page.words('status.theirs')}"
    st.progress(min(1.0, view.share_done), text=text, width="stretch")


def remarks(shown: Shown, result: Result) -> None:
    """Whose settings the curves have, where they are not those of the controls; and what else is in work."""
    if shown.view is not None and not shown.fits:
        st.info(page.words("belongs.other", settings=Raw(told_settings(result, page.words))))
        _show(shown.view, "belongs.take")
    if shown.elsewhere is not None:
        share = round(100 * shown.elsewhere.share_done)
        st.info(page.words("belongs.elsewhere", percent=share))
        _show(shown.elsewhere, "belongs.show")


def _show(view, label: str) -> None:
    st.button(page.words(label), key=f"training {label}", on_click=page.values.set, kwargs=values_of(view))


def player() -> None:
    """Which picture, and through the looks of it, step by step or by itself."""
    with page.controls("player"):
        page.segments("view")
        _turn("first", lambda: move(to=0))
        _turn("back", lambda: move(by=-1))
        _turn("pause" if desk.playing else "play", play)
        _turn("on", lambda: move(by=1))
        page.slider("at", width=150)


def heads_shown(result: Result) -> None:
    """Which attention, and which head of it."""
    with page.controls("heads"):
        if result.facts["task"].has_source:
            page.choice("look", width=180)
        page.choice("find", width=210)
        if page["find"] == "chosen":
            page.number("layer", width=100)
            page.number("head", width=100)


def _turn(name: str, act) -> None:
    st.button(
        page.words(f"play.{name}"), key=f"training {name}", help=page.words(f"play.{name}.help"), on_click=act
    )


def move(by: int = 0, to: int | None = None) -> None:
    desk.playing = False
    page.values.set(at=min(RECORDS, max(0, page["at"] + by if to is None else to)))


def play() -> None:
    desk.playing = not desk.playing
    if desk.playing and page["at"] >= RECORDS:
        page.values.set(at=0)


def play_on(result: Result) -> None:
    """One look further; the last one, or the last there is, ends the playing."""
    newest = max(
        (int(side.looked[-1]) for side in result.facts["sides"].values() if len(side.looked)), default=0
    )
    last = max((k for k, step in enumerate(result.facts["looks"]) if step <= newest), default=0)
    if page["at"] >= last:
        desk.playing = False
    else:
        page.values.set(at=page["at"] + 1)


def choose(result: Result):
    def take(label: str, x: float) -> None:
        if cell := drawn.pointed(label, x, result, page.words):
            page.values.set(cell=cell)

    return take


def curves(result: Result, made: dict) -> None:
    """Loss, gradient by layer and learning rate beside each other."""
    widths = {"loss": 5, "layers": 3, "rate": 3}
    for column, name in zip(st.columns([widths[name] for name in made]), made, strict=True):
        with column:
            curve(name, result, made)


def curve(name: str, result: Result, made: dict) -> None:
    summary = drawn.chart_summary(name, result, page.words)
    page.chart(name, made[name], summary=summary, choose=choose(result) if name == "loss" else None)


def maps(result: Result, made: dict, rows, summary: str) -> None:
    """The head's maps, with the loss beside them: what it costs and what it looks at, at the same look."""
    left, right = st.columns([4, 8])
    with left:
        curve("loss", result, made)
    with right:
        heads_shown(result)
        page.matrices(rows, summary=summary)


def told(result: Result) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        page.why(result, figure.why, code=figure.code_of)
        st.markdown(figure.numbers(result, page.words))
    with right:
        page.notice(notices(result, page.words), footnote="notice.toy")


def before(result: Result) -> dict:
    """Nothing has been run: what there is to know without, and what Start will do."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        p = result.parameters
        lines = "\n\n".join(f"**{s.upper()}** {figure.all_settings(s, p, page.words)}" for s in SIDES)
        told = {"settings": Raw(lines), "task": Raw(page.words(f"choice.task.{p['task']}"))}
        told |= {"steps": p["steps"], "frequency": result.facts["frequency"]}
        st.markdown(page.words("before", **told))
    with right:
        made = drawn.charts(result, page.words)
        page.chart("rate", made["rate"], summary=drawn.chart_summary("rate", result, page.words))
    return made


def by_layer(result: Result) -> None:
    st.markdown(page.words("grad.intro"))
    if any(name.startswith("grad_") for name in result.arrays):
        page.experiment(result, gradients, at="grad")
    else:
        st.caption(page.words("tab.nothing"))


def heads(result: Result) -> None:
    st.markdown(page.words("heads.intro"))
    if "train" not in result.arrays:
        st.caption(page.words("tab.nothing"))
        return
    made = {find: drawn.forming(find, result, page.words) for find in drawn.FINDS}
    made = {find: chart for find, chart in made.items() if chart is not None}
    for column, find in zip(st.columns(3), made, strict=False):
        with column:
            st.markdown(f"**{page.words(f'heads.{find}')}**")
            page.chart(f"forming {find}", made[find], summary=page.words.plain(f"heads.{find}"))
    if "induction" not in made:
        st.caption(page.words("heads.no_score"))


def data(result: Result) -> None:
    st.markdown(tasks.facts(result, page.words))
    st.markdown(tasks.table(result, page.words))
    if result.parameters["corpora"] and not result.facts["task"].has_source:
        st.caption(page.words("data.masked"))
        page.link_to("architectures")


def current() -> tuple[Shown, Result]:
    shown = shown_of(desk, page.values.as_dict())
    other = shown.view is not None and not shown.fits
    if other and page.asking is not None and page.asking.reveals(values_of(shown.view)):
        shown = Shown(None, shown.asked, True)  # an earlier run must not give the answer away
    return shown, figure.result(page.values.as_dict(), shown.view)


def watching() -> Picture:
    """A run while it goes on, or its pictures while they play: drawn again and again, until there is nothing new."""
    shown, result = current()
    if not (shown.moving or desk.playing):
        st.rerun()  # the whole page once more: it draws the end, and the browser stops asking
    if desk.playing:
        play_on(result)
        result = current()[1]
    made = picture(shown, result)
    page.values.leave()
    return made


def picture(shown: Shown, result: Result) -> Picture:
    """Everything from the bar down to the words, and the same for the tabs."""
    rows = figure.rows(result, page.words)
    places = st.columns([6, 7], vertical_alignment="bottom") if rows else (st.container(),)
    with places[0], st.container(horizontal=True, vertical_alignment="center", key="run"):
        buttons(shown)
        progress(shown)
    if rows:
        with places[1]:
            player()
    remarks(shown, result)
    summary = figure.summary(result, page.words)
    if "train" not in result.arrays:
        return Picture(result, (), summary, before(result))
    made = drawn.charts(result, page.words)
    if rows and page["view"] == "maps":
        maps(result, made, rows, summary)
    else:
        curves(result, made)
    told(result)
    return Picture(result, rows, summary, made)


def start_for_question() -> None:
    """A question that has been answered with "Show me" wants its run; it is started once."""
    asked = desk_of(page)
    this = asked.round
    if not asked.open or this.after is None or id(this) in desk.asked:
        return
    pair = figure.settings_of(this.after)
    desk.asked.add(id(this))
    if desk.found(pair) is None:
        desk.start(pair)


@page.live
def training() -> None:
    with (
        page.controls()
    ):  # first, since nothing here is dragged, and Start must not be there before its settings
        controls()
    for column, side in zip(st.columns(2, gap="small"), SIDES, strict=True):
        with column, page.controls(f"run {side}"):
            of_side(side)
    start_for_question()
    page.predict(PREDICTIONS, outcome_of)
    shown, result = current()
    if shown.moving or desk.playing:
        made = st.fragment(watching, run_every=LOOK_AGAIN)()
    else:
        made = picture(shown, result)
    page.tabs(
        made,
        training_checks,
        gradients=lambda: by_layer(made.result),
        heads=lambda: heads(made.result),
        data=lambda: data(made.result),
    )


page.close()
