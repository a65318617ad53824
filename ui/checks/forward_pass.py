"""The forward pass against PyTorch's own functions with the same weights, and against loops written out."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from core.models.decoder import Decoder
from core.models.toy import Toy
from ui.checks.check import Check, largest_difference
from ui.course.forward_pass import HEADS
from ui.figures.forward_pass_writing import Written
from ui.result import Result


def logits_by_pytorch(model: Decoder, ids: Tensor) -> Tensor:
    """The whole way with PyTorch's functions, block by block. [T] → [T, vocab]."""
    table, d = model.embeddings.token.weight, model.config.d_model
    x = functional.embedding(ids, table) * math.sqrt(d) + model.embeddings.position.weight[: len(ids)]
    for block in model.blocks:
        norm, mha, ffn = block.norm1, block.attention, block.feed_forward
        h = functional.layer_norm(x, (d,), norm.gamma, norm.beta, norm.eps)
        q, k, v = (
            functional.linear(h, part.weight, part.bias).view(len(ids), mha.n_heads, -1).transpose(0, 1)
            for part in (mha.w_q, mha.w_k, mha.w_v)
        )
        found = functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # [H, T, d_head]
        x = x + functional.linear(found.transpose(0, 1).reshape(len(ids), d), mha.w_o.weight, mha.w_o.bias)
        norm = block.norm2
        h = functional.layer_norm(x, (d,), norm.gamma, norm.beta, norm.eps)
        hidden = functional.relu(functional.linear(h, ffn.w1.weight, ffn.w1.bias))
        x = x + functional.linear(hidden, ffn.w2.weight, ffn.w2.bias)
    norm = model.final_norm
    return functional.linear(functional.layer_norm(x, (d,), norm.gamma, norm.beta, norm.eps), table)


def maps_by_pytorch(q: Tensor, k: Tensor) -> Tensor:
    """The maps of one block: with the identity matrix as V, the output is the weights. [H, T, T]."""
    identity = torch.eye(q.shape[-2], dtype=q.dtype).expand(len(q), -1, -1)
    return functional.scaled_dot_product_attention(q, k, identity, is_causal=True)


def kept_by_hand(logits: list[float], temperature: float, top_k: int, top_p: float) -> list[float]:
    """Softmax, sorting and cutting in plain Python; 0 candidates and a mass of 1 cut nothing."""
    places = sorted(range(len(logits)), key=lambda i: -logits[i])
    if temperature == 0:
        return [float(i == places[0]) for i in range(len(logits))]
    best = max(logits)
    exponentials = [math.exp((z - best) / temperature) for z in logits]
    full = [e / math.fsum(exponentials) for e in exponentials]
    kept, mass = [], 0.0
    for rank, i in enumerate(places):
        if (top_k and rank >= top_k) or (top_p < 1 and mass >= top_p - 1e-12):
            break
        kept.append(i)
        mass += full[i]
    return [full[i] / math.fsum(full[j] for j in kept) if i in set(kept) else 0.0 for i in range(len(logits))]


def written_by_hand(model: Decoder, ids: list[int], count: int, settings: dict, seed: int) -> list[int]:
    """A plain loop: read the whole text again, cut by hand, walk along the line up to the drawn number."""
    generator = torch.Generator().manual_seed(seed)
    written: list[int] = []
    for _ in range(count):
        logits = logits_by_pytorch(model, torch.tensor(ids + written))[-1].tolist()
        shares = kept_by_hand(logits, **settings)
        likeliest_first = sorted((i for i in range(len(shares)) if shares[i] > 0), key=lambda i: -logits[i])
        u, at = 0.0, 0
        if len(likeliest_first) > 1:
            u = float(torch.rand((), generator=generator, dtype=torch.float64))
            ends = np.cumsum([shares[i] for i in likeliest_first])
            at = min(int((ends <= u).sum()), len(ends) - 1)
        written.append(likeliest_first[at])
        if written[-1] == 0:
            break
    return written


def forward_checks(result: Result, toy: Toy, written: Written) -> tuple[Check, ...]:
    """Logits, maps, probabilities and the written text."""
    p, facts = result.parameters, result.facts
    logits = logits_by_pytorch(toy.model, torch.tensor(facts["ids"]))
    layer = int(p["layer"]) - 1
    maps = maps_by_pytorch(facts["q"][layer], facts["k"][layer])
    settings = {name: p[name] for name in ("temperature", "top_k", "top_p")}
    by_hand = kept_by_hand(logits[-1].tolist(), **settings)
    ours = [toy.vocabulary.index(step.token) for step in written.cached]
    theirs = written_by_hand(toy.model, facts["ids"], len(ours), settings, p["draw"])
    shown = np.stack([result.values(name) for name in HEADS])
    return (
        Check("logits", largest_difference((facts["all_logits"], logits)), logits_by_pytorch),
        Check("maps", largest_difference((shown, maps)), maps_by_pytorch),
        Check("probabilities", largest_difference((facts["last"]["probabilities"], by_hand)), kept_by_hand),
        Check(
            "text",
            largest_difference((ours, theirs)) if len(ours) == len(theirs) else math.inf,
            written_by_hand,
        ),
        Check("cache", written.gap, None),
    )
