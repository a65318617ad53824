"""Feed-forward layer, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

import torch
from torch.nn import functional

from core.block.experts import mixture
from core.block.feed_forward import feed_forward, feed_forward_backward, swiglu, swiglu_width
from core.block.toy_feed_forward import toy_experts, toy_feed_forward, toy_swiglu, toy_tokens

# %% parameters
tokens = ("the", "cat", "sat", "on", "the", "mat")
d_model = 4
d_ff = 16
act = "relu"
seed = 7

# %% steps
x = toy_tokens(tokens, seed, d_model)
layer = toy_feed_forward(seed, d_model, d_ff)
trace = feed_forward(x, layer.w1, layer.b1, layer.w2, layer.b2, act)
gradients = feed_forward_backward(trace, x, layer.w1, layer.w2, torch.ones_like(x), act)
width = swiglu_width(d_model)
gated = swiglu(x, *toy_swiglu(seed, d_model, width))
experts = toy_experts(seed, d_model, 8, width)
mixed = mixture(x, experts.router, experts.w1, experts.w3, experts.w2, k=2)

# %% numbers
arrays = {"x": x, "w1": layer.w1, "b1": layer.b1[None], "w2": layer.w2, "b2": layer.b2[None]}
arrays |= {"before": trace.before, "hidden": trace.hidden, "output": trace.output}
torch.set_printoptions(precision=3, sci_mode=False, linewidth=160)
for name, values in arrays.items():
    print(f"{name} {list(values.shape)}\n{values}\n")
print(f"gradient of Σ output with respect to x\n{gradients.d_x}\n")
print(f"SwiGLU, {width} units instead of {d_ff}\n{gated.output}\n")
print(f"experts chosen for each token, of 8\n{mixed.experts}\ntheir gates\n{mixed.gates}\nload\n{mixed.load}")

# %% check
bend = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu_tanh": lambda z: functional.gelu(z, approximate="tanh"),
    "silu": functional.silu,
}[act]
hidden = bend(functional.linear(x, layer.w1.T, layer.b1))
theirs = functional.linear(hidden, layer.w2.T, layer.b2)
difference = (trace.output - theirs).abs().max().item()
print(f"max |ours − PyTorch| = {difference:.1e}")
assert difference < 1e-10
