"""A row of the embedding table for every token, written as one-hot times matrix."""

from __future__ import annotations

import torch

from core.text.lookup import lookup, seeded_table, tied_logits
from ui.figures.matrices import matrix_of
from ui.figures.tokens import MOST
from ui.formulas import bracketed
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.words import Raw, Words

ROWS_DRAWN = 256 + MOST  # then cut to the vocabulary, so that a token keeps its row when the merges change
MOST_TOKENS = 12  # positions that are drawn
LOOKUP = ("one_hot", "table", "rows", "output")


def first_tokens(result: Result) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The first tokens of the byte pair strip and their ids."""
    array = result.arrays["pairs"]
    return array.columns[:MOST_TOKENS], tuple(int(i) for i in array.values[0, :MOST_TOKENS])


def compute(result: Result, d: int, scaled: bool) -> Result:
    """Look-up and output for the first tokens; of the table only the rows that they use.

    What a position scores highest is asked of the whole table, of which the picture shows a few rows.
    """
    tokens, ids = first_tokens(result)
    vocab = result.facts["sizes"]["pairs"]
    used = tuple(dict.fromkeys(ids))
    names = tuple(tokens[ids.index(i)] for i in used)
    places = torch.tensor([used.index(i) for i in ids])
    whole = seeded_table(result.parameters["seed"], ROWS_DRAWN, d)[:vocab]  # [V, d]
    table = whole[list(used)]  # [U, d]
    trace = lookup(places, table, scaled)
    logits = tied_logits(trace.rows, table)  # [T, U]
    arrays = {
        "one_hot": Array.of(trace.one_hot, tokens, names, axes=("token", "entry")),
        "table": Array.of(table, names, axes=("entry", "feature")),
        "rows": Array.of(trace.rows, tokens, axes=("token", "feature")),
        "output": Array.of(trace.output, tokens, axes=("token", "feature")),
        "hidden": Array.of(trace.rows, tokens, axes=("token", "feature")),
        "transposed": Array.of(
            table.mT.contiguous(), tuple(str(i + 1) for i in range(d)), names, axes=("feature", "entry")
        ),
        "logits": Array.of(logits, tokens, names, axes=("token", "entry")),
    }
    highest = tied_logits(trace.rows, whole).argmax(-1)  # [T]
    facts = {
        "ids": ids,
        "used": used,
        "repeats": len(ids) - len(used),
        "size": float(
            whole.square().mean().sqrt()
        ),  # of all rows: a few may be far from what they are drawn from
        "own": int((highest == torch.tensor(ids)).sum()),
        "vocab": vocab,
    }
    parameters = result.parameters | {"d": d, "scaled": scaled}
    t = len(ids)
    shapes = {"one_hot": (t, vocab), "table": (vocab, d), "transposed": (d, vocab), "logits": (t, vocab)}
    return Result(parameters, arrays, facts, shapes=shapes)


def drawn(name: str, result: Result, words: Words) -> Matrix:
    """One matrix of the look-up or of the output."""
    d, one_hot = result.parameters["d"], name == "one_hot"
    limit = {"logits": 4.0, "output": 2.5}.get(name, 2.5 / d**0.5)
    if name == "output" and not result.parameters["scaled"]:
        limit = 2.5 / d**0.5
    told = {"root": number(d**0.5)}
    return matrix_of(result, name, words, limit=None if one_hot else limit, told=told, note="", whole=one_hot)


def _cut(result: Result) -> tuple[int, int]:
    return len(result.facts["used"]), result.facts["vocab"] - len(result.facts["used"])


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """One-hot times table gives rows; then √d, where it is switched on."""
    names = LOOKUP if result.parameters["scaled"] else LOOKUP[:-1]
    return (tuple(drawn(name, result, words) for name in names),)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    used, _ = _cut(result)
    return words.plain("emb.summary", tokens=len(result.facts["ids"]), used=used, d=result.parameters["d"])


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a number of the look-up was made."""
    name, i, j = cell
    array = result.arrays[name]
    told = {
        "i": i + 1,
        "j": j + 1,
        "row": array.rows[i],
        "value": array.values[i, j],
        "column": array.columns[j],
    }
    told |= {"vocab": result.facts["vocab"], "d": result.parameters["d"], "seed": result.parameters["seed"]}
    if name == "table":
        return words("emb.why.table", id=result.facts["used"][i], **told)
    told["id"] = result.facts["ids"][i]
    if name == "one_hot":
        return words(
            "emb.why.one" if array.values[i, j] else "emb.why.zero", other=result.facts["used"][j], **told
        )
    if name == "output":
        told |= {"before": bracketed(result.values("rows")[i, j]), "root": result.parameters["d"] ** 0.5}
        return words("emb.why.output" if result.parameters["scaled"] else "emb.why.unscaled", **told)
    chosen = int(result.values("one_hot")[i].argmax())
    terms = [
        f"{int(one)}\\cdot {bracketed(x)}"
        for one, x in zip(result.values("one_hot")[i], result.values("table")[:, j], strict=True)
    ]
    near = sorted({chosen, *range(min(2, len(terms)))})
    shown = " + ".join(terms[k] for k in near) + (r" + \cdots" if len(terms) > len(near) else "")
    return words("emb.why.rows", sum=Raw(shown), **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: a look-up is a product, the size of the table, what √d is for."""
    facts, d = result.facts, result.parameters["d"]
    used, rest = _cut(result)
    told = {"used": used, "rest": rest, "vocab": facts["vocab"], "repeats": facts["repeats"], "root": d**0.5}
    told |= {"size": facts["size"], "scaled": facts["size"] * d**0.5, "position": 0.5**0.5}
    return [
        words("emb.notice.copy", **told),
        words("emb.notice.repeats" if facts["repeats"] else "emb.notice.no_repeats", **told),
        words("emb.notice.scaled" if result.parameters["scaled"] else "emb.notice.unscaled", **told),
    ]


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix of the look-up."""
    if name == "table":
        return "core.text.lookup.seeded_table", "drawn"
    return "core.text.lookup.lookup", {"one_hot": "chosen"}.get(name, name)
