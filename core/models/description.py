"""Every family of Transformer as data: one frozen description, from which a model is built, drawn and counted.

Sizes follow the papers, and the authors' code where a paper is silent; `sources` names the papers by the keys of
the bibliography.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from core.attention.multi_head import head_width
from core.block.feed_forward import ACTIVATIONS
from core.block.frequencies import Scaling, attention_factor_of, inverse_frequencies

StackKind = Literal["decoder", "encoder", "encoder-decoder"]
Positions = Literal["none", "sinusoidal", "learned", "rope", "alibi", "relative_bias"]
Objective = Literal["causal_lm", "mlm", "nsp", "denoising", "span_corruption", "translation"]


@dataclass(frozen=True)
class ModelConfig:
    """One model. The defaults are those of a GPT-2-like decoder. Raises ValueError for what cannot be built."""

    name: str
    year: int
    d_model: int
    n_heads: int
    d_ff: int
    vocab: int
    stack: StackKind = "decoder"
    decoder_layers: int = 0
    encoder_layers: int = 0
    n_kv_heads: int | None = None  # None: as many as n_heads

    positions: Positions = "learned"
    limit: int | None = None  # the longest text it was made for, in tokens; None: none was set
    unused_rows: int = 0  # at the start of a learned table: BART's first position is row 2
    rope_base: float = 10000.0
    rope_scaling: Scaling | None = None  # how RoPE is stretched for texts longer than those of the training
    buckets: int = 32  # relative_bias: how many distances are told apart
    farthest: int = 128  # relative_bias: from this distance on, all are alike
    segments: int = 0  # BERT adds one of two vectors: first or second sentence
    embedding_norm: bool = False  # a norm right after the embeddings are summed
    scale_embeddings: bool = False  # token embeddings times √d_model
    window: int | None = None  # decoder: keys seen by a query, itself included; None: the whole past
    banded: bool = (
        False  # GPT-3: every second layer sees a local band only; drawn and counted, built without it
    )

    norm_kind: Literal["layer", "rms"] = "layer"
    norm_place: Literal["pre", "post", "none"] = "pre"
    norm_eps: float = 1e-5
    final_norm: bool = True
    residual: bool = True
    dropout: float = 0.0  # on embeddings and on what each sub-layer adds

    activation: str = "gelu_tanh"
    gated: bool = False  # SwiGLU: SiLU and a third matrix
    attention_bias: bool = True
    ffn_bias: bool = True
    scale_scores: bool = True  # scores divided by √d_head
    n_experts: int = 0  # 0: one feed-forward layer; else so many, of which `n_chosen` work on a token
    n_chosen: int = 0

    tied: bool = True  # the output layer is the token table
    scale_logits: bool = False  # the last vector divided by √d_model before the output layer
    pooler: bool = False  # BERT: tanh of a linear layer on the first token
    pretraining_heads: bool = (
        False  # BERT's heads for masked tokens and next sentence, thrown away after training
    )
    objectives: tuple[Objective, ...] = ("causal_lm",)
    sources: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_config(self)

    @property
    def d_head(self) -> int:
        """The width of one head: d_model / n_heads."""
        return self.d_model // self.n_heads

    @property
    def kv_heads(self) -> int:
        """Key-value heads: n_heads unless fewer are shared."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def layers(self) -> int:
        """Blocks in all, of encoder and decoder."""
        return self.encoder_layers + self.decoder_layers

    @property
    def table_length(self) -> int | None:
        """The longest text that can be read at all, where positions are learned; None where nothing ends it.

        RoPE and ALiBi go on beyond the `limit` of their training, for better or worse.
        """
        return self.limit if self.positions == "learned" else None

    @property
    def encoder_mask(self) -> str | None:
        """ "full" (all look at all), or None without an encoder."""
        return "full" if self.encoder_layers else None

    @property
    def decoder_mask(self) -> str | None:
        """ "causal", "banded", "sliding_window", or None without a decoder."""
        if not self.decoder_layers:
            return None
        return "sliding_window" if self.window is not None else "banded" if self.banded else "causal"

    @property
    def block_activation(self) -> str:
        """The activation as `core.block.residual.FeedForward` names it: "swiglu" for a gated one."""
        return "swiglu" if self.gated else self.activation

    @property
    def has_output(self) -> bool:
        """Whether there are logits over the vocabulary. An encoder has them only with its pretraining heads."""
        return self.stack != "encoder" or self.pretraining_heads


