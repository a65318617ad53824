import pytest
import torch

from core.attention import masks
from core.attention.dot_product import attention
from core.attention.toy import toy_inputs
from core.attention.worked import TOKENS, mask_inputs


def test_the_worked_example_gives_its_published_weights():
    q, k, v, scale = mask_inputs(TOKENS, 7, 8, True)
    trace = attention(q, k, v, masks.causal(4), scale=scale)
    expected = [
        [1, 0, 0, 0],
        [0.4013, 0.5987, 0, 0],
        [0.2664, 0.2944, 0.4392, 0],
        [0.1913, 0.2011, 0.2223, 0.3853],
    ]
    torch.testing.assert_close(trace.weights, torch.tensor(expected, dtype=torch.float64), atol=5e-5, rtol=0)
    torch.testing.assert_close(trace.output, trace.weights)


def test_other_sentences_get_the_toy_vectors():
    q, k, v, scale = mask_inputs(("a", "b"), 3, 16, False)
    toy = toy_inputs(("a", "b"), 3, 16)
    for ours, theirs in ((q, toy.q), (k, toy.k), (v, toy.v)):
        assert torch.equal(ours, theirs)
    assert scale == 0.25


def test_the_example_has_no_fifth_token():
    with pytest.raises(ValueError, match="4 tokens"):
        mask_inputs((*TOKENS, "。"), 7, 8, True)
