import tomllib
from dataclasses import FrozenInstanceError, replace

import pytest
from transformers import BartConfig, BertConfig, GPT2Config, LlamaConfig, OpenAIGPTConfig, T5Config

from core.block.frequencies import Scaling
from core.models.configs import PRESETS, ModelConfig

GPT2, BERT, T5, LLAMA = (PRESETS[n] for n in ("gpt2-small", "bert-base", "t5-base", "llama2-7b"))


def test_every_preset_is_under_its_own_name_and_frozen():
    assert all(name == config.name for name, config in PRESETS.items())
    with pytest.raises(FrozenInstanceError):
        GPT2.d_model = 1


def test_every_source_is_in_the_bibliography(root):
    known = tomllib.loads((root / "assets/content/sources.toml").read_text(encoding="utf-8"))
    for config in PRESETS.values():
        assert config.sources
        assert set(config.sources) <= set(known), config.name


# layers, d_model, heads, key-value heads, d_ff, limit, vocabulary, as published
TABLE = {
    "transformer-base": (12, 512, 8, 8, 2048, None, 37000),
    "gpt1": (12, 768, 12, 12, 3072, 512, 40478),
    "gpt2-small": (12, 768, 12, 12, 3072, 1024, 50257),
    "gpt2-xl": (48, 1600, 25, 25, 6400, 1024, 50257),
    "gpt3": (96, 12288, 96, 96, 49152, 2048, 50257),
    "bert-base": (12, 768, 12, 12, 3072, 512, 30522),
    "t5-base": (24, 768, 12, 12, 3072, 512, 32128),
    "llama2-7b": (32, 4096, 32, 32, 11008, 4096, 32000),
    "llama2-70b": (80, 8192, 64, 8, 28672, 4096, 32000),
    "llama3-8b": (32, 4096, 32, 8, 14336, 8192, 128256),
    "mistral-7b": (32, 4096, 32, 8, 14336, 8192, 32000),
    "smollm2-135m": (30, 576, 9, 3, 1536, 8192, 49152),
}


@pytest.mark.parametrize("name", TABLE)
def test_sizes_are_the_published_ones(name):
    c = PRESETS[name]
    assert (c.layers, c.d_model, c.n_heads, c.kv_heads, c.d_ff, c.limit, c.vocab) == TABLE[name]


def test_sizes_are_the_defaults_of_hugging_faces_configurations():
    """Which are those of the model that gave each family its name there; attribute_map names sizes alike."""
    for name, theirs in {
        "gpt1": OpenAIGPTConfig(),
        "gpt2-small": GPT2Config(),
        "bert-base": BertConfig(),
        "bart-large": BartConfig(),
        "t5-small": T5Config(),
        "llama-7b": LlamaConfig(),
    }.items():
        c, own = PRESETS[name], theirs.to_dict()
        assert theirs.hidden_size == c.d_model
        assert theirs.num_hidden_layers == (c.decoder_layers or c.encoder_layers)
        assert theirs.num_attention_heads == c.n_heads
        assert theirs.vocab_size == c.vocab
        eps = {"layer_norm_epsilon", "layer_norm_eps", "rms_norm_eps"} & set(own)
        assert [own[key] for key in eps] in ([c.norm_eps], [])
        dropout = {"resid_pdrop", "hidden_dropout_prob", "dropout", "dropout_rate"} & set(own)
        assert [own[key] for key in dropout] in ([c.dropout], [])
        if name != "t5-small":  # whose configuration names no length
            assert theirs.max_position_embeddings == c.limit
    assert T5Config().relative_attention_num_buckets == T5.buckets
    assert T5Config().relative_attention_max_distance == T5.farthest


def test_rope_turns_as_fast_as_published():
    names = ("llama-7b", "llama2-70b", "llama3-8b", "mistral-7b", "mixtral-8x7b", "smollm2-135m")
    assert [PRESETS[n].rope_base for n in names] == [1e4, 1e4, 5e5, 1e4, 1e6, 1e5]
    assert [PRESETS[n].norm_eps for n in names] == [1e-6, *[1e-5] * 5]


