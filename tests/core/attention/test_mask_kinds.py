import pytest
import torch

from core.attention import masks
from core.attention.mask_kinds import KINDS, MaskSettings, combined_mask, named_mask

S = MaskSettings(window=3, dilation=2, prefix=2, n_global=1, n_random=2, stride=3)


def picture(text):
    return torch.tensor([[c == "#" for c in line] for line in text.split()])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("none", "#### #### #### ####"),
        ("causal", "#... ##.. ###. ####"),
        ("padding", "###. ###. ###. ###."),
        ("prefix", "##.. ##.. ###. ####"),
        ("window", "#... ##.. ###. .###"),
        ("dilated", "#... .#.. #.#. .#.#"),
        ("longformer", "#### ###. #### #.##"),
        ("strided", "#... ##.. ###. ####"),
        ("fixed", "#... ##.. ###. ..##"),
        ("drawn", "#... .#.. ..#. ...#"),
    ],
)
def test_each_kind_by_hand(kind, expected):
    assert torch.equal(named_mask(kind, 4, 3, S), picture(expected))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("t", [1, 2, 24])
def test_no_setting_is_too_large_for_a_short_sentence(kind, t):
    wide = MaskSettings(24, True, 8, 24, 8, 8, 24, 8)
    mask = named_mask(kind, t, 24, wide)
    assert (mask.shape, mask.dtype) == ((t, t), torch.bool)


def test_bigbird_is_longformer_and_random_keys_that_its_seed_fixes():
    mask = named_mask("bigbird", 12, 12, S)
    window = named_mask("longformer", 12, 12, S)
    assert torch.equal(mask | window, mask)
    extra = (mask & ~window).sum(-1)
    assert extra.tolist() == [min(2, 12 - int(row)) for row in window.sum(-1)]
    assert torch.equal(mask, named_mask("bigbird", 12, 12, S))


def test_a_drawn_mask_is_cut_to_the_length():
    drawn = torch.arange(36).reshape(6, 6) % 2 == 0
    assert torch.equal(named_mask("drawn", 4, 4, S, drawn), drawn[:4, :4])


def test_combined_means_every_mask_must_agree():
    both = combined_mask(("causal", "padding"), 4, 2, S)
    assert torch.equal(both, picture("#... ##.. ##.. ##.."))
    assert torch.equal(combined_mask(("none",), 3, 3, S), torch.ones(3, 3, dtype=torch.bool))
    two = masks.combine(masks.causal(4), masks.sliding_window(4, 3, causal=False))
    assert torch.equal(combined_mask(("causal", "window"), 4, 4, MaskSettings(window=3, two_sided=True)), two)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="no mask is called 'diagonal'"):
        named_mask("diagonal", 3, 3, S)
