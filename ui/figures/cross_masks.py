"""The decoder's two masks: the causal square over the target, and the padding rectangle over the source."""

from __future__ import annotations

import numpy as np
import torch

from core.attention.dot_product import attention
from core.attention.masks import causal
from core.attention.toy import toy_inputs
from ui.figures import cross_attention as forward
from ui.figures.matrices import axis_titles, matrix_of
from ui.formulas import sum_of_exponentials
from ui.matrix import Matrix
from ui.result import Array, Result
from ui.words import Raw, Words

NAMES = ("self", "cross", "mistake")
ROUNDING = 1e-12  # a change below this is the arithmetic's
OTHER = "⟨?⟩"  # put in the place of a token, to see what depends on it


def compute(result: Result, row: int) -> Result:
    """Both maps of the decoder, the mistake of a causal mask on the second, and what depends on which token."""
    p, (q, k, v, allowed) = result.parameters, forward.tensors(result)
    target, source = result.arrays["weights"].rows, result.arrays["weights"].columns
    toy = toy_inputs(target, p["seed"], p["dk"])
    future = causal(len(target))
    staircase = allowed & (torch.ones_like(allowed).tril())  # [T, S]
    maps = {
        "self": (attention(toy.q, toy.k, toy.v, future), future),
        "cross": (attention(q, k, v, allowed), allowed),
        "mistake": (attention(q, k, v, staircase), staircase),
    }
    arrays, facts = {}, {"row": min(row, len(target) - 1), "real": result.facts["real"]}
    for name, (trace, seen) in maps.items():
        columns, axis = (target, "earlier") if name == "self" else (source, "key")
        arrays[name] = Array.of(trace.weights, target, columns, axes=("query", axis))
        facts[name] = {"logits": trace.masked.numpy(), "seen": seen.numpy()}
    facts |= _dependence(result, maps["self"][0].output, maps["cross"][0].output)
    return Result(p, arrays, facts)


def _dependence(result: Result, of_self: torch.Tensor, of_cross: torch.Tensor) -> dict[str, np.ndarray]:
    """By how much each row's output moves when the last token of the target, or of the source, is another one."""
    p, (q, _, _, allowed) = result.parameters, forward.tensors(result)
    target, real = p["target"], len(p["source"])
    other_target = toy_inputs((*target[:-1], OTHER), p["seed"], p["dk"])
    swapped = attention(other_target.q, other_target.k, other_target.v, causal(len(target))).output
    padded = (*p["source"][:-1], OTHER, *result.arrays["weights"].columns[real:])
    other_source = toy_inputs(padded, p["seed"], p["dk"])
    seen = attention(q, other_source.k, other_source.v, allowed).output
    return {
        "self_moves": (swapped - of_self).abs().amax(-1).numpy(),
        "cross_moves": (seen - of_cross).abs().amax(-1).numpy(),
    }


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The square, the rectangle, and the rectangle with a mask that has no business there."""
    return (tuple(_matrix(name, result, words) for name in NAMES),)


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    axes = ("query", "target_key" if name == "self" else "key")
    return matrix_of(
        result,
        name,
        words,
        axis_titles=axis_titles(axes, words),
        hidden=~result.facts[name]["seen"],
        hidden_as=words.plain("two.hidden"),
        large=True,
    )


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """Why a query may look at a token, and the weight that follows; or why it may not."""
    name, row, column = cell
    array, facts = result.arrays[name], result.facts[name]
    seen = facts["seen"][row]  # [T] or [S]
    told = {"i": row + 1, "query": array.rows[row], "j": column + 1, "key": array.columns[column]}
    if not seen[column]:
        pad = name != "self" and not result.facts["cross"]["seen"][row, column]
        return words("why.two_hidden", reason=Raw(words(f"reason.{'padding' if pad else name}")), **told)
    logits = facts["logits"][row]
    told |= {"value": array.values[row, column], "score": logits[column], "visible": int(seen.sum())}
    allowed = Raw(words(f"allowed.{name}"))
    return words("why.two_weight", sum=sum_of_exponentials(logits[seen]), allowed=allowed, **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: what a row sees in each map, what that was tested by, and what the mistake would cost."""
    facts, row, p = result.facts, result.facts["row"], result.parameters
    target, t, real = result.arrays["self"].rows, len(p["target"]), facts["real"]
    told = {"i": row + 1, "query": target[row], "t": t, "real": real, "future": t - row - 1}
    sentences = [words("two.notice.row", **told)]
    if t > 1:
        earlier, last = facts["self_moves"][:-1].max(), facts["self_moves"][-1]
        sentences.append(words("two.notice.target", earlier=earlier, last=last, before=t - 1))
    if facts["cross_moves"].min() > ROUNDING:
        sentences.append(words("two.notice.source", cross=facts["cross_moves"].min(), **told))
    # Padding that nothing hides is no loss: only pairs with real tokens count.
    kept = {name: int(facts[name]["seen"][:, :real].sum()) for name in ("cross", "mistake")}
    lost = kept["cross"] - kept["mistake"]
    key = "two.notice.mistake" if lost else "two.notice.no_loss"
    return [*sentences, words(key, lost=lost, pairs=kept["cross"], first=target[0])]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    kept = {name: int(result.facts[name]["seen"].sum()) for name in NAMES}
    t, s = result.arrays["cross"].values.shape
    return words.plain("two.summary", t=t, s=s, **{f"kept_{name}": count for name, count in kept.items()})


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a map."""
    return "core.attention.dot_product.attention", "softmaxed"
