import pytest
import torch
from transformers.models.t5.modeling_t5 import T5Attention

from core.block.relative import RelativeBias, relative_buckets


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (8, 10), (4, 20)])
def test_buckets_are_hugging_faces(causal, buckets, farthest):
    ahead = torch.arange(300) - torch.arange(300)[:, None]
    expected = T5Attention._relative_position_bucket(ahead, not causal, buckets, farthest)
    assert torch.equal(relative_buckets(300, 300, buckets, farthest, causal), expected)
    assert torch.equal(relative_buckets(5, 300, buckets, farthest, causal), expected[:5])


def test_buckets_by_hand():
    """8 buckets both ways: 4 for the past, 4 for the future; 0 and 1 alone, then 2–3 and all further ones."""
    row = relative_buckets(7, 7, 8, 8)[3]
    assert row.tolist() == [2, 2, 1, 0, 5, 6, 6]
    assert relative_buckets(7, 7, 8, 8, causal=True)[6].tolist() == [6, 5, 4, 3, 2, 1, 0]


def test_the_bias_is_the_tables_row_for_the_bucket():
    bias = RelativeBias(3, 8, 10, causal=True)
    found = bias(5, 5)
    assert found.shape == (3, 5, 5)
    buckets = relative_buckets(5, 5, 8, 10, causal=True)
    for i in range(5):
        for j in range(5):
            assert torch.equal(found[:, i, j], bias.table.weight[buckets[i, j]])


@pytest.mark.parametrize(
    ("sizes", "words"), [((2, 128), "at least 4 buckets"), ((32, 8), "farthest above 8")]
)
def test_too_few_buckets_are_refused(sizes, words):
    with pytest.raises(ValueError, match=words):
        relative_buckets(3, 3, *sizes)
