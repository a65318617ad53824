"""What many blocks in a row do to the stream, to its gradient and to the tokens' differences, before any training.

Sources: Xiong et al. 2020 (gradients of Pre- and Post-LN at initialisation); Dong et al. 2021 and Noci et al. 2022
(tokens becoming alike, "rank collapse").
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from core.attention.masks import causal
from core.block.initialisation import Scheme, seeded_stack
from core.block.normalization import layer_norm, rms_norm
from core.block.residual import NormKind, NormPlace, Stack


@dataclass(frozen=True)
class DepthSettings:
    """One experiment. The first four are the lesson; the others can stay as they are."""

    norm_place: NormPlace = "pre"
    residual: bool = True
    n_layers: int = 12
    init: Scheme = "fan_in"
    gain: float = 1.0  # multiplies all weights at the start
    norm_kind: NormKind = "layer"
    activation: str = "relu"
    attention: bool = True  # without it the attention's output is multiplied by 0
    d_model: int = 64
    n_heads: int = 4
    n_tokens: int = 32
    batch: int = 4
    n_classes: int = 64  # the random targets to be predicted
    seeds: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class DepthTrace:
    """Layer by layer, for each of S seeds, float64; state 0 is the embeddings, state l what layer l made of them."""

    settings: DepthSettings
    norm: Tensor  # [S, L + 1]  length of a token's vector, mean over the tokens
    gradient: Tensor  # [S, L]  norm of ∂ loss / ∂ W₁ of the feed-forward layer
    similarity: (
        Tensor  # [S, L + 1]  cosine between two tokens of a sentence, mean over the pairs; NaN for a vector 0
    )
    added: Tensor  # [S, L]  length of state l − state l−1, mean over the tokens
    along: Tensor  # [S, L]  cosine between state l−1 and that difference, mean over the tokens
    loss: Tensor  # [S]

    @property
    def finite(self) -> bool:
        """False where a number grew beyond float32: it is inf or NaN in the other fields."""
        return all(bool(x.isfinite().all()) for x in (self.norm, self.gradient, self.similarity, self.loss))


def depth_experiment(settings: DepthSettings) -> DepthTrace:
    """Random embeddings through a stack of fresh blocks, random targets, one backward pass; for each seed.

    Embeddings are N(0, 1), whatever the init; the mask is causal; the read-out is a norm and a linear
    layer N(0, 1/d) in every setting, so that losses can be compared; the loss is cross-entropy. Arithmetic
    is float32, attention the explicit softmax: a fused kernel's backward pass overflowed in the setting
    without norms where this one did not. The same seed gives the same weights and tokens to every norm_place.
    Raises ValueError as `Stack` does, and for no seeds, or fewer than two tokens.
    """
    if not settings.seeds or settings.n_tokens < 2:
        raise ValueError("needs at least one seed, and two tokens to compare")
    runs = [one_seed(settings, seed) for seed in settings.seeds]
    return DepthTrace(settings, *(torch.stack(values) for values in zip(*runs, strict=True)))


def one_seed(settings: DepthSettings, seed: int) -> tuple[Tensor, ...]:
    """The fields of a `DepthTrace` for one seed, in their order and without the axis S."""
    x, targets, readout, stack = drawn(settings, seed)
    states = stream(settings, stack, x)  # L + 1 of [B, T, d]
    loss = read_out_loss(settings, states[-1], readout, targets)
    first_matrices = [block.feed_forward.w1.weight for block in stack.blocks]  # L of [d_ff, d]
    gradients = torch.autograd.grad(loss, first_matrices) if first_matrices else ()  # L of [d_ff, d]
    # Measured in float64, where squares of the largest float32 still fit.
    hidden = torch.stack(states).detach().double()  # [L + 1, B, T, d]
    change = hidden[1:] - hidden[:-1]  # [L, B, T, d]
    norm = hidden.norm(dim=-1).mean((1, 2))  # [L + 1]
    gradient = torch.tensor([g.double().norm() for g in gradients], dtype=torch.float64)  # [L]
    similarity = mean_cosine(hidden).mean(1)  # [L + 1]
    added = change.norm(dim=-1).mean((1, 2))  # [L]
    along = F.cosine_similarity(hidden[:-1], change, dim=-1).mean((1, 2))  # [L]
    return norm, gradient, similarity, added, along, loss.detach().double()


def drawn(s: DepthSettings, seed: int) -> tuple[Tensor, Tensor, Tensor, Stack]:
    """Embeddings [B, T, d], targets [B, T], the read-out [d, classes] and the blocks, all from one seed."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(s.batch, s.n_tokens, s.d_model, generator=generator)  # [B, T, d]
    targets = torch.randint(s.n_classes, (s.batch, s.n_tokens), generator=generator)  # [B, T]
    readout = torch.randn(s.d_model, s.n_classes, generator=generator) / s.d_model**0.5  # [d, classes]
    return x, targets, readout, fresh_stack(s, generator)


