"""Linear maps, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch
from torch.nn.functional import linear

from core.attention.linear_maps import additivity_gap, compare, describe, homogeneity_gap, worked_map

# %% parameters
m11 = 1.2
m12 = 0.6
m21 = -0.4
m22 = 1.0
u1 = -2.0
u2 = 1.0
b1 = 0.0
b2 = 0.0
v1 = 1.0
v2 = 1.0
k = 2.0

# %% steps
worked = worked_map((m11, m12, m21, m22), (u1, u2), (b1, b2))
m, b, u = worked.m, worked.b[:, 0], worked.x[:, 0]
v = torch.tensor([v1, v2], dtype=m.dtype)
facts = describe(m)
additivity = additivity_gap(m, u, v, b)
homogeneity = homogeneity_gap(m, u, k, b)
likeness = compare(u, v)

# %% numbers
arrays = {"m": worked.m, "x": worked.x, "b": worked.b, "y": worked.y}
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")
print(f"determinant {facts.determinant:.3f}, rank {facts.rank}")
print(f"T(u + v) - T(u) - T(v) = {additivity.tolist()}")
print(f"T(k u) - k T(u) = {homogeneity.tolist()}")
print(f"u·v = {likeness.dot:.3f}, cosine {likeness.cosine}")

# %% check
theirs = linear(worked.x.T, m, b).T
difference = (worked.y - theirs).abs().max().item()
print(f"max |ours − PyTorch| = {difference:.1e}")
assert difference < 1e-10
