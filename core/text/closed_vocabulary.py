"""Vocabularies of whole characters and whole words: what the corpus did not have gets no number of its own."""

from collections import Counter
from collections.abc import Sequence

UNKNOWN = 0  # the id that all strangers share


def numbered(tokens: Sequence[str]) -> dict[str, int]:
    """Every different token of a corpus with its id, from 1: the frequent first, ties in the order of Unicode."""
    counts = Counter(tokens)
    ordered = sorted(counts, key=lambda token: (-counts[token], token))
    return {token: number for number, token in enumerate(ordered, start=1)}


def look_up(tokens: Sequence[str], vocabulary: dict[str, int]) -> tuple[int, ...]:
    """The id of each token, UNKNOWN for one that the corpus did not have."""
    ids = tuple(vocabulary.get(token, UNKNOWN) for token in tokens)  # [T]
    return ids
