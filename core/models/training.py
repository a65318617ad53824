"""Training a small model, one step at a time, with what a reader wants to watch.

The model is the `Decoder` or `EncoderDecoder` of the other pages. The numbers of a run depend on its settings alone, on
one machine: nothing global is drawn from. Sources: Loshchilov and Hutter 2019 (AdamW); Pascanu et al. 2013 (clipping);
Szegedy et al. 2016 (label smoothing).
"""

import io
import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.block.residual import NormPlace
from core.models.decoder import Decoder, DecoderTrace
from core.models.description import ModelConfig
from core.models.encoder_decoder import EncoderDecoder, EncoderDecoderTrace
from core.models.keeping import Keep
from core.models.schedule import Schedule, learning_rate
from core.models.tasks import IGNORED, Batch, Task, TaskName, generator_for

Model = Decoder | EncoderDecoder


@dataclass(frozen=True)
class TrainingSettings:
    """One run. The same settings give the same numbers. Raises ValueError for what cannot be run."""

    task: TaskName = "chinese"
    norm_place: NormPlace = "pre"
    residual: bool = True
    layers: int = 2  # of the decoder, and of the encoder where the task has a source
    width: int = 48  # d_model; d_ff is four times that
    heads: int = 4
    steps: int = 150
    learning_rate: float = 3e-3  # the highest
    warm_up: int = 0  # steps
    schedule: Schedule = "constant"
    clip: float | None = None  # the gradient's largest norm; None: as it comes
    dropout: float = 0.0
    label_smoothing: float = 0.0  # in PyTorch's convention: ε/V on every token, 1 − ε more on the right one
    weight_decay: float = 0.01  # of matrices and tables; norms and biases are left alone
    batch: int = 32  # texts
    tied: bool = False  # the output layer is the token table
    seed: int = 0

    def __post_init__(self) -> None:
        least = {"layers": 1, "width": 1, "heads": 1, "steps": 1, "batch": 1, "warm_up": 0, "seed": 0}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise ValueError(f"{name} must be at least {low}, got {getattr(self, name)}")
        if not 0 < self.learning_rate < 10 or self.weight_decay < 0:
            raise ValueError("learning_rate must lie between 0 and 10, weight_decay must not be negative")
        if self.clip is not None and self.clip <= 0:
            raise ValueError(f"clip must be above 0, or None for no clipping; got {self.clip}")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing must be at least 0 and below 1, got {self.label_smoothing}")
        learning_rate(1, self.steps, self.learning_rate, self.warm_up, self.schedule)


@dataclass(frozen=True)
class Record:
    """What is looked at every few steps. Losses in nats a token, after the step; gradients are the step's own."""

    held_out_loss: float
    held_out_accuracy: float  # share of held-out targets that are the likeliest token
    gradient_by_layer: Tensor  # [L]  norm over all weights of each block; encoder first, then decoder
    maps: Tensor  # [L, H, T, T]  the decoder's attention on the task's `shown` text
    cross_maps: Tensor | None  # [L, H, T, S]  what it looks at in the source
    encoder_maps: Tensor | None  # [L, H, S, S]


@dataclass(frozen=True)
class TrainingStep:
    """One step. Losses are of its batch before the step, in nats a token."""

    step: int  # 1..steps
    loss: float  # plain cross-entropy, whatever the smoothing
    objective: float  # what is made smaller: the loss with label smoothing
    learning_rate: float
    gradient_norm: float  # over all weights
    clipped_norm: float  # what is left of it
    record: Record | None

    @property
    def finite(self) -> bool:
        """False where the run has left what float32 can hold: it ends there."""
        return math.isfinite(self.objective) and math.isfinite(self.gradient_norm)