def stream(s: DepthSettings, stack: Stack, x: Tensor) -> tuple[Tensor, ...]:
    """The embeddings and what each layer made of them, L + 1 of [B, T, d]."""
    head_mask = None if s.attention else torch.zeros(s.n_heads)
    return stack(x, mask=causal(s.n_tokens), head_mask=head_mask).states


def read_out_loss(s: DepthSettings, last: Tensor, readout: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of the targets [B, T] after a norm and the read-out [d, classes] of the last state [B, T, d]."""
    normed = layer_norm(last) if s.norm_kind == "layer" else rms_norm(last)
    logits = normed.output @ readout  # [B, T, classes]
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def token_products(settings: DepthSettings, layer: int) -> Tensor:
    """x_i · x_j for every two tokens of the first sentence after a layer (0: the embeddings), [T, T], float64.

    First of the seeds; forward only. Raises ValueError for a layer that is not there.
    """
    if not 0 <= layer <= settings.n_layers:
        raise ValueError(f"layer must be between 0 and {settings.n_layers}, got {layer}")
    x, _, _, stack = drawn(settings, settings.seeds[0])
    with torch.no_grad():
        state = stream(settings, stack, x)[layer][0].double()  # [T, d]
    return state @ state.mT  # [T, T]


def cosines_of(products: Tensor) -> Tensor:
    """Cosines from inner products [T, T], whose diagonal holds the squared lengths.

    NaN in the row and the column of a token whose vector is 0 or beyond float32.
    """
    length = products.diagonal().sqrt()  # [T]
    cosines = products / (length[:, None] * length)  # [T, T]
    return cosines


def fresh_stack(s: DepthSettings, generator: torch.Generator) -> Stack:
    """The blocks of the experiment, d_ff = 4 d_model."""
    return seeded_stack(
        generator,
        s.n_layers,
        s.d_model,
        s.n_heads,
        4 * s.d_model,
        init=s.init,
        gain=s.gain,
        norm_place=s.norm_place,
        norm_kind=s.norm_kind,
        residual=s.residual,
        activation=s.activation,
    )


def mean_cosine(x: Tensor) -> Tensor:
    """Mean cosine between two different tokens of a sentence. x [..., T, d]; returns [...].

    The sum over all pairs is the squared length of the sum of the unit vectors; T of the pairs are a token with itself.
    A vector 0 has no direction: NaN.
    """
    t = x.shape[-2]
    unit = x / x.norm(dim=-1, keepdim=True)  # [..., T, d]
    all_pairs = unit.sum(-2).square().sum(-1)  # [...]
    return (all_pairs - t) / (t * (t - 1))  # [...]


def over_seeds(values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Median, smallest and largest over the seeds. values [S, layers]; returns three of [layers]."""
    return values.quantile(0.5, 0), values.amin(0), values.amax(0)
