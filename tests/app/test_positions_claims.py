"""Each sentence of the page on positions, at random settings, against attention computed without the core."""

import numpy as np
import pytest

from tests.app.claims import runs
from tests.app.test_positions import scores_and_weights
from tests.app.test_positions_tabs import TABS


def test_each_notice_holds_at_random_settings(monkeypatch):
    for said in runs("positions", 40, 1, monkeypatch, figure="positions"):
        (result, _), *_ = said.results
        p = result.parameters
        given = (p["tokens"], p["scheme"], p["start"], p["head"], p["dk"], p["mask"], p["seed"])
        _, weights = scores_and_weights(*given)
        np.testing.assert_allclose(result.values("weights"), weights, atol=1e-9)
        _, plain = scores_and_weights(p["tokens"], "none", dk=p["dk"], mask=p["mask"], seed=p["seed"])
        _, moved = scores_and_weights(p["tokens"], p["scheme"], p["elsewhere"], *given[3:])
        assert result.facts["change"] == pytest.approx(abs(weights - plain).max(), abs=1e-9)
        assert result.facts["moved"] == pytest.approx(abs(moved - weights).max(), abs=1e-9)
        assert bool(said.of("notice.stays")) == (p["scheme"] in ("rope", "alibi") and len(p["tokens"]) > 1), (
            said.settings
        )
        pair = next(
            ((i, j) for j in range(len(p["tokens"])) for i in range(j) if p["tokens"][i] == p["tokens"][j]),
            None,
        )
        equal = pair is not None and len(p["tokens"]) > 1 and p["scheme"] == "none" and p["mask"] == "none"
        assert bool(said.of("notice.twins_equal")) == equal, said.settings
        if said.of("notice.rope"):
            own = np.diagonal(result.values("scores")) - np.diagonal(result.facts["plain_scaled"])
            assert abs(own).max() < 1e-9, said.settings
        if said.of("notice.reach"):
            place = np.arange(len(weights))
            far = (weights * abs(place[:, None] - place)).sum() / len(weights)
            assert result.facts["distance"] == pytest.approx(far)
        assert not said.number_slips(), said.number_slips()


FIGURES = {
    "curves": "curves",
    "rotation": "rotation",
    "learned": "learned",
    "turning": "turning",
    "layouts": "layouts",
    "alibi": "slopes",
    "long": "long",
    "order": "order",
}


def holds_curves(said, shown):
    p = shown.parameters
    wave = np.arange(32)[:, None] / float(p["base"]) ** (np.arange(0, p["d"], 2) / p["d"])
    columns = np.concatenate([np.sin(wave), np.cos(wave)], -1)
    count = int((np.ptp(columns, axis=0) < 0.1).sum())
    assert f": {count} of {p['d']}." in said.of("curve.notice.slow")


def holds_rotation(said, shown):
    p = shown.parameters
    omega = 10000.0 ** (-np.arange(0, p["d"], 2) / p["d"])
    np.testing.assert_allclose(shown.facts["products"], np.cos(p["delta"] * omega).sum(), atol=1e-9)
    assert shown.facts["direct"] < 1e-9
    assert bool(said.of("rot.notice.identity")) == np.allclose(shown.values("r_shift"), np.eye(p["d"]))


def holds_learned(said, shown):
    p = shown.parameters
    assert bool(said.of("learn.notice.ends")) == (p["want"] > p["t_max"])
    assert shown.facts["missing"] == max(p["want"] - p["t_max"], 0)


def holds_turning(said, shown):
    facts = shown.facts
    q, k = (facts[name] @ [1, 1j] for name in ("q", "k"))
    apart = np.arange(65)[:, None] * facts["theta"]
    scores = (q * np.exp(1j * apart) * k.conj()).real.sum(-1) * shown.parameters["scale"]
    np.testing.assert_allclose(facts["scores"], scores, atol=1e-9)
    assert bool(said.of("turn.notice.peak_here")) == (scores.max() <= scores[0] + 1e-12)
    bound = abs(np.exp(1j * apart).cumsum(-1)).mean(-1)
    assert bool(said.of("turn.notice.bound")) == (bound[-1] < bound[0] * (1 - 1e-9))


def holds_layouts(said, shown):
    facts = shown.facts
    assert facts["y_half_off"] < 1e-9
    if said.of("layout.notice.forgot"):
        assert facts["y_forgot_off"] > 1e-6
        assert facts["y_forgot_moved"] < 1e-9
        assert facts["y_mixed_moved"] > 1e-6
    if said.of("layout.notice.one_pair"):
        assert max(facts["y_forgot_off"], facts["y_mixed_off"], facts["y_mixed_moved"]) < 1e-9
    if said.of("layout.notice.one_token"):
        assert max(facts["y_forgot_off"], facts["y_mixed_off"], facts["y_forgot_moved"]) < 1e-9


def holds_slopes(said, shown):
    slopes = shown.facts["slopes"]
    assert len(slopes) == len(set(slopes)) == shown.parameters["heads"]
    below = shown.parameters["below"]
    np.testing.assert_allclose(np.diff(np.log2(slopes[:below])), -8 / below)
    assert bool(said.of("slope.notice.other")) == (below != len(slopes))


def holds_long(said, shown):
    p, facts = shown.parameters, shown.facts
    theta = p["base"] ** (-np.arange(0, p["d"], 2) / p["d"])
    slow = 2 * np.pi / theta > p["trained"]
    assert facts["slow_pairs"] == slow.sum() > 0
    assert facts["ways"]["plain"]["unseen"] == slow.sum()
    assert bool(said.of("long.notice.plain_calm")) == (facts["ways"]["plain"]["range"].outside == 0)
    for name in ("interpolation", "yarn"):
        assert facts["ways"].get(name, {"unseen": 0})["unseen"] == 0, said.settings
    if p["head"] == "even":
        known = np.cos(np.arange(0, p["trained"], -(-p["trained"] // 4096))[:, None] * theta).mean(-1)
        assert facts["ways"]["plain"]["range"].low == pytest.approx(known.min(), abs=1e-9)


def holds_order(said, shown):
    tokens, places = shown.parameters["tokens"], np.array(shown.facts["places"])
    same = [tokens[i] for i in places] == list(tokens)
    assert bool(said.of("order.notice.same")) == same
    if not same:
        place = np.arange(len(places))
        kept = (abs(places[:, None] - places) == abs(place[:, None] - place)).all()
        assert bool(said.of("order.notice.blind_alibi")) == kept, said.settings
        assert not said.of("order.notice.blind")
        assert shown.facts["none"]["none"] < 1e-9


@pytest.mark.parametrize("tab", TABS)
def test_what_a_tab_says_holds_at_random_settings(tab, monkeypatch):
    for said in runs("positions", 25, 2, monkeypatch, tab=tab, figure=f"positions_{FIGURES[tab]}"):
        assert not said.number_slips(), said.number_slips()
        (shown, *_), *_ = said.results
        globals()[f"holds_{FIGURES[tab]}"](said, shown)
