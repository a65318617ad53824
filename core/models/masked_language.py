"""BERT's exercise: some tokens are hidden, and only those are to be guessed.

Source: Devlin et al. 2019, section 3.1, task 1; how many, as in the authors' code.
"""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

IGNORED = -100  # the target at positions without a loss: torch.nn.functional.cross_entropy leaves it out


@dataclass(frozen=True)
class MaskedTrace:
    """One text made into an exercise. All [T]."""

    tokens: Tensor  # the text
    maskable: Tensor  # bool: may be chosen; False for special tokens
    chosen: Tensor  # bool: to be predicted
    masked: Tensor  # bool: of those, shown as the mask token, 80 %
    replaced: Tensor  # bool: of those, shown as a token drawn from the vocabulary, 10 %
    unchanged: Tensor  # bool: of those, shown as they are, 10 %: the model cannot know which these are
    inputs: Tensor  # what the model sees
    targets: Tensor  # what it is to predict; IGNORED where there is no loss

    @property
    def n_losses(self) -> int:
        """Positions that carry a loss."""
        return int(self.chosen.sum())


def mask_tokens(
    tokens: Tensor,
    vocab: int,
    mask_token: int,
    generator: torch.Generator,
    share: float = 0.15,
    special: Collection[int] = (),
) -> MaskedTrace:
    """Choose share · n of the n maskable positions (rounded, at least one), and change what the model sees there.

    tokens [T], whole numbers. Each chosen position becomes mask_token with probability 0.8, a random one of the
    vocab tokens with 0.1 (it may be the same by chance), and stays with 0.1. Tokens of `special`, such as [CLS] and
    [SEP], are never chosen. The same seed chooses the same positions at another share, or more of them.
    Raises ValueError for a share outside 0 < share ≤ 1, a mask token outside the vocabulary, or nothing to choose.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share must be above 0 and at most 1, got {share}")
    if not 0 <= mask_token < vocab:
        raise ValueError(f"mask_token must lie in 0..{vocab - 1}, got {mask_token}")
    maskable = ~torch.isin(tokens, tokens.new_tensor(list(special)))  # [T]
    n = int(maskable.sum())
    if n == 0:
        raise ValueError("no token can be masked: there is none, or all are special")
    lottery = torch.rand(tokens.shape, generator=generator).masked_fill(~maskable, 2.0)  # [T]
    fate = torch.rand(tokens.shape, generator=generator)  # [T]
    drawn = torch.randint(vocab, tokens.shape, generator=generator)  # [T]
    chosen = lottery.argsort(dim=-1, stable=True).argsort() < max(
        1, round(share * n)
    )  # [T]  the lowest numbers
    masked, unchanged = chosen & (fate < 0.8), chosen & (fate >= 0.9)  # [T] each
    replaced = chosen & ~masked & ~unchanged  # [T]
    inputs = torch.where(masked, mask_token, torch.where(replaced, drawn, tokens))  # [T]
    targets = torch.where(chosen, tokens, IGNORED)  # [T]
    return MaskedTrace(tokens, maskable, chosen, masked, replaced, unchanged, inputs, targets)


def next_token_targets(tokens: Tensor) -> Tensor:
    """The other exercise: at every position the token that follows; IGNORED at the last. [..., T] → [..., T]."""
    following = torch.full_like(tokens, IGNORED)  # [..., T]
    following[..., :-1] = tokens[..., 1:]
    return following


def count_losses(targets: Tensor) -> int:
    """Positions that carry a loss."""
    return int((targets != IGNORED).sum())