def check_config(c: "ModelConfig") -> None:
    """Raise a ValueError that says in a sentence what is wrong and what is allowed."""
    one_of("stack", c.stack, get_args(StackKind))
    one_of("positions", c.positions, get_args(Positions))
    one_of("norm_kind", c.norm_kind, ("layer", "rms"))
    one_of("norm_place", c.norm_place, ("pre", "post", "none"))
    one_of("activation", c.activation, tuple(ACTIVATIONS))
    for objective in c.objectives:
        one_of("objectives", objective, get_args(Objective))
    head_width(c.d_model, c.n_heads, c.n_kv_heads)
    for name in ("vocab", "d_ff", "buckets", "farthest", "limit", "window"):
        if (value := getattr(c, name)) is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    check_stack(c)
    check_positions(c)
    if c.gated and c.activation != "silu":
        raise ValueError(
            f"a gated feed-forward layer here is SwiGLU, whose activation is 'silu', not {c.activation!r}"
        )
    if c.gated and c.ffn_bias:
        raise ValueError("SwiGLU has no biases: set ffn_bias to False")
    if c.n_experts and not 1 <= c.n_chosen <= c.n_experts:
        raise ValueError(f"n_chosen must lie in 1..{c.n_experts}, the number of experts; got {c.n_chosen}")
    if c.n_experts and not c.gated:
        raise ValueError("experts here are SwiGLU layers: set gated to True")
    if not 0 <= c.dropout < 1:
        raise ValueError(f"dropout must be at least 0 and below 1, got {c.dropout}")


def check_stack(c: "ModelConfig") -> None:
    """The parts that a stack names have layers, and the others none."""
    has = {"encoder": "encoder" in c.stack, "decoder": "decoder" in c.stack}
    for part, wanted in has.items():
        layers = getattr(c, f"{part}_layers")
        if layers < 0 or (layers > 0 and not wanted):
            raise ValueError(
                f"{part}_layers must be {'0 or more' if wanted else '0'} in a stack {c.stack!r}, got {layers}"
            )
    if (c.window is not None or c.banded) and c.stack != "decoder":
        raise ValueError("window and banded are for a stack 'decoder' only")
    if c.window is not None and c.banded:
        raise ValueError("a decoder has one window in every layer, or a band in every second one, not both")
    if (c.segments or c.pooler or c.pretraining_heads) and c.stack != "encoder":
        raise ValueError("segments, pooler and pretraining_heads are for a stack 'encoder' only")
    if c.pretraining_heads and not (c.pooler and c.tied):
        raise ValueError(
            "pretraining_heads need the pooler, which the next-sentence head reads, and tied embeddings"
        )


def check_positions(c: "ModelConfig") -> None:
    """Widths and limits that the position scheme needs."""
    if c.positions == "learned" and c.limit is None:
        raise ValueError("learned positions need a limit: the number of rows in their table")
    if c.positions == "sinusoidal" and c.d_model % 2:
        raise ValueError(f"sinusoidal positions come in pairs: d_model must be even, got {c.d_model}")
    if c.positions == "rope" and c.d_head % 2:
        raise ValueError(f"RoPE turns pairs: d_model / n_heads must be even, got {c.d_head}")
    if c.rope_scaling is not None:
        if c.positions != "rope":
            raise ValueError("rope_scaling stretches RoPE: set positions to 'rope'")
        inverse_frequencies(c.d_head, c.rope_base, c.rope_scaling)  # which refuses what does not fit
        attention_factor_of(c.rope_scaling)
    if c.positions == "relative_bias" and (c.buckets < 4 or c.buckets % 4 or c.farthest <= c.buckets // 2):
        raise ValueError("relative_bias needs a multiple of 4 buckets, and farthest above half of them")


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Raise a ValueError unless the value is among those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
