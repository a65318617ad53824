"""A mixture of experts on the reader's tokens: router, choice, gates, load, and the weighted sum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from core.block.experts import expert_load, mixture, route, router_scores
from core.block.feed_forward import swiglu_parameters, swiglu_width
from core.block.toy_feed_forward import toy_batch, toy_experts
from ui.figures import charts
from ui.figures import feed_forward as forward
from ui.formulas import sum_of_exponentials, sum_of_numbers, sum_of_products
from ui.matrix import Matrix
from ui.numbers import listed, number
from ui.result import Array, Result
from ui.words import Raw, Words

INPUTS = ("x", "router")
STEPS = ("logits", "scores", "gates", "load", "mix")
AXES = {
    "router": ("feature", "expert"),
    "logits": ("token", "expert"),
    "scores": ("token", "expert"),
    "gates": ("token", "expert"),
    "load": ("total", "expert"),
    "mix": ("token", "output"),
}
BATCH = 512  # tokens in the larger batch


def remarks(experts: str, k: int, words: Words) -> list[str]:
    """Where more experts are asked for than there are."""
    return [words("moe.remark", k=k, experts=int(experts))] if k > int(experts) else []


def compute(result: Result, experts: int, k: int, score: str, shared: bool) -> Result:
    """The page's tokens through a mixture of SwiGLU experts, and the load of a larger batch."""
    p = result.parameters
    tokens, d, k = p["tokens"], p["d_model"], min(k, experts)
    x, width = torch.from_numpy(result.values("x")), swiglu_width(d)
    toy = toy_experts(p["seed"], d, experts, width)
    trace = mixture(
        x, toy.router, toy.w1, toy.w3, toy.w2, k, score=score, shared=toy.shared if shared else None
    )
    gates = torch.zeros_like(trace.logits).scatter(-1, trace.experts, trace.gates)  # [T, E]
    left_out = torch.ones_like(gates, dtype=torch.bool).scatter(-1, trace.experts, False)  # [T, E]
    names = tuple(str(e + 1) for e in range(experts))
    features = tuple(str(c + 1) for c in range(d))
    arrays = {"x": result.arrays["x"], "router": Array.of(toy.router, features, names, axes=AXES["router"])}
    by_expert = {"logits": trace.logits, "scores": router_scores(trace.logits, score), "gates": gates}
    arrays |= {n: Array.of(t, tokens, names, axes=AXES[n]) for n, t in by_expert.items()}
    arrays["load"] = Array.of(trace.load[None].double(), ("Σ",), names, axes=AXES["load"])
    arrays["mix"] = Array.of(trace.output, tokens, axes=AXES["mix"])
    batch = toy_batch(p["seed"], BATCH, d) @ toy.router  # [BATCH, E]
    facts = {
        "chosen": trace.experts.numpy(),
        "chosen_gates": trace.gates.numpy(),
        "chosen_outputs": trace.chosen_outputs.numpy(),
        "shared_output": None if trace.shared_output is None else trace.shared_output.numpy(),
        "batch_load": expert_load(route(batch, k, score=score).experts, experts).numpy(),
        "one_expert": swiglu_parameters(d, width),
    }
    told = {"experts": experts, "k": k, "score": score, "shared": shared, "d_expert": width}
    shapes = {"gates": tuple(trace.gates.shape)}  # k to a token; drawn under the experts they belong to
    return Result(p | told, arrays, facts, hidden=left_out.numpy(), shapes=shapes)


def matrices(result: Result, words: Words) -> tuple[tuple[Matrix, ...], tuple[Matrix, ...]]:
    """Tokens and router above; logits, scores, gates, load and output below."""
    return tuple(tuple(_matrix(name, result, words) for name in row) for row in (INPUTS, STEPS))


def _matrix(name: str, result: Result, words: Words) -> Matrix:
    made = forward.drawn(name, result, words)
    if name in ("scores", "gates"):
        made = replace(made, fill="weight", limits=(0.0, 1.0))
    if name == "scores":
        made = replace(made, title=words.plain(f"title.scores.{result.parameters['score']}"))
    if name == "gates":
        t, k = result.shape(name)
        note = words.plain("moe.note.gates", tokens=t, k=k, experts=result.parameters["experts"])
        return replace(made, note=note, hidden=result.hidden, hidden_as=words.plain("moe.not_chosen"))
    if name == "load":
        return replace(made, fill="weight", limits=(0.0, float(len(result.parameters["tokens"]))), whole=True)
    return made


