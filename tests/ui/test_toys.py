"""Toys are trained one at a time and once for everybody; who waits is told how far it is."""

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

import ui.toys
from core.models.toy import TOY, train_toy
from ui.runs import Runs
from ui.toys import OWNER, Toys, train_apart

BRIEF = replace(TOY, steps=40)


@pytest.fixture(scope="module")
def small():
    """A toy of two steps, trained once; the store does not look inside."""
    return train_toy(5, steps=2)


class Trainer:
    """Stands for the training: counts, and waits where a test wants it to."""

    def __init__(self, toy, steps: int = 4, pause: float = 0.01):
        self.toy, self.steps, self.pause = toy, steps, pause
        self.seeds, self.at_once, self.most = [], 0, 0
        self.go = threading.Event()
        self.go.set()
        self.after = lambda step: None

    def __call__(self, seed, watch):
        self.seeds.append(seed)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            for step in range(1, self.steps + 1):
                self.go.wait(300)
                time.sleep(self.pause)
                watch(step, 1.0)
                self.after(step)
            if seed == 99:
                raise RuntimeError("no luck")
            return self.toy
        finally:
            self.at_once -= 1


def until(condition, seconds=300):
    """Wait for what a busy machine may take long to do."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def test_thirty_readers_train_once(small):
    trainer = Trainer(small)
    toys = Toys(trainer)
    with ThreadPoolExecutor(30) as pool:
        found = list(pool.map(lambda _: toys.wait(1, every=0.01), range(30)))
    assert trainer.seeds == [1]
    assert all(toy is found[0] for toy in found)
    assert next(found[0].model.parameters()).dtype == torch.float64


def test_different_seeds_wait_for_each_other(small):
    trainer = Trainer(small)
    toys, told = Toys(trainer), []

    def all_know(step: int) -> bool:
        return {each.before for each in told} == {0, 1, 2} and step / TOY.steps in {
            each.share for each in told
        }

    trainer.after = lambda step: until(lambda: all_know(step))  # however late the three threads begin
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda seed: toys.wait(seed, told.append, every=0.005), (1, 2, 3)))
    assert sorted(trainer.seeds) == [1, 2, 3]
    assert trainer.most == 1
    assert {waiting.before for waiting in told} == {0, 1, 2}
    assert all(0 <= waiting.share <= 1 for waiting in told)
    assert any(waiting.share == 2 / TOY.steps for waiting in told)


def test_few_are_kept_and_the_last_used_stay(small):
    trainer = Trainer(small, steps=1, pause=0)
    toys = Toys(trainer, kept=2)
    for seed in (1, 2, 1, 3):
        toys.wait(seed, every=0.005)
    assert toys.get(2) is None
    assert toys.get(1) is not None
    assert trainer.seeds == [1, 2, 3]


def test_what_nobody_waits_for_is_given_up(small, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(ui.toys, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=time.sleep))
    trainer = Trainer(small)
    trainer.go.clear()
    toys = Toys(trainer, patience=5)
    toys.ask(1)
    until(lambda: trainer.seeds == [1])
    toys.ask(2)
    now[0] = 6.0
    trainer.go.set()
    toys.wait(3, every=0.01)
    assert toys.get(1) is None
    assert trainer.seeds == [1, 3]


def test_a_failure_is_told_and_the_next_try_starts_anew(small):
    trainer = Trainer(small)
    toys = Toys(trainer)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no luck"):
            toys.wait(99, every=0.01)
    assert trainer.seeds == [99, 99]
    assert toys.wait(1, every=0.01) is not None


@pytest.fixture(scope="module")
def runs():
    """A server's runs with one place, and a process that trains."""
    runs = Runs(at_once=1, gone_after=1e6)  # s: on a busy machine nobody looks for minutes
    yield runs
    runs.close()


def test_a_toy_trained_apart_is_the_one_that_the_core_trains(runs):
    seen = []
    toy, core = train_apart(3, lambda step, _: seen.append(step), runs, BRIEF), train_toy(3, steps=40)
    assert toy.losses == pytest.approx(core.losses, rel=1e-4)  # another process may add in another order
    assert toy.held_out_loss == pytest.approx(core.held_out_loss, rel=1e-4)
    assert (toy.vocabulary, toy.settings) == (core.vocabulary, core.settings)
    for name, weight in core.model.state_dict().items():
        torch.testing.assert_close(toy.model.state_dict()[name], weight, rtol=1e-3, atol=1e-4)
    assert not any(p.requires_grad for p in toy.model.parameters())
    assert seen == sorted(seen)
    assert runs.runs == {}, "nobody needs the run after that"


def test_a_toy_takes_the_server_s_process_no_time_and_no_place_in_the_queue(runs):
    crowd = [runs.start(owner, [replace(TOY, steps=100_000)]) for owner in "ab"]
    before = time.process_time()
    train_apart(1, lambda *_: None, runs)  # all 400 steps
    spent = time.process_time() - before
    assert [runs.look(owner, name).status for owner, name in zip("ab", crowd, strict=True)] == [
        "running",
        "waiting",
    ]
    for owner, name in zip("ab", crowd, strict=True):
        runs.stop(owner, name)
    before = time.process_time()
    train_toy(1, steps=100)
    assert spent < 2 * (time.process_time() - before), "a quarter of the steps, trained here, is no less work"


def test_a_toy_that_nobody_waits_for_is_stopped_there_too(runs):
    def leave(step: int, _: float) -> None:
        if step > 2:
            raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        train_apart(2, leave, runs, replace(TOY, steps=100_000))
    assert [run.status for run in runs.runs.values() if run.owner == OWNER] == ["stopped"]


def test_a_process_that_dies_is_told_to_those_who_wait():
    runs = Runs()
    toys = Toys(lambda seed, watch: train_apart(seed, watch, runs, replace(TOY, steps=100_000)))

    def kill(waiting) -> None:
        if waiting.share > 0 and runs.process is not None:
            os.kill(runs.process.pid, 9)

    with pytest.raises(RuntimeError, match="ended unexpectedly"):
        toys.wait(1, kill)
    runs.close()
