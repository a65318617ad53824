from dataclasses import replace

import pytest
import torch

from core.block.frequencies import Scaling
from core.models.configs import PRESETS
from core.models.decoder import Decoder, logit_lens
from tests.core.models import others
from tests.core.models.others import DOUBLE, generator, pair, random_numbers

SMALL = {"d_model": 12, "n_heads": 3, "d_ff": 48, "vocab": 17, "decoder_layers": 3}
T = 7
GPT2 = replace(PRESETS["gpt2-small"], **SMALL, limit=16)
GPT1 = replace(PRESETS["gpt1"], **SMALL, limit=16)
BLOOM = replace(PRESETS["bloom-560m"], **SMALL)
LLAMA = replace(PRESETS["llama2-7b"], **{**SMALL, "n_kv_heads": 1, "d_ff": 20}, limit=16)
MISTRAL = replace(PRESETS["mistral-7b"], **{**SMALL, "n_kv_heads": 3, "d_ff": 20}, limit=16, window=3)
MIXTRAL = replace(
    PRESETS["mixtral-8x7b"], **{**SMALL, "n_kv_heads": 1, "d_ff": 20}, limit=16, n_experts=5, n_chosen=2
)
SMOLLM = replace(PRESETS["smollm2-135m"], **{**SMALL, "n_kv_heads": 3, "d_ff": 20}, limit=16)
RELATIVE = replace(GPT2, name="relative", positions="relative_bias", limit=None)
SINUSOIDAL = replace(GPT2, name="sinusoidal", positions="sinusoidal", limit=None, scale_embeddings=True)
UNORDERED = replace(GPT2, name="none", positions="none", limit=None)
FAMILIES = {
    "gpt2": (GPT2, others.gpt2),
    "gpt1": (GPT1, others.gpt1),
    "bloom": (BLOOM, others.bloom),
    "llama": (LLAMA, others.llama),
    "mistral": (MISTRAL, others.mistral),
    "mixtral": (MIXTRAL, others.mixtral),
    "smollm2": (SMOLLM, others.llama),
}
ALL = (GPT2, GPT1, BLOOM, LLAMA, MISTRAL, MIXTRAL, SMOLLM, RELATIVE, SINUSOIDAL, UNORDERED)


def tokens(*shape, seed=0):
    return torch.randint(SMALL["vocab"], shape, generator=generator(seed))


def ours(config):
    return random_numbers(Decoder(config).double())


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_maps_and_stream_are_hugging_faces(family):
    config, theirs_of = FAMILIES[family]
    model, theirs = pair(config, theirs_of, Decoder)
    x = tokens(2, T)
    trace = model(x)
    expected = theirs(x, output_attentions=True, output_hidden_states=True)
    # Theirs has angles, slopes or a softmax in float32 in these families.
    close = {"rtol": 1e-4, "atol": 1e-4} if family not in ("gpt1", "gpt2") else {}
    torch.testing.assert_close(trace.logits, expected.logits, **close)
    assert len(trace.weights) == config.decoder_layers
    for found, theirs_map in zip(trace.weights, expected.attentions, strict=True):
        torch.testing.assert_close(found, theirs_map.to(DOUBLE), **close)
    for found, theirs_state in zip(trace.states[:-1], expected.hidden_states[:-1], strict=True):
        torch.testing.assert_close(found, theirs_state, **close)
    torch.testing.assert_close(trace.normed, expected.hidden_states[-1], **close)


def test_gradients_are_hugging_faces():
    model, theirs = pair(GPT2, others.gpt2, Decoder)
    x = tokens(2, T)
    model(x).logits.logsumexp(-1).sum().backward()
    theirs(x).logits.logsumexp(-1).sum().backward()
    torch.testing.assert_close(model.embeddings.token.weight.grad, theirs.transformer.wte.weight.grad)
    torch.testing.assert_close(
        model.blocks[0].feed_forward.w1.weight.grad.mT, theirs.transformer.h[0].mlp.c_fc.weight.grad
    )


