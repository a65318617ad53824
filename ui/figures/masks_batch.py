"""A batch under one mask: what each sentence keeps and loses, and why padding alone does not hide the future."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from core.attention.dot_product import masked_softmax
from core.attention.mask_kinds import MaskSettings, combined_mask
from ui.batch import MOST, PAD, Batch
from ui.figures.masks import percent
from ui.figures.matrices import matrix_of
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words, quote

SENTENCES = tuple(f"b{n + 1}" for n in range(MOST))
ALONE = {"p_pad": ("padding",), "p_causal": ("causal",), "p_both": ("causal", "padding")}
WEIGHTS = {"p_leak": "p_pad", "p_tight": "p_both"}  # weights, and the mask they are under


def remarks(batch: Batch, which: int, values: Mapping[str, Any], words: Words) -> list[str]:
    """What the reader should know of the sentence in the picture: it does not exist, or its end is lost."""
    told = []
    if values["sentence"] > len(batch.kept) and values["text"] == "own":
        told.append(words("text.fewer_sentences", count=len(batch.kept), used=which + 1))
    if batch.lost[which]:
        lost = batch.lost[which]
        told.append(
            words(
                "text.lost",
                n=which + 1,
                count=len(batch.kept[which]) + len(lost),
                t=batch.positions,
                lost_count=len(lost),
                lost=joined(lost),
            )
        )
    if values["mask"] == "drawn" and values["drawn"] is None:
        told.append(words("text.draw"))
    return told


def joined(tokens: tuple[str, ...]) -> str:
    """Tokens as they stood in the text: characters close together, words apart."""
    return ("" if all(len(token) == 1 for token in tokens) else " ").join(tokens)


def table(batch: Batch, words: Words) -> str:
    """One line a sentence: what is kept, how long it is, its padding, what is lost."""
    heads = [words(f"batch.head.{name}") for name in ("n", "kept", "length", "padding", "lost")]
    lines = ["| " + " | ".join(heads) + " |", "|--:|:--|--:|--:|:--|"]
    for n, (kept, lost) in enumerate(zip(batch.kept, batch.lost, strict=True)):
        shown = [_in_table(joined(tokens)) if tokens else "–" for tokens in (kept, lost)]
        lines.append(f"| {n + 1} | {shown[0]} | {len(kept)} | {batch.positions - len(kept)} | {shown[1]} |")
    return "\n".join(lines)


def _in_table(text: str) -> str:
    return quote(text.replace("|", "¦"))  # a bar would end the cell, even in a code span


def compute(batch: Batch, which: int, result: Result, numbers: tuple) -> Result:
    """The page's mask for every sentence; for the chosen one padding alone, causal alone and both, with weights."""
    t, settings = batch.positions, MaskSettings(*numbers)
    drawn = result.facts["grid"]
    tokens = result.arrays["mask"].rows
    scores = torch.from_numpy(result.values("scores"))
    arrays = {}
    for n, name in enumerate(SENTENCES):
        if n < len(batch.kept):
            mask = combined_mask(result.parameters["kinds"], t, batch.lengths[n], settings, drawn)
            arrays[name] = Array.of(mask.double(), batch.padded(n), batch.padded(n), axes=("query", "key"))
        else:
            arrays[name] = Array(np.zeros((0, 0)), (), (), ("query", "key"))
    masks = {n: combined_mask(kinds, t, batch.lengths[which], settings) for n, kinds in ALONE.items()}
    values = {name: mask.double() for name, mask in masks.items()}
    values |= {name: masked_softmax(scores, masks[under]) for name, under in WEIGHTS.items()}
    arrays |= {n: Array.of(x, tokens, tokens, axes=("query", "key")) for n, x in values.items()}
    real = batch.lengths[which]
    future = torch.triu(torch.ones(t, t, dtype=torch.bool), 1)  # [T, T]
    leak = {n: float((values[n] * future)[:real].sum(-1).mean()) for n in WEIGHTS}
    facts = {
        "leak": leak,
        "first": float(values["p_leak"][0, 1:].sum()),
        "pairs": int((masks["p_pad"] & future)[:real].sum()),
        "lengths": batch.lengths,
        "lost": sum(map(len, batch.lost)),
        "which": which,
        "sentences": len(batch.kept),
        "t": t,
    }
    return Result(result.parameters, arrays, facts)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """The sentences' masks above; padding alone, causal alone, both, and the weights under two of them below."""
    above = tuple(_matrix(name, result, words) for name in SENTENCES if result.arrays[name].rows)
    return above, tuple(_matrix(name, result, words) for name in (*ALONE, *WEIGHTS))


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    values = result.values(name)
    is_mask, t = name not in WEIGHTS, len(values)
    shapes = {"p_pad": f"[B, 1, 1, {t}]", "p_causal": f"[1, 1, {t}, {t}]", "p_both": f"[B, 1, {t}, {t}]"}
    return matrix_of(
        result,
        name,
        words,
        hidden=values == 0 if is_mask else None,
        hidden_as=words.plain("hidden.mask") if is_mask else "",
        note=shapes.get(name, ""),
        wire="u8" if name in SENTENCES else "f32",
        whole=is_mask,
    )


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """What one cell of the batch's picture says."""
    name, i, j = cell
    array = result.arrays[name]
    value = array.values[i, j]
    told = {"i": i + 1, "query": array.rows[i], "j": j + 1, "key": array.columns[j], "value": value}
    if name in WEIGHTS:
        return words("why.batch_leak" if j > i and value > 0 else "why.batch_weight", **told)
    told["length"] = result.facts["lengths"][
        SENTENCES.index(name) if name in SENTENCES else result.facts["which"]
    ]
    told["what"] = Raw(words("why.is_padding" if array.columns[j] == PAD else "why.is_real"))
    return words("why.batch_kept" if value else "why.batch_hidden", **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: lengths, what was cut, and the weight that flows from the future under padding alone."""
    facts = result.facts
    lengths = Raw(listed(facts["lengths"], words.lang))
    told = {"sentences": facts["sentences"], "t": facts["t"], "lengths": lengths, "lost": facts["lost"]}
    sentences = [words(f"batch.notice.{_case(result)}", **told)]
    if facts["lost"]:
        sentences.append(words("batch.notice.lost", **told))
    leak = facts["leak"]
    shares = {"share": Raw(percent(leak["p_leak"])), "first": Raw(percent(facts["first"]))}
    shares |= {"tight": Raw(percent(leak["p_tight"])), "pairs": facts["pairs"]}
    sentences.append(words("batch.notice.leak" if facts["pairs"] else "batch.notice.no_leak", **shares))
    return sentences


def _case(result: Result) -> str:
    """Whether there are several sentences, and whether the chosen mask differs between them."""
    masks = [result.values(name) for name in SENTENCES if result.arrays[name].rows]
    if len(masks) == 1:
        return "lengths_one"
    return "lengths_same" if all((mask == masks[0]).all() for mask in masks) else "lengths"


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    lengths = listed(result.facts["lengths"], words.lang)
    return words.plain(
        "batch.summary", lengths=lengths, t=result.facts["t"], share=percent(result.facts["leak"]["p_leak"])
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    if name in WEIGHTS:
        return "core.attention.dot_product.attention", "softmaxed"
    return "core.attention.mask_kinds.combined_mask", "mask"
