"""Training runs of the whole server: in the background, a bounded number at once, the others in a queue.

A run belongs to an owner (a browser) and goes on while its page is rerun, left, reloaded, or shown in another language.
Nothing here knows Streamlit: `Runs` is made once per server, and pages ask it what there is.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from core.models.training import TrainingSettings, TrainingStep

ROOT = Path(__file__).resolve().parents[1]
Status = Literal["waiting", "running", "stopped", "done", "failed"]
ALIVE = ("waiting", "running")
AT_ONCE = 2  # runs in work on the whole server: it has two cores, and pages want to be answered
GONE = 240.0  # s after which a run that nobody looked at is stopped; most are done long before


@dataclass(frozen=True)
class RunView:
    """A run as it stands when it is looked at."""

    name: str
    status: Status
    place: int  # in the queue, from 1; 0 when it is not waiting
    settings: tuple[TrainingSettings, ...]
    steps: tuple[tuple[TrainingStep, ...], ...]  # of each model
    share_done: float  # 0..1
    seconds_left: float | None  # None before there is anything to reckon from
    can_continue: bool
    error: str | None
    own: bool = True  # False: somebody else's, with the settings that were asked for
    settling: bool = False  # stopped a moment ago: its last steps are still on their way

    @property
    def moving(self) -> bool:
        """Whether more is to come by itself."""
        return self.status in ALIVE or self.settling


@dataclass
class Run:
    """What the server keeps of a run."""

    name: str
    owner: str
    settings: tuple[TrainingSettings, ...]
    every: int
    seen: float
    status: Status = "waiting"
    steps: list[list[TrainingStep]] = field(default_factory=list)
    packed: list[bytes] | None = None
    answer_due: bool = False  # told to stop; its last steps and its state are on their way
    began: float | None = (
        None  # when the first steps of this stretch came: the process may have to start first
    )
    before: int = 0  # steps that were done by then
    error: str | None = None
    size: int = 0  # bytes of what was looked at, attention maps above all
    ahead: bool = False  # began at once, whatever the queue; its weights are kept when it is done

    @property
    def total(self) -> int:
        """Steps of all its models."""
        return sum(s.steps for s in self.settings)

    @property
    def done(self) -> int:
        """Steps done by all its models."""
        return sum(map(len, self.steps))


class Runs:
    """The server's runs. Every method may be called from any thread.

    at_once: runs in work at the same time; the others wait. gone_after: seconds after which a run that nobody looked
    at is stopped (it can be continued). keep_for, kept: how long results are kept, and of how many runs at most.
    state_bytes: how much is kept of stopped runs' weights; the oldest lose theirs first. record_bytes: how much is kept
    of what was looked at; the oldest runs that have ended go first.
    """

    def __init__(
        self,
        at_once: int = 2,
        gone_after: float = 120.0,
        keep_for: float = 1800.0,
        kept: int = 48,
        state_bytes: int = 64_000_000,
        record_bytes: int = 64_000_000,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.at_once, self.gone_after, self.keep_for = at_once, gone_after, keep_for
        self.kept, self.state_bytes, self.record_bytes, self.clock = kept, state_bytes, record_bytes, clock
        self.lock = threading.RLock()
        self.runs: dict[str, Run] = {}  # oldest first
        self.process: subprocess.Popen[bytes] | None = None

    def start(
        self, owner: str, settings: Sequence[TrainingSettings], every: int = 10, *, ahead: bool = False
    ) -> str:
        """Put a run of one model, or of several side by side, into the queue; returns its name.

        An owner has one run in work: an earlier one that is still waiting or running is stopped. `ahead`: what a page
        needs before it can show anything does not queue, and its weights can be had by `take`.
        """
        with self.lock:
            for run in list(self.runs.values()):
                if run.owner == owner and run.status in ALIVE:
                    self._stop(run)
            name = uuid.uuid4().hex
            self.runs[name] = Run(name, owner, tuple(settings), every, self.clock(), ahead=ahead)
            self.runs[name].steps = [[] for _ in settings]
            self._tidy()
            return name

    def look(self, owner: str, name: str) -> RunView | None:
        """The run as it stands, or None if it is not there (any more) or is somebody else's."""
        with self.lock:
            self.here(owner)
            run = self.runs.get(name)
            return None if run is None or run.owner != owner else self._view(run)

    def find(self, owner: str, settings: Sequence[TrainingSettings]) -> RunView | None:
        """A run with exactly these settings: the owner's, or else what somebody else has finished or has in work.

        The same settings give the same numbers, so that a class of thirty with one link needs one run.
        """
        with self.lock:
            self.here(owner)
            same = [r for r in self.runs.values() if r.settings == tuple(settings) and not r.ahead]
            same = [r for r in same if r.status != "failed"]
            same = [r for r in same if r.owner == owner or r.status != "stopped"]
            if not same:
                return None
            order = ("done", "running", "waiting", "stopped")
            run = min(reversed(same), key=lambda r: (order.index(r.status), r.owner != owner))
            run.seen = self.clock()
            return replace(self._view(run), own=run.owner == owner)

    def in_work(self, owner: str) -> str:
        """The name of the owner's run that is waiting or running; empty if there is none."""
        with self.lock:
            return next((r.name for r in self.runs.values() if r.owner == owner and r.status in ALIVE), "")

    def here(self, owner: str) -> None:
        """The owner is still there, on whatever page: call it at every rerun, so that no run is stopped."""
        with self.lock:
            for run in self.runs.values():
                if run.owner == owner:
                    run.seen = self.clock()
            self._tidy()

    def stop(self, owner: str, name: str) -> None:
        """Stop after the present step. Nothing is lost, and the run can be continued."""
        with self.lock:
            run = self.runs.get(name)
            if run is not None and run.owner == owner and run.status in ALIVE:
                self._stop(run)
                self._tidy()

    def resume(self, owner: str, name: str) -> bool:
        """Continue a stopped run, at the end of the queue. False if it cannot be."""
        with self.lock:
            run = self.runs.get(name)
            if run is None or run.owner != owner or not can_continue(run):
                return False
            for other in list(self.runs.values()):
                if other.owner == owner and other.status in ALIVE:
                    self._stop(other)
            run.status, run.seen = "waiting", self.clock()
            self.runs[name] = self.runs.pop(name)  # last in the queue
            self._tidy()
            return True

    def take(self, owner: str, name: str) -> list[bytes]:
        """The packed states of a run that went ahead and is done; it is not kept any longer."""
        with self.lock:
            run = self.runs[name]
            if run.owner != owner or run.status != "done" or run.packed is None:
                raise ValueError(f"there are no weights to take of {name}, which is {run.status}")
            return self.runs.pop(name).packed

    def close(self) -> None:
        """End the process that trains. Runs in work are stopped without their state."""
        with self.lock:
            process, self.process = self.process, None
        if process is not None:
            process.stdin.close()
            process.wait(timeout=30)

    def _view(self, run: Run) -> RunView:
        waiting = [r.name for r in self.runs.values() if r.status == "waiting"]
        place = waiting.index(run.name) + 1 if run.status == "waiting" else 0
        steps = tuple(tuple(side) for side in run.steps)
        share = run.done / run.total if run.status != "done" else 1.0
        return RunView(
            run.name,
            run.status,
            place,
            run.settings,
            steps,
            share,
            self._seconds_left(run),
            can_continue(run),
            run.error,
            settling=run.answer_due,
        )

    def _seconds_left(self, run: Run) -> float | None:
        lately = run.done - run.before
        if run.status != "running" or run.began is None or lately == 0:
            return None
        return (run.total - run.done) * (self.clock() - run.began) / lately

    def _tidy(self) -> None:
        """Stop what nobody looks at, forget what is old, begin what can begin."""
        now = self.clock()
        for run in list(self.runs.values()):
            if run.status in ALIVE and now - run.seen > self.gone_after:
                self._stop(run)
            elif run.status not in ALIVE and now - run.seen > self.keep_for:
                del self.runs[run.name]
        finished = [r for r in self.runs.values() if r.status not in ALIVE]
        for run in finished[: max(0, len(self.runs) - self.kept)]:
            del self.runs[run.name]
        looked_at = sum(run.size for run in self.runs.values())
        for run in finished:
            if looked_at > self.record_bytes and self.runs.pop(run.name, None):
                looked_at -= run.size
        held = 0
        for run in reversed(list(self.runs.values())):  # the newest keep their weights
            held += sum(map(len, run.packed or ()))
            if held > self.state_bytes and run.status == "stopped":
                run.packed = None
        self._begin()

    def _begin(self) -> None:
        waiting = [r for r in self.runs.values() if r.status == "waiting"]
        free = self.at_once - sum(r.status == "running" and not r.ahead for r in self.runs.values())
        queued = [r for r in waiting if not r.ahead]
        for run in [r for r in waiting if r.ahead] + queued[: max(0, free)]:
            run.status, run.began = "running", None
            packed, run.packed = run.packed, None
            self._send("start", run.name, run.settings, packed, run.every, run.ahead)

    def _stop(self, run: Run) -> None:
        if run.status == "running":
            self._send("stop", run.name)
            run.answer_due = True
        run.status = "stopped"

    def _send(self, *order: Any) -> None:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ui.run_worker"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            threading.Thread(target=self._listen, args=(self.process,), daemon=True).start()
        try:
            pickle.dump(order, self.process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `_listen` sees the process end and says so

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                message = pickle.load(process.stdout)
            except (EOFError, OSError, pickle.UnpicklingError):
                break
            with self.lock:
                self._hear(process, *message)
        process.wait()
        with self.lock:
            self._process_ended(process)

    def _hear(self, process: subprocess.Popen[bytes], what: str, name: str = "", news: Any = None) -> None:
        if what == "idle":
            if process is self.process and not any(r.status in ALIVE for r in self.runs.values()):
                self.process = None
                process.stdin.close()  # it ends by itself
            return
        run = self.runs.get(name)
        if run is None:
            return
        if what == "steps":
            for side, step in news:
                run.steps[side].append(step)
                run.size += size_of(step)
            if run.began is None:
                run.began, run.before = self.clock(), run.done
        elif what == "failed":
            run.status, run.error, run.answer_due = "failed", news, False
        elif what == "done":
            run.status, run.answer_due, run.packed = "done", False, news
        else:
            run.packed, run.answer_due = news, False
        self._tidy()

    def _process_ended(self, process: subprocess.Popen[bytes]) -> None:
        """Say so in the runs that it had in work; the next one gets a new process."""
        if process is self.process or self.process is None:
            for run in self.runs.values():
                run.answer_due = False
                if run.status == "running":
                    run.status, run.error = "failed", "the training process ended unexpectedly"
            self.process = None


def can_continue(run: Run) -> bool:
    """Stopped, with its weights still there; or stopped before it began."""
    return run.status == "stopped" and not run.answer_due and (run.packed is not None or run.done == 0)


def size_of(step: TrainingStep) -> int:
    """Bytes of the attention maps of a step."""
    parts = () if getattr(step, "record", None) is None else vars(step.record).values()
    return sum(part.nbytes for part in parts if hasattr(part, "nbytes"))


@cache
def shared() -> Runs:
    """Those of this server."""
    return Runs(at_once=AT_ONCE, gone_after=GONE)
