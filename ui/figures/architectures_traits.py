"""What a description says, trait by trait: values as words, which of them differ between two, and why that matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.cost.sizes import count_parameters
from core.models.configs import ModelConfig
from ui.numbers import listed, number
from ui.words import Raw, Words

# In the order in which a reader should meet them where they differ.
TRAITS = (
    "stack",
    "mask",
    "objective",
    "experts",
    "norm_place",
    "norm_kind",
    "final_norm",
    "embedding_norm",
    "positions",
    "activation",
    "attention_bias",
    "ffn_bias",
    "tied",
    "scaling",
    "segments",
    "pooler",
    "layers",
    "width",
    "heads",
    "ffn",
    "context",
    "vocab",
    "dropout",
    "norm_eps",
    "size",
)


def raw(trait: str, c: ModelConfig) -> Any:
    """The value of a trait as data; two models agree in the trait if these are equal."""
    kept = {
        "stack": lambda: c.stack,
        "mask": lambda: (c.encoder_mask, c.decoder_mask, c.window),
        "objective": lambda: c.objectives,
        "norm_place": lambda: c.norm_place,
        "norm_kind": lambda: c.norm_kind,
        "norm_eps": lambda: c.norm_eps,
        "final_norm": lambda: c.final_norm,
        "embedding_norm": lambda: c.embedding_norm,
        "positions": lambda: (c.positions, c.rope_base if c.positions == "rope" else 0),
        "activation": lambda: (c.activation, c.gated),
        "attention_bias": lambda: c.attention_bias,
        "ffn_bias": lambda: c.ffn_bias,
        "tied": lambda: c.tied if c.has_output else None,  # an encoder's head is gone after training
        "scaling": lambda: (c.scale_scores, c.scale_embeddings, c.scale_logits),
        "segments": lambda: c.segments,
        "pooler": lambda: c.pooler,
        "layers": lambda: (c.encoder_layers, c.decoder_layers),
        "width": lambda: c.d_model,
        "heads": lambda: (c.n_heads, c.kv_heads, c.d_head),
        "ffn": lambda: c.d_ff,
        "experts": lambda: (c.n_experts, c.n_chosen),
        "context": lambda: c.limit,
        "vocab": lambda: c.vocab,
        "dropout": lambda: c.dropout,
        "size": lambda: count_parameters(c).total,
    }
    return kept[trait]()


def differing(a: ModelConfig, b: ModelConfig) -> tuple[str, ...]:
    """The traits in which two models differ, in the order of TRAITS."""
    return tuple(trait for trait in TRAITS if raw(trait, a) != raw(trait, b))


def value_of(trait: str, c: ModelConfig, words: Words) -> str:
    """The value of a trait in words, as plain text."""
    value = raw(trait, c)
    say = words.plain
    if trait == "mask":
        return listed(_masks(c, words), words.lang)
    if trait == "objective":
        return " + ".join(say(f"objective.{name}") for name in value)
    if trait == "norm_eps":
        return number(value, digits=1).removeprefix("1×")
    if trait == "positions":
        return say(f"positions.{value[0]}", base=int(value[1]), buckets=c.buckets)
    if trait == "activation":
        return say("activation.swiglu" if c.gated else f"activation.{c.activation}")
    if trait == "scaling":
        return _scaling(c, words)
    if trait == "layers":
        return say("layers.both", n=value[0], m=value[1]) if all(value) else f"{sum(value)}"
    if trait == "heads":
        return say(
            "heads.shared" if value[0] != value[1] else "heads.all", n=value[0], kv=value[1], d=value[2]
        )
    if trait == "experts":
        return say("experts.some", n=value[0], k=value[1]) if value[0] else say("value.none")
    if trait == "context":
        return say("context.none") if value is None else f"{value:,}"
    if trait == "dropout":
        return say("value.none") if not value else f"{value:g}"
    if trait in ("segments", "width", "ffn", "vocab", "size"):
        return f"{value:,}" if value else say("value.none")
    if trait == "tied":
        return say(f"tied.{'none' if value is None else 'yes' if value else 'no'}")
    if isinstance(value, bool):
        return say(f"value.{'yes' if value else 'no'}")
    return say(f"{trait}.{value}")


def named(traits: Sequence[str], words: Words) -> str:
    """The names of some traits in the middle of a sentence."""
    return listed([inside(words.plain(f"trait.{trait}"), words) for trait in traits], words.lang)


def inside(name: str, words: Words) -> str:
    """A name as it stands in the middle of a sentence."""
    return name[0].lower() + name[1:] if words.lang == "en" else name


def _masks(c: ModelConfig, words: Words) -> list[str]:
    told = []
    if c.encoder_mask:
        told.append(words.plain("mask.full_encoder" if c.decoder_layers else "mask.full"))
    if c.decoder_mask:
        key = c.decoder_mask if not c.encoder_layers else "causal_decoder"
        told.append(words.plain(f"mask.{key}", window=c.window or 0))
    if c.stack == "encoder-decoder":
        told.append(words.plain("mask.cross"))
    return told


def _scaling(c: ModelConfig, words: Words) -> str:
    parts = [words.plain("scaling.scores" if c.scale_scores else "scaling.no_scores")]
    if c.scale_embeddings:
        parts.append(words.plain("scaling.embeddings"))
    if c.scale_logits:
        parts.append(words.plain("scaling.logits"))
    return listed(parts, words.lang)


def table(a: ModelConfig, b: ModelConfig, names: tuple[str, str], words: Words) -> str:
    """Every trait: those that differ, marked, with what the difference does; then the others in one line."""
    different = differing(a, b)
    lines = [
        f"| ≠ **{words.plain(f'trait.{trait}')}** | {_cell(trait, a, words)} | {_cell(trait, b, words)} "
        f"| {words(f'matters.{trait}')} |"
        for trait in different
    ]
    told = (
        words("traits.table", a=Raw(names[0]), b=Raw(names[1]), rows=Raw("\n".join(lines))) if lines else ""
    )
    alike = [
        words("traits.one", trait=Raw(words.plain(f"trait.{trait}")), value=Raw(_cell(trait, a, words)))
        for trait in TRAITS
        if trait not in different
    ]
    return f"{told}\n\n{words('traits.alike', traits=Raw(' · '.join(alike)))}".strip()


def _cell(trait: str, c: ModelConfig, words: Words) -> str:
    return value_of(trait, c, words).replace("|", "\\|")
