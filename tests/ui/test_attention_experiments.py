"""The figures of the attention page's experiments, built without Streamlit's page around them."""

import json

import numpy as np
import pytest
import torch

from core.attention.masks import causal
from core.attention.toy import toy_inputs
from ui.figures import (
    attention_backward,
    attention_dropout,
    attention_order,
    attention_rows,
    attention_saturation,
)
from ui.matrix import encode, spoken
from ui.result import Array, Result
from ui.words import LANGUAGES, Words

TOKENS = ("the", "cat", "saw", "the", "cat")  # twins must stay apart


@pytest.fixture(scope="module")
def result() -> Result:
    """As much of the page's own result as the experiments read."""
    toy, mask = toy_inputs(TOKENS, 3, 4), causal(5)
    weights = torch.softmax((toy.q @ toy.k.T / 2).masked_fill(~mask, -torch.inf), -1)
    arrays = {n: Array.of(getattr(toy, n), TOKENS, axes=("query", "feature")) for n in ("x", "q")}
    arrays |= {n: Array.of(getattr(toy, n), TOKENS, axes=("key", "feature")) for n in ("k", "v")}
    arrays["weights"] = Array.of(weights, TOKENS, TOKENS, axes=("query", "key"))
    arrays["output"] = Array.of(weights @ toy.v, TOKENS, axes=("query", "feature"))
    return Result({"mask": "causal", "dk": 4}, arrays, {"scale": 0.5}, hidden=~mask.numpy())


@pytest.fixture(scope="module")
def measured():
    return attention_saturation.measure(20, 4, 1)


def all_charts(result, measured, words):
    pair = attention_rows.pair(result, 1, 4)
    dropped = attention_dropout.compute(result, 0.5, 1)
    return {
        **attention_saturation.charts(measured, 5, words),
        "rows": attention_rows.chart(result, pair, words),
        "sums": attention_dropout.sums(dropped, words),
    }


def test_every_chart_is_accepted_by_the_schema_and_serialises(result, measured):
    for name, chart in all_charts(result, measured, Words("en", "attention")).items():
        assert json.loads(chart.altair().to_json())["layer"], name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_axes_and_legends_are_in_the_readers_language(result, measured, lang):
    words = Words(lang, "attention")
    shown = all_charts(result, measured, words)
    spec = json.dumps({name: chart.spec for name, chart in shown.items()}, ensure_ascii=False)
    for key in (
        "sat.axis.variance",
        "sat.axis.entropy",
        "sat.axis.gradient",
        "sat.series.plain",
        "rows.axis.weight",
    ):
        assert json.dumps(words(key), ensure_ascii=False) in spec
    assert {chart.spec["height"] for chart in shown.values()} == {shown["rows"].spec["height"]}


def test_the_marker_stands_at_the_pages_width_and_the_scale_stays(measured):
    words = Words("en", "attention")
    at_5, at_64 = (attention_saturation.charts(measured, dk, words) for dk in (5, 64))
    for name in attention_saturation.QUANTITIES:
        assert at_5[name].data.query("layer == 'marker'").x.tolist() == [5]
        assert at_64[name].data.query("layer == 'marker'").x.tolist() == [64]
        assert at_5[name].spec == at_64[name].spec


@pytest.mark.parametrize(("draws", "keys"), [(20, 2), (200, 32)])
def test_means_and_theory_fit_into_the_fixed_scale(draws, keys):
    words = Words("en", "attention")
    for name, chart in attention_saturation.charts(
        attention_saturation.measure(draws, keys, 0), 8, words
    ).items():
        low, high = chart.spec["layer"][-1]["encoding"]["y"]["scale"]["domain"]
        drawn = chart.data[chart.data.layer.isin(["series", "guide"])].y
        assert drawn.min() >= low, name
        assert drawn.max() <= high, name


def test_twins_in_a_sentence_stay_two_bars(result):
    chart = attention_rows.chart(result, attention_rows.pair(result, 1, 4), Words("en", "attention"))
    series = chart.data.query("layer == 'series'")
    assert len(series) == 10
    assert series.x.nunique() == 5
    assert series.y.tolist()[5:] == result.values("weights")[4].tolist()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kind", ["target", "one", "ones", "random"])
def test_the_matrices_of_every_experiment_encode(result, kind, lang):
    words = Words(lang, "attention")
    pictures = {
        "ds": attention_backward.matrices(attention_backward.compute(result, kind, 9, 9, 1), words),
        "w_after": attention_order.matrices(attention_order.compute(result, (4, 3, 2, 1, 0)), words),
        "after": attention_dropout.matrices(attention_dropout.compute(result, 0.5, 1), words),
    }
    for focus, rows in pictures.items():
        assert encode(rows, focus, (focus, 0, 0), spoken(words), "summary", lang)


def test_shuffled_matrices_are_labelled_by_the_tokens_that_stand_there(result):
    moved = attention_order.compute(result, (2, 0, 1, 4, 3))
    assert moved.arrays["w_after"].rows == ("saw", "the", "cat", "cat", "the")
    assert moved.arrays["w_after"].columns == moved.arrays["o_after"].rows == moved.arrays["w_after"].rows
    assert moved.arrays["w_back"].rows == TOKENS
    q, k = (result.values(name)[[2, 0, 1, 4, 3]] for name in ("q", "k"))
    scores = np.where(result.hidden, -np.inf, q @ k.T * 0.5)
    expected = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(moved.values("w_after"), expected, atol=1e-12)
    np.testing.assert_allclose(
        moved.values("w_diff"), moved.values("w_back") - result.values("weights"), atol=1e-12
    )


@pytest.mark.parametrize(
    ("typed", "order", "told"),
    [
        ("3 1 2", (2, 0, 1, 3), False),
        ("3，1", (2, 0, 1, 3), False),
        ("", (0, 1, 2, 3), False),
        ("5 1", (0, 1, 2, 3), True),
        ("2 2", (1, 0, 2, 3), True),
        ("b 4", (3, 0, 1, 2), True),
        ("-2", (1, 0, 2, 3), True),
        ("9" * 80, (0, 1, 2, 3), True),
    ],
)
def test_a_typed_order_is_read_and_judged(typed, order, told):
    assert attention_order.permutation("own", typed, 4, 0) == order
    assert attention_order.left_out(typed, 4) is told


def test_random_orders_follow_their_number():
    orders = [attention_order.permutation("random", "", 6, draw) for draw in range(10)]
    assert len(set(orders)) > 5
    assert orders[4] == attention_order.permutation("random", "", 6, 4)
