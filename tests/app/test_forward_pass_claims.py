"""The forward-pass page under random settings: every sentence is held against PyTorch's own numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from tests.app.claims import runs
from ui.checks.forward_pass import logits_by_pytorch
from ui.figures import forward_pass_sampling as sampling
from ui.numbers import number
from ui.toys import shared

STEM = "forward_pass"
FIXED = {"training": 0}


@pytest.fixture(scope="session")
def toy():
    return shared().wait(0)


def likeliest(toy, result) -> tuple[torch.Tensor, list[str]]:
    """Logits after the last token, and all names, likeliest first."""
    logits = logits_by_pytorch(toy.model, torch.tensor(result.facts["ids"]))[-1]
    return logits, [toy.vocabulary[i] for i in logits.argsort(descending=True, stable=True)]


def kept(logits: torch.Tensor, p: dict) -> torch.Tensor:
    """Probabilities before the cuts, of the tokens that stay."""
    full = (logits / p["temperature"]).softmax(-1).sort(descending=True).values
    stay = torch.ones_like(full, dtype=torch.bool)
    if p["top_k"]:
        stay[p["top_k"] :] = False
    if p["top_p"] < 1:
        stay &= full.cumsum(-1) - full < p["top_p"] - 1e-12
    return full[stay]


def test_no_sentence_of_the_main_picture_is_false_anywhere(toy, monkeypatch):
    seen = set()
    for said in runs(STEM, 60, 1, monkeypatch, figure="forward_pass", fixed=FIXED):
        assert not said.number_slips()
        ((result, _),) = said.results[-1:]
        p, rows = result.parameters, result.arrays["x"].rows
        logits, names = likeliest(toy, result)
        read = re.findall(r"` (\S+) ` (\d+)", said.of("notice.read"))
        assert [(toy.vocabulary[int(n)], int(n)) for _, n in read] == [(token, int(n)) for token, n in read]
        assert [token for token, _ in read] == list(rows)
        text = next(
            said.of(f"notice.{key}") for key in ("greedy", "all", "cut", "one") if said.of(f"notice.{key}")
        )
        assert f"` {names[0]} `" in text
        if said.of("notice.greedy"):
            assert p["temperature"] == 0
            assert number(float(logits.sort(descending=True).values[:2].diff().abs())) in text
        else:
            left = kept(logits, p)
            assert bool(said.of("notice.all")) == (len(left) == len(names))
            assert bool(said.of("notice.one")) == (len(left) == 1)
            assert f"` {names[0]} ` ({number(float(left[0]))})" in text
            if said.of("notice.cut"):
                assert (
                    f"leave {len(left)} of {len(names)} tokens, which hold {number(float(left.sum()))}"
                    in text
                )
                assert text.endswith(f"` {names[0]} ` has {number(float(left[0] / left.sum()))}.")
        seen |= {key for key in ("greedy", "all", "cut", "one") if said.of(f"notice.{key}")}
        with torch.no_grad():
            trace = toy.model(torch.tensor(result.facts["ids"]))
        looks = trace.weights[int(p["layer"]) - 1][:, -1, :-1]
        head, place = divmod(int(looks.argmax()), looks.shape[-1])
        assert (
            f"head {head + 1}: at ` {rows[place]} ` (position {place + 1}), with weight {number(float(looks.max()))}"
            in said.of("notice.looks")
        )
        own = said.of("notice.lens.own")
        first = toy.model.to_logits(toy.model.normalise(trace.states[0][-1])).argmax()
        assert bool(own) == (toy.vocabulary[int(first)] == rows[-1])
        assert (
            f"` {names[0]} ` ({number(float(logits.softmax(-1).max()))})"
            in (own or said.of("notice.lens")).split("→")[-1]
        )
    assert {"greedy", "cut", "one"} <= seen


def test_no_sentence_about_the_cuts_is_false_anywhere(toy, monkeypatch):
    orders = set()
    for said in runs(STEM, 40, 2, monkeypatch, tab="sampling", figure="forward_pass_sampling", fixed=FIXED):
        assert not said.number_slips()
        ((result, _),) = said.results[-1:]
        p = result.parameters
        logits, names = likeliest(toy, result)
        if p["temperature"] == 0:
            assert said.of("sam.notice.greedy")
            continue
        first, second = logits.softmax(-1).sort(descending=True).values[:2].tolist()
        ratio = said.of("sam.notice.ratio") or said.of("sam.notice.plain")
        assert f"{number(first / second)} times as likely" in ratio
        left = kept(logits, p)
        assert bool(said.of("sam.notice.all")) == (len(left) == len(names))
        if said.of("sam.notice.kept"):
            text = said.of("sam.notice.kept")
            assert (
                f"by both: {len(left)} of {len(names)}, with {number(float(left.sum()))} of the mass" in text
            )
            by_k, by_p = (len(kept(logits, p | off)) for off in ({"top_p": 1.0}, {"top_k": 0}))
            assert f"top-k: {by_k}; by top-p: {by_p};" in text
        if said.of("sam.notice.order"):
            assert sampling.one_after_the_other(result) < len(left)
        orders |= {key for key in ("order", "order.same") if said.of(f"sam.notice.{key}")}
    assert orders


def test_no_sentence_about_what_was_written_is_false_anywhere(toy, monkeypatch):
    for said in runs(STEM, 40, 3, monkeypatch, tab="writing", figure="forward_pass_writing", fixed=FIXED):
        assert not said.number_slips()
        ((written, result, _),) = said.results[-1:]
        steps = written.cached
        assert len(steps) <= said.settings["new"]
        short = len(steps) < said.settings["new"]
        assert short == bool(said.of("gen.room") or said.of("gen.ended"))
        free = [step for step in steps if step.drawn is not None]
        assert bool(said.of("gen.notice.chance")) == bool(free)
        ids, share = list(result.facts["ids"]), 1.0
        for step in steps:
            logits = logits_by_pytorch(toy.model, torch.tensor(ids))[-1]
            token = toy.vocabulary.index(step.token)
            if result.parameters["temperature"]:
                left = kept(logits, result.parameters)
                place = logits.argsort(descending=True, stable=True).tolist().index(token)
                assert step.probability == pytest.approx(float(left[place] / left.sum()))
                assert step.kept == len(left)
                share *= step.probability
            else:
                assert token == int(logits.argmax())
            ids.append(token)
        told = said.of("gen.notice.chance") or said.of("gen.notice.sure")
        assert number(share) in told
        at = min(said.settings["at"], len(steps)) - 1
        story = said.of("gen.story") or said.of("gen.story.only")
        assert f"**Step {at + 1}.**" in story
        assert f"` {steps[at].token} `" in story
        if said.of("gen.story"):
            low, high = re.search(r"from (\S+) to (\S+),", story).groups()
            assert (low, high) == (number(steps[at].begins), number(steps[at].ends))


def test_no_sentence_about_the_cache_is_false_anywhere(toy, monkeypatch):
    config = toy.model.config
    per_token = 2 * config.d_model * config.layers
    for said in runs(STEM, 30, 4, monkeypatch, tab="cache", fixed=FIXED):
        assert not said.number_slips()
        assert said.of("cache.notice.same")
        assert not said.of("cache.notice.other")
        rows = said.of("cache.notice.held")
        held, tokens = (
            int(n.replace(",", ""))
            for n in re.search(r"end ([\d,]+) numbers are held for (\d+)", rows).groups()
        )
        assert held == tokens * per_token
        work = said.of("cache.notice.work")
        if work:
            ours, theirs = (int(n.replace(",", "")) for n in re.findall(r"([\d,]{6,})", work)[:2])
            assert ours < theirs
        else:
            assert "with a single step" in said.of("cache.notice.one").lower()


def test_no_sentence_of_the_other_tabs_is_false_anywhere(toy, monkeypatch):
    for said in runs(STEM, 30, 5, monkeypatch, tab="lens", figure="forward_pass_lens", fixed=FIXED):
        assert not said.number_slips()
        ((result, _),) = said.results[-1:]
        lens = result.facts["lens"]
        assert (
            f"{int((lens[0].argmax(-1) == np.array(result.facts['ids'])).sum())} of {len(result.facts['ids'])} positions"
            in said.of("lens.notice.start")
        )
        winners = lens[:, -1].argmax(-1)
        first = int(np.flatnonzero(winners == winners[-1])[0])
        assert ("here: embeddings." if first == 0 else f"here: block {first}.") in said.of(
            "lens.notice.first"
        )
    for said in runs(
        STEM, 30, 6, monkeypatch, tab="embeddings", figure="forward_pass_embeddings", fixed=FIXED
    ):
        assert not said.number_slips()
        ((result, _),) = said.results[-1:]
        rows = result.arrays["token"].rows
        assert bool(said.of("emb.notice.twins")) == (len(set(rows)) < len(rows))
        if said.of("emb.notice.twins"):
            i, j = (
                int(n) - 1
                for n in re.search(r"positions (\d+) and (\d+)", said.of("emb.notice.twins")).groups()
            )
            assert i < j
            assert rows[i] == rows[j]
            assert result.values("token_cos")[i, j] == pytest.approx(1)
