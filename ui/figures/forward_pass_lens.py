"""The logit lens: what the model would say if it stopped after each layer."""

from __future__ import annotations

import numpy as np

from ui.figures.charts import Axis, Chart, Curve, curves
from ui.figures.matrices import axis_titles, matrix_of
from ui.matrix import Matrix
from ui.numbers import number
from ui.result import Array, Result
from ui.words import Raw, Words, quote

CURVES = 3


def compute(result: Result) -> Result:
    """Probability, layer by layer, of what the model says in the end; at every place."""
    lens = result.facts["lens"]  # [L + 1, T, V]
    final = lens[-1].argmax(-1)  # [T]
    values = lens[:, np.arange(lens.shape[1]), final]  # [L + 1, T]
    rows = tuple(str(layer) for layer in range(len(lens)))
    array = Array(values, rows, result.arrays["x"].rows, ("layer", "token"))
    facts = result.facts | {"final": final}
    return Result(result.parameters, {"lens": array}, facts, shapes={"lens": lens.shape})


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """Layers × positions."""
    layers = tuple(layer_name(i, words) for i in range(len(result.arrays["lens"].rows)))
    axes = ("layer", "token")
    drawn = matrix_of(result, "lens", words, rows=layers, axes=axes, axis_titles=axis_titles(axes, words))
    return ((drawn,),)


def layer_name(i: int, words: Words) -> str:
    """Where the model was stopped."""
    return words.plain("lens.after", n=i) if i else words.plain("lens.start")


def table(result: Result, words: Words) -> str:
    """The likeliest token and its probability, layer by layer and place by place."""
    lens, read = result.facts["lens"], result.arrays["lens"].columns
    head = " | ".join(f"{i + 1} {quote(token)}" for i, token in enumerate(read))
    lines = [words("lens.table"), "", f"| | {head} |", "|:--|" + ":--|" * len(read)]
    for i, layer in enumerate(lens):
        said = (f"{quote(result.facts['names'][int(p.argmax())])} {number(float(p.max()))}" for p in layer)
        lines.append(f"| {layer_name(i, words)} | {' | '.join(said)} |")
    return "\n".join(lines)


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How the probability in a cell was read off."""
    _, layer, place = cell
    facts = result.facts
    best = facts["lens"][layer, place]
    told = {"layer": layer, "place": place + 1, "token": result.arrays["lens"].columns[place]}
    told |= {
        "final": facts["names"][int(facts["final"][place])],
        "value": float(result.values("lens")[layer, place]),
    }
    told |= {"said": facts["names"][int(best.argmax())], "most": float(best.max()), "vocab": facts["vocab"]}
    told["stopped"] = Raw(layer_name(layer, words))
    return words("lens.why.last" if layer == len(facts["lens"]) - 1 else "lens.why", **told)


def code_of(_: str) -> tuple[str, str]:
    """Where the core makes it."""
    return "core.models.decoder.logit_lens", "lens"


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: what the start says, where the last answer first comes up, and how much is due to the last block."""
    lens, final = result.facts["lens"], result.facts["final"]
    ids = np.array(result.facts["ids"])
    own = int((lens[0].argmax(-1) == ids).sum())
    said = [words("lens.notice.start", own=own, count=len(ids))]
    names, token = result.facts["names"], result.arrays["lens"].columns[-1]
    first = next(i for i in range(len(lens)) if lens[i, -1].argmax() == final[-1])
    told = {"token": token, "final": names[int(final[-1])], "p": float(lens[-1, -1].max())}
    told |= {
        "before": float(lens[-2, -1, final[-1]]),
        "at": Raw(layer_name(first, words)),
        "last": len(lens) - 1,
    }
    said.append(words("lens.notice.first", **told))
    changed = int((lens[-2].argmax(-1) != final).sum())
    return [*said, words("lens.notice.changed", changed=changed, count=len(ids), last=len(lens) - 1)]


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    lens, names = result.facts["lens"][:, -1], result.facts["names"]
    said = (f"{names[int(p.argmax())]} {number(float(p.max()))}" for p in lens)
    return words.plain("lens.summary", token=result.arrays["lens"].columns[-1], listed=" → ".join(said))


def chart(result: Result, words: Words) -> Chart:
    """After the last token: the tokens that are likeliest in the end, layer by layer."""
    lens, names = result.facts["lens"][:, -1], result.facts["names"]
    x = np.arange(len(lens))
    best = np.argsort(-lens[-1], kind="stable")[:CURVES]
    return curves(
        x,
        [Curve(names[i], lens[:, i]) for i in best],
        Axis(words.plain("axis.layer"), (-0.1, x[-1] + 0.1), ticks=tuple(map(float, x)), format="d"),
        Axis(words.plain("bars.axis"), (0.0, 1.0)),
        height=210,
    )
