"""Tables: what the number of heads changes and what it does not, and the cache of known models."""

from __future__ import annotations

from dataclasses import dataclass

from core.attention import head_sizes as sizes
from ui.course.multi_head import HEADS
from ui.result import Result
from ui.words import Raw, Words

COUNTS = tuple(int(code) for code in HEADS[3].codes)
GIB = 2**30
LATENT_WIDTH = 5120  # d_model of DeepSeek-V2


@dataclass(frozen=True)
class Model:
    """What the cache of a model depends on. `real` is False for one that is only imagined, for comparison."""

    name: str
    layers: int
    heads: int
    kv_heads: int  # 0: a latent is kept instead (MLA)
    d_head: int
    context: int  # tokens that it was made for
    real: bool = True

    @property
    def kind(self) -> str:
        """mha, gqa, mqa or mla."""
        if self.kv_heads == 0:
            return "mla"
        return "mha" if self.kv_heads == self.heads else "mqa" if self.kv_heads == 1 else "gqa"

    @property
    def numbers(self) -> int:
        """Numbers kept per token and layer."""
        if self.kind == "mla":
            return sizes.latent_numbers_per_token()
        return sizes.kv_numbers_per_token(self.kv_heads, self.d_head)

    @property
    def bytes_per_token(self) -> int:
        """Bytes kept per token by all layers, two to a number."""
        if self.kind == "mla":
            return int(sizes.latent_cache_bytes_per_token(self.layers))
        return int(sizes.kv_cache_bytes_per_token(self.layers, self.kv_heads, self.d_head))


MODELS = (
    Model("GPT-3", 96, 96, 96, 128, 2_048),
    Model("LLaMA-2-7B", 32, 32, 32, 128, 4_096),
    Model("LLaMA-2-7B", 32, 32, 1, 128, 4_096, real=False),
    Model("LLaMA-2-70B", 80, 64, 64, 128, 4_096, real=False),
    Model("LLaMA-2-70B", 80, 64, 8, 128, 4_096),
    Model("LLaMA-3-8B", 32, 32, 8, 128, 8_192),
    # DeepSeek-AI 2024, section 3.1.2: 60 layers, 128 heads of 128; section 3.1.4: a context of 128k.
    Model("DeepSeek-V2", 60, 128, 128, 128, 131_072, real=False),
    Model("DeepSeek-V2", 60, 128, 0, 128, 131_072),
)


def counts(result: Result, words: Words) -> str:
    """Parameters and operations for every number of heads: the same in every row but for the maps."""
    d_model, t = result.parameters["d_model"], len(result.parameters["tokens"])
    lines = []
    for heads in COUNTS:
        mark = "**" if heads == result.parameters["heads"] else ""
        values = (
            heads,
            d_model // heads,
            sizes.projection_parameters(d_model, heads),
            sizes.projection_flops(d_model, heads),
            sizes.map_flops(d_model, t, t),
            heads * t * t,
        )
        lines.append(_line(*(f"{mark}{value:,}{mark}" for value in values)))
    return words("cost.counts", d_model=d_model, tokens=t, rows=_raw(lines), parameters=4 * d_model * d_model)


def shared(result: Result, words: Words) -> str:
    """Parameters and cache of the page's own heads with fewer and fewer key-value heads."""
    d_model, heads, kv = (result.parameters[name] for name in ("d_model", "heads", "kv"))
    d_head, lines = d_model // heads, []
    for groups in (n for n in range(heads, 0, -1) if heads % n == 0):
        mark = "**" if groups == kv else ""
        kind = "mha" if groups == heads else "mqa" if groups == 1 else "gqa"
        values = (
            sizes.projection_parameters(d_model, heads, groups),
            sizes.kv_numbers_per_token(groups, d_head),
        )
        lines.append(
            _line(f"{mark}{words.plain(f'kind.{kind}')}{mark}", f"{groups}", *(f"{v:,}" for v in values))
        )
    return words("cost.shared", heads=heads, d_head=d_head, rows=_raw(lines))


def caches(context: int, words: Words) -> str:
    """The cache of each model, per token and for a whole context."""
    lines = []
    for model in MODELS:
        name = model.name if model.real else words.plain(f"cost.imagined_{model.kind}", name=model.name)
        tokens = min(context, model.context)
        gib = f"{model.bytes_per_token * tokens / GIB:.3g}"
        if tokens < context:
            gib = words.plain("cost.at_end", gib=gib, limit=tokens)
        lines.append(
            _line(
                name,
                words.plain(f"kind.{model.kind}"),
                f"{model.layers}",
                f"{model.heads}",
                f"{model.kv_heads}" if model.kv_heads else "–",
                f"{model.numbers:,}",
                f"{model.bytes_per_token:,}",
                f"{model.context:,}",
                gib,
            )
        )
    last, heads = MODELS[-1], MODELS[-1].heads * MODELS[-1].d_head
    mla, full = last.numbers, sizes.kv_numbers_per_token(last.heads, last.d_head)
    return words(
        "cost.caches",
        context=context,
        rows=_raw(lines),
        mla=mla,
        full=full,
        times=full / mla,
        mla_weights=sizes.latent_weights(LATENT_WIDTH, last.heads),
        mha_weights=4 * LATENT_WIDTH * heads,
    )


def _line(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _raw(lines: list[str]):
    return Raw("\n".join(lines))
