"""Where the residual stream begins: a token's row, a position's row, their sum, and who resembles whom."""

from __future__ import annotations

import numpy as np
import torch

from core.text.lookup import cosines
from ui.figures import forward_pass as figure
from ui.figures import forward_pass_why as whys
from ui.figures.matrices import axis_titles, matrix_of
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.words import Words, quote

COSINES = ("token_cos", "x_cos")


def compute(result: Result) -> Result:
    """The three matrices at the bottom of the model, and the cosines between their rows."""
    arrays = {n: result.arrays[n] for n in ("token", "position")}
    start = result.facts["states"][0]
    labels = arrays["token"].rows
    arrays["x"] = Array(start, labels, arrays["token"].columns, ("token", "feature"))
    for name, values in (("token_cos", arrays["token"].values), ("x_cos", start)):
        arrays[name] = Array.of(cosines(torch.from_numpy(values)), labels, labels, axes=("token", "other"))
    return Result(result.parameters | {"layer": "1"}, arrays, result.facts)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """Vectors above, cosines below."""
    vectors = tuple(figure.drawn(name, result, words) for name in ("token", "position", "x"))
    return vectors, tuple(_cosines(name, result, words) for name in COSINES)


def _cosines(name: str, result: Result, words: Words) -> Matrix:
    return matrix_of(result, name, words, limit=1.0, axis_titles=axis_titles(("other", "other"), words))


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a number of this picture was made."""
    name, i, j = cell
    if name not in COSINES:
        return whys.why(result, cell, words)
    vectors = result.values("token" if name == "token_cos" else "x")
    told = {
        "token": result.arrays[name].rows[i],
        "other": result.arrays[name].rows[j],
        "place": i + 1,
        "at": j + 1,
    }
    told |= {"value": float(result.values(name)[i, j]), "dot": float(vectors[i] @ vectors[j])}
    told |= {"a": float(np.linalg.norm(vectors[i])), "b": float(np.linalg.norm(vectors[j]))}
    return words("emb.why.cosine", **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix."""
    if name in COSINES:
        return "core.text.lookup.cosines", "cosine"
    return ("core.models.embeddings.Embeddings", "summed") if name == "x" else whys.code_of(name)


def twins(result: Result) -> tuple[int, int] | None:
    """The places of the first token that occurs twice, after END."""
    rows = result.arrays["token"].rows
    return next(((rows.index(t), j) for j, t in enumerate(rows) if t in rows[:j]), None)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: how large the two parts are, and what a position does to equal tokens."""
    lengths = {n: float(np.linalg.norm(result.values(n), axis=1).mean()) for n in ("token", "position")}
    d = result.values("token").shape[1]
    said = [words("emb.notice.lengths", **lengths, d=d, root=d**0.5)]
    pair = twins(result)
    if pair:
        i, j = pair
        told = {
            "i": i + 1,
            "j": j + 1,
            "token": result.arrays["token"].rows[i],
            "after": float(result.values("x_cos")[i, j]),
        }
        said.append(words("emb.notice.twins", **told))
    else:
        said.append(words("emb.notice.none"))
    return [*said, words("emb.notice.learned", limit=result.facts["limit"])]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    return words.plain("emb.summary", tokens=len(result.arrays["x"].rows), d=result.values("x").shape[1])


def table(result: Result, words: Words) -> str:
    """Each token with its number and the lengths of its vectors."""
    lines = [words("emb.table"), "|--:|:--|--:|--:|--:|--:|"]
    lengths = [np.linalg.norm(result.values(n), axis=1) for n in ("token", "position", "x")]
    for i, (token, id_) in enumerate(zip(result.arrays["x"].rows, result.facts["ids"], strict=True)):
        sizes = " | ".join(number(float(length[i])) for length in lengths)
        lines.append(f"| {i + 1} | {quote(token)} | {id_} | {sizes} |")
    return "\n".join(lines)
