"""Feed-forward layers of published models: their widths, and their share of all parameters."""

from dataclasses import dataclass

from core.block.feed_forward import feed_forward_parameters, swiglu_parameters


@dataclass(frozen=True)
class PublishedFeedForward:
    """The feed-forward layers of one model, from its public configuration."""

    name: str
    layers: int
    d_model: int
    d_ff: int
    activation: str  # a name of ACTIVATIONS; for a gated layer that of its gate
    gated: bool
    bias: bool
    total: int  # parameters of the whole model

    @property
    def per_layer(self) -> int:
        """Parameters of one feed-forward layer: two matrices and biases, or three matrices."""
        if self.gated:
            return swiglu_parameters(self.d_model, self.d_ff)
        return feed_forward_parameters(self.d_model, self.d_ff, self.bias)

    @property
    def share(self) -> float:
        """The part of the model's parameters that is in its feed-forward layers."""
        return self.layers * self.per_layer / self.total


PUBLISHED = (
    PublishedFeedForward("Transformer base", 12, 512, 2048, "relu", False, True, 63_045_632),
    PublishedFeedForward("BERT base", 12, 768, 3072, "gelu", False, True, 109_482_240),
    PublishedFeedForward("GPT-2 small", 12, 768, 3072, "gelu_tanh", False, True, 124_439_808),
    PublishedFeedForward("GPT-3", 96, 12288, 49152, "gelu_tanh", False, True, 174_604_259_328),
    PublishedFeedForward("SmolLM2-135M", 30, 576, 1536, "silu", True, False, 134_515_008),
    PublishedFeedForward("LLaMA-2 7B", 32, 4096, 11008, "silu", True, False, 6_738_415_616),
    PublishedFeedForward("LLaMA-2 70B", 80, 8192, 28672, "silu", True, False, 68_976_648_192),
    PublishedFeedForward("LLaMA-3 8B", 32, 4096, 14336, "silu", True, False, 8_030_261_248),
    PublishedFeedForward("Mistral 7B", 32, 4096, 14336, "silu", True, False, 7_241_732_096),
)
