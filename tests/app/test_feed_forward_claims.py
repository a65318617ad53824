"""The feed-forward page under random settings: no sentence is false under any of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.app.claims import runs
from ui.numbers import number

STEM = "feed_forward"


def test_no_sentence_of_the_main_picture_is_false_anywhere(monkeypatch):
    for said in runs(STEM, 40, 1, monkeypatch, figure="feed_forward"):
        assert not said.number_slips()
        ((result, _),) = said.results[-1:]
        before, hidden = result.values("before"), result.values("hidden")
        cut, soft = said.of("notice.cut"), said.of("notice.soft")
        if cut:
            assert result.parameters["act"] == "relu"
            assert f"sets {number(int((hidden == 0).sum()))} of {number(hidden.size)}" in cut
        if said.of("notice.cut_none"):
            assert (hidden == before).all()
        if soft:
            assert (before < 0).any()
            assert f"Negative before: {number(int((before < 0).sum()))}" in soft
            assert hidden.min() < 0
        if said.of("notice.soft_none"):
            assert (before >= 0).all()
            assert (hidden < before).all()
        tokens = result.parameters["tokens"]
        assert bool(said.of("notice.twins")) == (len(set(tokens)) < len(tokens))
        if said.of("notice.twins"):
            i, j = (
                int(n) - 1 for n in re.search(r"Tokens (\d+) and (\d+)", said.of("notice.twins")).groups()
            )
            for name in ("x", "before", "hidden", "output"):
                np.testing.assert_allclose(result.values(name)[i], result.values(name)[j], atol=1e-12)
        straight = before @ result.values("w2") + result.values("b2")
        same = np.abs(straight - result.values("output")).max() < 1e-9
        assert bool(said.of("notice.linear_same")) == same


def test_no_sentence_about_the_replaced_token_is_false_anywhere(monkeypatch):
    for said in runs(STEM, 40, 2, monkeypatch, tab="one", figure="feed_forward_one"):
        assert not said.number_slips()
        ((result, _),) = said.results[-1:]
        ffn, att = (np.abs(result.values(f"{n}_change")).max(1) > 1e-12 for n in ("ffn", "att"))
        place = result.parameters["place"]
        others = att.sum() - att[place]
        if said.of("one.notice.same"):
            assert not ffn.any()
            assert not att.any()
            continue
        assert ffn.sum() == ffn[place]
        assert bool(said.of("one.notice.ffn")) == bool(ffn[place])
        text = said.of("one.notice.attention_all") or said.of("one.notice.attention_causal")
        if text:
            assert f"that notice, {others} of {len(att) - 1}" in text
        if said.of("one.notice.attention_causal"):
            assert not att[:place].any()
        if said.of("one.notice.attention_none"):
            assert others == 0
            assert place == len(att) - 1


def test_no_sentence_about_gradients_is_false_anywhere(monkeypatch):
    for said in runs(STEM, 40, 3, monkeypatch, tab="backward", figure="feed_forward_backward"):
        assert not said.number_slips()
        ((result, _),) = said.results[-1:]
        reached = (np.abs(result.values("dx")).max(1) > 1e-12).nonzero()[0].tolist()
        if said.of("grad.notice.one"):
            assert reached == [result.parameters["row"]]
        if said.of("grad.notice.one_dead"):
            assert not reached
            used = result.values("dh") != 0
            assert (result.values("slope")[used] == 0).all()
        closed = int((result.values("slope") == 0).sum())
        if said.of("grad.notice.closed"):
            assert f"Its slope is 0 at {number(closed)} of" in said.of("grad.notice.closed")
            still = (result.values("slope") == 0).all(0)
            assert f": {still.sum()} of" in said.of("grad.notice.closed")
            assert not result.values("dw1")[:, still].any()
        if said.of("grad.notice.open"):
            assert closed == 0


def test_no_sentence_about_experts_is_false_anywhere(monkeypatch):
    for said in runs(STEM, 40, 4, monkeypatch, tab="experts", figure="experts"):
        assert not said.number_slips()
        ((result, _),) = said.results[-1:]
        load, k, experts = result.values("load")[0], result.parameters["k"], result.parameters["experts"]
        assert load.sum() == k * len(result.parameters["tokens"])
        assert bool(said.of("moe.notice.all")) == (k == experts)
        assert bool(said.of("moe.notice.load")) == (load.max() > load.min())
        if said.of("moe.notice.twins"):
            i, j = (
                int(n) - 1 for n in re.search(r"Tokens (\d+) and (\d+)", said.of("moe.notice.twins")).groups()
            )
            assert (result.hidden[i] == result.hidden[j]).all()
        if said.of("moe.notice.single"):
            assert set(np.unique(result.values("gates"))) == {0.0, 1.0}


@pytest.mark.parametrize("tab", ["curves", "swiglu", "balance", "sizes"])
def test_the_other_tabs_stand_every_setting(tab, monkeypatch):
    for said in runs(STEM, 15, 5, monkeypatch, tab=tab):
        assert not said.number_slips()
