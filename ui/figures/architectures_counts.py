"""The learned numbers of two models by part: counted from the descriptions, explained, and held against the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from math import prod
from typing import Any

import numpy as np

from core.cost.sizes import ParameterCount, count_norms, count_parameters, cross_layers, norm_width
from core.models.configs import PRESETS, ModelConfig
from ui.figures import charts
from ui.figures.architectures import MARK, name_of
from ui.figures.architectures_traits import differing, inside, named, value_of
from ui.numbers import listed
from ui.result import Array, Result
from ui.words import Raw, Words

PARTS = tuple(field.name for field in fields(ParameterCount))
OWN = ("stack", "layers", "heads", "d_head", "vocab", "norm", "kind", "positions", "act", "tied", "context")
Terms = tuple[tuple[int, ...], ...]  # a sum of products
# What the sources print: the number as it stands there.
PUBLISHED = {
    "transformer-base": ("65 M", "vaswani2017"),
    "transformer-big": ("213 M", "vaswani2017"),
    "gpt1": ("117 M", "radford2019"),
    "gpt2-small": ("117 M", "radford2019"),
    "gpt2-medium": ("345 M", "radford2019"),
    "gpt2-large": ("762 M", "radford2019"),
    "gpt2-xl": ("1,542 M", "radford2019"),
    "gpt3": ("175 B", "brown2020"),
    "bert-base": ("110 M", "devlin2019"),
    "bert-large": ("340 M", "devlin2019"),
    "t5-small": ("60 M", "raffel2020"),
    "t5-base": ("220 M", "raffel2020"),
    "bloom-560m": ("559 M", "scao2022"),
    "llama-7b": ("6.7 B", "touvron2023llama"),
    "llama2-7b": ("7 B", "touvron2023"),
    "llama2-70b": ("70 B", "touvron2023"),
    "llama3-8b": ("8 B", "grattafiori2024"),
    "mistral-7b": ("7 B", "jiang2023"),
    "mixtral-8x7b": ("47 B", "jiang2024"),
    "smollm2-135m": ("135 M", "allal2025"),
}


def own_config(values: Mapping[str, Any]) -> ModelConfig:
    """The model that the reader's sliders describe."""
    v = {name: values[f"own_{name}"] for name in OWN}
    d = v["heads"] * int(v["d_head"])
    gated = v["act"] == "swiglu"
    bias = v["kind"] == "layer" and not gated
    return ModelConfig(
        name="own",
        year=0,
        stack=v["stack"],
        encoder_layers=v["layers"] if "encoder" in v["stack"] else 0,
        decoder_layers=v["layers"] if "decoder" in v["stack"] else 0,
        d_model=d,
        n_heads=v["heads"],
        d_ff=-(-8 * d // 3 // 64) * 64 if gated else 4 * d,
        vocab=v["vocab"],
        positions=v["positions"],
        limit=int(v["context"]),
        norm_place=v["norm"],
        norm_kind=v["kind"],
        final_norm=v["norm"] == "pre",
        activation="silu" if gated else v["act"],
        gated=gated,
        attention_bias=bias,
        ffn_bias=bias,
        tied=v["tied"],
        objectives={"encoder": ("mlm",), "decoder": ("causal_lm",)}.get(v["stack"], ("span_corruption",)),
    )


def config_of(name: str, values: Mapping[str, Any]) -> ModelConfig:
    """A model by its name; "own" is the reader's."""
    return own_config(values) if name == "own" else PRESETS[name]


def compute(values: Mapping[str, Any]) -> Result:
    """Both models, counted."""
    a, b = (config_of(values[side], values) for side in ("left", "right"))
    return of_pair(a, b, values["part"])


def of_pair(a: ModelConfig, b: ModelConfig, part: str = "total") -> Result:
    """Two models as one result: parts on the rows, the total last."""
    counts = [count_parameters(c) for c in (a, b)]
    rows = (*PARTS, "total")
    table = np.array([[getattr(count, row) for count in counts] for row in rows], dtype=np.int64)
    arrays = {"counts": Array(table, rows, ("A", "B"), ("part", "model"))}
    facts = {"configs": (a, b), "counts": tuple(counts), "different": differing(a, b)}
    return Result({"left": asdict(a), "right": asdict(b), "part": part}, arrays, facts)


def names_of(result: Result, words: Words) -> tuple[str, str]:
    """A and B with their names."""
    a, b = (name_of(c, words) for c in result.facts["configs"])
    return f"A · {a}", f"B · {b}"


def terms_of(part: str, c: ModelConfig) -> Terms:
    """The learned numbers of a part as a sum of products of sizes that the drawing shows."""
    d, h, g, w = c.d_model, c.n_heads, c.kv_heads, c.d_head
    stacks = 2 if c.stack == "encoder-decoder" else 1
    if part == "tokens":
        return ((c.vocab, d),)
    if part == "positions":
        if c.positions == "learned":
            return ((stacks, c.limit + c.unused_rows, d),)
        return ((stacks, c.buckets, h),) if c.positions == "relative_bias" else ()
    if part == "segments":
        return ((c.segments, d),) if c.segments else ()
    if part == "attention":
        n = c.layers + cross_layers(c)
        kv = ((2, n, d, h * w),) if g == h else ((2, n, d, g * w),)
        bias = ((n, 2 * d + 2 * g * w),) if c.attention_bias else ()
        return ((2, n, d, h * w), *kv, *bias)
    if part == "ffn":
        return _ffn_terms(c)
    if part == "norms":
        return ((count_norms(c), norm_width(c)),) if count_norms(c) else ()
    if part == "head":
        matrix = ((c.vocab, d),) if c.has_output and not c.tied else ()
        return (*matrix, *(((d, d), (d,)) if c.pooler else ()))
    return tuple(
        (getattr(count_parameters(c), name),) for name in PARTS if getattr(count_parameters(c), name)
    )


def _ffn_terms(c: ModelConfig) -> Terms:
    d, f, n = c.d_model, c.d_ff, c.layers
    matrices = 3 if c.gated else 2
    if c.n_experts:
        return ((n, c.n_experts, matrices, d, f), (n, c.n_experts, d))
    return ((n, matrices, d, f), *(((n, f + d),) if c.ffn_bias else ()))


def column(count: ParameterCount, words: Words) -> str:
    """The parts that a model has, one under the other with their names, and their sum."""
    parts = [(getattr(count, part), words.plain(f"part.{part}")) for part in PARTS if getattr(count, part)]
    lines = [
        rf"{'+ ' if i else ''}{_grouped(value)} & \text{{{name}}}" for i, (value, name) in enumerate(parts)
    ]
    lines[-1] += r"\\ \hline"
    total = rf"{_grouped(count.total)} & \text{{{words.plain('part.total')}}}"
    return "".join([r"\begin{array}{rl}", r"\\".join(lines), total, r"\end{array}"])


def latex(terms: Terms) -> str:
    """A sum of products, and what it comes to."""
    if not terms:
        return "0"
    shown = " + ".join(r" \cdot ".join(_grouped(factor) for factor in term) for term in terms)
    total = sum(prod(term) for term in terms)
    return rf"\begin{{aligned}}&{shown}\\&= {_grouped(total)}\end{{aligned}}"


def _grouped(value: int) -> str:
    return f"{value:,}".replace(",", "{,}")


def why(result: Result, words: Words) -> str:
    """How the chosen part's numbers are counted, in both models."""
    part = result.parameters["part"]
    lines = [
        words("why.line", name=Raw(name), formula=Raw(formula(part, c, words)))
        for name, c in zip(names_of(result, words), result.facts["configs"], strict=True)
    ]
    return "\n\n".join([words(f"why.{part}"), *lines])


def formula(part: str, c: ModelConfig, words: Words) -> str:
    """The count of a part from the sizes; of the whole, from the parts."""
    return column(count_parameters(c), words) if part == "total" else latex(terms_of(part, c))


def code_of(part: str) -> tuple[str, str]:
    """Where the core counts a part."""
    if part == "total":
        return "core.cost.sizes.count_parameters", "return"
    return "core.cost.sizes.count_parameters", part


def notices(result: Result, words: Words) -> list[str]:
    """What to notice: how much differs, the most telling difference, and the sizes."""
    a, b = result.facts["configs"]
    different = result.facts["different"]
    told = {"count": len(different), "mark": Raw(MARK)}
    if not different:
        first = words("notice.same")
    else:
        shown = named(different[:8], words)
        first = words(
            "notice.differ" if len(different) <= 8 else "notice.differ_more", traits=Raw(shown), **told
        )
    return [first, *_telling(a, b, different, words), _sizes(result, words), _largest(result, words)]


def _telling(a: ModelConfig, b: ModelConfig, different: tuple[str, ...], words: Words) -> list[str]:
    """The one difference that changes most, with both values."""
    if not different:
        return []
    trait = different[0]
    told = {side: Raw(value_of(trait, c, words)) for side, c in (("a", a), ("b", b))}
    return [
        words(
            "notice.telling",
            trait=Raw(words(f"trait.{trait}")),
            matters=Raw(words(f"matters.{trait}")),
            **told,
        )
    ]


def _sizes(result: Result, words: Words) -> str:
    totals = [count.total for count in result.facts["counts"]]
    told = {"a": totals[0], "b": totals[1], "ratio": max(totals) / min(totals)}
    if totals[0] == totals[1]:
        return words("notice.equal_size", **told)
    counts = result.facts["counts"]
    gaps = {part: getattr(counts[1], part) - getattr(counts[0], part) for part in PARTS}
    sign = 1 if totals[1] > totals[0] else -1
    most = max(gaps, key=lambda part: sign * gaps[part])
    told |= {"part": Raw(inside(words(f"part.{most}"), words)), "gap": abs(gaps[most])}
    return words("notice.larger_b" if sign > 0 else "notice.larger_a", **told)


def _largest(result: Result, words: Words) -> str:
    told = {}
    for side, count in zip("ab", result.facts["counts"], strict=True):
        most = max(PARTS, key=lambda part: getattr(count, part))
        told |= {
            f"{side}_part": Raw(inside(words(f"part.{most}"), words)),
            f"{side}_share": _percent(getattr(count, most) / count.total),
        }
    alike = told["a_part"] == told["b_part"]
    return words("notice.largest.same" if alike else "notice.largest", **told)


def _percent(share: float) -> Raw:
    return Raw(f"{100 * share:.0f}\u00a0%")


def summary(result: Result, words: Words) -> str:
    """Both models and what differs, in one line."""
    names = names_of(result, words)
    totals = [count.total for count in result.facts["counts"]]
    traits = named(result.facts["different"], words) or words.plain("value.none")
    told = {"a": Raw(names[0]), "b": Raw(names[1]), "a_size": totals[0], "b_size": totals[1]}
    return words.plain("summary", traits=Raw(traits), **told)


def chart(result: Result, words: Words) -> charts.Chart:
    """Shares of the parts of both models; as shares, so that models of different size can be compared."""
    values = result.values("counts")
    shares = 100 * values[:-1] / values[-1]  # [parts, 2]
    models = [
        words.plain(f"model.{c.name}") for c in result.facts["configs"]
    ]  # a phone has no room for years
    names = ("A", "B") if models[0] == models[1] else (f"A · {models[0]}", f"B · {models[1]}")
    return charts.bars(
        [words.plain(f"part.{part}") for part in PARTS],
        {name: shares[:, i] for i, name in enumerate(names)},
        words.plain("axis.part"),
        charts.Axis(words.plain("axis.share"), (0.0, 100.0)),
        height=300,
    )


def chart_summary(result: Result, words: Words) -> str:
    """The bars as text."""
    values = result.values("counts")
    told = [
        f"{words.plain(f'part.{part}')} {100 * row[0] / values[-1, 0]:.1f} % / {100 * row[1] / values[-1, 1]:.1f} %"
        for part, row in zip(PARTS, values, strict=False)
    ]
    return words.plain("chart.summary", parts=Raw(listed(told, words.lang)))


def parts_table(result: Result, words: Words) -> str:
    """Every part of both models, with its share and the difference."""
    values = result.values("counts")
    lines = []
    for name, row in zip((*PARTS, "total"), values, strict=True):
        bold = "**" if name == "total" else ""
        numbers = [
            text for n, total in zip(row, values[-1], strict=True) for text in (f"{n:,.0f}", _share(n, total))
        ]
        gap = row[1] - row[0]
        shown = [words(f"part.{name}"), *numbers, f"{gap:+,.0f}".replace("-", "−") if gap else "="]
        lines.append(f"| {' | '.join(f'{bold}{cell}{bold}' for cell in shown)} |")
    names = names_of(result, words)
    return words("parts.table", a=Raw(names[0]), b=Raw(names[1]), rows=Raw("\n".join(lines)))


def _share(part: float, total: float) -> str:
    percent = 100 * part / total
    return f"{percent:.1f}\u00a0%" if percent >= 0.05 or not part else "<\u00a00.1\u00a0%"


def published_table(words: Words, cite) -> str:
    """Every model with a published number, that number, and the computed one; `cite` gives a link for a source."""
    lines = []
    for name, (printed, source) in PUBLISHED.items():
        total = count_parameters(PRESETS[name]).total
        lines.append(
            f"| {name_of(PRESETS[name], words)} | {total:,} | {printed.replace(' ', chr(0xA0))} | {cite(source)} |"
        )
    return words("published.table", rows=Raw("\n".join(lines)))


def own_told(own: ModelConfig, words: Words) -> str:
    """The reader's model in numbers, and the model of the course that is nearest in size."""
    count = count_parameters(own)
    near = nearest(own)
    told = {"size": count.total, "near": Raw(name_of(near, words)), "near_size": count_parameters(near).total}
    most = max(PARTS, key=lambda part: getattr(count, part))
    told |= {
        "part": Raw(inside(words(f"part.{most}"), words)),
        "share": _percent(getattr(count, most) / count.total),
    }
    told |= {"embedding_share": _percent(count.embeddings / count.total)}
    told |= {"d": own.d_model, "d_ff": own.d_ff, "layers": own.layers, "bytes": 2 * count.total / 2**30}
    return words("own.told", **told)


def nearest(own: ModelConfig) -> ModelConfig:
    """The model of the course whose size is the nearest, as a ratio."""
    size = count_parameters(own).total
    return min(PRESETS.values(), key=lambda c: abs(np.log(count_parameters(c).total / size)))
