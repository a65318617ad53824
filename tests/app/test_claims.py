"""Every sentence of a page is true at every setting: random settings, and what the words claim against the arrays."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from core.attention.receptive import reached_counts
from tests.app.claims import Said, runs
from ui.numbers import number

RUNS = 30  # settings for each page and tab
TABS = {
    "attention": ("", "rows", "saturation", "backward", "order", "dropout"),
    "masks": ("", "reach", "batch", "hiding", "conventions"),
    "multi_head": ("", "off", "alike", "cost", "trap"),
    "cross_attention": ("", "additive", "masks", "bottleneck", "costs"),
    "linear_maps": ("", "product", "linear", "qkv", "cosine"),
}


@pytest.mark.parametrize(("stem", "tab"), [(stem, tab) for stem, tabs in TABS.items() for tab in tabs])
def test_numbers_and_nouns_agree(stem, tab, monkeypatch):
    for said in runs(stem, RUNS, 1, monkeypatch, tab=tab):
        assert said.words
        assert not said.number_slips(), said.settings


def watched(
    stem: str, figure: str, monkeypatch, *, tab: str = "", seed: int = 2, count: int = RUNS, fixed=None
):
    """Runs in which the module's notices were called, with the result that they were about."""
    for said in runs(stem, count, seed, monkeypatch, tab=tab, figure=figure, fixed=fixed):
        if said.results:
            yield said, said.results[-1][0]


def held(said: Said, key: str, truth: bool) -> None:
    """A sentence is said exactly where its claim is true."""
    assert (said.of(key) is not None) == bool(truth), (key, said.settings)


def test_claims_of_attention_are_true(monkeypatch):
    for said, result in watched("attention", "attention", monkeypatch):
        weights, seen = result.values("weights"), ~result.hidden  # [T, T]
        t, settings = len(weights), said.settings
        some = seen.any()
        held(said, "notice.one_token", t == 1 and some)
        held(said, "notice.spread", t > 1 and (seen.sum(-1) > 1).any())
        held(said, "notice.spread_alone", t > 1 and some and (seen.sum(-1) <= 1).all())
        if said.of("notice.spread_alone") or said.of("summary_alone"):
            assert np.isin(weights.round(12), (0, 1)).all()
        window = settings["mask"] == "window" and t > 1
        held(said, "notice.window_one", window and (seen == np.eye(t)).all())
        held(
            said, "notice.window_wide", window and (seen == np.tri(t)).all() and not (seen == np.eye(t)).all()
        )
        held(said, "notice.empty", not seen.any(-1).all())
        if text := said.of("notice.spread"):
            chosen = np.where((seen.sum(-1) > 1)[:, None], weights, 0)
            assert f"the largest weight is {number(chosen.max())}" in text
        if text := said.of("notice.causal"):
            assert np.isclose(weights[0, 0], 1)
            assert f"sees all {t} keys" in text


def test_claims_of_the_backward_pass_are_true(monkeypatch):
    for said, result in watched("attention", "attention_backward", monkeypatch, tab="backward", count=60):
        ds, seen, g = result.values("ds"), ~result.hidden, result.values("g")
        row = result.parameters["row"]
        if said.of("grad.notice.ones"):
            assert (g == 1).all()
            np.testing.assert_allclose(
                result.values("da"), result.values("da")[:1].repeat(len(ds), 0), atol=1e-9
            )
        if text := said.of("grad.notice.one"):
            moved = np.abs(result.values("dq")).max(-1) > 1e-12
            assert moved.nonzero()[0].tolist() == [row]
            assert f"gradient as well: {(np.abs(result.values('dk')).max(-1) > 1e-12).sum()} row" in text
        if said.of("grad.notice.one_flat"):
            assert np.abs(ds).max() < 1e-11
        if text := said.of("grad.notice.target"):
            told = int(re.search(r"below 0: (\d+)\.", text)[1])
            rows = [i for i in range(1, len(ds)) if seen[i, i - 1] and seen[i].sum() > 1]
            lowest = [
                i for i in rows if ds[i, i - 1] < -1e-12 and np.isclose(ds[i, i - 1], ds[i].min(), atol=1e-11)
            ]
            assert told == len(lowest)
        held(said, "grad.notice.target_alone", result.parameters["grad"] == "target" and not any(
            seen[i, i - 1] and seen[i].sum() > 1 for i in range(1, len(ds))))  # fmt: skip


def test_claims_of_the_order_test_are_true(monkeypatch):
    for said, result in watched("attention", "attention_order", monkeypatch, tab="order", count=60):
        before, back = result.values("w_before"), result.values("w_back")
        gap = max(
            np.abs(back - before).max(), np.abs(result.values("o_back") - result.values("o_before")).max()
        )
        moved = result.facts["places"] != tuple(range(len(before)))
        held(said, "order.notice.in_place", not moved)
        held(said, "order.notice.shows", moved and gap > 1e-9)
        held(said, "order.notice.invisible", moved and gap <= 1e-9 and not result.hidden.any())
        held(said, "order.notice.hidden", moved and gap <= 1e-9 and result.hidden.any())


