"""Multi-head attention, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch

from core.attention.heads import changes_one_by_one, head_contributions, head_entropy, head_similarity
from core.attention.masks import causal
from core.attention.pytorch_multi_head import as_pytorch
from core.attention.toy_heads import toy_heads

# %% parameters
tokens = ("the", "cat", "sat", "on", "the", "mat")
d_model = 24
heads = 4
kv = 4
mask = "causal"
tau = 1.0
off = ()
seed = 7

# %% steps
x, module = toy_heads(tokens, seed, d_model, heads, kv, tau)
t = len(tokens)
allowed = causal(t) if mask == "causal" else torch.ones(t, t, dtype=torch.bool)
head_mask = torch.tensor([float(h + 1 not in off) for h in range(heads)], dtype=torch.float64)
whole = module(x, mask=allowed)
trace = module(x, mask=allowed, head_mask=head_mask)

# %% numbers
arrays = {"x": x}
arrays |= {f"a{h + 1}": trace.weights[h] for h in range(heads)}
arrays |= {f"o{h + 1}": trace.head_outputs[h] for h in range(heads)}
arrays |= {"concat": trace.concatenated, "w_o": module.w_o.weight.mT, "output": trace.output}
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")
print(f"cosines between the maps\n{head_similarity(whole.weights)}\n")
print(f"entropy of each head in nats\n{head_entropy(whole.weights)}\n")
each = changes_one_by_one(head_contributions(whole.head_outputs, module.w_o))
print(f"change of the output with one head off\n{each}")

# %% check
theirs, _ = as_pytorch(module)(x[None], x[None], x[None], attn_mask=~allowed)
difference = (whole.output - theirs[0]).abs().max().item()
print(f"max |ours − nn.MultiheadAttention| = {difference:.1e}")
assert difference < 1e-10