def test_what_sets_the_families_apart():
    assert [PRESETS[n].norm_place for n in ("transformer-base", "gpt1", "gpt2-small")] == [
        "post",
        "post",
        "pre",
    ]
    assert {n for n, c in PRESETS.items() if c.positions == "rope"} == {
        "llama-7b", "llama2-7b", "llama2-70b", "llama3-8b", "mistral-7b", "mixtral-8x7b", "smollm2-135m"
    }  # fmt: skip
    assert (GPT2.positions, GPT2.decoder_mask, GPT2.encoder_mask) == ("learned", "causal", None)
    assert (BERT.decoder_mask, BERT.encoder_mask, BERT.objectives) == (None, "full", ("mlm", "nsp"))
    # Context of training: T5 section 3.1.2 (512), BLOOM table 3 (2048); neither has a table that ends there.
    assert [PRESETS[n].limit for n in ("t5-small", "t5-base", "bloom-560m", "transformer-base")] == [
        512,
        512,
        2048,
        None,
    ]
    assert (T5.decoder_mask, T5.encoder_mask, T5.scale_scores) == ("causal", "full", False)
    assert (PRESETS["mistral-7b"].decoder_mask, PRESETS["mistral-7b"].window) == ("sliding_window", 4096)
    # Brown et al. 2020, section 2.1: "alternating dense and locally banded sparse attention patterns"
    assert {n for n, c in PRESETS.items() if c.decoder_mask == "banded"} == {"gpt3"}
    assert {c.d_head for c in PRESETS.values()} == {32, 64, 128}
    assert (LLAMA.block_activation, T5.block_activation) == ("swiglu", "relu")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_heads": 5}, "n_heads must divide"),
        ({"n_kv_heads": 5}, "n_kv_heads must divide"),
        ({"stack": "tower"}, "stack must be one of decoder, encoder, encoder-decoder"),
        ({"positions": "absolute"}, "positions must be one of none, sinusoidal"),
        ({"norm_kind": "batch"}, "norm_kind must be"),
        ({"norm_place": "middle"}, "norm_place must be"),
        ({"activation": "tanh"}, "activation must be"),
        ({"objectives": ("chess",)}, "objectives must be"),
        ({"vocab": 0}, "vocab must be at least 1"),
        ({"window": 0}, "window must be at least 1"),
        ({"limit": None}, "learned positions need a limit"),
        ({"encoder_layers": 2}, "encoder_layers must be 0 in a stack 'decoder'"),
        ({"decoder_layers": -1}, "decoder_layers must be 0 or more"),
        ({"gated": True}, "SwiGLU, whose activation is 'silu'"),
        ({"gated": True, "activation": "silu"}, "no biases"),
        ({"pooler": True}, "'encoder' only"),
        ({"segments": 2}, "'encoder' only"),
        ({"n_experts": 4}, r"n_chosen must lie in 1\.\.4"),
        ({"n_experts": 4, "n_chosen": 2}, "experts here are SwiGLU layers"),
        ({"rope_scaling": Scaling("ntk", 2.0)}, "set positions to 'rope'"),
        ({"positions": "rope", "rope_scaling": Scaling("yarn", 2.0)}, "needs the trained length"),
        ({"positions": "rope", "rope_scaling": Scaling("ntk", 0.5)}, "factor must be at least 1"),
        (
            {"positions": "rope", "rope_scaling": Scaling("longrope", 2.0, factors=(1.0,))},
            "positive factors are needed",
        ),
        ({"dropout": 1.0}, "dropout must be"),
        ({"d_model": 15, "n_heads": 3, "positions": "sinusoidal"}, "d_model must be even"),
        ({"d_model": 15, "n_heads": 3, "positions": "rope"}, "must be even"),
        ({"positions": "relative_bias", "buckets": 6}, "multiple of 4 buckets"),
        ({"positions": "relative_bias", "farthest": 16}, "farthest above half"),
    ],
)
def test_what_cannot_be_built_is_refused_in_a_sentence(change, words):
    with pytest.raises(ValueError, match=words):
        replace(GPT2, **change)


def test_parts_of_other_stacks_are_refused():
    for change in ({"window": 4}, {"banded": True}):
        with pytest.raises(ValueError, match="window and banded are for a stack 'decoder' only"):
            replace(BERT, **change)
    with pytest.raises(ValueError, match="not both"):
        replace(GPT2, window=4, banded=True)
    with pytest.raises(ValueError, match="need the pooler"):
        replace(BERT, pooler=False, pretraining_heads=True)


def test_a_model_of_ones_own_needs_few_words():
    own = ModelConfig("tiny", 2026, 16, 2, 64, 100, decoder_layers=2, limit=32)
    assert (own.d_head, own.kv_heads, own.layers, own.has_output) == (8, 2, 2, True)


def test_only_a_learned_table_ends():
    ends = {name for name, config in PRESETS.items() if config.table_length is not None}
    assert ends == {n for n in PRESETS if n.startswith(("gpt", "bert", "minilm", "bart"))}