def test_claims_of_masks_are_true(monkeypatch):
    for said, result in watched("masks", "masks", monkeypatch, count=150):
        p, t, seen = result.parameters, len(result.hidden), ~result.hidden
        kind = p["also"] if p["mask"] == "none" else p["mask"]
        alone = result.facts["each"][kind]  # [T, T]
        case = next(key for key, _ in reversed(said.words) if key.startswith("notice.kind."))
        case, text = case.removeprefix("notice.kind."), said.of(case)
        same_as = {
            "self": np.eye(t),
            "none": np.ones((t, t)),
            "causal": np.tri(t),
            "prefix_causal": np.tri(t),
            "prefix_whole": np.ones((t, t)),
            "padding_none": np.ones((t, t)),
            "strided_one": np.tri(t),
            "fixed_whole": np.tri(t),
            "drawn_none": np.eye(t),
        }
        if case in same_as:
            assert (alone == same_as[case]).all(), said.settings
        back = np.arange(t)[:, None] - np.arange(t)
        half = p["window"] // 2
        if case == "longformer_none":
            assert (alone == (abs(back) <= half)).all()
        if case == "longformer":  # one of them connects every pair in two layers
            assert np.linalg.matrix_power(alone.astype(float), 2).all()
        if case in ("window", "window_two", "dilated", "dilated_plain"):
            keys = int(re.search(r"T · (\d+) pairs|at most (\d+) keys", text).expand(r"\1\2"))
            reach = (keys - 1) * (p["dilation"] if kind == "dilated" else 1)
            most = alone.sum(-1).max()
            assert most == keys or (most < keys and t <= reach)
        if case == "dilated":
            assert not (alone & (back % p["dilation"] != 0)).any()
        told = f"keeps {seen.sum():,} of {t * t:,} "
        assert told in said.of("notice.kept")
        counts = reached_counts(torch.from_numpy(seen), p["layers"])[-1].numpy()
        if text := said.of("notice.formula") or said.of("notice.formula_two"):
            formula, counted = (int(re.search(rf"{what} (\d+)", text)[1]) for what in (r"1 =", "here:"))
            assert counted == counts[: p["length"]].max() <= formula
            held(said, "notice.formula_met", formula == counted)
        held(said, "notice.padding_seen", p["length"] < t and result.values("weights")[: p["length"], p["length"] :].sum() > 0)  # fmt: skip
        held(said, "notice.empty", not seen.any(-1).all())
        if p["layers"] == 1 and not said.of("notice.formula") and not said.of("notice.formula_two"):
            held(said, "notice.reach_all", (counts == t).all())
            held(said, "notice.reach_one", (counts < t).any())
        if said.of("notice.reach_closed"):
            step = (seen | np.eye(t, dtype=bool)).astype(float)
            assert ((np.linalg.matrix_power(step, 2) > 0) == (step > 0)).all()


def test_claims_of_a_batch_and_of_the_conventions_are_true(monkeypatch):
    for said, result in watched("masks", "masks_batch", monkeypatch, tab="batch"):
        masks = [result.values(f"b{n + 1}") for n in range(result.facts["sentences"])]
        differ = any((mask != masks[0]).any() for mask in masks)
        held(said, "batch.notice.lengths", differ)
        held(said, "batch.notice.lengths_one", len(masks) == 1)
        held(said, "batch.notice.no_leak", result.facts["lengths"][result.facts["which"]] == 1)


def test_claims_of_the_conventions_of_masks_are_true(monkeypatch):
    for said, result in watched("masks", "masks_conventions", monkeypatch, tab="conventions"):
        layer, hidden = result.values("layer"), result.facts["hidden"]
        whole = ~np.isnan(layer).any(-1)
        held(said, "conv.notice.wrong", whole.any())
        if text := said.of("conv.notice.wrong"):
            assert "puts 100 % of" in text
            np.testing.assert_allclose((layer * hidden)[whole].sum(-1), 1, atol=1e-6)
        held(
            said,
            "conv.notice.agree_meant",
            not whole.any() and not np.isnan(result.values("layer_negated")).all(),
        )
        held(said, "conv.notice.agree_none", np.isnan(result.values("layer_negated")).all())


def test_claims_of_multi_head_are_true(monkeypatch):
    for said, result in watched("multi_head", "multi_head", monkeypatch):
        heads, maps = result.parameters["heads"], result.facts["masked"]
        equal = len(set(result.parameters["tokens"])) == 1
        held(said, "notice.one_token", heads > 1 and equal)
        if said.of("notice.one_token"):
            first = result.values("a1")
            assert all(np.allclose(result.values(f"a{h + 1}"), first) for h in range(heads))
        if text := said.of("notice.alike"):
            sharp = np.exp(4 * maps - (4 * maps).max(-1, keepdims=True))
            flat = (sharp / sharp.sum(-1, keepdims=True)).reshape(heads, -1)
            flat /= np.linalg.norm(flat, axis=1, keepdims=True)
            mean = (flat @ flat.T)[np.triu_indices(heads, 1)].mean()
            assert f"the mean cosine would be {number(mean)}." in text


