"""One prompt through the toy decoder: every matrix of the way, the next token, and what the page says about both."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from core.cost.generation import generation_cost
from core.models.corpus import corpus
from core.models.decoder import DecoderTrace, logit_lens
from core.models.description import ModelConfig
from core.models.sampling import Distribution, next_token_distribution
from core.models.toy import Toy
from ui.course.forward_pass import HEADS
from ui.figures.charts import Axis, Chart, bars
from ui.figures.matrices import matrix_of, size
from ui.matrix import Matrix
from ui.numbers import listed, number
from ui.result import Array, Result
from ui.words import Raw, Words, quote

ROWS = (("token", "position", "x", "mid", "after", "normed"), (*HEADS, "logits", "probs"))
SHOWN = 12  # candidates with a column of their own
BARS = 10
LIMITS = {"token": 2.5, "position": 2.5, "x": 4.0, "mid": 8.0, "after": 8.0, "normed": 3.0, "logits": 12.0}
CUT = "✗"  # before the name of a token that cannot be drawn


def compute(toy: Toy, tokens: tuple[str, ...], settings: dict[str, Any]) -> Result:
    """The forward pass over END and the prompt's tokens, and the distribution of the next one."""
    ids = torch.tensor([toy.vocabulary.index(token) for token in (toy.vocabulary[0], *tokens)])  # [T]
    with torch.no_grad():
        trace = toy.model(ids, keep="all")
        lens = logit_lens(toy.model, trace.states).softmax(-1)  # [L + 1, T, V]
    shape = sampling_of(settings)
    each = next_token_distribution(trace.logits, *shape)  # of [T, V]
    last = next_token_distribution(trace.logits[-1], *shape)
    order = trace.logits[-1].argsort(descending=True, stable=True)  # [V]
    shown = order[:SHOWN]
    labels = tuple(toy.vocabulary[i] for i in ids)
    arrays = arrays_of(trace, each, shown, labels, tuple(toy.vocabulary[i] for i in shown), settings["layer"])
    vocab, size = len(toy.vocabulary), (len(ids), len(toy.vocabulary))
    facts = told_of(toy, trace, last, order, ids, settings["new"]) | {
        "lens": lens.numpy(),
        "vocab": vocab,
        "ids": ids.tolist(),
    }
    facts["each"] = {"full": each.full[:, shown].numpy(), "kept_mass": each.kept_mass.numpy()}
    facts["cut"] = (each.probabilities[:, shown] == 0).numpy()  # [T, C]
    facts["each"] |= {"left": (each.probabilities > 0).sum(-1).numpy()}
    seeds = {f"{name}_seed": settings[name] for name in ("draw", "training")}
    settings = settings | {"tokens": tokens} | seeds | sentences()
    return Result(
        settings,
        arrays,
        facts,
        shapes={"logits": size, "probs": size},
    )


def sentences() -> dict[str, tuple[str, ...]]:
    """What the toy is trained on, and what is held out, under the names that the notebook has for them."""
    of = {"zh": corpus("zh"), "en": corpus("en")}
    parts = ("train", "held_out")
    return {f"{part}_{lang}": getattr(of[lang], part) for lang in of for part in parts}


def sampling_of(settings: dict[str, Any]) -> tuple[float, int | None, float | None]:
    """Temperature, top-k and top-p as the core takes them: 0 candidates and a mass of 1 cut nothing."""
    return settings["temperature"], settings["top_k"] or None, settings["top_p"]


def arrays_of(
    trace: DecoderTrace,
    each: Distribution,
    shown: torch.Tensor,
    labels: tuple[str, ...],
    names: tuple[str, ...],
    layer: str,
) -> dict[str, Array]:
    """Every matrix of the picture; those of the block that the reader chose."""
    block = trace.blocks[int(layer) - 1]
    vectors = {
        "token": trace.embeddings.token,
        "position": trace.embeddings.position,
        "x": trace.states[int(layer) - 1],
        "mid": block.attention.output,
        "after": block.output,
        "normed": trace.normed,
    }
    arrays = {n: Array.of(v, labels, axes=("token", "feature")) for n, v in vectors.items()}
    for name, weights in zip(HEADS, block.weights, strict=True):
        arrays[name] = Array.of(weights, labels, labels, axes=("query", "key"))
    for name, values in (("logits", trace.logits), ("probs", each.probabilities)):
        arrays[name] = Array.of(values[:, shown], labels, names, axes=("token", "candidate"))
    return {name: arrays[name] for row in ROWS for name in row}


