"""The page on tokens against Python's own UTF-8, the `tokenizers` package and PyTorch's own embedding."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer, decoders
from torch import Tensor, nn

from core.text import byte_pairs
from core.text.lookup import lookup, seeded_table, tied_logits
from core.text.utf8 import characters
from ui.checks.check import Check, largest_difference
from ui.figures.tokens import merges
from ui.result import Result

SHORT = 64  # rows of the table that is compared


def bytes_by_python(text: str) -> list[int]:
    """The bytes of the text by Python's own codec."""
    return list(text.encode("utf-8"))


def ids_by_library(text: str, tokenizer: Tokenizer) -> list[int]:
    """The ids that the `tokenizers` package gives."""
    return tokenizer.encode(text).ids


def text_by_library(ids: list[int], tokenizer: Tokenizer) -> list[int]:
    """The text that the package makes of the ids again, as code points."""
    tokenizer.decoder = decoders.ByteLevel()
    return [ord(sign) for sign in tokenizer.decode(ids, skip_special_tokens=False)]


def rows_by_pytorch(ids: Tensor, table: Tensor) -> Tensor:
    """PyTorch's own embedding layer with this table."""
    return nn.Embedding.from_pretrained(table)(ids)


def logits_by_pytorch(hidden: Tensor, table: Tensor) -> Tensor:
    """PyTorch's own linear layer whose weight is this table."""
    return nn.functional.linear(hidden, table)


def by_hand(text: str, n: int) -> list[int]:
    """The ids by the step-by-step merges of the core."""
    learned = merges()[:n]
    ids = byte_pairs.vocabulary(learned)
    found: list[int] = []
    for word in byte_pairs.words_of(text):
        steps = byte_pairs.path(word, learned)
        parts = steps[-1].parts if steps else tuple(bytes([byte]) for byte in word)
        found += [ids[part] for part in parts]
    return found


def token_checks(result: Result) -> tuple[Check, ...]:
    """What the page shows against what others make of the same text."""
    text, n = result.parameters["text"], result.parameters["n_merges"]
    tokenizer = byte_pairs.encoder(merges()[:n])
    ours = [byte for sign in characters(text) for point in sign.points for byte in point.encoded]
    shown = result.values("pairs")[0].tolist()
    table = seeded_table(result.parameters["seed"], SHORT, 8)
    ids = torch.tensor(shown) % SHORT
    rows = lookup(ids, table).rows
    return (
        Check("utf8", _gap(ours, bytes_by_python(text)), bytes_by_python),
        Check("merges", _gap(by_hand(text, n), ids_by_library(text, tokenizer)), ids_by_library),
        Check("round_trip", _gap([ord(s) for s in text], text_by_library(shown, tokenizer)), text_by_library),
        Check("lookup", largest_difference((rows, rows_by_pytorch(ids, table))), rows_by_pytorch),
        Check(
            "tied",
            largest_difference((tied_logits(rows, table), logits_by_pytorch(rows, table))),
            logits_by_pytorch,
        ),
    )


def _gap(ours: list[int], theirs: list[int]) -> float:
    """The largest difference of two lists of numbers; infinite if they are not equally long."""
    return largest_difference((ours, theirs)) if len(ours) == len(theirs) else float("inf")