def test_claims_of_heads_off_and_alike_in_multi_head_are_true(monkeypatch):
    for said, result in watched("multi_head", "heads_off", monkeypatch, tab="off"):
        if text := said.of("off.notice.each"):
            total = float(re.search(r"bars make ([\d.,]+) %", text)[1].replace(",", ""))
            assert total >= 99.5
        if text := said.of("off.notice.change"):
            moved = (np.abs(result.values("change")).max(0) > 1e-12).sum()
            assert f"in {moved} of {moved} output features" in text
    monkeypatch.undo()
    for said, result in watched("multi_head", "head_likeness", monkeypatch, tab="alike"):
        entropy = result.facts["entropy"]
        held(said, "alike.notice.width_same", len(entropy) > 1 and np.ptp(entropy) < 1e-9)
        held(said, "alike.notice.pair", len(entropy) > 2 and len(set(result.parameters["tokens"])) > 1)


def test_no_claim_contradicts_another_in_the_multi_head_trap(monkeypatch):
    for said in runs("multi_head", RUNS, 2, monkeypatch, tab="trap"):
        trapped = said.of("trap.notice.silent")
        assert (trapped is None) == (said.of("trap.short") is not None)
        if trapped:
            assert "differ by up to 0." not in trapped or "differ by up to 0.0" not in trapped[:-1]
            assert not re.search(r"differ by up to [\d.]+×10⁻¹", trapped), said.settings


def test_no_model_of_multi_head_runs_past_its_context(monkeypatch):
    for said in runs("multi_head", 10, 2, monkeypatch, tab="cost"):
        context, table = said.settings["context"], said.of("cost.caches")
        for line in table.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if len(cells) != 9 or not cells[7].replace(",", "").isdigit():
                continue
            per_token, limit, shown = (cell.replace(",", "") for cell in cells[6:])
            gib = int(per_token) * min(context, int(limit)) / 2**30
            assert float(shown.split(" at ")[0]) == pytest.approx(gib, rel=5e-3)
            assert (" at " in shown) == (context > int(limit))


def test_claims_of_cross_attention_are_true(monkeypatch):
    for said, result in watched("cross_attention", "cross_attention", monkeypatch):
        weights, real = result.values("weights"), result.facts["real"]
        if said.of("notice.padding_masked"):
            assert not weights[:, real:].any()
            np.testing.assert_allclose(weights[:, :real].sum(-1), 1)
        held(said, "notice.spread_alone", (~result.hidden).sum(-1).max() == 1)
        if text := said.of("notice.padding_unmasked"):
            assert f"{number(weights[:, real:].sum(-1).mean())} of a row" in text


def test_claims_of_the_two_masks_of_cross_attention_are_true(monkeypatch):
    for said, result in watched("cross_attention", "cross_masks", monkeypatch, tab="masks"):
        t, real = len(result.parameters["target"]), result.facts["real"]
        lost = sum(max(real - row - 1, 0) for row in range(t))
        if text := said.of("two.notice.mistake"):
            assert f"hide {lost:,} of the {t * real:,} pairs" in text
        held(said, "two.notice.no_loss", real == 1)


def test_claims_of_additive_cross_attention_are_true(monkeypatch):
    for said, result in watched("cross_attention", "cross_additive", monkeypatch, tab="additive"):
        text = said.of("add.notice.bound")
        assert f"Σ|v| = {number(np.abs(result.facts['learned']['v']).sum())}" in text
        assert np.abs(result.values("e")).max() <= result.facts["bound"] + 1e-12
        assert "need no scaling" not in text


def test_claims_of_linear_maps_are_true(monkeypatch):
    zeros = {"m11": 0.0, "m12": 0.0, "m21": 0.0, "m22": 0.0}
    for fixed in (
        {},
        zeros,
        zeros | {"b1": 0.0, "b2": 0.0},
        {"m11": 1.0, "m12": 2.0, "m21": 0.5, "m22": 1.0},
    ):
        for said, result in watched("linear_maps", "linear_maps", monkeypatch, count=10, fixed=fixed):
            rank = np.linalg.matrix_rank(result.values("m"), tol=1e-9)
            biased = result.values("b").any()
            for suffix, wanted in (("", 2), ("_line", 1), ("_point", 0)):
                held(said, f"notice.no_bias{suffix}", not biased and rank == wanted)
                held(said, f"notice.bias{suffix}", biased and rank == wanted)
        monkeypatch.undo()
