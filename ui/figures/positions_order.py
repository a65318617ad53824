"""The order test under every scheme: shuffle the tokens, leave the places, and see whether attention notices."""

from __future__ import annotations

import torch

from core.attention import masks, order
from core.attention.toy import ToyInputs, seeded
from core.block.position_order import shuffle_test
from ui.course.positions import SCHEMES
from ui.figures.matrices import axis_titles, matrix_of
from ui.figures.positions import ROUNDING, learned_table
from ui.formulas import bracketed
from ui.matrix import Matrix
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words


def permutation(kind: str, tokens: int, draw: int) -> tuple[int, ...]:
    """The new order of the tokens, counted from 0."""
    if kind == "reverse":
        return tuple(range(tokens))[::-1]
    return order.at_random(tokens, seeded("order", draw))


def compute(result: Result, toy: ToyInputs, kind: str, draw: int) -> Result:
    """Every scheme, without a mask and with a causal one; the matrices are those under the page's mask."""
    p = result.parameters
    tokens, t = p["tokens"], len(p["tokens"])
    places = permutation(kind, t, draw)
    ways = {"none": None, "causal": masks.causal(t)}
    arrays, facts = {}, {"places": places, "before": {}, "back": {}}
    for scheme in SCHEMES:
        traces = {
            mask: shuffle_test(
                toy.x, toy.w_q, toy.w_k, toy.w_v, places, scheme, allowed, learned_table(p["seed"])
            )
            for mask, allowed in ways.items()
        }
        facts[scheme] = {mask: trace.weights_deviation for mask, trace in traces.items()}
        shown = traces[p["mask"]]
        moved = tuple(tokens[i] for i in places)
        back = order.put_back(shown.shuffled.weights, places, (0, 1))  # [T, T]
        facts["before"][scheme] = shown.original.weights.numpy()
        facts["back"][scheme] = back.numpy()
        arrays[f"ow_{scheme}"] = Array.of(shown.shuffled.weights, moved, moved, axes=("position", "position"))
        gap = torch.where((back - shown.original.weights).abs() < ROUNDING, 0, back - shown.original.weights)
        arrays[f"od_{scheme}"] = Array.of(gap, tokens, tokens, axes=("query", "key"))
    names = sorted(
        arrays, key=lambda name: name[:2], reverse=True
    )  # the shuffled weights, then the differences
    settings = {"tokens": tokens, "mask": p["mask"]}
    return Result(settings, {name: arrays[name] for name in names}, facts)


def told(shown: Result) -> str:
    """The tokens in their new order."""
    return " ".join(shown.parameters["tokens"][i] for i in shown.facts["places"])


def matrices(shown: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """The shuffled weights of each scheme above, what is left after putting them back below."""
    above = tuple(_matrix(f"ow_{scheme}", shown, words) for scheme in SCHEMES)
    return above, tuple(_matrix(f"od_{scheme}", shown, words) for scheme in SCHEMES)


def _matrix(name: str, shown: Result, words: Words) -> Matrix:
    weight = name.startswith("ow")
    return matrix_of(
        shown,
        name,
        words,
        limit=None if weight else 1.0,
        axis_titles=axis_titles(("query", "key"), words),
        note="",
        wire="u8" if weight and shown.values(name).size > 100 else "f32",
    )


def why(shown: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One weight before the shuffle and after it."""
    name, row, column = cell
    kind, _, scheme = name.partition("_")
    tokens, places = shown.parameters["tokens"], shown.facts["places"]
    i, j = (places[row], places[column]) if kind == "ow" else (row, column)
    before, after = (shown.facts[when][scheme][i, j] for when in ("before", "back"))
    gap = after - before
    told = {"i": i + 1, "query": tokens[i], "j": j + 1, "key": tokens[j]}
    told |= {"p": places.index(i) + 1, "q": places.index(j) + 1, "before": bracketed(before)}
    return words("why.order", after=after, difference=0.0 if abs(gap) < ROUNDING else gap, **told)


def table(shown: Result, words: Words) -> str:
    """The largest deviation of every scheme, without a mask and with a causal one."""
    lines = [
        f"| {words('order.scheme')} | {words('order.no_mask')} | {words('order.causal')} |",
        "|:--|--:|--:|",
    ]
    for scheme in SCHEMES:
        values = (shown.facts[scheme][mask] for mask in ("none", "causal"))
        cells = (words("order.invisible") if v < ROUNDING else words("order.value", value=v) for v in values)
        lines.append(f"| {words(f'choice.scheme.{scheme}')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def notices(shown: Result, words: Words) -> list[str]:
    """What to notice: which schemes let order show, and what the causal mask does by itself."""
    facts, t = shown.facts, len(shown.parameters["tokens"])
    tokens = shown.parameters["tokens"]
    if [tokens[i] for i in facts["places"]] == list(tokens):
        return [words("order.notice.same")]
    bare = facts["none"]
    blind = [s for s in SCHEMES[1:] if facts[s]["none"] < ROUNDING]
    said = [words("order.notice.none", deviation=0.0 if bare["none"] < ROUNDING else bare["none"])]
    # Distances are the same read backwards, so a reversed text looks alike to a bias that knows distances only.
    if blind:
        names = Raw(listed((words(f"choice.scheme.{scheme}") for scheme in blind), words.lang))
        said.append(
            words("order.notice.blind_alibi" if blind == ["alibi"] else "order.notice.blind", names=names)
        )
    else:
        said.append(words("order.notice.others"))
    key = "order.notice.causal" if bare["causal"] > ROUNDING else "order.notice.causal_same"
    return [*said, words(key, deviation=bare["causal"], count=t)]


def summary(shown: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    facts = shown.facts
    mask = shown.parameters["mask"]
    each = {scheme: 0.0 if facts[scheme][mask] < ROUNDING else facts[scheme][mask] for scheme in SCHEMES}
    return words.plain("order.summary", order=told(shown), **each)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a number."""
    if name.startswith("od"):
        return "core.attention.order.put_back", "values"
    return "core.block.position_order.shuffle_test", "after"
