"""Two stacks at initialisation, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch

from core.attention.masks import causal
from core.block.depth import DepthSettings, depth_experiment, drawn

# %% parameters
norm_a = "pre"
res_a = True
init_a = "fan_in"
norm_b = "post"
res_b = True
init_b = "fan_in"
layers = 24
width = 64
seed = 0

# %% steps
common = {"n_layers": layers, "d_model": width, "seeds": (seed,)}
a = depth_experiment(DepthSettings(norm_place=norm_a, residual=res_a, init=init_a, **common))
b = depth_experiment(DepthSettings(norm_place=norm_b, residual=res_b, init=init_b, **common))

# %% numbers
arrays = {
    name: torch.stack([getattr(a, name)[0], getattr(b, name)[0]])
    for name in ("norm", "gradient", "similarity")
}
compared = {
    name: pair[1] - pair[0] if name == "similarity" else pair[1] / pair[0] for name, pair in arrays.items()
}
arrays = {
    name: torch.cat([pair, compared[name][None]]) for name, pair in arrays.items()
}  # A, B, B ÷ A or B − A
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")

# %% check
# The first block of A or B, where PyTorch has such a layer, with the same weights.
for norm, res, trace in ((norm_a, res_a, a), (norm_b, res_b, b)):
    if norm == "none" or not res:
        continue
    x, _, _, stack = drawn(trace.settings, seed)
    block = stack.blocks[0]
    heads, ffn = block.attention, block.feed_forward
    layer = torch.nn.TransformerEncoderLayer(
        width, 4, 4 * width, 0.0, batch_first=True, norm_first=norm == "pre"
    )
    with torch.no_grad():
        projections = [heads.w_q.weight, heads.w_k.weight, heads.w_v.weight]
        layer.self_attn.in_proj_weight.copy_(torch.cat(projections))
        layer.self_attn.out_proj.weight.copy_(heads.w_o.weight)
        layer.linear1.weight.copy_(ffn.w1.weight)
        layer.linear2.weight.copy_(ffn.w2.weight)
        for bias in (
            layer.self_attn.in_proj_bias,
            layer.self_attn.out_proj.bias,
            layer.linear1.bias,
            layer.linear2.bias,
        ):
            bias.zero_()
        mask = causal(trace.settings.n_tokens)
        difference = (layer(x, src_mask=~mask) - block(x, mask).output).abs().max().item()
    print(f"{norm}: max |ours − PyTorch| = {difference:.1e}")
    assert difference < 1e-4
