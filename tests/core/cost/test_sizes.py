from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from core.block.expert_sizes import MIXTRAL_8X7B, count_mixture
from core.cost.generation import generation_cost, pass_cost
from core.cost.sizes import (
    active_parameters,
    count_parameters,
    forward_flops_per_token,
    kv_cache_bytes_per_token,
)
from core.models.configs import PRESETS, ModelConfig
from core.models.decoder import Decoder
from core.models.encoder_decoder import Encoder, EncoderDecoder
from tests.core.models import others

CLASSES = {"decoder": Decoder, "encoder": Encoder, "encoder-decoder": EncoderDecoder}
PUBLISHED = {
    "transformer-base": 63_045_632,
    "gpt1": 116_534_784,
    "gpt2-small": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
    "gpt3": 174_604_259_328,
    "bert-base": 109_482_240,
    "bert-large": 335_141_888,
    "t5-base": 222_903_552,
    "llama2-7b": 6_738_415_616,
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
    "smollm2-135m": 134_515_008,
}
THEIRS = {
    "gpt1": others.gpt1,
    "gpt2": others.gpt2,
    "gpt3": others.gpt2,
    "bert": others.bert,
    "minilm": others.bert,
    "bart": others.bart,
    "t5": others.t5,
    "bloom": others.bloom,
    "llama": others.llama,
    "llama2": others.llama,
    "llama3": others.llama,
    "mistral": others.mistral,
    "mixtral": others.mixtral,
    "smollm2": others.llama,
}


def numbers(model):
    return sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("name", PUBLISHED)
def test_totals_are_the_published_ones(name):
    assert count_parameters(PRESETS[name]).total == PUBLISHED[name]


@pytest.mark.parametrize("name", PRESETS)
def test_the_count_is_that_of_the_model_as_built_part_by_part(name):
    config = PRESETS[name]
    with torch.device("meta"):
        model = CLASSES[config.stack](config)
    count = count_parameters(config)
    assert count.total == numbers(model)
    inside = {"attention": 0, "ffn": 0, "norms": 0}
    for part, p in model.named_parameters():
        inside["attention"] += p.numel() * (".attention." in part or ".cross." in part)
        inside["ffn"] += p.numel() * (".feed_forward." in part)
        inside["norms"] += p.numel() * ("norm" in part and not part.startswith("heads"))
    assert inside == {"attention": count.attention, "ffn": count.ffn, "norms": count.norms}
    assert count.embeddings + count.head == count.total - sum(inside.values())


@pytest.mark.parametrize("name", [n for n in PRESETS if n.split("-")[0] in THEIRS])
def test_the_count_is_that_of_hugging_faces_model(name):
    config = PRESETS[name]
    with torch.device("meta"):
        theirs = THEIRS[name.split("-")[0]](config)
    assert count_parameters(config).total == numbers(theirs)


def test_berts_pretraining_heads_count_too():
    config = replace(PRESETS["bert-base"], pretraining_heads=True)
    with torch.device("meta"):
        ours, theirs = Encoder(config), others.bert_with_heads(config)
    assert count_parameters(config).total == numbers(ours) == numbers(theirs) == 110_106_428


def test_active_parameters_are_fewer_only_with_experts():
    mixtral = PRESETS["mixtral-8x7b"]
    assert active_parameters(mixtral) == 12_879_925_248 == count_mixture(MIXTRAL_8X7B).active
    for config in PRESETS.values():
        if not config.n_experts:
            assert active_parameters(config) == count_parameters(config).total


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("llama2-7b", 524_288),
        ("llama2-70b", 327_680),
        ("llama3-8b", 131_072),
        ("gpt3", 4_718_592),
        ("bert-base", 0),
    ],
)
def test_the_cache_is_as_large_as_published(name, expected):
    assert kv_cache_bytes_per_token(PRESETS[name]) == expected
    assert kv_cache_bytes_per_token(PRESETS[name], 4) == 2 * expected


def test_the_cache_of_a_model_as_built_has_that_size():
    config = small("llama3-8b")
    trace = Decoder(config)(torch.zeros(11, dtype=torch.long), use_cache=True)
    assert trace.cache.numbers * 2 == 11 * kv_cache_bytes_per_token(config)


# Arithmetic, counted by PyTorch while a small model runs


def small(name):
    config = PRESETS[name]
    kv = None if config.n_kv_heads is None else 2
    layers = {k: 3 if getattr(config, k) else 0 for k in ("encoder_layers", "decoder_layers")}
    limit = None if config.limit is None else 64
    return replace(config, d_model=24, n_heads=4, n_kv_heads=kv, d_ff=40, vocab=50, limit=limit, **layers)


