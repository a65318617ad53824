"""The embedding table: one row for every token, looked up at the input and, where it is tied, used again at the output.

Sources: Vaswani et al. 2017, section 3.4 (√d_model, shared weights); Press and Wolf 2017 (tying).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot


@dataclass(frozen=True)
class LookupTrace:
    """A look-up written as a product."""

    one_hot: Tensor  # [T, V]  a single 1 in every row
    rows: Tensor  # [T, d]  the rows of the table
    output: Tensor  # [T, d]  times √d, if scaled


@dataclass(frozen=True)
class Neighbours:
    """The rows of a table by their likeness to one of them, the most alike first, that row itself left out."""

    ids: Tensor  # [n] int64
    cosines: Tensor  # [n]


def seeded_table(seed: int, vocab: int, d: int) -> Tensor:
    """An untrained table [vocab, d] in float64, entries from N(0, 1/d).

    Drawn at its widest and cut, so that another d changes no entry but by its size.
    """
    widest = max(d, 64)
    drawn = torch.randn(vocab, widest, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return drawn[:, :d] / math.sqrt(d)  # [vocab, d]


def lookup(ids: Tensor, table: Tensor, scaled: bool = False) -> LookupTrace:
    """Row ids[t] of the table for every position t, as one-hot times matrix; a real model only copies the row.

    ids [T] int64 in 0..V − 1, table [V, d].
    """
    chosen = one_hot(ids, table.shape[0]).to(table.dtype)  # [T, V]
    rows = chosen @ table  # [T, d]
    output = rows * math.sqrt(table.shape[1]) if scaled else rows  # [T, d]
    return LookupTrace(chosen, rows, output)


def tied_logits(hidden: Tensor, table: Tensor) -> Tensor:
    """One score for every token of the vocabulary: the dot product of hidden [T, d] with every row of the table [V, d]."""
    logits = hidden @ table.mT  # [T, V]
    return logits


def cosines(table: Tensor) -> Tensor:
    """The cosine between every two rows [V, V]. A row of zeros has no direction; its cosines are 0."""
    lengths = table.norm(dim=-1, keepdim=True)  # [V, 1]
    directions = table / lengths.clamp_min(torch.finfo(table.dtype).tiny)  # [V, d]
    cosine = directions @ directions.mT  # [V, V]
    return cosine


def neighbours(table: Tensor, row: int, n: int) -> Neighbours:
    """The n rows most like row `row`, by cosine; ties in the order of ids."""
    likeness = cosines(table)[row].clone()  # [V]
    likeness[row] = -math.inf
    order = likeness.argsort(descending=True, stable=True)[:n]  # [n]
    order = order[order != row]
    return Neighbours(order, likeness[order])
