"""Runs in the background, without Streamlit: queue, stop, continue, owners who go, a process that dies."""

import pickle
import threading
import time

import psutil
import pytest
import torch

from core.models.tasks import task_named
from core.models.training import TrainingSettings, begin_run, train
from ui.runs import Runs, size_of

SHORT = TrainingSettings(layers=1, width=16, heads=2, steps=12, batch=4)
LONG = TrainingSettings(layers=2, width=48, steps=5000)


def until(condition, seconds=240):
    """Wait for what a busy machine may take long to do."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def warm():
    """One process for all tests of this file that do not end theirs: PyTorch takes seconds to load."""
    runs = Runs(at_once=1)
    yield runs
    runs.close()


@pytest.fixture
def fresh(warm):
    """Its runs are forgotten after each test."""
    yield warm
    with warm.lock:
        for run in warm.runs.values():
            if run.status in ("running", "waiting"):
                warm._stop(run)
        warm.runs.clear()


def test_a_run_gives_the_steps_that_the_core_gives(fresh):
    name = fresh.start("a", [SHORT], every=5)
    until(lambda: fresh.look("a", name).status == "done")
    view = fresh.look("a", name)
    task = task_named(SHORT.task)
    expected = list(train(SHORT, task, begin_run(SHORT, task), every=5))
    assert [step.step for step in view.steps[0]] == list(range(1, 13))
    for step, core in zip(view.steps[0], expected, strict=True):
        assert step.loss == pytest.approx(core.loss, rel=1e-4)  # another process may add in another order
        assert (step.record is None) == (core.record is None)
    assert view.share_done == 1
    assert not view.can_continue
    assert view.steps[0][4].record.maps.dtype == torch.float32


def test_two_models_advance_side_by_side(fresh):
    name = fresh.start("a", [LONG, LONG])
    until(lambda: len(fresh.look("a", name).steps[0]) > 5)
    view = fresh.look("a", name)
    assert abs(len(view.steps[0]) - len(view.steps[1])) <= 1
    assert 0 < view.share_done < 1
    until(lambda: fresh.look("a", name).seconds_left is not None)
    assert fresh.look("a", name).seconds_left > 0


def test_the_others_wait_and_are_told_their_place(fresh):
    names = {owner: fresh.start(owner, [LONG if owner == "a" else SHORT]) for owner in "abc"}
    assert [fresh.look(o, names[o]).status for o in "abc"] == ["running", "waiting", "waiting"]
    assert [fresh.look(o, names[o]).place for o in "abc"] == [0, 1, 2]
    fresh.stop("b", names["b"])
    assert fresh.look("c", names["c"]).place == 1
    fresh.stop("a", names["a"])
    until(lambda: fresh.look("c", names["c"]).status == "done")


def test_stop_and_go_on_lose_nothing(fresh):
    settings = TrainingSettings(layers=1, width=16, heads=2, steps=400, batch=4)
    name = fresh.start("a", [settings])
    until(lambda: fresh.look("a", name).steps[0])
    fresh.stop("a", name)
    until(lambda: fresh.look("a", name).can_continue)
    done = len(fresh.look("a", name).steps[0])
    assert 0 < done < 400
    assert fresh.resume("a", name)
    until(lambda: fresh.look("a", name).status == "done")
    assert [step.step for step in fresh.look("a", name).steps[0]] == list(range(1, 401))


def test_a_run_is_its_owner_s_alone(fresh):
    name = fresh.start("a", [SHORT])
    assert fresh.look("b", name) is None
    fresh.stop("b", name)
    assert not fresh.resume("b", name)
    assert fresh.look("a", name).status in ("running", "done")


def test_an_owner_has_one_run_in_work(fresh):
    first = fresh.start("a", [LONG])
    second = fresh.start("a", [SHORT])
    assert fresh.look("a", first).status == "stopped"
    until(lambda: fresh.look("a", second).status == "done")


def test_settings_that_cannot_be_built_fail_with_a_sentence(fresh):
    name = fresh.start("a", [TrainingSettings(width=10, heads=4)])
    until(lambda: fresh.look("a", name).status == "failed")
    assert "n_heads must divide d_model" in fresh.look("a", name).error


class Unsent(Runs):
    """Runs whose orders are written down and not sent: time is ours."""

    def __init__(self, **settings):
        self.now = 0.0
        self.orders = []
        super().__init__(clock=lambda: self.now, **settings)

    def _send(self, *order):
        self.orders.append(order)


def test_a_run_of_somebody_who_has_gone_is_stopped_and_later_forgotten():
    runs = Unsent(at_once=1, gone_after=100, keep_for=1000)
    gone, there = runs.start("gone", [LONG]), runs.start("there", [SHORT])
    runs.now = 99
    runs.here("there")
    assert runs.orders[-1][:2] == ("start", gone)
    runs.now = 101
    assert runs.look("there", there).status == "running"  # its turn has come
    assert ("stop", gone) in runs.orders
    runs.now = 1102
    runs.here("there")
    assert gone not in runs.runs


def test_only_so_many_results_and_so_much_weight_are_kept():
    runs = Unsent(at_once=1, kept=3, state_bytes=250)
    for i in range(6):
        name = runs.start(f"owner {i}", [SHORT])
        runs._hear(None, "steps", name, [(0, "a step")])
        runs.stop(f"owner {i}", name)
        assert not runs.look(f"owner {i}", name).can_continue  # its weights are still on their way
        runs._hear(None, "stopped", name, [b"w" * 100])
    assert len(runs.runs) == 3
    assert [runs.look(r.owner, r.name).can_continue for r in list(runs.runs.values())] == [False, True, True]


def test_a_class_with_the_same_settings_needs_one_run():
    runs = Unsent(at_once=1)
    assert runs.find("a", [SHORT]) is None
    mine, other = runs.start("a", [SHORT]), runs.start("b", [LONG])
    assert runs.find("a", [SHORT]).own
    assert (runs.find("c", [SHORT]).name, runs.find("c", [SHORT]).own) == (mine, False)
    assert runs.find("c", [LONG]).place == 1
    runs.stop("a", mine)
    assert runs.find("a", [SHORT]).settling  # its last steps are on their way
    runs._hear(None, "stopped", mine, [b"w"])
    assert not runs.find("a", [SHORT]).moving
    assert runs.find("c", [SHORT]) is None  # what somebody else has stopped says nothing
    runs._hear(None, "done", other)
    assert runs.find("c", [LONG]).status == "done"


def test_what_goes_ahead_takes_nobody_s_place_is_nobody_else_s_and_hands_its_weights_over():
    runs = Unsent(at_once=1)
    runs.start("a", [LONG])
    ahead = runs.start("page", [SHORT], ahead=True)
    waits = runs.start("b", [SHORT])
    assert runs.look("page", ahead).status == "running"
    assert runs.look("b", waits).place == 1
    assert runs.find("c", [SHORT]).name == waits
    runs._hear(None, "done", ahead, [b"weights"])
    assert runs.look("b", waits).status == "waiting"
    with pytest.raises(ValueError, match="no weights"):
        runs.take("somebody", ahead)
    assert runs.take("page", ahead) == [b"weights"]
    assert runs.look("page", ahead) is None


def test_only_so_many_maps_are_kept():
    step = next(iter(train(SHORT, task_named(SHORT.task))))
    runs = Unsent(at_once=1, record_bytes=3 * size_of(step))
    for i in range(5):
        name = runs.start("a", [SHORT])
        runs._hear(None, "steps", name, [(0, step)])
        runs._hear(None, "done", name)
        assert runs.look("a", name).status == "done", i
    assert len(runs.runs) == 3


def test_a_process_that_dies_is_said_and_replaced_and_an_idle_one_ends():
    runs = Runs(at_once=1)
    name = runs.start("a", [LONG])
    first = runs.process
    psutil.Process(first.pid).kill()
    until(lambda: runs.look("a", name).status == "failed")
    assert "ended unexpectedly" in runs.look("a", name).error
    second = runs.start("a", [SHORT])
    until(lambda: runs.look("a", second).status == "done")
    process = runs.process
    assert process is not first
    with runs.lock:
        runs._hear(process, "idle")  # what it says after a minute without work
    until(lambda: process.poll() is not None)
    assert process.returncode == 0
    assert runs.process is None
    runs.close()


def test_many_threads_at_once(fresh):
    errors = []

    def reader(i):
        try:
            name = fresh.start(f"owner {i}", [SHORT])
            until(lambda: fresh.look(f"owner {i}", name).status == "done")
            assert len(fresh.look(f"owner {i}", name).steps[0]) == 12
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=reader, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_what_is_sent_can_be_pickled_small():
    task = task_named("chinese")
    step = next(iter(train(SHORT, task)))
    assert len(pickle.dumps(step)) < 20_000
