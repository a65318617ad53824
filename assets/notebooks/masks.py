"""Masks, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch
from torch.nn.functional import scaled_dot_product_attention

from core.attention.dot_product import attention
from core.attention.mask_kinds import MaskSettings, combined_mask
from core.attention.receptive import first_layer
from core.attention.worked import mask_inputs

# %% parameters
tokens = ("the", "cat", "sat", "on", "the", "mat", "[PAD]")
length = 6
worked = False
kinds = ("window", "padding")
window = 3
two_sided = False
dilation = 2
prefix = 3
n_global = 1
n_random = 1
stride = 3
summary = 1
seed = 7
drawn = None
layers = 2
dk = 8

# %% steps
t = len(tokens)
settings = MaskSettings(window, two_sided, dilation, prefix, n_global, n_random, stride, summary, seed)
grid = None if drawn is None else torch.tensor(drawn) == 1
mask = combined_mask(kinds, t, length, settings, grid)
q, k, v, scale = mask_inputs(tokens, seed, dk, worked)
trace = attention(q, k, v, mask, scale=scale)

# %% numbers
arrays = {"scores": trace.scaled, "mask": mask.double(), "weights": trace.weights}
arrays["reach"] = first_layer(mask, layers).double()
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")
print(f"{int(mask.sum())} of {t * t} pairs are kept")

# %% check
identity = torch.eye(t, dtype=torch.float64)
theirs = scaled_dot_product_attention(q, k, identity, attn_mask=mask, scale=scale)
difference = (trace.weights - theirs).abs().max().item()
print(f"max |ours − PyTorch| = {difference:.1e}")
assert difference < 1e-10
