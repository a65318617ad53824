import math

import pytest
import torch
from transformers import (
    get_constant_schedule_with_warmup,
    get_cosine_schedule_with_warmup,
    get_inverse_sqrt_schedule,
    get_linear_schedule_with_warmup,
)

from core.models.schedule import learning_rate

STEPS, PEAK = 40, 3e-3


def hugging_faces(schedule, warm_up):
    """Rates of their schedulers, which count from 0: their step n is our step n."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=PEAK)
    of = {
        "constant": lambda: get_constant_schedule_with_warmup(optimizer, warm_up),
        "linear": lambda: get_linear_schedule_with_warmup(optimizer, warm_up, STEPS + 1),
        "cosine": lambda: get_cosine_schedule_with_warmup(optimizer, warm_up, STEPS + 1),
        "inverse_sqrt": lambda: get_inverse_sqrt_schedule(optimizer, warm_up, max(warm_up, 1)),
    }[schedule]()
    rates = []
    for _ in range(STEPS):
        optimizer.step()
        of.step()
        rates.append(of.get_last_lr()[0])
    return rates


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine", "inverse_sqrt"])
@pytest.mark.parametrize("warm_up", [1, 7, 40])
def test_rates_are_those_of_hugging_face(schedule, warm_up):
    ours = [learning_rate(n, STEPS, PEAK, warm_up, schedule) for n in range(1, STEPS + 1)]
    assert ours == pytest.approx(hugging_faces(schedule, warm_up), rel=1e-12)


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
def test_without_warm_up_they_are_hugging_face_s_too(schedule):
    ours = [learning_rate(n, STEPS, PEAK, 0, schedule) for n in range(1, STEPS + 1)]
    assert ours == pytest.approx(hugging_faces(schedule, 0), rel=1e-12)


def test_the_paper_s_own_formula():
    """Vaswani et al. 2017, equation 3: d^−½ · min(n^−½, n · w^−1.5); its peak is d^−½ · w^−½."""
    d, w = 512, 4000
    for n in (1, 100, 4000, 4001, 100_000):
        paper = d**-0.5 * min(n**-0.5, n * w**-1.5)
        assert learning_rate(n, 100_000, (d * w) ** -0.5, w, "inverse_sqrt") == pytest.approx(
            paper, rel=1e-12
        )


def test_a_warm_up_as_long_as_the_run_ends_at_the_peak():
    assert learning_rate(40, 40, PEAK, 40, "cosine") == PEAK
    assert learning_rate(1, 40, PEAK, 40) == pytest.approx(PEAK / 40)
    assert learning_rate(41, 40, PEAK, 0, "cosine") == pytest.approx(
        PEAK * (1 + math.cos(math.pi * 41 / 41)) / 2
    )


def test_another_schedule_is_refused_by_name():
    with pytest.raises(ValueError, match="constant, linear, cosine, inverse_sqrt; got 'step'"):
        learning_rate(1, 10, PEAK, 0, "step")
