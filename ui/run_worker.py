"""The process that trains, apart from the server's: `python -m ui.run_worker`, started by ui.runs.

Training is thousands of small steps in Python. In a thread of the server it would hold the interpreter's lock while
somebody else moves a slider; here it has an interpreter of its own, and a lower priority. Orders come in by stdin,
news go out by stdout, both pickled; when stdin ends, so does the process.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import torch

from core.models.tasks import task_named
from core.models.training import TrainingSettings, TrainingState, TrainingStep, begin_run, train

TELL_EVERY = 0.15  # seconds between two news of a run
IDLE = 60.0  # seconds without a run before the server is told, which may then end the process


@dataclass
class Side:
    """One model in training."""

    settings: TrainingSettings
    state: TrainingState
    steps: Iterator[TrainingStep]


@dataclass
class Running:
    """A run: one model, or two that take turns step by step."""

    sides: list[Side]
    keep: bool  # its weights are wanted also at its end
    news: list[tuple[int, TrainingStep]] = field(default_factory=list)
    told: float = 0.0


class Worker:
    """Takes steps of every run in turn, and looks for orders between them."""

    def __init__(self, out: BinaryIO):
        self.out = out
        self.orders: queue.Queue[tuple[Any, ...]] = queue.Queue()
        self.runs: dict[str, Running] = {}

    def listen(self, orders: BinaryIO) -> None:
        """Pass orders on until they end."""
        while True:
            try:
                self.orders.put(pickle.load(orders))
            except (EOFError, pickle.UnpicklingError):
                self.orders.put(("end",))
                return

    def tell(self, *message: Any) -> None:
        """Send one message."""
        pickle.dump(message, self.out, protocol=pickle.HIGHEST_PROTOCOL)
        self.out.flush()

    def work(self) -> None:
        """Until the orders end."""
        while True:
            try:
                order = self.orders.get(block=not self.runs, timeout=IDLE)
            except queue.Empty:
                if not self.runs:
                    self.tell("idle")
            else:
                if order[0] == "end":
                    return
                self.obey(*order)
            for name in list(self.runs):
                self.advance(name)

    def obey(self, order: str, name: str, *rest: Any) -> None:
        """ "start" with settings, states, how often to look and whether the end is kept; or "stop"."""
        if order == "start":
            try:
                self.runs[name] = begin(*rest)
            except Exception as error:
                self.tell("failed", name, f"{type(error).__name__}: {error}")
        elif name in self.runs:
            self.finish(name, "stopped")

    def advance(self, name: str) -> None:
        """One step of each model of a run."""
        run = self.runs[name]
        try:
            for i, side in enumerate(run.sides):
                if (step := next(side.steps, None)) is not None:
                    run.news.append((i, step))
        except Exception as error:
            del self.runs[name]
            self.tell("failed", name, f"{type(error).__name__}: {error}")
            return
        if all(s.state.failed or s.state.step >= s.settings.steps for s in run.sides):
            self.finish(name, "done")
        elif time.monotonic() - run.told > TELL_EVERY:
            self.tell_steps(name, run)

    def tell_steps(self, name: str, run: Running) -> None:
        """Send what is new."""
        self.tell("steps", name, run.news)
        run.news, run.told = [], time.monotonic()

    def finish(self, name: str, how: str) -> None:
        """Send the last steps and, of a run that may go on or whose weights are wanted, its state."""
        run = self.runs.pop(name)
        self.tell_steps(name, run)
        wanted = how == "stopped" or run.keep
        self.tell(how, name, [side.state.pack() for side in run.sides] if wanted else None)


def begin(
    settings: tuple[TrainingSettings, ...], packed: list[bytes] | None, every: int, keep: bool
) -> Running:
    """Fresh models, or those of a run that was stopped."""
    sides = []
    for i, s in enumerate(settings):
        task = task_named(s.task)
        state = begin_run(s, task) if packed is None else TrainingState.unpack(s, task, packed[i])
        sides.append(Side(s, state, train(s, task, state, every)))
    return Running(sides, keep)


def main() -> None:
    """Run until stdin ends."""
    torch.set_num_threads(1)
    if hasattr(os, "nice"):
        os.nice(5)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever prints must not end up among the news
    worker = Worker(out)
    threading.Thread(target=worker.listen, args=(sys.stdin.buffer,), daemon=True).start()
    try:
        worker.work()
    except BrokenPipeError:
        os._exit(0)  # the server is gone


if __name__ == "__main__":
    main()
