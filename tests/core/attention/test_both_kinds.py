import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from core.attention.both_kinds import both_kinds, largest_additive_score, toy_additive
from core.attention.masks import padding


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_two_kinds_are_what_pytorch_and_the_joined_vectors_give():
    q, k, v = drawn(3, 4), drawn(5, 4, seed=1), drawn(5, 2, seed=2)
    mask = padding([4], 5)[0].expand(3, 5)
    learned = toy_additive(7, 4, 6)
    both = both_kinds(q, k, v, learned, mask)
    torch.testing.assert_close(both.dot.output, scaled_dot_product_attention(q, k, v, attn_mask=mask))
    joined = torch.cat([q[:, None].expand(3, 5, 4), k[None].expand(3, 5, 4)], -1)  # [3, 5, 8]
    scores = torch.tanh(joined @ torch.cat([learned.w_q, learned.w_k])) @ learned.v
    additive = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    torch.testing.assert_close(both.additive.weights, additive)
    torch.testing.assert_close(both.difference, additive - both.dot.weights)
    assert both.difference[:, -1].eq(0).all()  # hidden from both
    assert both.additive.scores.abs().max() <= largest_additive_score(learned)


def test_a_wider_additive_attention_keeps_the_numbers_it_had():
    narrow, wide = toy_additive(3, 4, 5), toy_additive(3, 16, 8)
    torch.testing.assert_close(wide.w_q[:4, :5] * 2, narrow.w_q)  # √(16/4)
    torch.testing.assert_close(wide.v[:5] * (8 / 5) ** 0.5, narrow.v)
    assert not torch.equal(toy_additive(4, 4, 5).v, narrow.v)


def test_untrained_projections_keep_the_variance():
    query = drawn(400, 8)
    learned = [toy_additive(seed, 8, 64) for seed in range(20)]
    variance = torch.stack([(query @ w.w_q).var() for w in learned]).mean()
    assert 0.8 < variance < 1.2
    assert 0.8 < torch.stack([(w.v**2).sum() for w in learned]).mean() < 1.2


@pytest.mark.parametrize(("d_k", "d_a"), [(0, 4), (65, 4), (4, 0), (4, 65)])
def test_widths_outside_are_refused(d_k, d_a):
    with pytest.raises(ValueError, match=r"1\.\.64"):
        toy_additive(1, d_k, d_a)