def test_gradients_through_the_experts_are_hugging_faces_too():
    model, theirs = pair(MIXTRAL, others.mixtral, Decoder)
    x = tokens(2, T)
    model(x).logits.logsumexp(-1).sum().backward()
    theirs(x).logits.logsumexp(-1).sum().backward()
    found, expected = model.blocks[0].feed_forward, theirs.model.layers[0].mlp
    close = {"rtol": 1e-3, "atol": 1e-3}  # their router and angles are in float32
    torch.testing.assert_close(found.router.weight.grad, expected.gate.weight.grad, **close)
    for expert, both in zip(found.experts, expected.experts.gate_up_proj.grad, strict=True):
        torch.testing.assert_close(torch.cat([expert.w1.weight.grad, expert.w3.weight.grad]), both, **close)


def test_an_expert_that_no_token_chose_changes_nothing():
    model, x = ours(MIXTRAL), tokens(2)
    trace = model(x, keep="all")
    chosen = trace.blocks[-1].feed_forward.inner.experts  # [2, 2]: at most 4 of 5
    idle = next(e for e in range(5) if e not in chosen)
    with torch.no_grad():
        model.blocks[-1].feed_forward.experts[idle].w2.weight.zero_()
    assert torch.equal(model(x).logits, trace.logits)
    with torch.no_grad():
        model.blocks[-1].feed_forward.experts[int(chosen[-1, 0])].w2.weight.zero_()
    assert not torch.allclose(model(x).logits, trace.logits)


@pytest.mark.parametrize("config", ALL, ids=lambda c: c.name)
@pytest.mark.parametrize("pieces", [(1,) * T, (4, 3), (1, 5, 1)])
def test_with_a_cache_and_new_tokens_only_the_logits_are_the_same(config, pieces):
    model, x = ours(config), tokens(2, T)
    whole, cache, start = model(x, use_cache=True), None, 0
    assert whole.logits.std() > 0.1
    for n in pieces:
        trace = model(x[:, start : start + n], cache, use_cache=True)
        torch.testing.assert_close(trace.logits, whole.logits[:, start : start + n])
        first = start - (0 if cache is None else cache.held)  # without a window: 0
        torch.testing.assert_close(
            trace.weights[-1], whole.weights[-1][..., start : start + n, first : start + n]
        )
        cache, start = trace.cache, start + n
        assert cache.length == start
        assert cache.held == min(start, (config.window or T + 1) - 1)
    for (k, v), (k_whole, v_whole) in zip(cache.layers, whole.cache.layers, strict=True):
        torch.testing.assert_close(k, k_whole)
        torch.testing.assert_close(v, v_whole)
    assert cache.numbers == 2 * 2 * config.decoder_layers * config.kv_heads * config.d_head * cache.held


@pytest.mark.parametrize("window", [1, 2, 3, 6, 7, 40])
def test_the_cache_holds_no_more_than_the_window_and_no_less_than_hugging_faces(window):
    config = replace(MISTRAL, window=window)
    model, theirs = pair(config, others.mistral, Decoder)
    x, cache, expected = tokens(1, 13), None, None
    close = {"rtol": 1e-4, "atol": 1e-4}  # their angles are in float32
    whole = theirs(x).logits
    for start, end in ((0, 5), (5, 6), (6, 7), (7, 11), (11, 12), (12, 13)):
        trace = model(x[:, start:end], cache, use_cache=True)
        torch.testing.assert_close(trace.logits, whole[:, start:end], **close)
        torch.testing.assert_close(trace.logits, model(x).logits[:, start:end])
        cache = trace.cache
        assert (cache.length, cache.held) == (end, min(end, window - 1))
        if window > 1:  # theirs has no cache that holds nothing
            expected = theirs(x[:, start:end], past_key_values=expected, use_cache=True).past_key_values
            for (k, v), layer in zip(cache.layers, expected.layers, strict=True):
                torch.testing.assert_close(k, layer.keys[:, :, -(window - 1) :], **close)
                torch.testing.assert_close(v, layer.values[:, :, -(window - 1) :], **close)
                assert layer.keys.shape[-2] == cache.held


