"""The figures of the cross-attention page, built without the page around them."""

import json

import pytest

from ui.figures import cross_additive, cross_attention, cross_bottleneck, cross_masks, layer_costs
from ui.matrix import encode, spoken
from ui.words import LANGUAGES, Words

TWICE = ("the", "cat", "saw", "the", "cat")


@pytest.fixture(scope="module")
def result():
    return cross_attention.compute(TWICE, ("猫", "猫"), 3, True, 5, 11)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_picture_is_sent_and_keeps_twins_apart(result, lang):
    words = Words(lang, "cross_attention")
    both = cross_additive.compute(result, 1, 4)
    pictures = {
        "weights": cross_attention.steps(result, words),
        "add": cross_additive.matrices(both, words),
        "cross": cross_masks.matrices(cross_masks.compute(result, 1), words),
    }
    for focus, rows in pictures.items():
        assert encode(rows, focus, None, spoken(words), "summary", lang)
    (weights,) = [m for m in pictures["weights"][1] if m.name == "weights"]
    assert weights.rows == ("猫", "猫")
    assert weights.columns == (*TWICE, *["⟨pad⟩"] * 3)
    add, dot = (m for m in pictures["add"][1] if m.name in ("add", "dot"))
    assert add.limits == dot.limits == (0, 1)


def test_every_chart_is_accepted_by_the_schema(result):
    words = Words("en", "cross_attention")
    found = cross_bottleneck.measure(result, 0, 1.0)
    charts = [
        cross_bottleneck.chart(result, found, words),
        *layer_costs.charts(50, 512, 3, 16, words).values(),
    ]
    for chart in charts:
        assert json.loads(chart.altair().to_json())["layer"]


def test_equal_numbers_have_equal_colours_on_the_way_to_softmax():
    words = Words("en", "cross_attention")
    for dk in (1, 64):
        result = cross_attention.compute(TWICE, ("a", "b"), 8, True, dk, 3)
        shown = [
            cross_attention.one_step(name, result, words).limits for name in ("scores", "scaled", "masked")
        ]
        assert shown == [(-4.0, 4.0)] * 3
