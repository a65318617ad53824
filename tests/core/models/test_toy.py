import pytest
import torch

from core.models.toy import TOY, train_toy


@pytest.mark.parametrize("seed", range(5))
def test_the_kitten_eats_fish_in_both_languages(seed):
    toy = train_toy(seed)
    for prompt, answer in (("小猫爱吃", "鱼"), ("the kitten eats", "fish")):
        logits = toy.model(toy.encode(prompt)[None], last_only=True).logits[0, -1]  # [V]
        likeliest = logits.softmax(-1).topk(2)
        assert toy.vocabulary[likeliest.indices[0]] == answer
        assert likeliest.values[0] > 0.7
        assert likeliest.values[1] < 0.15


def test_a_seed_gives_the_same_weights_and_another_gives_others():
    before = torch.get_rng_state()
    first, again, other = (train_toy(seed, steps=5) for seed in (0, 0, 1))
    for a, b in zip(first.model.state_dict().values(), again.model.state_dict().values(), strict=True):
        assert torch.equal(a, b)
    assert first.losses == again.losses != other.losses
    assert torch.equal(torch.get_rng_state(), before)  # nothing global was drawn from


def test_it_is_small_enough_to_keep():
    toy = train_toy(steps=1)
    assert sum(p.numel() * 4 for p in toy.model.parameters()) < 400_000  # bytes
    assert not any(p.requires_grad for p in toy.model.parameters())
    assert toy.model.config.decoder_layers == TOY.layers == 2


def test_tokens_that_it_does_not_know_are_named():
    toy = train_toy(steps=1)
    assert toy.unknown("小猫爱吃披萨和the龙") == ("披", "萨", "龙")
    with pytest.raises(KeyError, match="披, 萨"):
        toy.encode("小猫爱吃披萨")


def test_every_step_is_told():
    told = []
    toy = train_toy(steps=7, watch=lambda step, loss: told.append((step, loss)))
    assert [step for step, _ in told] == list(range(1, 8))
    assert tuple(loss for _, loss in told) == toy.losses
