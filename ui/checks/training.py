"""Training steps against a plain loop of PyTorch, and the schedule against PyTorch's own."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from core.models.schedule import learning_rate
from core.models.tasks import IGNORED, generator_for, task_named
from core.models.training import TrainingSettings, begin_run, run, train
from ui.checks.check import Check, largest_difference
from ui.course.training import SIDES
from ui.figures.training_side import Side
from ui.result import Result

STEPS = 2
FLOAT32 = 2e-4  # of weights near 1 and of losses as a share: rounding of 7 digits, magnified on the way through 24 layers


def plain_loop(s: TrainingSettings, steps: int) -> tuple[list[float], list[Tensor]]:
    """The same first steps with F.cross_entropy, clip_grad_norm_, torch.optim.AdamW and PyTorch's own schedulers.

    Returns the loss of every step and the weights after the first.
    """
    rates = by_scheduler(s)
    task = task_named(s.task)
    model = begin_run(s, task).model
    decayed = [p for p in model.parameters() if p.ndim > 1]
    rest = [p for p in model.parameters() if p.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed}, {"params": rest, "weight_decay": 0.0}], weight_decay=s.weight_decay
    )
    losses, weights = [], []
    for step in range(1, steps + 1):
        batch = task.draw(s.batch, generator_for(s.seed, "data", step))
        noise = generator_for(s.seed, "dropout", step) if s.dropout else None
        logits = run(model, batch, generator=noise).logits.flatten(0, 1)  # [B · T, V]
        targets = batch.targets.flatten()  # [B · T]
        loss = F.cross_entropy(logits, targets, ignore_index=IGNORED, label_smoothing=s.label_smoothing)
        optimizer.zero_grad()
        loss.backward()
        if s.clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), s.clip)
        for group in optimizer.param_groups:
            group["lr"] = rates[step - 1]
        optimizer.step()
        losses.append(float(loss.detach()))
        weights = weights or [p.detach().clone() for p in model.parameters()]
    return losses, weights


def by_scheduler(s: TrainingSettings) -> list[float]:
    """The rates of the warm-up by LinearLR, or, without one, of the whole run by PyTorch's scheduler of that name."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=s.learning_rate)
    schedulers = torch.optim.lr_scheduler
    if s.warm_up > 1:
        scheduler = schedulers.LinearLR(optimizer, 1 / s.warm_up, 1.0, s.warm_up - 1)
        count = min(s.warm_up, s.steps)
    else:
        count = s.steps
        scheduler = {
            "constant": lambda: schedulers.ConstantLR(optimizer, 1.0, 1),
            "linear": lambda: schedulers.LinearLR(optimizer, 1.0, 0.0, s.steps + 1),
            "cosine": lambda: schedulers.CosineAnnealingLR(optimizer, s.steps + 1),
            "inverse_sqrt": lambda: schedulers.LambdaLR(optimizer, lambda done: max(1, done) ** -0.5),
        }[s.schedule]()
        if (
            s.schedule != "constant" and s.warm_up == 0
        ):  # PyTorch's step 0 is the start; ours are counted from 1
            optimizer.step()
            scheduler.step()
    rates = []
    for _ in range(count):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def training_checks(result: Result) -> tuple[Check, ...]:
    """For each side: its first steps by a plain loop, and the rates by PyTorch's schedulers."""
    checks = []
    for name in SIDES:
        side: Side = result.facts["sides"][name]
        s = side.settings
        checks.append(Check(f"loop_{name}", steps_apart(s), plain_loop if name == "a" else None, FLOAT32))
        theirs = by_scheduler(s)
        ours = [
            learning_rate(t, s.steps, s.learning_rate, s.warm_up, s.schedule)
            for t in range(1, len(theirs) + 1)
        ]
        apart = largest_difference((ours, theirs))
        checks.append(Check(f"rates_{name}", apart, by_scheduler if name == "a" else None))
    return tuple(checks)


def steps_apart(s: TrainingSettings) -> float:
    """The largest difference: of losses, as a share where they are above 1, and of the weights after the first step."""
    task = task_named(s.task)
    state = begin_run(s, task)
    ours, weights = [], []
    for step in train(s, task, state, every=s.steps):
        ours.append(step)
        weights = weights or [p.detach().clone() for p in state.model.parameters()]
        if len(ours) == STEPS or not step.finite:
            break
    losses, theirs = plain_loop(s, len(ours))
    scale = [max(1.0, abs(loss)) for loss in losses]
    told = [step.objective / by for step, by in zip(ours, scale, strict=True)]
    pairs = [(told, [loss / by for loss, by in zip(losses, scale, strict=True)])]
    if ours[0].finite:
        pairs += list(zip(weights, theirs, strict=True))
    return largest_difference(*pairs)
