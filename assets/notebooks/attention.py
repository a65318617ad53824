"""Attention step by step, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch
from torch.nn.functional import scaled_dot_product_attention

from core.attention.dot_product import attention
from core.attention.masks import causal, padding, sliding_window
from core.attention.toy import toy_inputs

# %% parameters
tokens = ("the", "cat", "sat", "on", "the", "mat")
dk = 8
tau = 1.0
scaled = True
mask = "causal"
window = 3
pad = 2
seed = 7

# %% steps
t = len(tokens)
toy = toy_inputs(tokens, seed, dk)
if mask == "causal":
    allowed = causal(t)
elif mask == "padding":
    allowed = padding([max(t - pad, 0)], t)[0].expand(t, t)
elif mask == "window":
    allowed = sliding_window(t, window)
else:
    allowed = torch.ones(t, t, dtype=torch.bool)
scale = 1 / (tau * dk**0.5) if scaled else 1 / tau
trace = attention(toy.q, toy.k, toy.v, allowed, scale=scale)

# %% numbers
arrays = {"x": toy.x, "q": toy.q, "k": toy.k, "v": toy.v}
arrays |= {"scores": trace.scores, "scaled": trace.scaled, "masked": trace.masked}
arrays |= {"weights": trace.weights, "output": trace.output}
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")

# %% check
theirs = scaled_dot_product_attention(toy.q, toy.k, toy.v, attn_mask=allowed, scale=scale)
difference = (trace.output - theirs).abs().max().item()
print(f"max |ours − PyTorch| = {difference:.1e}")
assert difference < 1e-10