def counted(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


@pytest.mark.parametrize(
    "name", ["gpt2-small", "llama2-7b", "llama3-8b", "mistral-7b", "mixtral-8x7b", "bloom-560m", "gpt1"]
)
@pytest.mark.parametrize("last_only", [False, True])
def test_multiply_adds_of_a_pass_are_those_that_pytorch_counts(name, last_only):
    config = small(name)
    model, x = Decoder(config), torch.zeros(9, dtype=torch.long)
    cache = model(x[:5], use_cache=True).cache
    whole = counted(lambda: model(x, last_only=last_only))
    rest = counted(lambda: model(x[5:], cache, last_only=last_only))
    assert whole == 2 * pass_cost(config, 9, 0, last_only).total
    assert rest == 2 * pass_cost(config, 4, 5, last_only).total
    if not last_only:
        assert whole == 9 * forward_flops_per_token(config, 9)


def test_a_window_leaves_the_pass_after_a_cache_fewer_keys_and_pytorch_counts_them_too():
    config = replace(small("mistral-7b"), window=3)
    model, x = Decoder(config), torch.zeros(9, dtype=torch.long)
    cache = model(x[:6], use_cache=True).cache
    assert counted(lambda: model(x[6:], cache)) == 2 * pass_cost(config, 3, 6, last_only=False).total
    assert cache.numbers * 2 == (3 - 1) * kv_cache_bytes_per_token(config)


@pytest.mark.parametrize("name", ["transformer-base", "bart-base", "t5-base"])
def test_operations_of_an_encoder_decoder_are_those_that_pytorch_counts(name):
    config = small(name)
    model, x = EncoderDecoder(config), torch.zeros(9, dtype=torch.long)
    assert counted(lambda: model(x, x)) == 9 * forward_flops_per_token(config, 9)


def test_operations_of_an_encoder_are_those_that_pytorch_counts():
    x = torch.zeros(9, dtype=torch.long)
    for config in (small("bert-base"), replace(small("bert-base"), pretraining_heads=True)):
        once_a_text = 2 * (24 * 24 + (24 * 2 if config.pretraining_heads else 0))
        found = counted(lambda config=config: Encoder(config)(x))
        assert found == 9 * forward_flops_per_token(config, 9) + once_a_text


def test_operations_are_about_twice_the_parameters_and_experts_count_if_chosen():
    for name in ("llama2-7b", "gpt3", "llama3-8b", "mixtral-8x7b"):
        config = PRESETS[name]
        looked_up = config.vocab * config.d_model * (not config.tied)
        multiplied = active_parameters(config) - looked_up
        assert forward_flops_per_token(config, 1) == pytest.approx(2 * multiplied, rel=2e-3)
        added = forward_flops_per_token(config, 1001) - forward_flops_per_token(config, 1)
        assert added == 4 * config.layers * 1000 * config.d_model


def test_writing_with_a_cache_reads_every_token_once():
    config = small("gpt2-small")
    with_cache, without = (generation_cost(config, 6, 4, use) for use in (True, False))
    assert [(c.new, c.past) for c in with_cache] == [(6, 0), (1, 6), (1, 7), (1, 8)]
    assert [(c.new, c.past) for c in without] == [(6, 0), (7, 0), (8, 0), (9, 0)]
    assert with_cache[0] == without[0]
    assert all(a.total < b.total for a, b in zip(with_cache[1:], without[1:], strict=True))
    assert generation_cost(config, 6, 0) == generation_cost(config, 6, 0, False) == ()


@pytest.mark.parametrize(
    "call",
    [
        lambda: forward_flops_per_token(PRESETS["gpt1"], 0),
        lambda: pass_cost(PRESETS["gpt1"], 0),
        lambda: pass_cost(PRESETS["gpt1"], 1, -1),
        lambda: pass_cost(PRESETS["bert-base"], 1),
    ],
)
def test_what_cannot_be_counted_is_refused(call):
    with pytest.raises(ValueError, match=r"at least (1|one)"):
        call()


@st.composite
def configs(draw):
    """Any description that can be built, small."""
    stack = draw(st.sampled_from(["decoder", "encoder", "encoder-decoder"]))
    heads, gated, pooler = draw(st.sampled_from([1, 2, 4])), draw(st.booleans()), draw(st.booleans())
    pooler = pooler and stack == "encoder"
    tied, experts = draw(st.booleans()), draw(st.sampled_from([0, 3])) if gated else 0
    return ModelConfig(
        name="any",
        year=2026,
        stack=stack,
        encoder_layers=draw(st.integers(0, 2)) if "encoder" in stack else 0,
        decoder_layers=draw(st.integers(0, 2)) if "decoder" in stack else 0,
        d_model=8 * heads,
        n_heads=heads,
        n_kv_heads=draw(st.sampled_from([None, 1, heads])),
        d_ff=draw(st.integers(1, 20)),
        vocab=draw(st.integers(1, 30)),
        positions=draw(st.sampled_from(["none", "sinusoidal", "learned", "rope", "alibi", "relative_bias"])),
        limit=draw(st.integers(5, 20)),
        unused_rows=draw(st.integers(0, 2)),
        buckets=8,
        segments=draw(st.integers(0, 2)) if stack == "encoder" else 0,
        embedding_norm=draw(st.booleans()),
        norm_kind=draw(st.sampled_from(["layer", "rms"])),
        norm_place=draw(st.sampled_from(["pre", "post", "none"])),
        final_norm=draw(st.booleans()),
        activation="silu" if gated else "relu",
        gated=gated,
        attention_bias=draw(st.booleans()),
        ffn_bias=draw(st.booleans()) and not gated,
        n_experts=experts,
        n_chosen=draw(st.integers(1, experts)) if experts else 0,
        tied=tied,
        pooler=pooler,
        pretraining_heads=pooler and tied and draw(st.booleans()),
    )


@given(configs())
def test_whatever_is_described_can_be_built_has_the_parameters_counted_and_runs(config):
    model = CLASSES[config.stack].seeded(config, torch.Generator().manual_seed(0))
    assert count_parameters(config).total == numbers(model)
    x = torch.zeros(2, 5, dtype=torch.long)
    flops = counted(lambda: model(x, x) if config.stack == "encoder-decoder" else model(x))
    d = config.d_model
    once_a_text = 2 * 2 * d * (d * config.pooler + 2 * config.pretraining_heads)
    assert flops == 2 * 5 * forward_flops_per_token(config, 5) + once_a_text
