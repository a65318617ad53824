"""The runs of one browser on the training page: which run is shown, and what may be done to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.models.training import TrainingSettings
from ui.course.training import PAGE
from ui.figures.training import shown_settings
from ui.figures.training_side import every, settings_of
from ui.runs import RunView
from ui.runs import shared as server
from ui.visitor import visitor

# Seconds of one core: of a step, of a layer in it, and of a look, as measured for texts of 11 tokens at width 48.
SECONDS = {"step": 0.004, "layer": 0.004}

Pair = tuple[TrainingSettings, TrainingSettings]


@dataclass
class Desk:
    """One session: the browser it is in, the run it started last, and whether the pictures play.

    Everybody who has a run's link sees the run; stop and continue are for the browser that started it: with one link
    for a class, nobody there can stop the lecturer's run, and the lecturer can, also after a reload.
    """

    owner: str
    run: str
    inherited: bool = True  # the run was in work when this session began: its pictures do not push in
    playing: bool = False
    asked: set[int] = field(default_factory=set)  # questions whose run has been started once

    def found(self, pair: Pair) -> RunView | None:
        """A run with these settings, if there is one to see."""
        return server().find(self.owner, pair)

    def latest(self) -> RunView | None:
        """The run that this session started last, or found in work when it began."""
        return server().look(self.owner, self.run) if self.run else None

    def start(self, pair: Pair) -> None:
        """Run both; an earlier run of this browser that is still going is stopped, and keeps what it has."""
        self.run = server().start(self.owner, pair, every=every(pair[0].steps))
        self.inherited = self.playing = False

    def stop(self, name: str) -> None:
        """Stop a run of this browser."""
        server().stop(self.owner, name)
        self.run, self.inherited = name, False

    def go_on(self, name: str) -> None:
        """Continue a stopped run of this browser."""
        if server().resume(self.owner, name):
            self.run, self.inherited = name, False


def desk_of_session() -> Desk:
    """The session's own."""
    if "training runs" not in st.session_state:
        owner = visitor()
        st.session_state["training runs"] = Desk(owner, server().in_work(owner))
    return st.session_state["training runs"]


@dataclass(frozen=True)
class Shown:
    """What the page shows: a run or none, whether it has the settings of the controls, and another one in work."""

    view: RunView | None
    asked: Pair
    fits: bool
    elsewhere: RunView | None = None

    @property
    def moving(self) -> bool:
        """Whether something will change by itself."""
        return any(view is not None and view.moving for view in (self.view, self.elsewhere))


def shown_of(desk: Desk, values: Mapping[str, Any]) -> Shown:
    """The run that the controls ask for; without one the last run of this session, said to be of other settings."""
    pair = settings_of(values)
    latest, found = desk.latest(), desk.found(pair)
    other = latest is not None and latest.settings != pair
    if found is not None:
        return Shown(found, pair, True, latest if other and latest.moving else None)
    if other and desk.inherited:
        return Shown(None, pair, True, latest if latest.moving else None)
    if other and (latest.moving or any(latest.steps)):
        return Shown(latest, pair, False)
    return Shown(None if latest is None or other else latest, pair, True)


def seconds_of(pair: Sequence[TrainingSettings]) -> float:
    """About how long both take, alone on a core like those they were measured on."""
    total = 0.0
    for s in pair:
        longer = 2.0 if s.task.startswith("repeat") else 1.6 if s.task in ("reverse", "translate") else 1.0
        total += s.steps * (SECONDS["step"] + SECONDS["layer"] * s.layers * longer)
    return total


def values_of(view: RunView) -> dict[str, Any]:
    """The page's values under which a run is the one that is asked for."""
    known = {parameter.name for parameter in PAGE.parameters}
    return {name: value for name, value in shown_settings(view.settings).items() if name in known}
