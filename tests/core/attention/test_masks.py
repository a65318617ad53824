import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from core.attention import masks

lengths = st.integers(1, 14)
small = st.integers(1, 6)
modest = settings(max_examples=30, deadline=None)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def by_position(t, may_attend):
    """The mask that a rule for one query i and one key j gives, asked position by position."""
    return torch.tensor([[bool(may_attend(i, j)) for j in range(t)] for i in range(t)]).reshape(t, t)


def picture(text):
    return torch.tensor([[c == "#" for c in line] for line in text.split()])


# Hand-written


HAND_WRITTEN = [
    (masks.causal(3), "#.. ##. ###"),
    (masks.prefix_lm(4, 2), "##.. ##.. ###. ####"),
    (masks.sliding_window(5, 2), "#.... ##... .##.. ..##. ...##"),
    (masks.sliding_window(5, 3, causal=False), "##... ###.. .###. ..### ...##"),
    (masks.dilated(5, 2, 2), "#.... .#... #.#.. .#.#. ..#.#"),
    (masks.dilated(5, 3, 2, causal=False), "#.#.. .#.#. #.#.# .#.#. ..#.#"),
    (masks.longformer(5, 3, [2]), "###.. ###.. ##### ..### ..###"),
    (masks.bigbird(5, 1, 1, 0, generator()), "##### ##... #.#.. #..#. #...#"),
    (masks.strided(7, 3), "#...... ##..... ###.... ####... .####.. ..####. #..####"),
    (masks.fixed(7, 3), "#...... ##..... ###.... ..##... ..###.. ..####. ..#..##"),
]


@pytest.mark.parametrize(("mask", "expected"), HAND_WRITTEN)
def test_hand_written(mask, expected):
    assert mask.dtype == torch.bool
    assert torch.equal(mask, picture(expected))


def test_padding_by_hand():
    mask = masks.padding([2, 0, 3], 3)
    assert mask.shape == (3, 1, 3)
    assert torch.equal(mask[:, 0], picture("##. ... ###"))
    assert torch.equal(masks.padding(torch.tensor([2, 0, 3]), 3), mask)


# Position by position