@dataclass
class TrainingState:
    """Where a run stands. `train` moves it on in place."""

    model: Model
    optimizer: torch.optim.Optimizer
    step: int = 0  # steps done
    failed: bool = False  # a loss or gradient was not finite: there is no way on

    def pack(self) -> bytes:
        """Everything a run needs to go on."""
        parts = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        buffer = io.BytesIO()
        torch.save({**parts, "step": self.step, "failed": self.failed}, buffer)
        return buffer.getvalue()

    @classmethod
    def unpack(cls, settings: TrainingSettings, task: Task, packed: bytes) -> "TrainingState":
        """The state again, for the same settings and task."""
        parts = torch.load(io.BytesIO(packed), weights_only=True)
        state = begin_run(settings, task)
        state.model.load_state_dict(parts["model"])
        state.optimizer.load_state_dict(parts["optimizer"])
        state.step, state.failed = parts["step"], parts["failed"]
        return state


def train(
    settings: TrainingSettings, task: Task, state: TrainingState | None = None, every: int = 10
) -> Iterator[TrainingStep]:
    """Step after step, to the last, or until a number is no longer finite.

    Stop whenever you like: given the same state again, the run goes on as if it had never stopped. A `Record` is made
    at the first and last step, and at every `every`-th. Without a state the run begins at step 1.
    """
    state = begin_run(settings, task) if state is None else state
    while state.step < settings.steps and not state.failed:
        yield one_step(settings, task, state, every)


def one_step(s: TrainingSettings, task: Task, state: TrainingState, every: int) -> TrainingStep:
    """Forward, backward, clip, move the weights."""
    step = state.step + 1
    rate = learning_rate(step, s.steps, s.learning_rate, s.warm_up, s.schedule)
    batch = task.draw(s.batch, generator_for(s.seed, "data", step))
    dropout = generator_for(s.seed, "dropout", step) if s.dropout else None
    logits = run(state.model, batch, generator=dropout).logits  # [B, T, V]
    objective = cross_entropy(logits, batch.targets, s.label_smoothing)
    loss = cross_entropy(logits.detach(), batch.targets) if s.label_smoothing else objective.detach()

    state.optimizer.zero_grad()
    objective.backward()
    norm = clip_gradients(state.model, s.clip)
    clipped = norm if s.clip is None else min(norm, s.clip)
    step_taken = TrainingStep(step, float(loss), float(objective.detach()), rate, norm, clipped, None)
    if not step_taken.finite:
        state.failed = True
        return step_taken
    for group in state.optimizer.param_groups:
        group["lr"] = rate
    state.optimizer.step()
    state.step = step
    looked_at = step in (1, s.steps) or step % every == 0
    record = look(state.model, task, s.clip, norm) if looked_at else None
    return TrainingStep(step, float(loss), float(objective.detach()), rate, norm, clipped, record)


