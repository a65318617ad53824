"""Positions, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch
from torch.nn.functional import scaled_dot_product_attention

from core.attention.masks import causal
from core.attention.toy import seeded, toy_inputs
from core.block.position_schemes import place_test, untrained_table

# %% parameters
tokens = ("the", "dog", "bit", "the", "man")
scheme = "sinusoidal"
start = 0
elsewhere = 10
head = 1
dk = 8
mask = "none"
seed = 7

# %% steps
t, d_model = len(tokens), 16
toy = toy_inputs(tokens, seed, dk, d_model)
table = untrained_table(64, d_model, seeded("position table", seed))
allowed = causal(t) if mask == "causal" else torch.ones(t, t, dtype=torch.bool)
test = place_test(toy.x, toy.w_q, toy.w_k, toy.w_v, scheme, start, elsewhere, allowed, table, head - 1)
shown = test.shown

# %% numbers
arrays = {"x": toy.x}
if shown.added is not None:
    arrays["pe" if scheme == "sinusoidal" else "lp"] = shown.added
    arrays["xp"] = shown.x
arrays |= {"q": shown.q, "k": shown.k}
if scheme == "rope":
    arrays |= {"tq": shown.turned_q, "tk": shown.turned_k}
if scheme == "alibi":
    arrays["bias"] = shown.bias
arrays |= {"scores": shown.attention.masked, "weights": shown.attention.weights, "change": test.change}
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")
print(f"largest change of a weight if the text starts at {elsewhere} instead: {test.moved.abs().max():.2e}")

# %% check
q, k = (shown.q, shown.k) if shown.turned_q is None else (shown.turned_q, shown.turned_k)
bias = torch.zeros(t, t, dtype=torch.float64) if shown.bias is None else shown.bias
theirs = scaled_dot_product_attention(
    q, k, torch.eye(t, dtype=torch.float64), attn_mask=bias.masked_fill(~allowed, -torch.inf)
)
difference = (shown.attention.weights - theirs).abs().max().item()
print(f"max |ours − PyTorch| = {difference:.1e}")
assert difference < 1e-10
