"""The toy decoder of the whole-models pages, trained once for the server and kept."""

from __future__ import annotations

import torch
from torch import Tensor

from core.models.tasks import task_named
from core.models.toy import TOY, Toy
from core.models.training import TrainingSettings, begin_run
from ui.cached import cached
from ui.toys import shared


def trained_toy(seed: int = 0) -> Toy:
    """Trained with a seed; the first who asks waits for some seconds, everybody after that does not."""
    return shared().wait(seed)


@cached(max_entries=4, shared=True)
def table_before(seed: int = 0) -> Tensor:
    """The token table [V, d] from which the training with that seed starts."""
    settings = TrainingSettings(**{**vars(TOY), "seed": seed})
    model = begin_run(settings, task_named(settings.task)).model
    return model.embeddings.token.weight.detach().clone().to(torch.float64)


def table_after(seed: int = 0) -> Tensor:
    """The token table [V, d] that the training leaves."""
    return trained_toy(seed).model.embeddings.token.weight.detach().to(torch.float64)
