"""The learning rate at each step: a warm-up, then one of four ways on.

Sources: Vaswani et al. 2017, section 5.3 (warm-up, inverse square root); Loshchilov and Hutter 2017 (cosine).
"""

import math
from typing import Literal, get_args

Schedule = Literal["constant", "linear", "cosine", "inverse_sqrt"]


def learning_rate(
    step: int, steps: int, peak: float, warm_up: int = 0, schedule: Schedule = "constant"
) -> float:
    """The rate of step 1..steps. It rises in a straight line to `peak` at step `warm_up`, then follows the schedule.

    "linear" and "cosine" reach 0 one step after the last; "inverse_sqrt" falls as peak · √(warm_up / step). Steps are
    counted from 1: counted from 0 the first step would have the rate 0. Raises ValueError for another schedule.
    """
    if schedule not in get_args(Schedule):
        raise ValueError(f"schedule must be one of {', '.join(get_args(Schedule))}; got {schedule!r}")
    if step < warm_up:
        return peak * step / warm_up
    if schedule == "inverse_sqrt":
        return peak * math.sqrt(max(warm_up, 1) / step)
    done = (step - warm_up) / max(
        steps + 1 - warm_up, 1
    )  # 0 at the end of the warm-up, 1 after the last step
    return (
        peak * {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * done)) / 2}[schedule]
    )
