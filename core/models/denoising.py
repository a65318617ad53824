"""Damaged text to be repaired: the exercises of T5 (spans replaced by sentinels) and of BART (text infilling), and the
pairs of BERT's second one, next sentence prediction.

Sources: Raffel et al. 2020, section 3.1.4 and figure 2; Lewis et al. 2020, section 2.2; Devlin et al. 2019, section 3.1,
task 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Span:
    """A piece of the text that the model does not see: tokens start to end − 1. BART's may be empty."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """Tokens in it."""
        return self.end - self.start


@dataclass(frozen=True)
class DamagedTrace:
    """One text made into an exercise of an encoder-decoder."""

    tokens: Tensor  # [T]  the text
    spans: tuple[Span, ...]  # what was taken out, from left to right
    inputs: Tensor  # [T_source]  what the encoder reads
    targets: Tensor  # [T_target]  what the decoder is to write; every position carries a loss

    @property
    def removed(self) -> int:
        """Tokens that were taken out."""
        return sum(span.length for span in self.spans)


@dataclass(frozen=True)
class SentencePair:
    """Two sentences, and whether the second is the one that follows the first."""

    first: int  # their places in the list
    second: int
    follows: bool


def span_corruption(
    tokens: Tensor,
    sentinels: Sequence[int],
    generator: torch.Generator,
    share: float = 0.15,
    mean_length: float = 3.0,
) -> DamagedTrace:
    """T5's exercise: whole spans leave the text, each replaced by a sentinel of its own; the target lists them.

    tokens [T], T ≥ 2. round(share · T) tokens are taken, at least one and not all, in
    round(that / mean_length) spans, at least one. No two spans touch, and they may stand anywhere; in the authors' code the
    text always begins with a kept token and ends with a span. The target is sentinel, span, sentinel, span … and one more
    sentinel as its end, as in the paper's figure 2.
    Raises ValueError for a shorter text, a share outside 0 < share < 1, a mean below 1, or too few sentinels.
    """
    t = len(tokens)
    check_text(t, 2)
    if not 0 < share < 1 or mean_length < 1:
        raise ValueError(
            f"share must lie between 0 and 1 and mean_length be at least 1: {share}, {mean_length}"
        )
    taken = min(max(round(share * t), 1), t - 1)
    n = min(max(round(taken / mean_length), 1), t - taken + 1)
    if len(sentinels) < n + 1:
        raise ValueError(f"{n} spans need {n + 1} sentinels, got {len(sentinels)}")
    spans = spread(random_parts(taken, n, generator), t, generator)
    inputs, targets, at = [], [], 0
    for span, sentinel in zip(spans, sentinels, strict=False):
        inputs += [*tokens[at : span.start].tolist(), sentinel]
        targets += [sentinel, *tokens[span.start : span.end].tolist()]
        at = span.end
    inputs += tokens[at:].tolist()
    targets.append(sentinels[n])
    return DamagedTrace(tokens, spans, as_tokens(inputs, tokens), as_tokens(targets, tokens))


def text_infilling(
    tokens: Tensor,
    mask_token: int,
    generator: torch.Generator,
    share: float = 0.3,
    mean_length: float = 3.0,
) -> DamagedTrace:
    """BART's exercise: spans leave the text, each replaced by one and the same mask token; the target is the whole text.

    tokens [T], T ≥ 1. Lengths are drawn from a Poisson distribution until round(share · T) tokens, at least one, are
    taken; the last span is cut to fit. A length of 0 puts a mask where nothing is missing, so that the model has to find out
    how many tokens there were. No two spans touch: where there is no room for one of length 0 it is left out.
    Raises ValueError for an empty text, a share outside 0 < share ≤ 1, or a mean that is not positive.
    """
    t = len(tokens)
    check_text(t, 1)
    if not 0 < share <= 1 or mean_length <= 0:
        raise ValueError(f"share must be above 0 and at most 1, mean_length positive: {share}, {mean_length}")
    lengths = poisson_lengths(max(round(share * t), 1), mean_length, generator)
    spans = spread(fitting(lengths, t), t, generator)
    inputs, at = [], 0
    for span in spans:
        inputs += [*tokens[at : span.start].tolist(), mask_token]
        at = span.end
    inputs += tokens[at:].tolist()
    return DamagedTrace(tokens, spans, as_tokens(inputs, tokens), tokens.clone())


def next_sentence_pair(n: int, first: int, generator: torch.Generator) -> SentencePair:
    """BERT's second exercise: with probability ½ the sentence that follows, else any other one but the first itself.

    n sentences in the order of the text, `first` from 0, not the last. Raises ValueError for fewer than 3 sentences
    or a first without a follower.
    """
    if n < 3 or not 0 <= first < n - 1:
        raise ValueError(
            f"first must lie in 0..{n - 2} and have two others to choose from, got {first} of {n}"
        )
    follows = bool(torch.rand((), generator=generator) < 0.5)
    others = [i for i in range(n) if i not in (first, first + 1)]
    drawn = others[int(torch.randint(len(others), (), generator=generator))]
    return SentencePair(first, first + 1 if follows else drawn, follows)


def spread(lengths: list[int], t: int, generator: torch.Generator) -> tuple[Span, ...]:
    """Spans of these lengths in a text of t tokens, each in a gap of its own before, between or behind the kept tokens."""
    gaps = t - sum(lengths) + 1
    places = torch.randperm(gaps, generator=generator)[: len(lengths)].sort().values.tolist()
    starts = [place + sum(lengths[:i]) for i, place in enumerate(places)]
    return tuple(Span(start, start + length) for start, length in zip(starts, lengths, strict=True))


def random_parts(total: int, n: int, generator: torch.Generator) -> list[int]:
    """`total` cut into n parts of at least 1, every way of cutting equally likely."""
    cuts = (torch.randperm(total - 1, generator=generator)[: n - 1] + 1).sort().values.tolist()
    return [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]


def poisson_lengths(total: int, mean: float, generator: torch.Generator) -> list[int]:
    """Lengths drawn until their sum reaches `total`, the last cut to fit; zeros among them."""
    lengths: list[int] = []
    while (left := total - sum(lengths)) > 0:
        lengths.append(min(int(torch.poisson(torch.tensor(mean), generator=generator)), left))
    return lengths


def fitting(lengths: list[int], t: int) -> list[int]:
    """The same without as many as have no gap of their own: zeros first, then whole spans joined to the last."""
    lengths = list(lengths)
    while len(lengths) > t - sum(lengths) + 1:
        if 0 in lengths:
            lengths.remove(0)
        else:
            last = lengths.pop()
            lengths[-1] += last
    return lengths


def check_text(t: int, least: int) -> None:
    """Raise ValueError for a text that is too short."""
    if t < least:
        raise ValueError(f"the text must have at least {least} tokens, got {t}")


def as_tokens(numbers: list[int], like: Tensor) -> Tensor:
    """Token numbers as a tensor of the same kind."""
    return torch.tensor(numbers, dtype=like.dtype)
