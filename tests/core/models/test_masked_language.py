import pytest
import torch
import torch.nn.functional as F

from core.models.masked_language import IGNORED, count_losses, mask_tokens, next_token_targets

VOCAB, MASK = 1000, 3


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def text(n, seed=1):
    return torch.randint(10, VOCAB, (n,), generator=generator(seed))


def test_shares_are_those_of_the_paper():
    n = 200_000
    trace = mask_tokens(text(n), VOCAB, MASK, generator())
    assert trace.n_losses == 30_000
    shares = [int(x.sum()) / 30_000 for x in (trace.masked, trace.replaced, trace.unchanged)]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.007)  # three standard deviations
    assert torch.equal(trace.masked.int() + trace.replaced.int() + trace.unchanged.int(), trace.chosen.int())
    quarters = trace.chosen.unflatten(0, (4, -1)).double().mean(1)
    assert quarters.tolist() == pytest.approx([0.15] * 4, abs=0.005)  # chosen evenly over the text


def test_what_the_model_sees_and_what_it_is_to_predict():
    tokens = text(5000)
    trace = mask_tokens(tokens, VOCAB, MASK, generator())
    assert (trace.inputs[trace.masked] == MASK).all()
    same = ~(trace.masked | trace.replaced)
    assert torch.equal(trace.inputs[same], tokens[same])
    drawn = trace.inputs[trace.replaced]
    assert (drawn != tokens[trace.replaced]).double().mean() > 0.9
    assert drawn.double().std() == pytest.approx(VOCAB / 12**0.5, rel=0.2)  # uniform over the vocabulary
    assert torch.equal(trace.targets[trace.chosen], tokens[trace.chosen])
    assert (trace.targets[~trace.chosen] == IGNORED).all()
    assert torch.equal(trace.tokens, text(5000))


def test_the_loss_comes_from_the_chosen_positions_alone():
    trace = mask_tokens(text(40), VOCAB, MASK, generator())
    logits = torch.randn(40, VOCAB, generator=generator(), requires_grad=True)
    F.cross_entropy(logits, trace.targets).backward()  # −100 is PyTorch's own sign for "no loss"
    assert torch.equal(logits.grad.abs().sum(-1) > 0, trace.chosen)
    assert count_losses(trace.targets) == trace.n_losses == 6


def test_next_token_training_gets_a_loss_from_every_position_but_the_last():
    tokens = text(40)
    targets = next_token_targets(tokens)
    assert torch.equal(targets[:-1], tokens[1:])
    assert (targets[-1], count_losses(targets)) == (IGNORED, 39)
    assert count_losses(next_token_targets(torch.stack([tokens, tokens]))) == 78


def test_special_tokens_are_never_chosen_and_do_not_count():
    tokens = torch.tensor([1, 50, 51, 52, 2, 53, 54, 2])
    for seed in range(50):
        trace = mask_tokens(tokens, VOCAB, MASK, generator(seed), share=1.0, special=(1, 2))
        assert trace.chosen.tolist() == [False, True, True, True, False, True, True, False]
    assert mask_tokens(tokens, VOCAB, MASK, generator(), share=0.4, special=(1, 2)).n_losses == 2


def test_at_least_one_and_the_same_places_at_a_larger_share():
    assert mask_tokens(text(3), VOCAB, MASK, generator()).n_losses == 1
    few, many = (mask_tokens(text(60), VOCAB, MASK, generator(4), share).chosen for share in (0.15, 0.5))
    assert (few <= many).all()
    assert many.sum() == 30
    again = mask_tokens(text(60), VOCAB, MASK, generator(4), 0.15)
    assert torch.equal(again.chosen, few)
    assert not torch.equal(mask_tokens(text(60), VOCAB, MASK, generator(5), 0.15).chosen, few)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"share": 0.0}, "share must be"),
        ({"share": 1.5}, "share must be"),
        ({"mask_token": VOCAB}, "mask_token must lie"),
        ({"tokens": torch.tensor([1, 1]), "special": (1,)}, "no token can be masked"),
        ({"tokens": torch.tensor([], dtype=torch.long)}, "no token can be masked"),
    ],
)
def test_what_cannot_be_masked_is_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        mask_tokens(
            **{"tokens": text(5), "vocab": VOCAB, "mask_token": MASK, "generator": generator(), **settings}
        )
