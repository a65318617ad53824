"""The tiny decoder of the forward-pass page: trained on the spot on the project's own sentences, in both languages.

One model reads both. Its vocabulary is then one table in which Chinese characters and English words stand side by side, as
in any real model of several languages, and one set of weights serves the reader who changes the language half-way.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from core.models.corpus import END, tokens_of
from core.models.decoder import Decoder
from core.models.tasks import Task, task_named
from core.models.training import TrainingSettings, begin_run, train

TOY = TrainingSettings(
    task="both", steps=400, learning_rate=8e-3, warm_up=20, schedule="linear", weight_decay=0.1, tied=True
)


@dataclass(frozen=True)
class Toy:
    """A trained model and the words it knows. Token number 0 is END: it begins and ends every sentence."""

    model: Decoder
    vocabulary: tuple[str, ...]
    settings: TrainingSettings
    losses: tuple[float, ...]  # nats a token, of each step's batch
    held_out_loss: float

    def encode(self, text: str) -> torch.Tensor:
        """END and the text's tokens, [T + 1]. Raises KeyError with the tokens that the toy does not know."""
        if missing := self.unknown(text):
            raise KeyError(", ".join(missing))
        return torch.tensor([self.vocabulary.index(word) for word in (END, *tokens_of(text))])

    def unknown(self, text: str) -> tuple[str, ...]:
        """The tokens of a text that are not in the vocabulary, each once."""
        return tuple(dict.fromkeys(word for word in tokens_of(text) if word not in self.vocabulary))

    @property
    def longest(self) -> int:
        """The most tokens that the model can read, END included."""
        return self.model.config.limit


def train_toy(
    seed: int = 0, steps: int = TOY.steps, watch: Callable[[int, float], None] | None = None
) -> Toy:
    """Train it; the same seed and steps give the same weights on one machine. watch(step, loss) is called at every step."""
    return train_toy_on(task_named(TOY.task), seed, steps, watch)


def train_toy_on(
    task: Task, seed: int = 0, steps: int = TOY.steps, watch: Callable[[int, float], None] | None = None
) -> Toy:
    """The same on sentences of one's own."""
    settings = TrainingSettings(**{**vars(TOY), "seed": seed, "steps": steps})
    state = begin_run(settings, task)
    losses, held_out_loss = [], float("nan")
    for step in train(settings, task, state, every=steps):
        losses.append(step.loss)
        if step.record is not None:
            held_out_loss = step.record.held_out_loss
        if watch is not None:
            watch(step.step, step.loss)
    model = state.model.requires_grad_(False)
    return Toy(model, task.vocabulary, settings, tuple(losses), held_out_loss)