@modest
@given(lengths, small, small)
def test_definitions(t, window, step):
    half = window // 2
    assert torch.equal(masks.causal(t), by_position(t, lambda i, j: j <= i))
    assert torch.equal(masks.sliding_window(t, window), by_position(t, lambda i, j: j <= i < j + window))
    assert torch.equal(
        masks.sliding_window(t, window, causal=False), by_position(t, lambda i, j: abs(i - j) <= half)
    )
    back = [n * step for n in range(window)]
    assert torch.equal(masks.dilated(t, window, step), by_position(t, lambda i, j: i - j in back))
    sides = [n * step for n in range(-half, half + 1)]
    assert torch.equal(
        masks.dilated(t, window, step, causal=False), by_position(t, lambda i, j: i - j in sides)
    )
    assert torch.equal(
        masks.strided(t, step), by_position(t, lambda i, j: j <= i and (i - j < step or (i - j) % step == 0))
    )
    summary = min(step, 2)
    assert torch.equal(
        masks.fixed(t, step, summary),
        by_position(
            t, lambda i, j: j <= i and (i // step == j // step or j % step in range(step)[-summary:])
        ),
    )


@modest
@given(st.data(), lengths, small)
def test_definitions_with_positions(data, t, window):
    prefix = data.draw(st.integers(0, t))
    assert torch.equal(masks.prefix_lm(t, prefix), by_position(t, lambda i, j: j <= i or j < prefix))
    chosen = data.draw(st.lists(st.integers(0, t - 1), unique=True, max_size=3))
    assert torch.equal(
        masks.longformer(t, window, chosen),
        by_position(t, lambda i, j: abs(i - j) <= window // 2 or i in chosen or j in chosen),
    )
    real = data.draw(st.lists(st.integers(0, t), min_size=1, max_size=4))
    for b, n in enumerate(real):
        assert masks.padding(real, t)[b, 0].tolist() == [j < n for j in range(t)]


@modest
@given(st.data(), lengths, small, st.integers(0, 99))
def test_bigbird_adds_as_many_random_keys_as_there_are_left(data, t, window, seed):
    n_global, n_random = data.draw(st.integers(0, min(t, 3))), data.draw(st.integers(0, min(t, 4)))
    mask = masks.bigbird(t, window, n_global, n_random, generator(seed))
    base = by_position(t, lambda i, j: abs(i - j) <= window // 2 or i < n_global or j < n_global)
    assert (mask | ~base).all(), "window and globals stay"
    added = (mask & ~base).sum(-1)
    assert torch.equal(added, (~base).sum(-1).clamp(max=n_random))


def test_bigbird_draws_from_its_generator_alone():
    before = torch.get_rng_state()
    first, again, other = (masks.bigbird(32, 3, 1, 3, generator(s)) for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_bigbird_treats_all_keys_alike():
    draws = torch.stack([masks.bigbird(12, 1, 0, 2, generator(s)) for s in range(400)]).double().mean(0)
    off_diagonal = draws[~torch.eye(12, dtype=torch.bool)]
    assert (off_diagonal - 2 / 11).abs().max() < 0.11  # more than five deviations of 400 draws


# Closed forms


@modest
@given(st.data(), st.integers(1, 60))
def test_counts(data, t):
    w = data.draw(st.integers(1, t))
    assert masks.kept_pairs(masks.causal(t)) == t * (t + 1) // 2
    assert masks.kept_pairs(masks.sliding_window(t, w)) == t * w - w * (w - 1) // 2
    half = (w - 1) // 2
    two_sided = masks.sliding_window(t, 2 * half + 1, causal=False)
    assert masks.kept_pairs(two_sided) == t * (2 * half + 1) - half * (half + 1)
    prefix = data.draw(st.integers(0, t))
    assert masks.kept_pairs(masks.prefix_lm(t, prefix)) == t * (t + 1) // 2 + prefix * (prefix - 1) // 2
    real = data.draw(st.lists(st.integers(0, t), min_size=1, max_size=4))
    assert masks.kept_pairs(masks.padding(real, t)) == sum(real)
    assert masks.kept_pairs(masks.bigbird(t, 1, 1, 0, generator())) == 3 * t - 2


def test_sparse_transformer_keeps_about_t_root_t_pairs():
    for root in (8, 16, 32):
        t = root * root
        kept = masks.kept_pairs(masks.strided(t, root))
        assert kept < 1.6 * t * root
        assert kept > 1.2 * t * root
        assert masks.reach(masks.strided(t, root), 2).sum() == t * (t + 1) // 2, "two layers reach all"


# Combination and PyTorch's conventions


def test_combine():
    a, b = masks.causal(3), masks.padding([2, 3], 3)
    assert masks.combine() is None
    assert masks.combine(None, None) is None
    assert torch.equal(masks.combine(None, a, None), a)
    both = masks.combine(a, None, b)
    assert both.shape == (2, 3, 3)
    assert torch.equal(both[0], picture("#.. ##. ##."))
    assert torch.equal(both[1], a)


def test_padding_alone_does_not_hide_the_future():
    alone = masks.padding([3], 4).expand(1, 4, 4)
    assert alone[0, 0, 2]
    assert not masks.combine(masks.causal(4), masks.padding([3], 4))[0, 0, 2]


def test_true_means_what_it_means_to_pytorch():
    gen = generator()
    x = torch.randn(2, 5, 8, generator=gen, dtype=torch.float64)
    mask = masks.causal(5)
    assert torch.equal(mask, ~torch.nn.Transformer.generate_square_subsequent_mask(5).bool())
    close = torch.testing.assert_close
    close(
        F.scaled_dot_product_attention(x, x, x, attn_mask=mask),
        F.scaled_dot_product_attention(x, x, x, is_causal=True),
    )
    layer = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
    _, weights = layer(x, x, x, attn_mask=~mask)
    assert torch.equal(weights[0] > 0, mask), "nn.MultiheadAttention wants the opposite, True = blocked"


# Reach


@modest
@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 5))
def test_a_window_reaches_layers_times_window_less_one(t, window, layers):
    reached = masks.reach(masks.sliding_window(t, window), layers)
    assert torch.equal(reached, masks.sliding_window(t, layers * (window - 1) + 1))


def test_reach_follows_paths():
    chain = picture("... #.. .#.")  # 1 sees 0, 2 sees 1
    assert torch.equal(masks.reach(chain, 1), picture("#.. ##. .##"))
    assert torch.equal(masks.reach(chain, 2), picture("#.. ##. ###"))


def test_a_global_token_joins_everything_in_two_layers():
    mask = masks.longformer(30, 3, [7])
    assert not masks.reach(mask, 1).all()
    assert masks.reach(mask, 2).all()


# Refusals


@pytest.mark.parametrize(
    "call",
    [
        lambda: masks.padding([4], 3),
        lambda: masks.padding([-1], 3),
        lambda: masks.prefix_lm(3, 4),
        lambda: masks.prefix_lm(3, -1),
        lambda: masks.sliding_window(3, 0),
        lambda: masks.dilated(3, 1, 0),
        lambda: masks.longformer(3, 0, []),
        lambda: masks.longformer(3, 1, [3]),
        lambda: masks.longformer(3, 1, [-1]),
        lambda: masks.bigbird(3, 1, 4, 0, generator()),
        lambda: masks.bigbird(3, 1, 0, 4, generator()),
        lambda: masks.strided(3, 0),
        lambda: masks.fixed(3, 1, 0),
        lambda: masks.reach(masks.causal(3), 0),
    ],
)
def test_impossible_values_are_refused_with_a_sentence(call):
    with pytest.raises(ValueError, match="must"):
        call()
