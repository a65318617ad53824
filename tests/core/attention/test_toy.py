import os
import subprocess
import sys

import pytest
import torch

from core.attention.toy import toy_inputs

WO_AI_XUE_XI = tuple("我爱学习")


def test_shapes_types_and_that_the_projections_are_what_they_say():
    toy = toy_inputs(WO_AI_XUE_XI, seed=0, d_k=8)
    assert toy.x.shape == (4, 32)
    for w, projected in ((toy.w_q, toy.q), (toy.w_k, toy.k), (toy.w_v, toy.v)):
        assert w.shape == (32, 8)
        assert projected.dtype == torch.float64
        torch.testing.assert_close(projected, torch.einsum("td,dk->tk", toy.x, w))


def test_an_embedding_depends_on_its_token_and_the_seed_alone():
    the_cat = toy_inputs(["the", "cat", "saw", "the", "cat"], 3, 8)
    assert torch.equal(the_cat.x[0], the_cat.x[3])
    assert torch.equal(the_cat.q[1], the_cat.q[4])
    assert not torch.equal(the_cat.x[0], the_cat.x[1])
    assert torch.equal(toy_inputs(["cat"], 3, 4, max_d_k=16).x[0], the_cat.x[1])
    assert not torch.equal(toy_inputs(["cat"], 4, 8).x[0], the_cat.x[1])


def test_a_wider_head_adds_columns_and_changes_none():
    wide = toy_inputs(WO_AI_XUE_XI, 0, 64)
    for d_k in (1, 2, 7, 32):
        narrow = toy_inputs(WO_AI_XUE_XI, 0, d_k)
        assert torch.equal(narrow.w_v, wide.w_v[:, :d_k])
        torch.testing.assert_close(narrow.k, wide.k[:, :d_k], rtol=0, atol=1e-12)


def test_about_unit_variance():
    toy = toy_inputs([str(n) for n in range(2000)], 0, 64)
    assert abs(toy.x.var().item() - 1) < 0.02
    assert abs(toy.x.mean().item()) < 0.02
    for projected in (toy.q, toy.k, toy.v):
        assert abs(projected.var().item() - 1) < 0.1
    assert abs(torch.corrcoef(torch.stack([toy.w_q.flatten(), toy.w_k.flatten()]))[0, 1]) < 0.1


def test_the_global_random_state_is_left_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first = toy_inputs(WO_AI_XUE_XI, 0, 8)
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(6)
    assert torch.equal(first.q, toy_inputs(WO_AI_XUE_XI, 0, 8).q)


def test_every_process_sees_the_same_numbers():
    code = "from core.attention.toy import toy_inputs; print(toy_inputs(['我', 'cat'], 7, 3).q.tolist())"
    other_hash_seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    path = os.pathsep.join(sys.path)
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": other_hash_seed, "PYTHONPATH": path},
        capture_output=True,
        check=True,
        text=True,
    )
    assert run.stdout == f"{toy_inputs(['我', 'cat'], 7, 3).q.tolist()}\n"


def test_the_numbers_that_shared_links_rely_on():
    expected = torch.tensor([-0.6136, 1.2995, -0.7371, 0.7505], dtype=torch.float64)
    torch.testing.assert_close(toy_inputs(WO_AI_XUE_XI, 0, 4).q[0], expected, rtol=0, atol=5e-5)


@pytest.mark.parametrize(("tokens", "d_k"), [(["a"], 0), (["a"], 65), ([], 4)])
def test_impossible_values_are_refused(tokens, d_k):
    with pytest.raises(ValueError, match=r"d_k must lie in 1\.\.64|one token"):
        toy_inputs(tokens, 0, d_k)


def test_a_slice_is_what_would_have_been_drawn():
    sentence = ("the", "cat", "saw", "the", "cat")
    part = toy_inputs(sentence, 3, 64).first(4, 5)
    direct = toy_inputs(sentence[:4], 3, 5)
    for name in ("x", "w_q", "w_k", "w_v", "q", "k", "v"):
        torch.testing.assert_close(getattr(part, name), getattr(direct, name))