def told_of(
    toy: Toy, trace: DecoderTrace, last: Distribution, order: torch.Tensor, ids: torch.Tensor, new: int
) -> dict[str, Any]:
    """The numbers that the words speak of."""
    model, norm = toy.model, toy.model.final_norm
    return {
        "order": order.numpy(),
        "names": toy.vocabulary,
        "last": {name: value.numpy() for name, value in vars(last).items()},
        "logits": trace.logits[-1].numpy(),
        "all_logits": trace.logits.numpy(),
        "states": torch.stack(trace.states).numpy(),  # [L + 1, T, d]
        "updates": {
            "attention": torch.stack([b.attention.update for b in trace.blocks]).numpy(),  # [L, T, d]
            "ffn": torch.stack([b.feed_forward.update for b in trace.blocks]).numpy(),
        },
        "maps": torch.stack(trace.weights).numpy(),  # [L, H, T, T]
        "q": torch.stack([b.attention.inner.q for b in trace.blocks]),  # [L, H, T, d_head]
        "k": torch.stack([b.attention.inner.k for b in trace.blocks]),
        "masked": torch.stack([b.attention.inner.masked for b in trace.blocks]).numpy(),
        "rows": model.embeddings.token.weight[ids].numpy(),  # [T, d]  as in the table, before × √d
        "columns": model.embeddings.token.weight[order[:SHOWN]].numpy(),  # [C, d]
        "gamma": norm.gamma.numpy(),
        "beta": norm.beta.numpy(),
        "eps": norm.eps,
        "parameters": sum(p.numel() for p in model.parameters()),
        "limit": model.config.limit,
        "planned": planned(model.config, len(ids), new),
    }


def planned(config: ModelConfig, tokens: int, new: int) -> dict[str, int]:
    """Multiply-adds of writing `new` tokens after `tokens`, with a cache and without."""
    costs = {
        name: generation_cost(config, tokens, new, use) for name, use in (("with", True), ("without", False))
    }
    return {name: sum(cost.total for cost in passes) for name, passes in costs.items()}


def steps(result: Result, words: Words) -> tuple[tuple[Matrix, ...], ...]:
    """Above, the residual stream from the embeddings to the final norm; below, the heads that add to it, and the answer."""
    return tuple(tuple(drawn(name, result, words) for name in row) for row in ROWS)


def drawn(name: str, result: Result, words: Words) -> Matrix:
    """One matrix of the way."""
    layer = int(result.parameters["layer"])
    elsewhere = (name, layer > 1) in (("normed", False), ("x", True))  # another block lies in between
    key = f"arrow.{name}.{'late' if layer > 1 else 'early'}" if elsewhere else f"arrow.{name}"
    titles = {"after": "title.after.of"} | ({"x": "title.x.late"} if layer > 1 else {})
    told = {"layer": layer, "before": layer - 1, "vocab": result.facts["vocab"]}
    hidden = future(result.arrays[name]) if name in HEADS else None
    return matrix_of(
        result,
        name,
        words,
        limit=None if name in (*HEADS, "probs") else LIMITS[name],
        title=words.plain(titles.get(name, f"title.{name}"), **told),
        identity="residual" if name in ("x", "mid", "after") else "norm" if name == "normed" else "",
        hidden=result.facts["cut"] if name == "probs" else hidden,
        hidden_as=words.plain("hidden.cut" if name == "probs" else "hidden.future"),
        note=size(result.shape(name)),
        arrow=words.plain(key, **told) if key in words else "",
        large=name in HEADS,
    )


def future(array: Array) -> np.ndarray:
    """Keys that come after the query."""
    t = len(array.rows)
    return np.triu(np.ones((t, t), dtype=bool), 1)


def summary(result: Result, words: Words) -> str:
    """The picture in one line of plain text."""
    facts, p = result.facts, result.parameters
    best = int(facts["order"][0])
    return words.plain(
        "summary",
        prompt=" ".join(p["tokens"]),
        tokens=len(facts["ids"]),
        token=facts["names"][best],
        probability=float(facts["last"]["probabilities"][best]),
        temperature=p["temperature"],
        kept=left(result),
        vocab=facts["vocab"],
    )


def likeliest(result: Result, count: int = BARS) -> list[int]:
    """The tokens with the highest logits."""
    return [int(i) for i in result.facts["order"][:count]]


def left(result: Result) -> int:
    """How many tokens can be drawn."""
    return int((result.facts["last"]["probabilities"] > 0).sum())


def marked(token: int, result: Result) -> str:
    """Its name, with a cross where it cannot be drawn."""
    name = result.facts["names"][token]
    return name if result.facts["last"]["probabilities"][token] else f"{CUT} {name}"


