"""How the numbers of a whole model begin: from a given generator, never from PyTorch's global one."""

from typing import Any, Self, TypeVar

import torch
from torch import nn

from core.block.initialisation import Scheme, begin
from core.models.description import ModelConfig

Drawn = TypeVar("Drawn", bound=nn.Module)


class Seeded:
    """Gives a model class, whose one argument is a config, its constructor `seeded`."""

    @classmethod
    def seeded(
        cls,
        config: ModelConfig,
        generator: torch.Generator,
        init: Scheme = "gpt2",
        dtype: torch.dtype = torch.float32,
        **settings: Any,
    ) -> Self:
        """A model whose numbers come from the generator alone. settings are further arguments of the class."""
        with torch.device("meta"):  # shapes without numbers: nothing is drawn yet
            model = cls(config, **settings)
        return draw(model.to_empty(device="cpu").to(dtype), config, generator, init)


def draw(model: Drawn, config: ModelConfig, generator: torch.Generator, init: Scheme = "gpt2") -> Drawn:
    """Draw every number anew, in place: layers as `begin` does, tables N(0, 0.02²) for "gpt2", else N(0, 1/d)."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()  # whatever is not drawn below, such as a bias of its own
        begin(model, generator, init, n_layers=config.layers)
        for table in (m for m in model.modules() if isinstance(m, nn.Embedding)):
            spread = 0.02 if init == "gpt2" else table.embedding_dim**-0.5
            drawn = torch.randn(table.weight.shape, generator=generator, dtype=torch.float64)
            table.weight.copy_(drawn * spread)
    return model
