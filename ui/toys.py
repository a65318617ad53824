"""Toys trained for the whole server: one at a time, each seed once, a few of them kept.

A class of thirty opens the same link in the same second: one training serves them all, and all see how far it is. It
takes place in the process of `ui.run_worker`; a thread here only asks it for news, so that nobody's slider waits.
Nothing here knows Streamlit; pages ask what there is.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from core.models.tasks import task_named
from core.models.toy import TOY, Toy
from core.models.training import TrainingSettings, TrainingState
from ui.runs import Runs
from ui.runs import shared as shared_runs

KEPT = 4  # trained toys in memory, the last used
PATIENCE = 5.0  # s after which a training that nobody waits for is given up
NEWS = 0.1  # s between two questions to the process that trains
OWNER = "toys"  # of their runs


class _LeftError(Exception):
    """Nobody waits any more."""


@dataclass
class _Job:
    seen: float  # when somebody last asked
    step: int = 0
    error: Exception | None = None


@dataclass(frozen=True)
class Waiting:
    """How far a training is: `share` of its steps are done, `before` others come first."""

    share: float
    before: int


def train_apart(
    seed: int, watch: Callable[[int, float], None], runs: Runs | None = None, settings: TrainingSettings = TOY
) -> Toy:
    """The toy of a seed, trained in the process that trains; watch(step, loss) is called until it is there.

    What `watch` raises gives the training up. Raises RuntimeError if the process fails.
    """
    runs, settings = runs or shared_runs(), replace(settings, seed=seed)
    name = runs.start(OWNER, [settings], every=settings.steps, ahead=True)
    try:
        while (view := runs.look(OWNER, name)) is not None and view.moving:
            (steps,) = view.steps
            watch(len(steps), steps[-1].loss if steps else float("nan"))
            time.sleep(NEWS)
    except BaseException:
        runs.stop(OWNER, name)
        raise
    if view is None or view.status != "done":
        raise RuntimeError("the training broke off" if view is None or view.error is None else view.error)
    task, (steps,) = task_named(settings.task), view.steps
    model = TrainingState.unpack(settings, task, runs.take(OWNER, name)[0]).model
    losses, last = tuple(step.loss for step in steps), steps[-1].record
    held_out = float("nan") if last is None else last.held_out_loss
    return Toy(model.requires_grad_(False), task.vocabulary, settings, losses, held_out)


class Toys:
    """`get` what there is, `ask` for what is not there yet. Weights are trained in float32, and read as float64."""

    def __init__(self, train: Callable[..., Toy] = train_apart, kept: int = KEPT, patience: float = PATIENCE):
        self._train, self._most, self._patience = train, kept, patience
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Toy] = OrderedDict()
        self._jobs: OrderedDict[int, _Job] = OrderedDict()
        self._worker: threading.Thread | None = None

    def get(self, seed: int) -> Toy | None:
        """The toy, if it is trained."""
        with self._lock:
            if seed in self._kept:
                self._kept.move_to_end(seed)
            return self._kept.get(seed)

    def ask(self, seed: int) -> Waiting:
        """See to it that the toy is trained, and tell how far that is. Ask again: who stops asking is given up.

        Raises what the training raised, once for each failure.
        """
        with self._lock:
            if seed in self._kept:
                return Waiting(1.0, 0)
            job = self._jobs.setdefault(seed, _Job(time.monotonic()))
            if job.error is not None:
                del self._jobs[seed]
                raise job.error
            job.seen = time.monotonic()
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="toys", daemon=True)
                self._worker.start()
            return Waiting(job.step / TOY.steps, list(self._jobs).index(seed))

    def wait(self, seed: int, told: Callable[[Waiting], None] = lambda _: None, every: float = 0.1) -> Toy:
        """The toy; `told` is called until it is there."""
        while (toy := self.get(seed)) is None:
            told(self.ask(seed))
            time.sleep(every)
        return toy

    def _work(self) -> None:
        """Train what is asked for, in order, until nothing is."""
        while (seed := self._next()) is not None:
            job = self._jobs[seed]
            try:
                toy = self._train(seed, watch=lambda step, _, job=job: self._watch(job, step))
            except _LeftError:
                with self._lock:
                    self._jobs.pop(seed, None)
            except Exception as error:  # told to those who wait
                job.error = error
            else:
                with self._lock:
                    self._kept[seed] = replace(toy, model=toy.model.double())
                    self._jobs.pop(seed, None)
                    while len(self._kept) > self._most:
                        self._kept.popitem(last=False)

    def _next(self) -> int | None:
        with self._lock:
            for seed, job in list(self._jobs.items()):
                if job.error is None and time.monotonic() - job.seen <= self._patience:
                    return seed
                if time.monotonic() - job.seen > self._patience:
                    del self._jobs[seed]
            self._worker = None
            return None

    def _watch(self, job: _Job, step: int) -> None:
        job.step = step
        if time.monotonic() - job.seen > self._patience:
            raise _LeftError


@cache
def shared() -> Toys:
    """Those of this server."""
    return Toys()
