"""The trap of batch_first: PyTorch's layer fed [B, T, d], told that the batch comes first and not told so."""

from __future__ import annotations

import torch

from core.attention.heads import key_contributions
from core.attention.multi_head import share_heads
from core.attention.pytorch_multi_head import batch_first_trap
from core.attention.toy_heads import toy_heads
from ui.checks.multi_head import module_of
from ui.figures.matrices import matrix_of
from ui.formulas import sum_of_numbers
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

ROW = ("right", "wrong", "right_output", "wrong_output")
SPREAD = 3.0


def compute(result: Result) -> Result:
    """The trap on a batch of two: the page's sentence, and the same tokens backwards."""
    p = result.parameters
    tokens = p["tokens"]
    x, _ = toy_heads(tokens, p["seed"], p["d_model"], p["heads"], p["kv"])
    batch = torch.stack([x, x.flip(0)])  # [B, T, d_model]
    module = module_of(result)
    trap = batch_first_trap(module, batch)
    v = share_heads(module.project(batch, batch)[2], p["heads"])  # [B, H, T, d_head]
    across = v.permute(2, 1, 0, 3)  # [T, H, B, d_head]  what the layer takes it for when not told
    sentences = ("1", "2")
    arrays = {
        "right": Array.of(trap.right_weights[0], tokens, tokens, axes=("query", "key")),
        "wrong": Array.of(trap.wrong_weights[:, 0], tokens, sentences, axes=("query", "sentence")),
        "right_output": Array.of(trap.right[0], tokens, axes=("query", "output")),
        "wrong_output": Array.of(trap.wrong[0], tokens, axes=("query", "output")),
    }
    facts = {
        "trap": trap,
        "shape": tuple(batch.shape),
        "foreign": float(trap.wrong_weights[:, 0, 1].mean()),
        "right_parts": key_contributions(trap.right_heads[0], v[0], module.w_o).numpy(),  # [T, T, d_model]
        "wrong_parts": key_contributions(trap.wrong_heads, across, module.w_o)[
            :, 0
        ].numpy(),  # [T, B, d_model]
    }
    return Result(p, arrays, facts)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """Where the first sentence looks, right and wrong, and what comes out."""
    return (tuple(_matrix(name, result, words) for name in ROW),)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    if name.endswith("output"):
        return matrix_of(result, name, words, limit=SPREAD)
    return matrix_of(result, name, words, values=result.values(name).clip(0, 1))


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """What a number is: a weight within the sentence, a weight across sentences, or what came of it."""
    name, row, column = cell
    facts, tokens = result.facts, result.parameters["tokens"]
    told = {"i": row + 1, "query": tokens[row], "value": result.values(name)[row, column]}
    if name.endswith("output"):
        kind, other = ("right", "wrong") if name == "right_output" else ("wrong", "right")
        told["sum"] = sum_of_numbers(facts[f"{kind}_parts"][row, :, column])
        return words(f"why.{name}", c=column + 1, other=result.values(f"{other}_output")[row, column], **told)
    told |= {"heads": result.parameters["heads"]}
    if name == "right":
        told["sum"] = sum_of_numbers(facts["trap"].right_heads[0, :, row, column], shown=8)
        return words("why.right", j=column + 1, key=tokens[column], **told)
    told["sum"] = sum_of_numbers(facts["trap"].wrong_heads[row, :, 0, column], shown=8)
    sentence = tokens if column == 0 else tokens[::-1]
    return words("why.wrong", b=column + 1, key=sentence[row], **told)


def notices(result: Result, words: Words) -> list[str]:
    """Nothing was raised, the shape is right, and the sentences are mixed."""
    trap, (b, t, d) = result.facts["trap"], result.facts["shape"]
    shape = Raw(f"[{b}, {t}, {d}]")
    return [
        words("trap.notice.silent", shape=shape, deviation=trap.deviation),
        words("trap.notice.mixed", foreign=100 * result.facts["foreign"], b=b, t=t),
        words("trap.notice.leak", right=trap.right_leak, wrong=trap.wrong_leak),
    ]


def table(result: Result, words: Words) -> str:
    """The numbers side by side."""
    trap, (b, t, d) = result.facts["trap"], result.facts["shape"]
    return words(
        "trap.table",
        shape=Raw(f"[{b}, {t}, {d}]"),
        right_weights=Raw(str(list(trap.right_weights.shape))),
        wrong_weights=Raw(str(list(trap.wrong_weights.shape))),
        right_leak=trap.right_leak,
        wrong_leak=trap.wrong_leak,
        deviation=trap.deviation,
    )


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    trap = result.facts["trap"]
    return words.plain("trap.summary", deviation=trap.deviation, leak=trap.wrong_leak)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it."""
    variable = {"right": "right_weights", "wrong": "wrong_weights"}.get(name, name.removesuffix("_output"))
    return "core.attention.pytorch_multi_head.batch_first_trap", variable
