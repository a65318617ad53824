from dataclasses import replace

import pytest
import torch

from core.cost.generation import generation_cost
from core.models.configs import PRESETS
from core.models.decoder import Decoder
from core.models.generation import generate
from tests.core.models import others
from tests.core.models.others import generator, pair, random_numbers

SMALL = {"d_model": 12, "n_heads": 3, "d_ff": 48, "vocab": 17, "decoder_layers": 2, "limit": 16}
GPT2 = replace(PRESETS["gpt2-small"], **SMALL)
LLAMA = replace(PRESETS["llama2-7b"], **SMALL)
PROMPT = torch.tensor([3, 1, 4, 1])


def greedy_of(theirs, n: int) -> list[int]:
    """The n tokens that Hugging Face's model finds likeliest after PROMPT, one by one."""
    whole = theirs.generate(
        PROMPT[None],
        attention_mask=torch.ones(1, 4),
        max_new_tokens=n,
        do_sample=False,
        pad_token_id=0,
        eos_token_id=None,
    )
    return whole[0, 4:].tolist()


@pytest.mark.parametrize(
    ("config", "family", "seed"), [(GPT2, others.gpt2, 6), (LLAMA, others.llama, 7)], ids=["gpt2", "llama"]
)
@pytest.mark.parametrize("use_cache", [True, False])
def test_greedy_text_is_hugging_faces(config, family, seed, use_cache):
    model, theirs = pair(config, family, Decoder, seed)  # a seed whose text is no mere repetition
    expected = greedy_of(theirs, 9)
    steps = list(generate(model, PROMPT, 9, temperature=0, use_cache=use_cache))
    assert [s.token for s in steps] == expected
    assert len({s.token for s in steps}) > 2


def test_with_and_without_a_cache_each_step_is_the_same_but_for_its_cost():
    model = random_numbers(Decoder(LLAMA).double())
    with_cache, without = (
        list(generate(model, PROMPT, 8, 1.5, top_p=0.95, generator=generator(3), use_cache=use))
        for use in (True, False)
    )
    for a, b in zip(with_cache, without, strict=True):
        torch.testing.assert_close(a.logits, b.logits)
        torch.testing.assert_close(a.distribution.probabilities, b.distribution.probabilities)
        assert (a.token, a.draw.number) == (b.token, b.draw.number)
        assert torch.equal(a.tokens, b.tokens)
    assert tuple(s.cost for s in with_cache) == generation_cost(LLAMA, 4, 8)
    assert tuple(s.cost for s in without) == generation_cost(LLAMA, 4, 8, use_cache=False)
    assert [s.cache_numbers for s in with_cache] == [2 * 2 * 12 * t for t in range(4, 12)]
    assert {s.cache_numbers for s in without} == {0}
    assert len({s.token for s in with_cache}) > 2


def test_a_window_bounds_the_cache_and_changes_no_word():
    config = replace(PRESETS["mistral-7b"], **SMALL, n_kv_heads=1, window=4)
    model, theirs = pair(config, others.mistral, Decoder, 7)
    steps, without = (list(generate(model, PROMPT, 9, temperature=0, use_cache=use)) for use in (True, False))
    expected = greedy_of(theirs, 9)
    assert [s.token for s in steps] == [s.token for s in without] == expected
    for a, b in zip(steps, without, strict=True):
        torch.testing.assert_close(a.logits, b.logits)
    assert {s.cache_numbers for s in steps} == {2 * 2 * config.d_head * 3}
    # Every further token costs the same, however long the text.
    assert len({s.cost.maps for s in steps[1:]}) == 1


def test_each_step_holds_the_text_before_it_and_the_logits_of_its_last_token():
    model = random_numbers(Decoder(GPT2).double())
    text = PROMPT.tolist()
    for step in generate(model, PROMPT, 5, generator=generator(1)):
        assert step.tokens.tolist() == text
        torch.testing.assert_close(step.logits, model(step.tokens).logits[-1])
        assert step.distribution.kept[step.token]
        text.append(step.token)
    assert PROMPT.tolist() == [3, 1, 4, 1]


def test_the_same_seed_writes_the_same_and_another_does_not():
    model = random_numbers(Decoder(GPT2).double())
    texts = [
        [s.token for s in generate(model, PROMPT, 9, 3.0, generator=generator(seed))] for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_a_stop_token_is_the_last_and_no_new_tokens_are_none():
    model = random_numbers(Decoder(GPT2).double())
    free = [s.token for s in generate(model, PROMPT, 9, 3.0, generator=generator(1))]
    stopped = [s.token for s in generate(model, PROMPT, 9, 3.0, generator=generator(1), stop={free[3]})]
    assert stopped == free[: free.index(free[3]) + 1]
    assert list(generate(model, PROMPT, 0)) == []


def test_the_limit_is_filled_but_not_passed_and_that_is_said_at_once():
    model = random_numbers(Decoder(GPT2).double())
    assert len(list(generate(model, PROMPT, 13, temperature=0))) == 13  # 16 read, the 17th only written
    with pytest.raises(ValueError, match="reads 16 tokens at most, 17 would"):
        generate(model, PROMPT, 14, temperature=0)
    llama = random_numbers(Decoder(LLAMA).double())
    assert len(list(generate(llama, PROMPT, 20, temperature=0))) == 20  # RoPE goes on beyond its training
    with pytest.raises(ValueError, match="one text"):
        generate(model, PROMPT[None], 1)
    with pytest.raises(ValueError, match="needs a generator"):
        list(generate(model, PROMPT, 1))