def chart(result: Result, words: Words) -> Chart:
    """The likeliest tokens: their share before the cuts, and after them."""
    last, tokens = result.facts["last"], likeliest(result)
    series = {
        words.plain(f"bars.{name}"): last[array][tokens]
        for name, array in (("full", "full"), ("kept", "probabilities"))
    }
    labels = [marked(token, result) for token in tokens]
    axis = Axis(words.plain("bars.axis"), (0.0, 1.0))
    return bars(labels, series, words.plain("bars.token", cut=CUT), axis, height=210)


def chart_summary(result: Result, words: Words) -> str:
    """The bars in one line of plain text."""
    last = result.facts["last"]
    parts = [f"{marked(t, result)} {number(float(last['probabilities'][t]))}" for t in likeliest(result)]
    return words.plain("bars.summary", listed=listed(parts, words.lang), count=len(parts))


def both(a: Result, b: Result, words: Words) -> Chart:
    """The distributions of two states, over the tokens that are likely in either."""
    at_a, at_b = (dict(zip(r.facts["names"], r.facts["last"]["probabilities"], strict=True)) for r in (a, b))
    names = sorted(at_a, key=lambda name: -max(at_a[name], at_b.get(name, 0.0)))[:BARS]
    series = {
        words.plain(f"bars.{which}"): np.array([float(at.get(name, 0.0)) for name in names])
        for which, at in (("a", at_a), ("b", at_b))
    }
    return bars(
        names, series, words.plain("axis.candidate"), Axis(words.plain("bars.axis"), (0.0, 1.0)), height=240
    )


def entropy(result: Result) -> float:
    """Of the distribution that is drawn from, in nats."""
    p = result.facts["last"]["probabilities"]
    return float(-(p[p > 0] * np.log(p[p > 0])).sum()) + 0.0


def numbers(result: Result, words: Words) -> dict[str, float]:
    """The numbers by which two states are compared, under their labels."""
    last = result.facts["last"]
    values = {
        "best": float(last["probabilities"].max()),
        "entropy": entropy(result),
        "kept": left(result),
        "mass": round(float(last["kept_mass"]), 12),  # all of it is 1, whatever the order of summing
    }
    return {words(f"number.{name}"): value for name, value in values.items()}


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: what is read, the answer and the cuts, the stream, where the last token looks, what each layer says."""
    return [
        _read(result, words),
        _answer(result, words),
        _stream(result, words),
        _looks(result, words),
        _lens(result, words),
    ]


def _read(result: Result, words: Words) -> str:
    tokens = zip(result.arrays["x"].rows, result.facts["ids"], strict=True)
    told = Raw(listed((f"{quote(token)} {number}" for token, number in tokens), words.lang))
    return words("notice.read", listed=told, vocab=result.facts["vocab"])


def _answer(result: Result, words: Words) -> str:
    facts, p = result.facts, result.parameters
    last, (first, second) = facts["last"], likeliest(result, 2)
    kept = left(result)
    told = {"first": facts["names"][first], "second": facts["names"][second], "vocab": facts["vocab"]}
    told |= {"p": float(last["full"][first]), "q": float(last["full"][second]), "t": p["temperature"]}
    told |= {"kept": kept, "mass": float(last["kept_mass"]), "after": float(last["probabilities"][first])}
    told["gap"] = float(facts["logits"][first] - facts["logits"][second])
    if p["temperature"] == 0:
        return words("notice.greedy", **told)
    if kept == facts["vocab"]:
        return words("notice.all", **told)
    return words("notice.one" if kept == 1 else "notice.cut", **told)


def _stream(result: Result, words: Words) -> str:
    lengths = np.linalg.norm(result.facts["states"][:, -1], axis=-1)  # [L + 1]
    listed = " → ".join(number(float(x)) for x in lengths)
    token = result.arrays["x"].rows[-1]
    return words("notice.stream", token=token, listed=Raw(listed), blocks=len(lengths) - 1)


def _looks(result: Result, words: Words) -> str:
    layer = int(result.parameters["layer"])
    last = result.facts["maps"][layer - 1][:, -1]  # [H, T]
    rows = result.arrays["x"].rows
    head, place = (int(i) for i in np.unravel_index(last[:, :-1].argmax(), last[:, :-1].shape))
    told = {"layer": layer, "head": head + 1, "token": rows[-1], "key": rows[place], "place": place + 1}
    return words("notice.looks", weight=float(last[head, place]), **told)


def _lens(result: Result, words: Words) -> str:
    lens, names = result.facts["lens"][:, -1], result.facts["names"]  # [L + 1, V]
    said = [words("notice.said", token=names[int(row.argmax())], p=float(row.max())) for row in lens]
    own = names[int(lens[0].argmax())] == result.arrays["x"].rows[-1]
    return words("notice.lens.own" if own else "notice.lens", listed=Raw(" → ".join(said)))
