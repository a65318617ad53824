import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from core.attention.masks import padding
from core.models.configs import PRESETS
from core.models.encoder_decoder import Encoder, EncoderDecoder
from tests.core.models import others
from tests.core.models.others import DOUBLE, generator, pair, random_numbers

SMALL = {"d_model": 12, "n_heads": 3, "d_ff": 20, "vocab": 17}
BOTH = {**SMALL, "encoder_layers": 2, "decoder_layers": 3}
BERT = replace(PRESETS["bert-base"], **SMALL, encoder_layers=3, limit=16)
WITH_HEADS = replace(BERT, pretraining_heads=True)
BART = replace(PRESETS["bart-base"], **BOTH, limit=16)
T5 = replace(PRESETS["t5-base"], **BOTH, buckets=8, farthest=10)
BASE = replace(PRESETS["transformer-base"], **BOTH)
LENGTHS = (9, 4)
S, T = 9, 6


def tokens(*shape, seed=0):
    return torch.randint(2, SMALL["vocab"], shape, generator=generator(seed))


def real():
    """1 where a token is real, as Hugging Face wants it."""
    return (torch.arange(S) < torch.tensor(LENGTHS)[:, None]).long()


def same_maps(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs)


# Encoder


def test_the_encoder_is_hugging_faces_bert():
    model, theirs = pair(BERT, others.bert, Encoder)
    x, segments = tokens(2, S), torch.tensor([[0] * 4 + [1] * 5] * 2)
    trace = model(x, padding(LENGTHS, S), segments)
    expected = theirs(x, real(), segments, output_attentions=True, output_hidden_states=True)
    torch.testing.assert_close(trace.side.output, expected.last_hidden_state)
    torch.testing.assert_close(trace.pooled, expected.pooler_output)
    same_maps(trace.side.weights, expected.attentions)
    same_maps(trace.side.states, expected.hidden_states)
    assert trace.logits is None
    plain = model(x)
    torch.testing.assert_close(plain.side.output, theirs(x).last_hidden_state)
    assert not torch.allclose(plain.side.output, trace.side.output)


def test_its_pretraining_heads_are_hugging_faces():
    model, theirs = pair(WITH_HEADS, others.bert_with_heads, Encoder)
    x = tokens(2, S)
    trace, expected = model(x), theirs(x)
    torch.testing.assert_close(trace.logits, expected.prediction_logits)
    torch.testing.assert_close(trace.next_sentence, expected.seq_relationship_logits)


def test_every_token_sees_every_other_but_no_padding():
    model = random_numbers(Encoder(BERT).double())
    x = tokens(2, S)
    changed = x.clone()
    changed[:, -1] = (x[:, -1] + 1) % 17
    mask = padding(LENGTHS, S)
    difference = (model(x, mask).side.output - model(changed, mask).side.output).abs().amax(-1)
    assert (difference[0] > 1e-6).all()
    assert not difference[1, : LENGTHS[1]].any()


def test_a_head_of_the_encoder_can_be_switched_off():
    model, heads = random_numbers(Encoder(BERT).double()), torch.ones(3, 3, dtype=DOUBLE)
    heads[1, 0] = 0
    x = tokens(S)
    found = model(x, head_mask=heads).side.output
    with torch.no_grad():
        model.side.blocks[1].attention.w_o.weight[:, :4] = 0
    torch.testing.assert_close(found, model(x).side.output)


# Encoder and decoder


@pytest.mark.parametrize(("config", "family"), [(BART, others.bart), (T5, others.t5)], ids=["bart", "t5"])
def test_the_encoder_decoder_is_hugging_faces(config, family):
    model, theirs = pair(config, family, EncoderDecoder)
    source, target = tokens(2, S), tokens(2, T, seed=1)
    trace = model(source, target, padding(LENGTHS, S))
    expected = theirs(
        input_ids=source,
        attention_mask=real(),
        decoder_input_ids=target,
        output_attentions=True,
        output_hidden_states=True,
    )
    torch.testing.assert_close(trace.logits, expected.logits)
    torch.testing.assert_close(trace.encoder.output, expected.encoder_last_hidden_state)
    same_maps(trace.encoder.weights, expected.encoder_attentions)
    same_maps(trace.decoder.weights, expected.decoder_attentions)
    same_maps(trace.decoder.cross_weights, expected.cross_attentions)
    assert trace.decoder.cross_weights[0].shape == (2, 3, T, S)
    assert not trace.decoder.cross_weights[0][1, :, :, LENGTHS[1] :].any()


def test_the_transformer_of_2017_is_pytorchs():
    config = replace(
        BASE, n_heads=4, attention_bias=True, final_norm=True
    )  # which PyTorch's has, and the paper has not
    model = random_numbers(EncoderDecoder(config).double())
    theirs = nn.Transformer(12, 4, 2, 3, 20, dropout=0.0, batch_first=True, dtype=DOUBLE).train()
    theirs.load_state_dict(pytorchs_names(model))
    source, target = tokens(2, S), tokens(2, T, seed=1)

    def embed(x):
        t, i = torch.arange(x.shape[1], dtype=DOUBLE)[:, None], torch.arange(0, 12, 2, dtype=DOUBLE)
        angles = t / 10000 ** (i / 12)
        places = torch.empty(x.shape[1], 12, dtype=DOUBLE)
        places[:, 0::2], places[:, 1::2] = angles.sin(), angles.cos()
        return model.encoder.embeddings.token.weight[x] * math.sqrt(12) + places

    hidden = real() == 0  # PyTorch: True = blocked
    output = theirs(
        embed(source),
        embed(target),
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(T, dtype=DOUBLE),
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
    )
    expected = output @ model.encoder.embeddings.token.weight.T
    found = model(source, target, padding(LENGTHS, S))
    torch.testing.assert_close(found.logits, expected)


