"""Balancing step by step, against plain loops with PyTorch's own optimiser and softmax."""

import pytest
import torch

from core.block.balancing import balanced_by_bias, balanced_by_loss, unbalanced
from core.block.experts import uneven_logits


def batches(favour: float = 1.0, seed: int = 3, steps: int = 40, experts: int = 8):
    return uneven_logits(steps, 256, experts, favour, torch.Generator().manual_seed(seed))


def loads(logits, k):
    """Assignments by counting one by one."""
    counts = torch.zeros(logits.shape[0], logits.shape[-1], dtype=torch.int64)
    for s, batch in enumerate(logits):
        for row in batch:
            counts[s, row.argsort(descending=True)[:k]] += 1
    return counts


def test_without_balancing_the_favourites_stay_busy():
    logits = batches(steps=5)
    trace = unbalanced(logits, 2)
    assert torch.equal(trace.load, loads(logits, 2))
    torch.testing.assert_close(trace.violation, trace.load.amax(1) / 64.0 - 1, check_dtype=False)
    torch.testing.assert_close(trace.probability, torch.stack([b.softmax(1).mean(0) for b in logits]))
    assert (trace.offset == 0).all()
    assert trace.gate_shift < 1e-15


def test_the_loss_is_followed_as_sgd_follows_it():
    logits, alpha, k = batches(steps=6), 0.5, 2
    trace = balanced_by_loss(logits, k, alpha)
    offset = torch.nn.Parameter(torch.zeros(8, dtype=torch.float64))
    optimiser = torch.optim.SGD([offset], lr=1.0)
    for s, batch in enumerate(logits):
        torch.testing.assert_close(trace.offset[s], offset.detach().clone())
        p = (batch + offset).softmax(-1).mean(0)
        f = loads((batch + offset)[None].detach(), k)[0].double() / (256 * k)
        torch.testing.assert_close(trace.load[s].double() / (256 * k), f)
        torch.testing.assert_close(trace.probability[s], p.detach())
        optimiser.zero_grad()
        (alpha * 8 * (f * p).sum()).backward()
        optimiser.step()


def test_the_bias_moves_one_speed_at_a_time_and_is_not_in_the_gates():
    logits = batches(steps=12)
    trace = balanced_by_bias(logits, 2, 0.02)
    steps = trace.offset.diff(dim=0) / 0.02
    torch.testing.assert_close(steps, (64 - trace.load[:-1].double()).sign())
    for s, batch in enumerate(logits):
        assert torch.equal(trace.load[s], loads((batch.sigmoid() + trace.offset[s])[None], 2)[0])
    assert trace.gate_shift < 1e-15
    torch.testing.assert_close(trace.probability, unbalanced(logits, 2).probability)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 2])
def test_both_ways_even_out_what_was_uneven(k, seed):
    logits = batches(seed=seed, steps=60)
    uneven = unbalanced(logits, k).violation[-20:].mean()
    assert balanced_by_bias(logits, k, 0.02).violation[-20:].mean() < 0.6 * uneven
    assert balanced_by_loss(logits, k, 0.5).violation[-20:].mean() < 0.6 * uneven


def test_only_the_loss_changes_the_gates_and_a_single_gate_is_always_1():
    logits = batches()
    assert balanced_by_loss(logits, 2, 0.5).gate_shift > 0.01
    assert balanced_by_loss(logits, 1, 0.5).gate_shift < 1e-15


def test_no_strength_is_no_balancing():
    logits = batches(steps=5)
    for trace in (balanced_by_loss(logits, 2, 0.0), balanced_by_bias(logits, 2, 0.0)):
        assert torch.equal(trace.load, unbalanced(logits, 2).load)
