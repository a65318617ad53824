"""Normalisation, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch
from torch import nn

from core.block.normalization import batch_norm, layer_norm, moments, rms_norm
from core.block.toy_batch import toy_batch

# %% parameters
tokens = ("the", "cat", "sat", "up", "我", "爱", "学", "习")
d = 4
shift = 1.0
scale = 1.0
outlier = 10
row = 2
col = 3
gamma = 1.0
beta = 0.0
eps = 1e-5
seed = 7

# %% steps
x = toy_batch(tokens, seed, d, shift, scale, outlier, row - 1, col - 1)
g, b = torch.full((d,), gamma, dtype=x.dtype), torch.full((d,), beta, dtype=x.dtype)
traces = {
    "layer": layer_norm(x, g, b, eps),
    "rms": rms_norm(x, g, eps),
    "batch": batch_norm(x, g, b, eps),
}

# %% numbers
arrays = {}
for name, values in {"x": x, **{kind: trace.output for kind, trace in traces.items()}}.items():
    found = moments(values)
    arrays[name] = torch.full((len(tokens) + 2, d + 2), torch.nan, dtype=x.dtype)
    arrays[name][:-2, :-2] = values
    arrays[name][:-2, -2], arrays[name][:-2, -1] = found.token_mean, found.token_variance
    arrays[name][-2, :-2], arrays[name][-1, :-2] = found.feature_mean, found.feature_variance
torch.set_printoptions(precision=3, sci_mode=False, linewidth=140)
for name, values in arrays.items():
    print(f"{name}: mean and variance in the last two columns and rows\n{values}\n")

# %% check
modules = {"layer": nn.LayerNorm, "rms": nn.RMSNorm, "batch": nn.BatchNorm1d}
# A small root in the denominator makes rounding larger.
root = min((trace.variance + eps).min().item() for trace in traces.values()) ** 0.5
allowed = max(1e-10, 1e-15 * gamma * x.abs().max().item() / root)
for name, make in modules.items():
    if name == "batch" and len(tokens) == 1:
        print("nn.BatchNorm1d refuses a batch of one token in training")
        continue
    module = make(d, eps=eps, dtype=x.dtype).train()
    with torch.no_grad():
        module.weight.fill_(gamma)
        if name != "rms":
            module.bias.fill_(beta)
        difference = (traces[name].output - module(x)).abs().max().item()
    print(f"max |ours − nn.{make.__name__}| = {difference:.1e}")
    assert difference <= allowed