def pytorchs_names(model):
    """The state of nn.Transformer with our weights."""
    state = {}
    for side, decoder in (("encoder", False), ("decoder", True)):
        part = getattr(model, side)
        for i, block in enumerate(part.blocks):
            at = f"{side}.layers.{i}."
            attentions = {"self_attn": block.attention} | ({"multihead_attn": block.cross} if decoder else {})
            norms = [block.norm1, block.norm_cross, block.norm2] if decoder else [block.norm1, block.norm2]
            for name, a in attentions.items():
                for kind in ("weight", "bias"):
                    qkv = [getattr(w, kind) for w in (a.w_q, a.w_k, a.w_v)]
                    state[f"{at}{name}.in_proj_{kind}"] = torch.cat(qkv)
                    state[f"{at}{name}.out_proj.{kind}"] = getattr(a.w_o, kind)
            for n, linear in enumerate((block.feed_forward.w1, block.feed_forward.w2), 1):
                state |= {f"{at}linear{n}.weight": linear.weight, f"{at}linear{n}.bias": linear.bias}
            for n, norm in enumerate(norms, 1):
                state |= {f"{at}norm{n}.weight": norm.gamma, f"{at}norm{n}.bias": norm.beta}
        state |= {f"{side}.norm.weight": part.final_norm.gamma, f"{side}.norm.bias": part.final_norm.beta}
    return state


def test_padding_of_the_target_is_hidden_too():
    model = random_numbers(EncoderDecoder(BASE).double())
    source, target = tokens(2, S), tokens(2, T, seed=1)
    # Padding at the front, so that the causal mask alone would not hide it.
    mask = padding([4, 4], T).flip(-1)
    changed = target.clone()
    changed[:, 0] = (target[:, 0] + 1) % 17
    before, after = (model(source, x, target_mask=mask).logits for x in (target, changed))
    torch.testing.assert_close(before[:, 2:], after[:, 2:], rtol=0, atol=0)
    assert not torch.allclose(model(source, target).logits[:, 2:], before[:, 2:])


def test_the_tables_are_shared_and_the_rest_is_not():
    for config in (BASE, BART, T5):
        model = EncoderDecoder(config)
        assert model.encoder.embeddings.token is model.decoder.embeddings.token
        seeded = EncoderDecoder.seeded(config, generator(1))
        assert seeded.encoder.embeddings.token.weight is seeded.decoder.embeddings.token.weight
        assert all(p.isfinite().all() for p in seeded.parameters())
        again = EncoderDecoder.seeded(config, generator(1))
        assert all(torch.equal(a, b) for a, b in zip(seeded.parameters(), again.parameters(), strict=True))
    model = EncoderDecoder(T5)
    assert model.encoder.relative.table is not model.decoder.relative.table
    assert not Encoder.seeded(WITH_HEADS, generator()).heads.bias.any()


def test_what_is_not_kept_is_not_there():
    model, source, target = random_numbers(EncoderDecoder(BASE).double()), tokens(S), tokens(T)
    traces = {keep: model(source, target, keep=keep) for keep in ("logits", "maps", "all")}
    assert torch.equal(traces["logits"].logits, traces["all"].logits)
    sizes = {
        k: (len(t.decoder.blocks), len(t.decoder.states), len(t.decoder.cross_weights))
        for k, t in traces.items()
    }
    assert sizes == {"logits": (0, 0, 0), "maps": (0, 4, 3), "all": (3, 4, 3)}
    assert torch.equal(
        traces["all"].decoder.blocks[1].cross.inner.weights, traces["maps"].decoder.cross_weights[1]
    )


def test_dropout_acts_with_a_generator_only():
    half = replace(BASE, dropout=0.5)
    model, source, target = random_numbers(EncoderDecoder(half).double()), tokens(S), tokens(T)
    first, again = (model(source, target, generator=generator(s)).logits for s in (1, 1))
    assert torch.equal(first, again)
    assert not torch.allclose(first, model(source, target).logits)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Encoder(BART), "this builds an 'encoder'"),
        (lambda: EncoderDecoder(BERT), "this builds an 'encoder-decoder'"),
        (lambda: Encoder(BERT)(tokens(S), keep="some"), "keep must be"),
        (lambda: Encoder(BERT)(tokens(17)), "learned 16 positions, 17"),
        (lambda: Encoder(BERT)(tokens(S), segments=torch.full((S,), 2)), "segments must lie in 0..1, got 2"),
        (lambda: Encoder(replace(BERT, segments=0))(tokens(S), segments=tokens(S)), "has no segments"),
    ],
)
def test_what_cannot_be_built_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
