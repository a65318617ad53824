"""Feed-forward layers of published models: what they have, and their share of all parameters."""

from dataclasses import dataclass

from core.cost.sizes import count_parameters, one_ffn
from core.models.configs import PRESETS
from core.models.description import ModelConfig


@dataclass(frozen=True)
class PublishedFeedForward:
    """The feed-forward layers of one model."""

    name: str
    config: ModelConfig

    @property
    def per_layer(self) -> int:
        """Parameters of one feed-forward layer: two matrices and biases, or three matrices."""
        return one_ffn(self.config, self.config.ffn_bias)

    @property
    def share(self) -> float:
        """The part of the model's parameters that is in its feed-forward layers."""
        return self.config.layers * self.per_layer / count_parameters(self.config).total


NAMES = {
    "Transformer base": "transformer-base",
    "BERT base": "bert-base",
    "GPT-2 small": "gpt2-small",
    "GPT-3": "gpt3",
    "SmolLM2-135M": "smollm2-135m",
    "LLaMA-2 7B": "llama2-7b",
    "LLaMA-2 70B": "llama2-70b",
    "LLaMA-3 8B": "llama3-8b",
    "Mistral 7B": "mistral-7b",
}
PUBLISHED = tuple(PublishedFeedForward(name, PRESETS[preset]) for name, preset in NAMES.items())