def cross_entropy(logits: Tensor, targets: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """Mean over the targets that are not IGNORED. logits [B, T, V], targets [B, T]."""
    flat = logits.flatten(0, 1), targets.flatten()  # [B · T, V], [B · T]
    return F.cross_entropy(*flat, ignore_index=IGNORED, label_smoothing=label_smoothing)


def clip_gradients(model: Model, largest: float | None) -> float:
    """The norm of all gradients as one vector; where it is above `largest`, all are shortened alike, in place."""
    norm = nn.utils.get_total_norm([p.grad for p in model.parameters() if p.grad is not None])
    if largest is not None:
        nn.utils.clip_grads_with_norm_(model.parameters(), largest, norm)
    return float(norm)


def look(model: Model, task: Task, clip: float | None, norm: float) -> Record:
    """Held-out loss, gradients by layer (before clipping) and attention maps."""
    held_out = task.held_out
    with torch.no_grad():
        logits = run(model, held_out).logits  # [B, T, V]
        shown = run(model, task.shown, keep="maps")
        held_out_loss = cross_entropy(logits, held_out.targets)
        shortened = 1.0 if clip is None else min(1.0, clip / (norm + 1e-6))
        gradients = torch.stack([gradient_of(block) for block in blocks_of(model)]) / shortened  # [L]
    counted = held_out.targets != IGNORED  # [B, T]
    return Record(
        held_out_loss=float(held_out_loss),
        held_out_accuracy=float((logits.argmax(-1) == held_out.targets)[counted].double().mean()),
        gradient_by_layer=gradients,
        **maps_of(shown),
    )


def maps_of(trace: DecoderTrace | EncoderDecoderTrace) -> dict[str, Tensor | None]:
    """The three kinds of maps of the one shown text, layers stacked."""
    if isinstance(trace, DecoderTrace):
        return {"maps": torch.stack(trace.weights)[:, 0], "cross_maps": None, "encoder_maps": None}
    decoder, encoder = trace.decoder, trace.encoder
    stacks = {"maps": decoder.weights, "cross_maps": decoder.cross_weights, "encoder_maps": encoder.weights}
    return {name: torch.stack(layers)[:, 0] for name, layers in stacks.items()}  # [L, H, T_q, T_k] each


def gradient_of(block: nn.Module) -> Tensor:
    """The norm of a block's gradients as one vector."""
    return nn.utils.get_total_norm([p.grad for p in block.parameters()])


def blocks_of(model: Model) -> list[nn.Module]:
    """All blocks; the encoder's first."""
    return [*model.blocks] if isinstance(model, Decoder) else [*model.encoder.blocks, *model.decoder.blocks]


def run(
    model: Model, batch: Batch, keep: Keep = "logits", generator: torch.Generator | None = None
) -> DecoderTrace | EncoderDecoderTrace:
    """The batch through either kind of model; a generator draws dropout."""
    if isinstance(model, Decoder):
        return model(batch.tokens, keep=keep, generator=generator)
    return model(batch.source, batch.tokens, batch.source_mask, keep=keep, generator=generator)


def begin_run(settings: TrainingSettings, task: Task) -> "TrainingState":
    """Fresh weights and a fresh optimizer. Raises ValueError as `ModelConfig` does."""
    config = config_of(settings, task)
    kind = EncoderDecoder if task.has_source else Decoder
    model = kind.seeded(config, generator_for(settings.seed, "weights"), init="xavier")
    widen_tables(model, config)
    return TrainingState(model, optimizer_of(model, settings))


def config_of(s: TrainingSettings, task: Task) -> ModelConfig:
    """The model that the settings ask for: ReLU, learned positions, LayerNorm, in Pre-LN one more at the end."""
    return ModelConfig(
        name=s.task,
        year=2017,
        d_model=s.width,
        n_heads=s.heads,
        d_ff=4 * s.width,
        vocab=len(task.vocabulary),
        stack="encoder-decoder" if task.has_source else "decoder",
        decoder_layers=s.layers,
        encoder_layers=s.layers if task.has_source else 0,
        positions="learned",
        limit=max(task.length, 0 if task.held_out.source is None else widest_source(task)),
        scale_embeddings=s.tied,
        norm_place=s.norm_place,
        final_norm=s.norm_place == "pre",
        residual=s.residual,
        dropout=s.dropout,
        activation="relu",
        tied=s.tied,
    )


def widest_source(task: Task) -> int:
    """S of the longest source there is; lengths of random sources have the target's limit."""
    return max(task.held_out.source.shape[-1], getattr(task, "train", task.held_out).source.shape[-1])


def widen_tables(model: Model, config: ModelConfig) -> None:
    """Let tokens and positions enter as N(0, 1): their tables are drawn with the variance 1/d_model.

    A tied token table stays as it is, since it is the output layer, too: it is multiplied as it is read.
    """
    with torch.no_grad():
        for name, part in model.named_modules():
            if isinstance(part, nn.Embedding) and not (config.tied and name.endswith("token")):
                part.weight.mul_(config.d_model**0.5)


def optimizer_of(model: Model, s: TrainingSettings) -> torch.optim.Optimizer:
    """AdamW; weight decay for matrices and tables. Fused: one call for all weights, 24 layers have hundreds."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [
        {"params": matrices, "weight_decay": s.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=s.learning_rate, fused=True)
