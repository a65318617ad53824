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
