"""Cross-attention of both kinds, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch
from torch.nn.functional import scaled_dot_product_attention

from core.attention.both_kinds import both_kinds, toy_additive
from core.attention.masks import padding
from core.attention.toy import toy_inputs

# %% parameters
source = ("我", "爱", "学", "习")
target = ("I", "love", "learning")
pad = 2
masked = True
dk = 8
da = 6
seed = 7

# %% steps
padded = source + ("⟨pad⟩",) * pad
q = toy_inputs(target, seed, dk).q  # [T, dk]
encoder = toy_inputs(padded, seed, dk)
k, v = encoder.k, encoder.v  # [S, dk] each
allowed = torch.ones(len(target), len(padded), dtype=torch.bool)  # [T, S]
if masked:
    allowed = padding([len(source)], len(padded))[0].expand(len(target), len(padded))
both = both_kinds(q, k, v, toy_additive(seed, dk, da), allowed)
trace = both.dot

# %% numbers
arrays = {"q": q, "k": k, "v": v, "scores": trace.scores, "scaled": trace.scaled}
arrays |= {"masked": trace.masked, "weights": trace.weights, "output": trace.output}
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")
print(f"additive weights\n{both.additive.weights}\n\nadditive − dot product\n{both.difference}")

# %% check
theirs = scaled_dot_product_attention(q, k, v, attn_mask=allowed)
difference = (trace.output - theirs).abs().max().item()
print(f"max |ours − PyTorch| = {difference:.1e}")
assert difference < 1e-10
