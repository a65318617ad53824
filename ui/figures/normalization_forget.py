"""What a norm forgets: all, one token or one feature is shifted and scaled, and the outputs move or stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from core.block.toy_batch import changed
from ui.figures import normalization as figure
from ui.figures.normalization import DIGITS, KINDS, norms_of
from ui.formulas import bracketed
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.words import Raw, Words

WHO = ("all", "token", "feature")
SHIFT, FACTOR = 3.0, 2.0  # of the table, where every row is one change


def after(result: Result, who: str, add: float, times: float) -> dict[str, np.ndarray]:
    """The outputs of the three norms [N, d] when the batch, one row or one column of it is changed."""
    p = result.parameters
    place = {"row": p["row"] - 1} if who == "token" else {"column": p["col"] - 1} if who == "feature" else {}
    x = changed(torch.from_numpy(result.facts["x"]), add, times, **place)
    return {kind: trace.output.numpy() for kind, trace in norms_of(x, p).items()}


def compute(result: Result, who: str, add: float, times: float) -> Result:
    """By how much every output moves."""
    new = after(result, who, add, times)
    x = result.arrays["x"]
    arrays = {
        f"moved_{kind}": Array(
            (new[kind] - figure.inner(result, kind)).round(DIGITS),
            x.rows[:-2],
            x.columns[:-2],
            ("token", "feature"),
        )
        for kind in KINDS
    }
    told = result.parameters | {"who": who, "add": add, "times": times}
    facts = result.facts | {"after": new, "output": {kind: figure.inner(result, kind) for kind in KINDS}}
    return replace(result, parameters=told, arrays=arrays, facts=facts, hidden=None, shapes={})


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...]]:
    """The change of the outputs of each norm, on one scale."""
    return (tuple(figure.titled(name, result, words, identity="norm") for name in result.arrays),)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """One output before and after."""
    name, i, j = cell
    kind, p = name.removeprefix("moved_"), result.parameters
    old, new = (round(float(result.facts[which][kind][i, j]), DIGITS) for which in ("output", "after"))
    told = {"kind": Raw(words(f"title.{kind}")), "i": i + 1, "token": p["tokens"][i], "c": j + 1}
    return words("forget.why", old=bracketed(old), new=new, value=result.values(name)[i, j], **told)


def notices(result: Result, words: Words) -> list[str]:
    """How many outputs of each norm move, and how far."""
    p = result.parameters
    told = {"what": Raw(_what(p, words)), "all": result.facts["x"].size}
    for kind in KINDS:
        change = np.abs(result.values(f"moved_{kind}"))
        told |= {kind: int((change > 0).sum()), f"{kind}_most": float(change.max())}
    said = [words("forget.notice.counts", **told)]
    if p["times"] == 0:
        said.append(words("forget.notice.zero"))
    elif p["times"] < 0 and _sign_tells(result):
        said.append(words("forget.notice.flip"))
    return [*said, words("forget.notice.rule"), words("forget.notice.eps")]


def _sign_tells(result: Result) -> bool:
    """Whether any output would be another one under the same factor without its sign."""
    p = result.parameters
    with_sign, without = (after(result, p["who"], 0.0, times) for times in (p["times"], -p["times"]))
    return any(np.abs(with_sign[kind] - without[kind]).max() > 10.0**-DIGITS for kind in KINDS)


def _what(p: dict, words: Words) -> str:
    i = p["row"] - 1
    told = {"i": p["row"], "token": p["tokens"][i], "c": p["col"]}
    who = Raw(words(f"forget.who.{p['who']}", **told))
    return words("forget.what", who=who, times=p["times"], add=bracketed(p["add"]))


def table(result: Result, words: Words) -> str:
    """The largest change of any output for each of six changes, one at a time."""
    p = result.parameters
    heads = [words("forget.change"), *(words(f"title.{kind}") for kind in KINDS)]
    lines = ["| " + " | ".join(heads) + " |", "|:--|--:|--:|--:|"]
    for who in WHO:
        for what, add, times in (("shift", SHIFT, 1.0), ("scale", 0.0, FACTOR)):
            new = after(result, who, add, times)
            moves = [
                number(float(np.abs(new[k] - result.facts["output"][k]).max().round(DIGITS))) for k in KINDS
            ]
            told = {"i": p["row"], "token": p["tokens"][p["row"] - 1], "c": p["col"]}
            name = words(f"forget.who.{who}", **told)
            label = words(f"forget.{what}", who=Raw(name), by=SHIFT if what == "shift" else FACTOR)
            lines.append("| " + " | ".join([label, *moves]) + " |")
    return "\n".join(lines)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    most = {kind: float(np.abs(result.values(f"moved_{kind}")).max()) for kind in KINDS}
    p = result.parameters
    who = words.plain(f"choice.who.{p['who']}")
    return words.plain("forget.summary", who=who, add=p["add"], times=p["times"], **most)


def code_of(name: str) -> tuple[str, str]:
    """The line that makes both outputs, with the batch as it was and as it is changed."""
    return "core.block.normalization.normalize_with", "normalized"