@pytest.mark.parametrize("config", ALL, ids=lambda c: c.name)
def test_the_future_changes_nothing(config):
    model, x = ours(config), tokens(T)
    changed = x.clone()
    changed[4] = (x[4] + 1) % config.vocab
    before, after = model(x).logits, model(changed).logits
    rounding = (
        1e-12 if config.n_experts else 0
    )  # an expert multiplies all its tokens at once, and now has others
    torch.testing.assert_close(before[:4], after[:4], rtol=0, atol=rounding)
    assert not torch.allclose(before[4:], after[4:])


def test_a_window_hides_what_lies_further_back_and_layers_reach_over_it():
    one = replace(MISTRAL, decoder_layers=1)
    x = tokens(T)
    changed = x.clone()
    changed[0] = (x[0] + 1) % one.vocab
    for config, reached in ((one, 3), (replace(one, decoder_layers=2), 5)):  # L(w − 1) + 1
        model = ours(config)
        difference = (model(x).logits - model(changed).logits).abs().amax(-1)
        assert (difference[:reached] > 1e-9).all()
        assert not difference[reached:].any()


def test_a_text_longer_than_the_learned_table_is_refused_and_other_schemes_go_on():
    with pytest.raises(ValueError, match="learned 16 positions, 17 were"):
        ours(GPT2)(tokens(17))
    cache = ours(GPT2)(tokens(10), use_cache=True).cache
    with pytest.raises(ValueError, match="17 were"):
        ours(GPT2)(tokens(7), cache)
    for config in (BLOOM, LLAMA, SINUSOIDAL):
        assert ours(config)(tokens(17)).logits.isfinite().all()


def test_what_is_not_kept_is_not_there_and_the_logits_are_the_same():
    model, x = ours(GPT2), tokens(T)
    everything, maps, logits = (model(x, keep=keep) for keep in ("all", "maps", "logits"))
    assert torch.equal(everything.logits, logits.logits)
    assert (len(everything.blocks), len(maps.blocks), len(logits.blocks)) == (3, 0, 0)
    assert (len(maps.states), len(maps.weights)) == (4, 3)
    assert (logits.states, logits.weights, logits.embeddings, logits.cache) == ((), (), None, None)
    assert torch.equal(everything.blocks[1].weights, maps.weights[1])
    assert torch.equal(everything.blocks[1].output, maps.states[2])
    last = model(x, last_only=True).logits
    torch.testing.assert_close(last, maps.logits[-1:])


def test_a_head_switched_off_adds_nothing():
    model, x = ours(GPT2), tokens(T)
    heads = torch.ones(3, 3, dtype=DOUBLE)
    assert torch.equal(model(x, head_mask=heads).logits, model(x).logits)
    heads[1, 2] = 0
    found = model(x, head_mask=heads)
    with torch.no_grad():  # the same, done to the weights: its columns of w_o become 0
        model.blocks[1].attention.w_o.weight[:, 8:] = 0
    torch.testing.assert_close(found.logits, model(x).logits)
    assert torch.equal(found.states[1], model(x).states[1])


def test_another_mask_can_be_given():
    model, x = ours(GPT2), tokens(T)
    trace = model(x, mask=torch.ones(T, T, dtype=torch.bool))
    assert (trace.weights[0] > 0).all()
    assert not torch.allclose(trace.logits, model(x).logits)


@pytest.mark.parametrize(
    "scaling",
    [
        Scaling("interpolation", 4.0),
        Scaling("ntk", 4.0),
        Scaling("yarn", 4.0, original_length=64),
        Scaling("longrope", 4.0, original_length=8, factors=(1.0, 1.5, 2.5, 4.0)),
    ],
    ids=lambda s: s.kind,
)
def test_stretched_rope_is_hugging_faces_and_a_cache_changes_nothing(scaling):
    plain = replace(LLAMA, d_model=24, limit=8, rope_base=100.0)
    config = replace(plain, rope_scaling=scaling)
    model, theirs = pair(config, others.llama, Decoder)
    x = tokens(2, 16)
    found = model(x)
    torch.testing.assert_close(found.logits, theirs(x).logits, rtol=1e-4, atol=1e-4)  # their angles: float32
    assert not torch.allclose(found.logits, ours(plain)(x).logits, rtol=1e-2, atol=1e-2)
    cache = model(x[:, :11], use_cache=True).cache
    torch.testing.assert_close(model(x[:, 11:], cache).logits, found.logits[:, 11:])


