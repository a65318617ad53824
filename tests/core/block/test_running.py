"""What BatchNorm remembers, against nn.BatchNorm1d; and the toy batches that are sent through it."""

import pytest
import torch
from torch import nn

from core.attention.toy import embedding
from core.block.running import running_statistics
from core.block.toy_batch import changed, random_batches, toy_batch

DOUBLE = torch.float64


@pytest.mark.parametrize("momentum", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("tokens", [2, 8])
def test_the_running_statistics_are_pytorchs_after_every_batch(momentum, tokens):
    batches = random_batches(3, 6, tokens, 4, 1.5, 2.0)
    module = nn.BatchNorm1d(4, momentum=momentum, dtype=DOUBLE).train()
    found = running_statistics(batches, momentum)
    assert torch.equal(found.mean[0], module.running_mean)
    assert torch.equal(found.variance[0], module.running_var)
    for step, batch in enumerate(batches):
        module(batch)
        torch.testing.assert_close(found.mean[step + 1], module.running_mean)
        torch.testing.assert_close(found.variance[step + 1], module.running_var)
        torch.testing.assert_close(found.batch_mean[step], batch.mean(0))
        torch.testing.assert_close(found.batch_variance[step], batch.var(0, correction=0))


def test_before_the_first_batch_there_is_a_mean_of_0_and_a_variance_of_1():
    found = running_statistics(random_batches(3, 0, 4, 2, 0.0, 1.0))
    assert found.mean.tolist() == [[0, 0]]
    assert found.variance.tolist() == [[1, 1]]
    assert found.batch_mean.shape == found.batch_variance.shape == (0, 2)


def test_a_batch_of_one_token_is_refused_as_pytorch_refuses_it():
    batches = random_batches(3, 2, 1, 4, 0.0, 1.0)
    with pytest.raises(ValueError, match="one token"):
        running_statistics(batches)
    with pytest.raises(ValueError, match="more than 1 value"):
        nn.BatchNorm1d(4, dtype=DOUBLE).train()(batches[0])


def test_more_steps_begin_with_the_same_ones_and_features_are_cut():
    many, few = random_batches(5, 9, 3, 6, 0.5, 2.0), random_batches(5, 3, 3, 2, 0.5, 2.0)
    assert torch.equal(many[:3, :, :2], few)
    assert many.mean() == pytest.approx(0.5, abs=0.6)


def test_a_toy_batch_is_shifted_scaled_and_spoiled_in_one_place():
    tokens = ("a", "b", "a")
    x = toy_batch(tokens, 7, 4, shift=2.0, scale=3.0, outlier=9.0, row=1, column=2)
    plain = torch.stack([embedding(token, 7, 12)[:4] for token in tokens])
    expected = 3 * plain + 2
    expected[1, 2] += 9
    torch.testing.assert_close(x, expected, rtol=0, atol=1e-15)
    assert torch.equal(x[0], x[2])
    assert torch.equal(toy_batch(tokens, 7, 2), toy_batch(tokens, 7, 4)[:, :2])


@pytest.mark.parametrize(("tokens", "d"), [((), 4), (("a",), 0), (("a",), 13)])
def test_a_batch_without_tokens_or_features_is_refused(tokens, d):
    with pytest.raises(ValueError, match="needed"):
        toy_batch(tokens, 7, d)


def test_a_change_of_all_a_row_or_a_column():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert changed(x, 1, 2).tolist() == [[3, 5], [7, 9]]
    assert changed(x, 1, 2, row=1).tolist() == [[1, 2], [7, 9]]
    assert changed(x, 1, 2, column=0).tolist() == [[3, 2], [7, 4]]
    assert x.tolist() == [[1, 2], [3, 4]]
