"""The picture of multi-head attention: every head's map and output, joined and mixed; the story of each number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.attention import heads as looks
from core.attention.head_sizes import kv_numbers_per_token, projection_parameters
from core.attention.multi_head import MultiHeadAttention, MultiHeadTrace
from ui.figures.matrices import matrix_of
from ui.formulas import sum_of_exponentials, sum_of_numbers, sum_of_products
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words

SPREAD = 3.0  # standard deviations that the colours of unit-variance numbers reach
WIDEST = 4.5  # standard deviations that hardly any of ten thousand weights exceeds
SHARPER = 4.0  # by how much τ is divided to tell what larger scores would do
MOST_CELLS = 400  # beyond it a matrix that is not in focus is a thumbnail too
PROJECTIONS = ("w_q", "w_k", "w_v", "w_o")


def kv_heads(heads: int, wanted: str) -> int:
    """The number of key-value heads for a choice: the largest that divides `heads` and is not above it."""
    most = heads if wanted == "all" else int(wanted)
    return max(n for n in range(1, heads + 1) if heads % n == 0 and n <= most)


def head_mask(heads: int, off: Sequence[int]) -> Tensor:
    """1 for a head that is on, 0 for one that is off: [heads]. Heads are counted from 1."""
    return torch.tensor([float(h + 1 not in off) for h in range(heads)], dtype=torch.float64)


def substitutions(heads: str, wanted: str, off: Sequence[str], words: Words) -> list[str]:
    """What the page had to replace: key-value heads that do not divide the heads, switches without a head."""
    count, told = int(heads), []
    if wanted != "all" and count % int(wanted):
        divisors = listed((n for n in range(1, count + 1) if count % n == 0), words.lang)
        values = {"wanted": int(wanted), "heads": count, "divisors": Raw(divisors)}
        told.append(words("remark.kv", used=kv_heads(count, wanted), **values))
    if absent := [head for head in off if int(head) > count]:
        told.append(
            words("remark.off", absent=Raw(listed(absent, words.lang)), count=len(absent), heads=count)
        )
    return told


def result(
    settings: Mapping[str, Any],
    x: Tensor,
    module: MultiHeadAttention,
    whole: MultiHeadTrace,
    shown: MultiHeadTrace,
) -> Result:
    """Everything the page shows: `whole` with all heads, `shown` with those that are on."""
    tokens, d_model, heads, kv = (settings[name] for name in ("tokens", "d_model", "heads", "kv"))
    by_token, d_head = {"axes": ("query", "feature")}, d_model // heads
    joined = tuple(f"{h + 1}·{c + 1}" for h in range(heads) for c in range(d_head))
    arrays = {"x": Array.of(x, tokens, **by_token)}
    for h in range(heads):
        arrays[f"a{h + 1}"] = Array.of(shown.weights[h], tokens, tokens, axes=("query", "key"))
    for h in range(heads):
        arrays[f"o{h + 1}"] = Array.of(shown.head_outputs[h], tokens, axes=("query", "part"))
    arrays["concat"] = Array.of(shown.concatenated, tokens, joined, **by_token)
    arrays["w_o"] = Array.of(module.w_o.weight.mT, joined, axes=("feature", "output"))
    arrays["output"] = Array.of(shown.output, tokens, axes=("query", "output"))
    each = looks.head_contributions(whole.head_outputs, module.w_o)  # [H, T, d_model]
    similarity = looks.head_similarity(whole.weights)  # [H, H]
    visible = torch.isfinite(whole.masked[0])  # [T, T]  the mask is the same in every head
    facts = {
        "masked": whole.masked.numpy(),
        "v": whole.v.numpy(),
        "contributions": each.numpy(),
        "before": whole.output.numpy(),
        "similarity": similarity.numpy(),
        "mean_similarity": looks.mean_similarity(similarity),
        "sharper_similarity": looks.mean_similarity(
            looks.head_similarity((SHARPER * whole.masked).softmax(-1))
        ),
        "even_similarity": looks.even_similarity(whole.weights, visible),
        "entropy": looks.head_entropy(whole.weights).numpy(),
        "most_entropy": float(looks.head_entropy(looks.even_map(visible))),
        "changes": looks.changes_one_by_one(each).numpy(),
        "off": looks.heads_off(whole.output, shown.output),
        "parameters": projection_parameters(d_model, heads, kv),
        "cache": kv_numbers_per_token(kv, d_head),
        "projections": {name: getattr(module, name).weight.numpy() for name in PROJECTIONS},
    }
    return Result(dict(settings), arrays, facts, hidden=~visible.numpy())


def steps(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """The maps above, what each head found below them, then joined, W_O and the output."""
    names = [f"{n + 1}" for n in range(result.parameters["heads"])]
    rows = ([f"a{n}" for n in names], [f"o{n}" for n in names], ["concat", "w_o", "output"])
    return tuple(tuple(_matrix(name, result, words) for name in row) for row in rows)


def one_step(name: str, result: Result, words: Words) -> Matrix:
    """One matrix, to be set beside that of another result; the output for a head that one of the two may lack."""
    name = name if name in ("a1", "o1", "concat", "w_o") else "output"
    return replace(_matrix(name, result, words), wire="f32", arrow="")


def numbers(result: Result, words: Words) -> dict[str, float]:
    """The numbers by which two results are compared, under their labels."""
    facts = result.facts
    values = {name: facts[name] for name in ("parameters", "cache")}
    values |= {
        "entropy": float(facts["entropy"].mean()),
        "norm": float(np.linalg.norm(result.values("output"))),
    }
    if facts["mean_similarity"] is not None:
        values["similarity"] = facts["mean_similarity"]
    return {words(f"number.{name}"): value for name, value in values.items()}


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    small = name not in ("concat", "output") or result.values(name).size > MOST_CELLS
    limit = WIDEST / result.parameters["d_model"] ** 0.5 if name == "w_o" else SPREAD
    return matrix_of(
        result,
        name,
        words,
        limit=None if name[0] == "a" else limit,
        note=_note(name, result, words),
        wire="u8" if small else "f32",
    )


def _note(name: str, result: Result, words: Words) -> str:
    """The shape; at a head also whose keys and values it uses, and whether it is off."""
    p = result.parameters
    shape = " × ".join(map(str, result.values(name).shape))
    if name[0] == "a" and p["kv"] < p["heads"]:
        return words.plain("note.kv", group=group_of(int(name[1:]), p) + 1)
    if name[0] == "o" and name != "output" and int(name[1:]) in p["off"]:
        return words.plain("note.off", shape=shape)
    return shape


def group_of(head: int, parameters: Mapping[str, Any]) -> int:
    """The key-value head, from 0, that a head, from 1, looks at."""
    return (head - 1) // (parameters["heads"] // parameters["kv"])


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made: the formula, then the formula with the numbers on screen."""
    name, row, column = cell
    p = result.parameters
    told = {"i": row + 1, "c": column + 1, "value": result.values(name)[row, column], "d_model": p["d_model"]}
    if name != "w_o":
        told["query"] = p["tokens"][row]
    d_head = p["d_model"] // p["heads"]
    if name[0] == "a":
        return _why_weight(result, int(name[1:]), row, column, words, told)
    if name == "output":
        terms = result.facts["contributions"][:, row, column] * head_mask(p["heads"], p["off"]).numpy()
        return words("why.output", heads=p["heads"], sum=sum_of_numbers(terms), **told)
    if name[0] == "o":
        head = int(name[1:])
        values = result.facts["v"][group_of(head, p)][:, column]
        told |= {"h": head, "group": group_of(head, p) + 1}
        return words("why.o", sum=sum_of_products(result.values(f"a{head}")[row], values), **told)
    place = row if name == "w_o" else column  # in the joined vector
    told |= {"h": place // d_head + 1, "m": place % d_head + 1}
    off = name == "concat" and told["h"] in p["off"]
    return words("why.concat_off" if off else f"why.{name}", **told)


def _why_weight(result: Result, head: int, row: int, column: int, words: Words, told: dict) -> str:
    logits = result.facts["masked"][head - 1, row]
    p = result.parameters
    told |= {"h": head, "j": column + 1, "key": p["tokens"][column], "group": group_of(head, p) + 1}
    if result.hidden[row, column]:
        return words("why.hidden", **told)
    seen = logits[np.isfinite(logits)]
    told |= {"score": logits[column], "sum": sum_of_exponentials(seen), "d_head": p["d_model"] // p["heads"]}
    return words("why.a", tau=p["tau"], visible=len(seen), **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: the shapes, the parameters, how alike the heads are, and what is switched off."""
    p, facts = result.parameters, result.facts
    t, d_model, heads, kv = len(p["tokens"]), p["d_model"], p["heads"], p["kv"]
    told = {"tokens": t, "d_model": d_model, "heads": heads, "d_head": d_model // heads, "kv": kv}
    key = "notice.shared" if kv < heads else "notice.parameters"
    whole = projection_parameters(d_model, heads)
    said = [words("notice.shapes", **told)]
    said.append(
        words(key, count=facts["parameters"], whole=whole, cache=facts["cache"], full=2 * d_model, **told)
    )
    if heads > 1:
        key = "notice.one_token" if all_equal(result) else "notice.alike"
        likeness = {n: facts[f"{n}_similarity"] for n in ("mean", "even", "sharper")}
        said.append(words(key, tau=p["tau"], **likeness))
    if p["off"]:
        off = Raw(listed(p["off"], words.lang))
        said.append(words("notice.off", off=off, count=len(p["off"]), change=100 * facts["off"].change))
    return said


def all_equal(result: Result) -> bool:
    """Whether all tokens are the same: then no head can tell one key from another."""
    return len(set(result.parameters["tokens"])) == 1


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p, facts = result.parameters, result.facts
    mean = facts["mean_similarity"]
    return words.plain(
        "summary",
        heads=p["heads"],
        kv=p["kv"],
        d_head=p["d_model"] // p["heads"],
        d_model=p["d_model"],
        tokens=len(p["tokens"]),
        mask=words.plain(f"choice.mask.{p['mask']}"),
        parameters=facts["parameters"],
        mean="–" if mean is None else mean,
        off=listed(p["off"], words.lang) or words.plain("setting.none"),
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    if name in ("concat", "output"):
        return "core.attention.multi_head.MultiHeadAttention", {"concat": "concatenated"}.get(name, name)
    if name == "w_o":
        return "core.attention.toy_heads.toy_heads", "w_o"
    return "core.attention.dot_product.attention", "softmaxed" if name[0] == "a" else "output"