def test_the_lens_ends_in_the_logits_and_begins_with_the_embeddings():
    model, x = ours(LLAMA), tokens(2, T)
    trace = model(x)
    lens = logit_lens(model, trace.states)
    assert lens.shape == (4, 2, T, 17)
    torch.testing.assert_close(lens[-1], trace.logits)
    shorter = Decoder(replace(LLAMA, decoder_layers=1)).double()  # a model that really ends after one layer
    shorter.load_state_dict(
        {k: v for k, v in model.state_dict().items() if not k.startswith(("blocks.1", "blocks.2"))}
    )
    torch.testing.assert_close(lens[1], shorter(x).logits)


def test_dropout_acts_with_a_generator_only():
    model, x = ours(replace(GPT2, dropout=0.5)), tokens(T)
    assert torch.equal(model(x).logits, ours(GPT2)(x).logits)
    trained = model(x, generator=generator(1))
    assert (trained.embeddings.output == 0).any()
    assert torch.equal(trained.logits, model(x, generator=generator(1)).logits)
    assert not torch.equal(trained.logits, model(x, generator=generator(2)).logits)


def test_dropout_and_residual_of_the_config_reach_every_block():
    model, x = ours(replace(GPT2, dropout=0.5)), tokens(T)
    block = model(x, keep="all", generator=generator(1)).blocks[-1]
    for part in (block.attention, block.feed_forward):
        assert 0.2 < (part.update == 0).double().mean() < 0.8
    cut = ours(replace(GPT2, residual=False))(x, keep="all").blocks[-1]
    assert torch.equal(cut.attention.summed, cut.attention.update)
    assert torch.equal(cut.output, cut.feed_forward.update)


def test_logits_can_be_scaled_as_t5s_are():
    x = tokens(T)
    scaled = ours(replace(GPT2, scale_logits=True))(x).logits
    torch.testing.assert_close(scaled, ours(GPT2)(x).logits / 12**0.5)


def test_the_same_seed_gives_the_same_model_and_touches_nothing_global():
    before = torch.get_rng_state()
    first, again, other = (Decoder.seeded(GPT2, generator(s)) for s in (1, 1, 2))
    assert torch.equal(before, torch.get_rng_state())
    for (name, a), b, c in zip(first.named_parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b), name
        assert torch.equal(a, c) == name.endswith(("gamma", "beta", "bias")), name
    wide = Decoder.seeded(replace(GPT2, vocab=4000, d_model=48), generator())
    assert wide.embeddings.token.weight.std().item() == pytest.approx(0.02, rel=0.01)
    assert wide.blocks[0].feed_forward.w2.weight.std().item() == pytest.approx(0.02 / 6**0.5, rel=0.05)
    wide = Decoder.seeded(replace(GPT2, vocab=4000, d_model=48), generator(), "fan_in")
    assert wide.embeddings.token.weight.std().item() == pytest.approx(48**-0.5, rel=0.01)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Decoder(PRESETS["bert-base"]), "encoder_decoder builds it"),
        (lambda: ours(GPT2)(tokens(T), keep="weights"), "keep must be"),
        (lambda: ours(GPT2)(torch.tensor([17])), "0..16, got 17..17"),
        (lambda: ours(GPT2)(torch.tensor([-1])), "0..16"),
        (lambda: ours(GPT2)(torch.tensor([], dtype=torch.long)), "at least one"),
        (lambda: ours(GPT2)(torch.tensor([1.0])), "whole numbers"),
        (
            lambda: ours(GPT2)(
                tokens(1), ours(replace(GPT2, decoder_layers=1))(tokens(1), use_cache=True).cache
            ),
            "holds 1 layers",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
