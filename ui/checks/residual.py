"""One block and the shown stacks against PyTorch's own encoder layer, given the same weights."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.attention.masks import causal
from core.block.depth import DepthSettings, drawn
from core.block.initialisation import seeded_stack
from core.block.residual import Block
from ui.checks.check import Check, largest_difference
from ui.figures.residual import SIDES, settings
from ui.result import Result

FLOAT32 = 2e-3  # of the value itself: rounding of 7 digits, through as many as 48 layers and back


def pytorch_layer(block: Block, norm_first: bool) -> nn.TransformerEncoderLayer:
    """nn.TransformerEncoderLayer with the weights of a block."""
    a, f = block.attention, block.feed_forward
    d_ff, d = f.w1.weight.shape
    layer = nn.TransformerEncoderLayer(
        d, a.n_heads, d_ff, 0.0, batch_first=True, norm_first=norm_first, dtype=f.w1.weight.dtype
    )
    weights = {
        "self_attn.in_proj_weight": torch.cat([a.w_q.weight, a.w_k.weight, a.w_v.weight]),
        "self_attn.in_proj_bias": torch.cat([a.w_q.bias, a.w_k.bias, a.w_v.bias]),
        "self_attn.out_proj.weight": a.w_o.weight,
        "self_attn.out_proj.bias": a.w_o.bias,
        **{
            f"linear{n}.{part}": getattr(getattr(f, f"w{n}"), part)
            for n in (1, 2)
            for part in ("weight", "bias")
        },
    }
    for n, norm in ((1, block.norm1), (2, block.norm2)):
        weights |= {f"norm{n}.weight": norm.gamma, f"norm{n}.bias": norm.beta}
    layer.load_state_dict(weights)
    return (
        layer.train()
    )  # eval() would take another program, the fast path; with dropout 0 both mean the same


def block_by_pytorch(block: Block, x: Tensor, norm_first: bool) -> Tensor:
    """One block over x [B, T, d] under a causal mask; PyTorch's mask has True for blocked."""
    return pytorch_layer(block, norm_first)(x, src_mask=~causal(x.shape[-2]))


def stack_by_pytorch(s: DepthSettings, seed: int) -> tuple[Tensor, Tensor]:
    """Lengths [L + 1] and gradients [L] of a whole stack of PyTorch's layers, by autograd."""
    x, targets, readout, stack = drawn(s, seed)
    layers = [pytorch_layer(block, s.norm_place == "pre") for block in stack.blocks]
    states = [x]
    for layer in layers:
        states.append(layer(states[-1], src_mask=~causal(s.n_tokens)))
    logits = F.layer_norm(states[-1], (s.d_model,)) @ readout
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    gradients = torch.autograd.grad(loss, [layer.linear1.weight for layer in layers])
    lengths = torch.stack([state.detach().norm(dim=-1).mean() for state in states])
    return lengths, torch.stack([gradient.norm() for gradient in gradients])


def residual_checks(result: Result) -> tuple[Check, ...]:
    """A block with every number random in both arrangements, and each shown stack that PyTorch has, too."""
    checks = [_block(result.parameters["width"], place) for place in ("pre", "post")]
    for side in SIDES:
        of = result.facts["settings"][side]
        if of["res"] and of["norm"] != "none":
            measured = result.facts[side]
            lengths, gradients = stack_by_pytorch(settings(**of), of["seed"])
            pairs = ((measured.norm, lengths.numpy()), (measured.gradient, gradients.numpy()))
            difference = largest_difference(*((ours / theirs, theirs / theirs) for ours, theirs in pairs))
            checks.append(Check(f"stack_{side}", difference, stack_by_pytorch, FLOAT32))
    return tuple(checks)


def _block(width: int, place: str) -> Check:
    """float64, norms and biases drawn as well, so that none can be forgotten unseen."""
    generator = torch.Generator().manual_seed(1)
    stack = seeded_stack(generator, 1, width, 4, 4 * width, norm_place=place, dtype=torch.float64)
    block: Block = stack.blocks[0]
    with torch.no_grad():
        for name, number in block.named_parameters():
            if "weight" not in name:
                number.copy_(1 + 0.3 * torch.randn(number.shape, generator=generator, dtype=torch.float64))
        x = torch.randn(2, 9, width, generator=generator, dtype=torch.float64)  # [B, T, d]
        ours = block(x, causal(9)).output
        theirs = block_by_pytorch(block, x, place == "pre")
    return Check(
        f"block_{place}",
        largest_difference((ours, theirs)),
        block_by_pytorch if place == "pre" else pytorch_layer,
    )
