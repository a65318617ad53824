"""One training run as arrays, and the attention maps of its looks: which head does what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from core.models.induction import (
    induction_score,
    mirror_score,
    previous_token_score,
    sharpness,
    strongest,
)
from core.models.tasks import IGNORED, Task
from core.models.training import TrainingSettings, TrainingStep
from ui.course.training import RECORDS, SIDES

HEADS = 4
LAST = 10  # steps over which the end of a run is averaged: one batch says little
KINDS = {"own": "maps", "cross": "cross_maps", "encoder": "encoder_maps"}
OWN = ("layers", "norm", "res", "rate", "warm", "plan", "clip", "drop", "smooth")  # of each side
SELDOM = {"res": True, "plan": "constant", "clip": "none", "drop": "0", "smooth": "0"}  # seldom set otherwise


@dataclass(frozen=True, eq=False)
class Side:
    """What has come of one run so far. n finite steps, of which r were looked at."""

    settings: TrainingSettings
    losses: np.ndarray  # [n]
    rates: np.ndarray  # [n]
    norms: np.ndarray  # [n]  the whole gradient, before clipping
    looked: np.ndarray  # [r]  steps
    held_out: np.ndarray  # [r]
    accuracy: np.ndarray  # [r]
    gradients: np.ndarray  # [r, L]
    maps: tuple[dict[str, torch.Tensor], ...]  # r of [L, H, T_q, T_k] by kind
    failed: int  # the step whose loss or gradient was not finite; 0 if there is none

    @property
    def done(self) -> int:
        """Finite steps."""
        return len(self.losses)

    @property
    def end(self) -> float:
        """Mean training loss of the last steps; NaN before the first."""
        return float(self.losses[-LAST:].mean()) if self.done else float("nan")


def settings_of(values: Mapping[str, Any]) -> tuple[TrainingSettings, TrainingSettings]:
    """What the controls ask for, A and B."""
    return tuple(_settings(side, values) for side in SIDES)


def _settings(side: str, v: Mapping[str, Any]) -> TrainingSettings:
    own = {name: v[f"{name}_{side}"] for name in OWN}
    return TrainingSettings(
        task=v["task"],
        width=int(v["width"]),
        heads=HEADS,
        steps=v["steps"],
        seed=v["seed"],
        layers=own["layers"],
        norm_place=own["norm"],
        residual=own["res"],
        learning_rate=float(own["rate"]),
        warm_up=own["warm"],
        schedule=own["plan"],
        clip=None if own["clip"] == "none" else float(own["clip"]),
        dropout=float(own["drop"]),
        label_smoothing=float(own["smooth"]),
    )


def every(steps: int) -> int:
    """So many steps from one look at the model to the next."""
    return steps // RECORDS


def side_of(settings: TrainingSettings, steps: Sequence[TrainingStep]) -> Side:
    """The steps of one run as arrays; a last step that was not finite is told apart."""
    good = [step for step in steps if step.finite]
    looked = [step for step in good if step.record is not None]
    blocks = len(looked[0].record.gradient_by_layer) if looked else 0
    gradients = [step.record.gradient_by_layer.numpy() for step in looked]
    maps = [
        {kind: m for kind, name in KINDS.items() if (m := getattr(step.record, name)) is not None}
        for step in looked
    ]
    return Side(
        settings,
        *(np.array([getattr(s, name) for s in good]) for name in ("loss", "learning_rate", "gradient_norm")),
        looked=np.array([step.step for step in looked], dtype=int),
        held_out=np.array([step.record.held_out_loss for step in looked]),
        accuracy=np.array([step.record.held_out_accuracy for step in looked]),
        gradients=np.array(gradients).reshape(len(looked), blocks),
        maps=tuple(maps),
        failed=steps[-1].step if len(good) < len(steps) else 0,
    )


def looks(steps: int) -> tuple[int, ...]:
    """The step behind each place of the slider: the first, then every so many."""
    return (1, *(k * every(steps) for k in range(1, RECORDS + 1)))


def shown(side: Side, step: int) -> int:
    """The last look at or before a step, as a place among the looks."""
    return max(0, int(np.searchsorted(side.looked, step, "right")) - 1)


def kind_of(values: Mapping[str, Any], task: Task) -> str:
    """Which attention is shown; a decoder alone has its own only."""
    return values["look"] if task.has_source else "own"


def lengths(task: Task) -> tuple[int, int]:
    """Tokens of the shown text and of its source, without what fills them up."""
    counted = torch.nonzero(task.shown.targets[0] != IGNORED)
    source = 0 if task.shown.source is None else int(task.shown.source_mask[0].sum())
    return int(counted[-1]) + 1, source


def trimmed(maps: torch.Tensor, kind: str, task: Task) -> torch.Tensor:
    """Maps [L, H, T_q, T_k] without the rows and columns that only fill up."""
    target, source = lengths(task)
    rows, columns = {"own": (target, target), "cross": (target, source), "encoder": (source, source)}[kind]
    return maps[..., :rows, :columns]


def texts(kind: str, task: Task) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tokens that stand at the rows and at the columns of a map."""
    target, source = lengths(task)
    batch = task.shown
    written = tuple(task.vocabulary[i] for i in batch.tokens[0, :target])
    read = () if batch.source is None else tuple(task.vocabulary[i] for i in batch.source[0, :source])
    return {"own": (written, written), "cross": (written, read), "encoder": (read, read)}[kind]


def scores(side: Side, k: int, kind: str, task: Task, find: str) -> torch.Tensor | None:
    """The score [L, H] of every head at one look, under "sharpest", "induction", "previous" or "mirror".

    None where it has no meaning: "mirror" outside what reads a source backwards; of the others, attention to another
    text, or a text in which no token occurs twice.
    """
    maps = trimmed(side.maps[k][kind], kind, task)
    if find == "sharpest":
        return sharpness(maps)
    if find == "mirror":
        return (
            mirror_score(maps, lengths(task)[1] - 1) if reads_backwards(kind, task) else None
        )  # without END
    if kind == "cross":
        return None
    if find == "previous":
        return previous_token_score(maps)
    text = task.shown.tokens[0] if kind == "own" else task.shown.source[0]
    found = induction_score(maps, text[: maps.shape[-1]])
    return None if found.isnan().any() else found


def reads_backwards(kind: str, task: Task) -> bool:
    """Whether a head of this kind has the source to walk through from its end."""
    return kind == "cross" and task.name == "reverse"


def place_of(side: Side, values: Mapping[str, Any], task: Task) -> tuple[int, int, float]:
    """Layer and head of the map that is shown, from 0, and its score at the last look (NaN if none is asked for).

    A head that is looked for is found at the last look, so that it stays the same while the slider goes back.
    """
    kind, last = kind_of(values, task), len(side.looked) - 1
    found = None
    if values["find"] != "chosen":
        found = scores(side, last, kind, task, values["find"])
        if found is None:
            found = scores(side, last, kind, task, "sharpest")
        if found.isnan().any():
            return 0, 0, float("nan")
        return strongest(found)
    return min(values["layer"], side.settings.layers) - 1, values["head"] - 1, float("nan")
