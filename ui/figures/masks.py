"""The picture of a mask: what it keeps, the weights under it, what several layers reach; and the story of each number."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from core.attention.receptive import shortest_path, window_reach
from ui.figures.matrices import matrix_of
from ui.formulas import sum_of_exponentials, sum_of_products
from ui.matrix import Matrix
from ui.result import Result
from ui.words import Raw, Words

STEPS = ("scores", "mask", "weights", "reach")
LOGITS = 4.0  # where the colours of the scores end; e⁴ ≈ 55
MOST_LAYERS = 12
PATTERNS = ("window", "dilated")  # for which L(w − 1) + 1 counts what is reached


def steps(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """Scores, mask, weights and reach in one linked row."""
    return (tuple(_matrix(name, result, words) for name in STEPS),)


def drawable(rows: tuple[tuple[Matrix, ...], ...], words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """The same row with a mask that takes clicks."""
    note = words.plain("note.draw")
    return tuple(
        tuple(replace(m, draw=True, note=note) if m.name == "mask" else m for m in row) for row in rows
    )


def one_step(name: str, result: Result, words: Words) -> Matrix:
    """One matrix under its short name, to be set beside the same matrix of another result."""
    return replace(_matrix(name, result, words), title=words.plain(f"choice.step.{name}"), hidden=None)


def numbers(result: Result, words: Words) -> dict[str, float]:
    """The numbers by which two results are compared, under their labels."""
    facts = result.facts
    values = {
        "kept": facts["kept"],
        "share": facts["share"],
        "reached": facts["most_reached"],
        "reach_share": facts["reach_share"],
        "empty": facts["empty_rows"],
        "largest": float(result.values("weights").max()),
    }
    return {words(f"number.{name}"): value for name, value in values.items()}


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    hidden = {"mask": result.hidden, "reach": result.values(name) == 0}.get(name)
    most = {"limits": (0.0, float(MOST_LAYERS))} if name == "reach" else {}
    told = {
        "layers": result.parameters["layers"],
        "kept": result.facts["kept"],
        "pairs": result.facts["pairs"],
    }
    return matrix_of(
        result,
        name,
        words,
        limit=LOGITS if name == "scores" else None,
        told=told,
        hidden=hidden,
        hidden_as=words.plain(f"hidden.{name}", **told) if hidden is not None else "",
        note=words.plain(f"note.{name}", **told) if f"note.{name}" in words else "",
        large=name != "scores",
        whole=name in ("mask", "reach"),
        **most,
    )


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the number in a cell was made: the rule or the formula, then the same with the numbers on screen."""
    name, i, j = cell
    array = result.arrays[name]
    told = {
        "i": i + 1,
        "query": array.rows[i],
        "j": j + 1,
        "key": array.columns[j],
        "value": array.values[i, j],
    }
    seen = ~result.hidden[i]  # [T]
    if name == "scores":
        if result.parameters["worked"]:
            return words("why.scores_given", **told)
        q, k = result.facts["q"], result.facts["k"]
        return words("why.scores", dk=q.shape[1], sum=sum_of_products(q[i], k[j]), **told)
    if name == "reach":
        return _why_reach(result, i, j, words, told)
    told["reason"] = Raw(_reasons(result, i, j, words))
    if name == "mask":
        return words("why.mask_kept" if seen[j] else "why.mask_hidden", **told)
    if not seen[j]:
        return words("why.weights_hidden" if seen.any() else "why.weights_empty", **told)
    scores = result.values("scores")[i]
    return words(
        "why.weights", visible=int(seen.sum()), score=scores[j], sum=sum_of_exponentials(scores[seen]), **told
    )


