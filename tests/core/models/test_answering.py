"""An encoder-decoder writes: the encoder once, then token by token, with a cache and without."""

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from core.cost.generation import encoder_cost, generation_cost, pass_cost
from core.models.configs import PRESETS
from core.models.decoder import Decoder
from core.models.encoder_decoder import EncoderDecoder
from core.models.generation import generate
from tests.core.models import others
from tests.core.models.others import generator, give_weights, random_numbers

SMALL = {
    "d_model": 12,
    "n_heads": 3,
    "d_ff": 20,
    "vocab": 17,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "limit": 16,
}
T5 = replace(PRESETS["t5-base"], **SMALL, buckets=8, farthest=10)
BART = replace(PRESETS["bart-base"], **SMALL)
BASE = replace(PRESETS["transformer-base"], **SMALL, n_kv_heads=1)
ROPE = replace(BASE, name="rope", positions="rope", n_kv_heads=None)
SOURCE = torch.tensor([5, 9, 2, 14, 3, 3, 7])
START = torch.tensor([2])


def told_apart(config, family, seed):
    """A pair without biases in the decoder, which are the same for every token: so that tokens decide what is written."""
    theirs = random_numbers(family(config).double().eval(), seed)
    with torch.no_grad():
        for name, p in theirs.get_decoder().named_parameters():
            if name.endswith(".bias"):
                p.zero_()
    return give_weights(EncoderDecoder(config).double(), theirs, family), theirs


@pytest.mark.parametrize(
    ("config", "family", "seed"), [(T5, others.t5, 3), (BART, others.bart, 5)], ids=["t5", "bart"]
)
@pytest.mark.parametrize("use_cache", [True, False])
def test_greedy_answers_are_hugging_faces(config, family, seed, use_cache):
    model, theirs = told_apart(config, family, seed)
    theirs.generation_config.forced_eos_token_id = None
    expected = theirs.generate(
        SOURCE[None],
        attention_mask=torch.ones(1, len(SOURCE)),
        decoder_start_token_id=int(START),
        max_new_tokens=9,
        do_sample=False,
        num_beams=1,
        use_cache=False,  # theirs expects as many layers in the encoder as in the decoder
        pad_token_id=1,
        eos_token_id=None,
    )
    steps = list(generate(model, START, 9, temperature=0, use_cache=use_cache, source=SOURCE))
    assert [s.token for s in steps] == expected[0, 1:].tolist()
    assert len({s.token for s in steps}) > 2  # seeds whose text is no mere repetition


@pytest.mark.parametrize("config", [T5, BART, BASE, ROPE], ids=lambda c: c.name)
def test_with_and_without_a_cache_the_same_is_drawn_from_what_one_pass_over_all_gives(config):
    model = random_numbers(EncoderDecoder(config).double())
    prompt = torch.tensor([2, 5, 1])
    with_cache, without = (
        list(generate(model, prompt, 7, 2.0, generator=generator(3), use_cache=use, source=SOURCE))
        for use in (True, False)
    )
    for a, b in zip(with_cache, without, strict=True):
        torch.testing.assert_close(a.logits, b.logits)
        assert (a.token, a.draw.number) == (b.token, b.draw.number)
        torch.testing.assert_close(a.logits, model(SOURCE, a.tokens).logits[-1])
    assert len({s.token for s in with_cache}) > 2
    one = 2 * 3 * config.kv_heads * config.d_head  # numbers a token leaves in three layers
    assert [s.cache_numbers for s in with_cache] == [one * (t + len(SOURCE)) for t in range(3, 10)]
    assert {s.cache_numbers for s in without} == {0}


@pytest.mark.parametrize("config", [T5, BART, BASE], ids=lambda c: c.name)
@pytest.mark.parametrize("use_cache", [True, False])
def test_multiply_adds_are_those_that_pytorch_counts_step_by_step(config, use_cache):
    model = random_numbers(EncoderDecoder(config).double())
    writing = generate(model, START, 4, temperature=0, use_cache=use_cache, source=SOURCE)
    costs = []
    for _ in range(4):
        with FlopCounterMode(display=False) as counter:
            costs.append(next(writing).cost)
        assert counter.get_total_flops() == 2 * costs[-1].total
    assert tuple(costs) == generation_cost(config, 1, 4, use_cache, len(SOURCE))
    with FlopCounterMode(display=False) as counter:
        model.encoder(SOURCE)
    assert counter.get_total_flops() == 2 * costs[0].encoder == 2 * encoder_cost(config, len(SOURCE))
    assert not any(c.encoder for c in costs[1:])


def test_the_encoder_runs_once_and_the_sources_keys_are_made_once():
    model = random_numbers(EncoderDecoder(T5).double())
    calls = {"encoder": 0, "keys": 0}

    def count(what):
        return lambda *_: calls.__setitem__(what, calls[what] + 1)

    model.encoder.register_forward_hook(count("encoder"))
    model.decoder.blocks[1].cross.w_k.register_forward_hook(count("keys"))
    list(generate(model, START, 6, temperature=0, source=SOURCE))
    assert calls == {"encoder": 1, "keys": 1}
    list(generate(model, START, 6, temperature=0, source=SOURCE, use_cache=False))
    assert calls == {"encoder": 2, "keys": 7}


def test_maps_of_a_step_are_the_last_rows_of_the_maps_of_all():
    model = random_numbers(EncoderDecoder(T5).double())
    target = torch.tensor([2, 5, 1, 8])
    whole = model(SOURCE, target).decoder
    context = model.encoder(SOURCE).output
    first = model.decoder(target[:3], context=context, use_cache=True)
    last = model.decoder(target[3:], cache=first.cache, use_cache=True)
    for part, rows in (("weights", last.weights), ("cross_weights", last.cross_weights)):
        for found, all_rows in zip(rows, getattr(whole, part), strict=True):
            torch.testing.assert_close(found, all_rows[:, 3:])
    torch.testing.assert_close(last.output, whole.output[3:])
    assert last.cache.length == 4
    assert whole.cache is None


def test_what_cannot_be_written_is_refused_at_once():
    bart = random_numbers(EncoderDecoder(BART).double())
    gpt = Decoder(replace(PRESETS["gpt2-small"], d_model=12, n_heads=3, vocab=17, decoder_layers=1, limit=16))
    for model, source in ((bart, None), (bart, SOURCE[None]), (gpt, SOURCE)):
        with pytest.raises(ValueError, match="needs one source"):
            generate(model, START, 2, source=source)
    with pytest.raises(ValueError, match="reads 16 tokens at most, 17 would"):
        generate(bart, START, 17, source=SOURCE)
    with pytest.raises(ValueError, match="an encoder reads its text once"):
        bart.encoder(SOURCE, use_cache=True)
    with pytest.raises(ValueError, match="lacks the source's keys"):
        bart.decoder(START, cache=gpt(START, use_cache=True).cache)
    for config, source in ((BART, 0), (gpt.config, 3), (BART, -1)):
        with pytest.raises(ValueError, match="source of at least one token"):
            pass_cost(config, 1, source=source)
