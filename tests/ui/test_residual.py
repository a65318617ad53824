"""The figures of the residual page, built without the page around them."""

import pytest

from ui.figures import (
    residual,
    residual_alike,
    residual_block,
    residual_charts,
    residual_deep,
    residual_dropout,
)
from ui.matrix import encode, spoken
from ui.words import LANGUAGES, Words

VALUES = {
    "norm_a": "pre",
    "res_a": True,
    "init_a": "fan_in",
    "norm_b": "post",
    "res_b": False,
    "init_b": "xavier",
}
VALUES |= {"layers": 6, "width": "16", "seed": 1}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("is_residual", [True, False])
def test_a_drawing_has_the_parts_that_the_block_has(norm, is_residual, lang):
    values = VALUES | {"norm_a": norm, "res_a": is_residual}
    drawn = residual_block.diagrams(residual.result(values), Words(lang, "residual"))["a"]
    kinds = [node.kind for node in drawn.nodes]
    assert kinds.count("norm") == (0 if norm == "none" else 2)
    assert kinds.count("add") == kinds.count("tap") == (2 if is_residual else 0)
    places = {node.id: (node.column, node.row) for node in drawn.nodes}
    assert len(set(places.values())) == len(places)
    ins = {edge.target for edge in drawn.edges}
    assert ins == set(places) - {"x"}  # everything is reached but the input
    if is_residual and norm != "none":
        assert (places["norm0"][1] == residual_block.STREAM) == (norm == "post")
        assert (places["norm0"][0] < places["inner0"][0]) == (norm == "pre")


def test_an_axis_stays_put_until_a_value_leaves_it():
    assert residual_charts.powers((-2, 1), [residual.np.array([0.02, 9.0])]) == (-2, 1)
    assert residual_charts.powers((-2, 1), [residual.np.array([0.002, 11.0])]) == (-5, 4)
    words = Words("en", "residual")
    assert residual_charts.layer_axis(12, words).limits == (0, 12)
    assert residual_charts.layer_axis(13, words).limits == (0, 24)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_chart_is_valid_vega_lite_and_every_matrix_can_be_sent(lang):
    words, result = Words(lang, "residual"), residual.result(VALUES)
    drawn = list(residual_charts.charts(result, words, 3).values())
    drawn += residual_deep.seeds_charts(residual_deep.again(result), result, words).values()
    drawn += [
        residual_alike.chart(result, words),
        residual_dropout.chart(residual_dropout.compute(0, 0.3, 9), words),
    ]
    for chart in drawn:
        chart.altair()
    pictures = [
        residual.rows(result, words),
        residual_alike.matrices(residual_alike.compute(result, 3), words),
    ]
    pictures += [residual_dropout.matrices(residual_dropout.compute(0, 0.3, 9), words)]
    for rows in pictures:
        assert encode(rows, rows[0][0].name, None, spoken(words), "", lang)


def test_the_likeness_without_attention_is_that_of_tokens_alone():
    """One token's way is the same whoever stands beside it, so that nothing makes random tokens alike but the weights."""
    found = residual_alike.curves_of(
        residual.result(VALUES | {"norm_b": "post", "res_b": True, "layers": 24})
    )
    assert found["b_off"][-1] > 5 * found["b"][-1]


@pytest.mark.parametrize("place", [("draw", 5, 2), ("mean", 4, 8), ("draw", 1, 6), None])
def test_the_running_mean_is_drawn_against_inference(place):
    """The weight's own row of PyTorch's softmax, and draws that are 0 or the weight times 1/(1−p)."""
    words, shown = Words("en", "residual"), residual_dropout.compute(3, 0.5, 7)
    chart = residual_dropout.path_chart(shown, place, words)
    chart.altair()
    (inference,) = set(chart.data.query("layer == 'guide'").y)
    first, *_, last = chart.data.query("layer == 'series'").y
    if place == ("draw", 5, 2):
        assert inference == pytest.approx(float(residual_dropout.weights(3)[5, 2]))
        assert first in (0, pytest.approx(2 * inference))
    else:  # a sum, also where the mask hides the weight
        assert inference == pytest.approx(1)
    # Four standard errors of a number that is 0 or twice its mean; a sum of such numbers has no more.
    assert last == pytest.approx(inference, abs=4 * inference / 1000**0.5)
    assert chart.data.query("layer == 'marker'").x.tolist() == [7]
    assert residual_dropout.path_summary(shown, place, words)


def test_the_last_column_of_dropout_sums_the_rows():
    shown = residual_dropout.compute(1, 0.4, 5)
    for name in residual_dropout.SHOWN:
        values = shown.values(name)
        assert values[:, -1] == pytest.approx(values[:, :-1].sum(1))
    assert shown.values("inference")[:, -1] == pytest.approx(1)
    assert not shown.hidden[:, -1].any()
    story = residual_dropout.why(shown, ("draw", 7, 8), Words("en", "residual"))
    assert "Sum of row 8" in story
    assert story.count("+") == 7


def test_b_against_a_is_drawn_with_the_line_of_no_difference():
    words, result = Words("en", "residual"), residual.result(VALUES)
    drawn = residual_charts.compared(result, words, 3)
    a, b = (result.facts[side] for side in "ab")
    expected = {"norm": b.norm / a.norm, "gradient": b.gradient / a.gradient}
    expected |= {"similarity": b.similarity - a.similarity}
    for name, values in expected.items():
        data = drawn[f"compared {name}"].data
        drawn[f"compared {name}"].altair()
        assert data.query("layer == 'series'").y.tolist() == pytest.approx(values.tolist())
        assert set(data.query("layer == 'guide'").y) == {0.0 if name == "similarity" else 1.0}
    overflowed = residual.result(VALUES | {"norm_b": "none", "init_b": "he", "layers": 48, "norm_a": "none"})
    for chart in residual_charts.compared(overflowed, words, 48).values():
        chart.altair()