def why(result: Result, cell: tuple[str, int, int], words: Words) -> str:
    """How a number of the mixture was made."""
    name, row, column = cell
    values, p = result.values, result.parameters
    told: dict[str, Any] = {"i": row + 1, "c": column + 1, "value": values(name)[row, column]}
    told |= {"d_model": p["d_model"], "k": p["k"], "experts": p["experts"]}
    if result.arrays[name].axes[0] == "token":
        told["token"] = p["tokens"][row]
    if name == "logits":
        told["sum"] = sum_of_products(values("x")[row], values("router")[:, column])
    if name == "scores":
        told["logit"] = values("logits")[row, column]
        if p["score"] == "softmax":
            told["sum"] = sum_of_exponentials(values("logits")[row])
        return words(f"why.scores.{p['score']}", **told)
    if name == "gates":
        return _why_gate(result, row, column, words, told)
    if name == "load":
        who = [i for i in range(len(p["tokens"])) if not result.hidden[i, column]]
        told |= {"who": Raw(listed((i + 1 for i in who), words.lang)), "value": len(who)}
        return words("why.load" if who else "why.load_none", **told)
    if name == "mix":
        return _why_mix(result, row, column, words, told)
    return words(f"why.{name}", **told)


def _why_gate(result: Result, row: int, column: int, words: Words, told: dict) -> str:
    p = result.parameters
    if result.hidden[row, column]:
        return words("why.gates_none", **told)
    chosen = result.facts["chosen"][row]
    told |= {"chosen": Raw(listed((e + 1 for e in sorted(chosen)), words.lang))}
    if p["score"] == "softmax":
        logits = result.values("logits")[row]
        return words(
            "why.gates.softmax", **told, logit=logits[column], sum=sum_of_exponentials(logits[chosen])
        )
    scores = result.values("scores")[row]
    return words("why.gates.sigmoid", **told, score=scores[column], sum=sum_of_numbers(scores[chosen]))


def _why_mix(result: Result, row: int, column: int, words: Words, told: dict) -> str:
    facts = result.facts
    told["sum"] = sum_of_products(facts["chosen_gates"][row], facts["chosen_outputs"][row, :, column])
    told["chosen"] = Raw(listed((e + 1 for e in facts["chosen"][row]), words.lang))
    if facts["shared_output"] is None:
        return words("why.mix", **told)
    return words("why.mix_shared", **told, extra=_signed(facts["shared_output"][row, column]))


def _signed(value: float) -> Raw:
    """A number with its sign, to be added to a formula."""
    text = number(float(value))
    return Raw(f"− {text[1:]}" if text.startswith("−") else f"+ {text}")


def notices(result: Result, words: Words) -> list[str]:
    """Who goes where, what works on one token, what stands idle, and what a single gate cannot say."""
    p, facts = result.parameters, result.facts
    load = result.values("load")[0]
    working = p["k"] + p["shared"]
    there = p["experts"] + p["shared"]
    told = {"tokens": len(p["tokens"]), "experts": p["experts"], "k": p["k"]}
    told |= {"active": working * facts["one_expert"], "total": there * facts["one_expert"]}
    told |= {"percent": 100 * working / there, "idle": int((load == 0).sum())}
    told |= {"busiest": int(load.argmax()) + 1, "most": int(load.max()), "even": float(load.mean())}
    told["sent"] = told["tokens"] * p["k"]
    said = [words("moe.notice.shared" if p["shared"] else "moe.notice.active", **told)]
    key = "all" if p["k"] == p["experts"] else "load" if load.max() > load.min() else "even"
    said.append(words(f"moe.notice.{key}", **told))
    if p["k"] == 1:
        said.append(words("moe.notice.single"))
    elif pair := forward.twins(p["tokens"]):
        said.append(words("moe.notice.twins", i=pair[0] + 1, j=pair[1] + 1, token=p["tokens"][pair[0]]))
    return [*said, words("moe.notice.names")]


def chart(result: Result, words: Words) -> charts.Chart:
    """Assignments of every expert over a larger batch, against an even load."""
    load = result.facts["batch_load"]
    even = np.full(len(load), load.mean())
    return charts.bars(
        [str(e + 1) for e in range(len(load))],
        {words.plain("moe.series"): load},
        words.plain("axis.expert"),
        charts.Axis(words.plain("moe.axis"), (0.0, float(BATCH))),
        guides=[charts.Guide("", even)],  # told above the chart: a name on the line would lie on the bars
        height=260,
    )


def above_chart(result: Result, words: Words) -> str:
    """What the bars are of, and the load that the dashed line stands for."""
    k = result.parameters["k"]
    even = BATCH * k / result.parameters["experts"]
    return words("moe.batch", batch=BATCH, k=k, even=Raw(charts.as_read(even)))


def chart_summary(result: Result, words: Words) -> str:
    """The bars as text."""
    load = result.facts["batch_load"]
    each = listed((words.plain("moe.one", e=e + 1, load=int(n)) for e, n in enumerate(load)), words.lang)
    return words.plain("moe.chart", batch=BATCH, even=float(load.mean()), listed=each)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    p = result.parameters
    load = listed((int(n) for n in result.values("load")[0]), words.lang)
    told = {"tokens": len(p["tokens"]), "experts": p["experts"], "k": p["k"], "load": load}
    return words.plain("moe.summary", **told)


def code_of(name: str) -> tuple[str, str]:
    """Where the core makes it."""
    if name == "x":
        return forward.code_of(name)
    if name == "router":
        return "core.block.toy_feed_forward.toy_experts", "router"
    if name in ("scores", "gates"):
        return "core.block.experts.route", name
    return "core.block.experts.mixture", "output" if name == "mix" else name
