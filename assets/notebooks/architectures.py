"""Architectures, as a script. The notebook of the page is made of this file, cell by cell.

The first cell gets the reader's values; the imports from core become the source of what they name.
"""

from dataclasses import asdict, replace

import torch

from core.cost.sizes import count_parameters
from core.models.configs import PRESETS
from core.models.decoder import Decoder
from core.models.description import ModelConfig
from core.models.encoder_decoder import Encoder, EncoderDecoder

# %% parameters
left = asdict(PRESETS["gpt1"])
right = asdict(PRESETS["gpt2-small"])

# %% steps
configs = [ModelConfig(**left), ModelConfig(**right)]
counts = [count_parameters(config) for config in configs]
classes = {"decoder": Decoder, "encoder": Encoder, "encoder-decoder": EncoderDecoder}
sizes = {"d_model": 16, "n_heads": 2, "n_kv_heads": None, "d_ff": 32, "vocab": 20, "limit": 16}
tiny = sizes | {"n_experts": 0, "n_chosen": 0}
maps = []
for config in configs:
    layers = {side: min(getattr(config, side), 1) for side in ("encoder_layers", "decoder_layers")}
    small = replace(config, **tiny, **layers)
    model = classes[config.stack].seeded(small, torch.Generator().manual_seed(7), init="fan_in")
    texts = (torch.arange(5), torch.arange(3))[: 2 if config.stack == "encoder-decoder" else 1]
    trace = model(*texts)
    side = getattr(trace, "side", getattr(trace, "decoder", trace))
    maps.append([weights.detach() for weights in (*side.weights, *getattr(side, "cross_weights", ()))])

# %% numbers
parts = [*asdict(counts[0]), "total"]
table = torch.tensor([[getattr(count, part) for count in counts] for part in parts], dtype=torch.float64)
arrays = {"counts": table}
for part, (a, b) in zip(parts, table.tolist(), strict=True):
    print(f"{part:10} {a:>20,.0f} {b:>20,.0f}")
torch.set_printoptions(precision=2, sci_mode=False, linewidth=160)
for config, kinds in zip(configs, maps, strict=True):
    for weights in kinds:
        print(f"\n{config.name}: attention of head 1, {list(weights.shape)}\n{weights[0]}")

# %% check
for config, count in zip(configs, counts, strict=True):
    with torch.device("meta"):
        built = sum(p.numel() for p in classes[config.stack](config).parameters())
    print(f"{config.name}: counted {count.total:,}, built {built:,}")
    assert built == count.total
