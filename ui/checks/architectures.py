"""The counts of the page on architectures against models made of PyTorch's own modules, which nobody has to fill."""

from __future__ import annotations

import torch
from torch import nn

from core.models.configs import ModelConfig
from core.models.decoder import Decoder
from core.models.encoder_decoder import Encoder, EncoderDecoder
from ui.checks.check import Check
from ui.result import Result

CLASSES = {"decoder": Decoder, "encoder": Encoder, "encoder-decoder": EncoderDecoder}


def numbers_in(modules: nn.Module) -> int:
    """Learned numbers of a module; one that is used twice counts once."""
    return sum(parameter.numel() for parameter in modules.parameters())


def by_pytorch_modules(c: ModelConfig) -> int:
    """The same model put together from PyTorch's layers, on the meta device: shapes without memory."""
    d, kv = c.d_model, c.kv_heads * c.d_head

    def norm() -> nn.Module:
        return nn.LayerNorm(d) if c.norm_kind == "layer" else nn.RMSNorm(d)

    def attention() -> list[nn.Module]:
        return [nn.Linear(d, n, bias=c.attention_bias) for n in (d, kv, kv, d)]

    def feed_forward() -> list[nn.Module]:
        shapes = [(d, c.d_ff)] * (2 if c.gated else 1) + [(c.d_ff, d)]
        experts = [nn.Linear(*shape, bias=c.ffn_bias) for shape in shapes * max(c.n_experts, 1)]
        return experts + ([nn.Linear(d, c.n_experts, bias=False)] if c.n_experts else [])

    def block(cross: bool) -> list[nn.Module]:
        norms = [norm() for _ in range(2 + cross)] if c.norm_place != "none" else []
        return [*attention(), *(attention() if cross else ()), *feed_forward(), *norms]

    def stack(layers: int, cross: bool) -> list[nn.Module]:
        parts = [part for _ in range(layers) for part in block(cross)]
        parts += [norm() for _ in range(c.embedding_norm + c.final_norm)]
        if c.positions == "learned":
            parts.append(nn.Embedding(c.limit + c.unused_rows, d))
        if c.positions == "relative_bias":
            parts.append(nn.Embedding(c.buckets, c.n_heads))
        return parts

    with torch.device("meta"):
        parts: list[nn.Module] = [nn.Embedding(c.vocab, d)]
        if c.encoder_layers:
            parts += stack(c.encoder_layers, cross=False)
        if c.decoder_layers:
            parts += stack(c.decoder_layers, cross=bool(c.encoder_layers))
        if c.segments:
            parts.append(nn.Embedding(c.segments, d))
        if c.has_output and not c.tied:
            parts.append(nn.Linear(d, c.vocab, bias=False))
        if c.pooler:
            parts.append(nn.Linear(d, d))
        return numbers_in(nn.ModuleList(parts))


def by_pytorchs_block(c: ModelConfig) -> int:
    """PyTorch's whole Transformer layer of this width, which is LayerNorm, biases and two matrices in every case."""
    with torch.device("meta"):
        return numbers_in(nn.TransformerEncoderLayer(c.d_model, c.n_heads, c.d_ff))


def built(c: ModelConfig) -> int:
    """The model of the course, built from the same description on the meta device."""
    with torch.device("meta"):
        return numbers_in(CLASSES[c.stack](c))


def one_block(c: ModelConfig, parts) -> float:
    """Attention, feed-forward and their two norms in one block of a model whose stack is of one kind."""
    ends = c.embedding_norm + c.final_norm
    return (parts.attention + parts.ffn + parts.norms - ends * 2 * c.d_model) / c.layers


def architecture_checks(result: Result) -> tuple[Check, ...]:
    """Both totals three ways, where the other way knows such a model."""
    pairs = list(zip(result.facts["configs"], result.facts["counts"], strict=True))
    checks = [
        Check(
            "modules", float(max(abs(n.total - by_pytorch_modules(c)) for c, n in pairs)), by_pytorch_modules
        )
    ]
    checks.append(Check("built", float(max(abs(n.total - built(c)) for c, n in pairs)), built))
    plain = [
        (c, n)
        for c, n in pairs
        if c.stack != "encoder-decoder" and c.attention_bias and c.ffn_bias and c.norm_kind == "layer"
        if c.norm_place != "none"
    ]
    if plain:
        largest = max(abs(one_block(c, n) - by_pytorchs_block(c)) for c, n in plain)
        checks.append(Check("block", float(largest), by_pytorchs_block))
    return tuple(checks)
