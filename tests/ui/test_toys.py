"""Toys are trained one at a time and once for everybody; who waits is told how far it is."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from core.models.toy import TOY, train_toy
from ui.toys import Toys


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

    def __call__(self, seed, watch):
        self.seeds.append(seed)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        try:
            for step in range(1, self.steps + 1):
                self.go.wait(10)
                time.sleep(self.pause)
                watch(step, 1.0)
            if seed == 99:
                raise RuntimeError("no luck")
            return self.toy
        finally:
            self.at_once -= 1


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


def test_what_nobody_waits_for_is_given_up(small):
    trainer = Trainer(small)
    trainer.go.clear()
    toys = Toys(trainer, patience=0.05)
    toys.ask(1)
    toys.ask(2)
    time.sleep(0.2)
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
