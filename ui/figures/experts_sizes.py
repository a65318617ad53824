"""Total and active parameters of mixtures: Mixtral, DeepSeek-V3, and one of the reader's own in Mixtral's shape."""

from __future__ import annotations

from dataclasses import replace

from core.block.expert_sizes import DEEPSEEK_V3, MIXTRAL_8X7B, MixtureCount, MixtureSizes, count_mixture
from ui.numbers import number
from ui.words import Raw, Words

PARTS = ("embeddings", "attention", "norms", "dense", "routers", "shared", "experts")


def own(experts: int, k: int) -> MixtureSizes:
    """Mixtral with another number of experts, of which k (or all, if there are fewer) work on a token."""
    return replace(MIXTRAL_8X7B, n_experts=experts, n_chosen=min(k, experts))


def models(experts: int, k: int) -> dict[str, tuple[MixtureSizes, MixtureCount]]:
    """The three mixtures and their counts."""
    sizes = {"Mixtral 8×7B": MIXTRAL_8X7B, "DeepSeek-V3": DEEPSEEK_V3, "own": own(experts, k)}
    return {name: (size, count_mixture(size)) for name, size in sizes.items()}


def table(experts: int, k: int, words: Words) -> str:
    """Where the parameters are, in columns for the three."""
    counted = models(experts, k)
    lines = [_line(words(f"size.{part}"), (getattr(c, part) for _, c in counted.values())) for part in PARTS]
    lines.append(_line(f"**{words('size.total')}**", (c.total for _, c in counted.values())))
    lines.append(_line(words("size.chosen"), (c.chosen for _, c in counted.values())))
    lines.append(_line(f"**{words('size.active')}**", (c.active for _, c in counted.values())))
    lines.append(_line(words("size.multiplied"), (c.multiplied for _, c in counted.values())))
    shares = [f"{number(100 * c.active / c.total)} %" for _, c in counted.values()]
    lines.append("| " + " | ".join([words("size.share"), *shares]) + " |")
    size = counted["own"][0]
    return words("size.table", experts=size.n_experts, k=size.n_chosen, rows=Raw("\n".join(lines)))


def _line(name: str, counts) -> str:
    return "| " + " | ".join([name, *(number(count) for count in counts)]) + " |"


def notices(experts: int, k: int, words: Words) -> list[str]:
    """Why 8 × 7 is not 56, what one more expert costs, and which count DeepSeek-V3's 37 billion is."""
    counted = models(experts, k)
    mixtral, deepseek = counted["Mixtral 8×7B"][1], counted["DeepSeek-V3"][1]
    size, mine = counted["own"]
    more = count_mixture(replace(size, n_experts=size.n_experts + 1))
    return [
        words(
            "size.notice.name",
            total=mixtral.total / 1e9,
            active=mixtral.active / 1e9,
            outside=mixtral.outside_experts / 1e9,
            expert=mixtral.experts / 8 / 1e9,
        ),
        words(
            "size.notice.own",
            experts=size.n_experts,
            k=size.n_chosen,
            total=mine.total / 1e9,
            active=mine.active / 1e9,
            more_total=(more.total - mine.total) / 1e9,
            more_active=more.active - mine.active,
        ),
        words(
            "size.notice.deepseek",
            total=deepseek.total / 1e9,
            active=deepseek.active,
            multiplied=deepseek.multiplied,
            table=deepseek.active - deepseek.multiplied,
        ),
    ]