def _reasons(result: Result, i: int, j: int, words: Words) -> str:
    """Which of the masks hide this pair; or, if none does, which rules let it pass."""
    forbid = [kind for kind, mask in result.facts["each"].items() if not mask[i, j]]
    kinds = forbid or [kind for kind in result.facts["each"] if kind != "none"] or ["none"]
    start = "reason" if forbid else "pass"
    p = result.parameters
    told = {"i": i + 1, "j": j + 1, "window": p["window"], "dilation": p["dilation"], "length": p["length"]}
    told |= {"prefix": min(p["prefix"], len(result.hidden)), "stride": p["stride"]}
    told |= {"sides": Raw(sides(p, words)), "half": p["window"] // 2, "keys": _keys(p)}
    # A prefix of nobody is the causal rule.
    named = ["causal" if kind == "prefix" and not told["prefix"] else kind for kind in kinds]
    return words("reason.and").join(words(f"{start}.{kind}", **told) for kind in dict.fromkeys(named))


def sides(parameters: dict, words: Words) -> str:
    """In words, whether a window looks back only or both ways."""
    return words("sides.two" if parameters["two_sided"] else "sides.one")


def _why_reach(result: Result, i: int, j: int, words: Words, told: dict) -> str:
    tokens = result.arrays["mask"].rows
    layers = result.parameters["layers"]
    told |= {"layers": layers}
    path = shortest_path(torch.from_numpy(~result.hidden), i, j)
    n = told["value"] = int(told["value"])
    if i == j:
        return words("why.reach_self", **told)
    if not path:
        return words("why.reach_never", **told)
    told["path"] = Raw(" ← ".join(words("path.step", i=p + 1, token=tokens[p]) for p in path))
    return words("why.reach" if n else "why.reach_later", needed=len(path) - 1, **told)


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: what the masks keep, how far the layers carry, what becomes of padding, empty rows."""
    facts = result.facts
    told = {"kept": facts["kept"], "pairs": facts["pairs"], "share": Raw(percent(facts["share"]))}
    kind = words(f"notice.kind.{_case(result)}", **_numbers(result))
    return [
        words.sentences((words("notice.kept", **told), *_alone(result, words), kind)),
        reached(result, words),
        *_padding(result, words),
        *([words("notice.empty", rows=facts["empty_rows"])] if facts["empty_rows"] else []),
    ]


def rules(p: dict) -> tuple[str, ...]:
    """The kinds of mask that are at work, each once; ("none",) without one."""
    chosen = tuple(dict.fromkeys(kind for kind in (p["mask"], p["also"]) if kind != "none"))
    return chosen or ("none",)


def _alone(result: Result, words: Words) -> list[str]:
    """What each of two masks would keep without the other."""
    at_work = rules(result.parameters)
    if len(at_work) == 1:
        return []
    names = [Raw(words(f"choice.mask.{kind}")) for kind in at_work]
    kept = [int(result.facts["each"][kind].sum()) for kind in at_work]
    return [words("notice.alone", name=names[0], first=kept[0], other=names[1], second=kept[1])]


def is_window(p: dict) -> bool:
    """Whether L(w − 1) + 1 counts what is reached: a window, dilated or not, and at most padding besides."""
    at_work = set(rules(p)) - {"padding"}
    return len(at_work) == 1 and at_work <= set(PATTERNS)


def _numbers(result: Result) -> dict:
    p, t = result.parameters, len(result.hidden)
    told = {name: p[name] for name in ("window", "dilation", "stride", "summary")}
    told |= {"keys": _keys(p), "back": p["window"] - 1, "half": p["window"] // 2}
    return told | {name: min(p[name], t) for name in ("prefix", "globals", "randoms")}


def _keys(p: dict) -> int:
    """The most keys in a window. Two-sided it is as wide on both sides: an even one sees one key more."""
    return 2 * (p["window"] // 2) + 1 if p["two_sided"] else p["window"]


def _case(result: Result) -> str:
    """The kind of the first mask at work; where its numbers turn it into another one, a case of its own."""
    p, t, kind = result.parameters, len(result.hidden), rules(result.parameters)[0]
    alone = p["window"] < 2 if kind in ("longformer", "bigbird") else _keys(p) == 1
    cases = {
        "padding": [(p["length"] == t, "padding_none")],
        "prefix": [(p["prefix"] < 2 or t < 2, "prefix_causal"), (p["prefix"] >= t, "prefix_whole")],
        "window": [(alone, "self"), (p["two_sided"], "window_two")],
        "dilated": [(alone, "self"), (p["dilation"] == 1, "dilated_plain")],
        "longformer": [
            (alone and not p["globals"], "self"),
            (not p["globals"], "longformer_none"),
        ],
        "bigbird": [(not p["randoms"], "bigbird_none")],
        "strided": [(p["stride"] == 1, "strided_one")],
        "fixed": [(p["summary"] >= p["stride"], "fixed_whole")],
        "drawn": [(result.facts["grid"] is None, "drawn_none")],
    }
    return next((case for holds, case in cases.get(kind, ()) if holds), kind)


def reached(result: Result, words: Words) -> str:
    """How many tokens the layers carry to one, counted, and by the formula where there is one."""
    facts, p = result.facts, result.parameters
    told = {"layers": p["layers"], "counted": facts["most_reached"], "t": len(result.hidden)}
    told |= {"seen": facts["most_seen"], "i": facts["most_at"] + 1}
    told["query"] = result.arrays["mask"].rows[facts["most_at"]]
    if is_window(p):
        formula = window_reach(p["window"], p["layers"], p["two_sided"])
        key = "notice.formula_two" if p["two_sided"] else "notice.formula"
        ending = "notice.formula_met" if formula == told["counted"] else "notice.formula_cut"
        told |= {"window": p["window"], "formula": formula, "half": p["window"] // 2}
        return words.sentences((words(key, **told), words(ending, **told)))
    grown = facts["reach_share"] > facts["share_with_self"]
    one = "reach_all" if facts["reach_share"] == 1 else "reach_one"
    key = one if p["layers"] == 1 else "reach" if grown else "reach_closed"
    return words(f"notice.{key}", **told)


def _padding(result: Result, words: Words) -> list[str]:
    p, t = result.parameters, len(result.hidden)
    pads = t - p["length"]
    if not pads:
        return []
    on_padding = float(result.values("weights")[: p["length"], p["length"] :].sum(-1).mean())
    key = "notice.padding_hidden" if on_padding == 0 else "notice.padding_seen"
    return [words(key, pads=pads, length=p["length"], share=Raw(percent(on_padding)))]


def percent(share: float) -> str:
    """A share with three significant digits."""
    text = f"{100 * share:.3g}"
    return f"{text} %"


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    facts, p = result.facts, result.parameters
    return words.plain(
        "summary",
        mask=words.plain(f"choice.mask.{p['mask']}"),
        also=words.plain(f"choice.also.{p['also']}"),
        t=len(result.hidden),
        length=p["length"],
        kept=facts["kept"],
        pairs=facts["pairs"],
        share=percent(facts["share"]),
        layers=p["layers"],
        counted=facts["most_reached"],
    )


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes a matrix: the dotted name of the function, and the variable it assigns."""
    return {
        "scores": ("core.attention.dot_product.attention", "scaled"),
        "mask": ("core.attention.mask_kinds.combined_mask", "mask"),
        "weights": ("core.attention.dot_product.attention", "softmaxed"),
        "reach": ("core.attention.receptive.first_layer", "first"),
    }[name]


def drawn_code(result: Result, grid, toggled) -> str:
    """The mask on screen with some cells toggled, as the code of a drawn mask; outside the picture it stays as it was."""
    t, code = len(result.hidden), result.facts["drawn"]
    cells = np.eye(grid.side, dtype=bool) if code is None else grid.cells(code)
    cells[:t, :t] = ~result.hidden
    for _, i, j in toggled:
        cells[i, j] = not cells[i, j]
    return grid.code(cells)
