"""The plane and the figures of the linear maps page, built without Streamlit's page around them."""

import json
import re

import numpy as np
import pytest
import torch

from core.attention.linear_maps import rotation, worked_map
from ui import course
from ui.figures import linear_maps as figure
from ui.figures import linear_maps_heads as heads
from ui.figures import linear_maps_product as product
from ui.figures.plane import Arrow, Lines, Shape, coordinates, plane, settled
from ui.result import Array, Result
from ui.words import LANGUAGES, Words

COLOURS = {"a": "#111111", "b": "#222222"}
SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0.0]])


def result(entries=(1.2, 0.6, -0.4, 1.0), u=(2.0, 1.0), b=(0.0, 0.0)) -> Result:
    worked = worked_map(entries, u, b)
    ij = ("1", "2")
    arrays = {
        "m": Array.of(worked.m, ij, ij, axes=("output", "input")),
        "x": Array.of(worked.x, ij, ("u", "e₁", "e₂"), axes=("input", "vector")),
        "b": Array.of(worked.b, ij, ("b",), axes=("output", "offset")),
        "y": Array.of(worked.y, ij, ("T(u)", "T(e₁)", "T(e₂)"), axes=("output", "vector")),
    }
    return Result({}, arrays, figure.facts_of(worked.m, worked.b[:, 0]))


def test_the_plane_is_accepted_by_the_schema_and_equal_both_ways():
    chart = plane(
        [Shape("a", SQUARE), Lines("a", np.zeros((1, 2, 2))), Arrow("b", (1.0, 2.0))], COLOURS, half=4
    )
    written = json.loads(chart.altair().to_json())
    assert len(written["layer"]) == len(chart.spec["layer"])
    for layer in chart.spec["layer"]:
        ends = {
            c: [e["expr"] for e in layer["encoding"][c]["scale"]["domain"]]
            for c in "xy"
            if c in layer["encoding"]
        }
        # As many units per px across as up, whatever the width of the screen.
        for channel, (low, high) in ends.items():
            assert eval(high, {"width": 620, "height": 310}) == {"x": 8.0, "y": 4}[channel]
            assert eval(low, {"width": 620, "height": 310}) == -{"x": 8.0, "y": 4}[channel]


def test_an_arrow_points_where_it_should():
    rows = plane([Arrow("a", (3.0, 4.0), (0.0, 0.0))], COLOURS, half=5).data.set_index("layer")
    head = rows.loc["head"]
    assert (head.x, head.y) == (3, 4)
    assert head.angle == pytest.approx(np.degrees(np.arctan2(3, 4)))  # clockwise from up
    assert rows.loc["label"].x > 3
    assert rows.loc["label"].y > 4
    assert head.read == "(3, 4)"


def test_a_vector_of_length_0_is_a_dot_and_infinity_is_refused():
    layers = set(plane([Arrow("a", (0.0, 0.0))], COLOURS, half=5).data.layer)
    assert "dot" in layers
    assert "head" not in layers
    with pytest.raises(ValueError, match="finite"):
        plane([Arrow("a", (np.inf, 0.0))], COLOURS, half=5)


def test_rounding_of_a_sum_of_tenths_is_not_shown():
    assert settled(0.1 + 0.2 - 0.3) == 0
    assert coordinates((0.1 + 0.2 - 0.3, -0.4)) == "(0, −0.400)"


def test_a_zero_made_of_tenths_is_drawn_as_zero():
    drawn = figure.matrices(result((0.6, 0.8, 0.8, -0.6), (2.0, -1.5)), Words("en", "linear_maps"))[0][-1]
    assert 0.6 * 2.0 + 0.8 * -1.5 != 0  # what floating point makes of it
    assert drawn.values[0, 0] == 0
    assert drawn.values[1, 0] == 2.5


def test_a_moving_entry_changes_the_table_and_not_the_chart():
    words = Words("en", "linear_maps")
    one, other = (figure.chart(result(entries), words) for entries in ((1.0, 0, 0, 1), (2.0, -2, 2, 2)))
    assert one.spec == other.spec
    assert not one.data.equals(other.data)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_letter_is_turned_as_a_rotation_turns_it(lang):
    words = Words(lang, "linear_maps")
    after = words.plain("plane.after")
    data = figure.chart(result((0.8, -0.6, 0.6, 0.8), b=(1.0, -0.5)), words).data
    shapes = data[data.layer == "shape"]
    before = shapes[shapes.name != after][["x", "y"]].to_numpy()
    turned = shapes[shapes.name == after][["x", "y"]].to_numpy()
    angle = np.exp(1j * np.arctan2(0.6, 0.8))  # complex numbers know rotations without matrices
    expected = (before[:, 0] + 1j * before[:, 1]) * angle + (1 - 0.5j)
    np.testing.assert_allclose(turned[:, 0] + 1j * turned[:, 1], expected, atol=1e-12)


def test_the_area_of_a_square_and_of_a_turned_one():
    assert figure.area(SQUARE) == 1
    assert figure.area(SQUARE @ rotation(33).numpy().T) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("3, 4", (3, 4)),
        ("[4, 16, 512]", (4, 16, 512)),
        ("4×16×512", (4, 16, 512)),
        ("（4，16）", (4, 16)),
        ("4 16", (4, 16)),
        ("2x3", (2, 3)),
        ("", None),
        ("4", None),
        ("0, 3", None),
        ("-3, 4", None),
        ("1.5, 2", None),
        ("1,2,3,4,5,6", None),
        ("9" * 30 + ", 4", None),
        ("<b>, 4", None),
    ],
)
def test_a_typed_shape_is_read_or_refused(text, shape):
    assert product.shape_of(text) == shape


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("sizes", [(2, 3, 2, 2), (1, 6, 4, 3), (4, 1, 1, 4)])
def test_the_numbers_on_the_way_follow_from_x_and_w(name, sizes):
    batch, tokens, n_heads, d_head = sizes
    made = heads.compute(name, *sizes, batch, 7)
    x, w = (torch.from_numpy(made.values(n)) for n in ("x", "w"))
    flat = torch.einsum("tf,fc->tc", x, w)
    torch.testing.assert_close(torch.from_numpy(made.values("flat")), flat, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(made.values("apart"), made.values("flat"))
    by_head = np.concatenate([made.values("flat")[:, h * d_head : (h + 1) * d_head] for h in range(n_heads)])
    np.testing.assert_array_equal(made.values("heads"), by_head)
    assert made.values("wrong").flatten().tolist() == made.values("flat").flatten().tolist()
    assert made.arrays["heads"].rows[-1] == f"{n_heads}·{tokens}"
    assert made.facts["shapes"]["heads"] == (batch, n_heads, tokens, d_head)


def test_a_sentence_beyond_the_batch_is_the_last_one():
    last, beyond = (heads.compute("q", 2, 3, 2, 2, sentence, 7) for sentence in (2, 4))
    np.testing.assert_array_equal(last.values("x"), beyond.values("x"))


def test_the_wrong_number_is_told_by_the_token_it_belongs_to():
    made = heads.compute("q", 1, 3, 2, 2, 1, 7)
    story = heads.why(made, ("wrong", 1, 0), Words("en", "linear_maps"))
    assert "stands what belongs to token 1, column 3" in story
    assert made.values("wrong")[1, 0] == made.values("flat")[0, 2]


def addresses(story: str) -> list[tuple[int, ...]]:
    """The indices in the formula of a story, one tuple for each tensor that it names."""
    formula = story.split("$$")[1]
    return [
        tuple(map(int, found.split(",")))
        for found in re.findall(r"\[([\d,\\ ]+)\]", formula.replace("\\,", ""))
    ]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("sizes", [(2, 3, 2, 2), (3, 5, 4, 3), (1, 1, 1, 1)])
def test_the_addresses_told_can_be_pasted_into_pytorch(sizes, lang):
    batch, tokens, n_heads, d_head = sizes
    made = heads.compute("q", *sizes, batch, 7)
    flat = torch.from_numpy(made.values("flat")).expand(batch, -1, -1)  # [B, T, d]  this sentence is the last
    apart = flat.unflatten(-1, (n_heads, d_head))
    tensors = {
        "apart": (flat, apart),
        "heads": (apart, apart.movedim(1, 2)),
        "wrong": (flat.reshape(batch, n_heads, tokens, d_head),),
    }
    for name, expected in tensors.items():
        values = made.values(name)
        for row, column in np.ndindex(values.shape):
            found = addresses(heads.why(made, (name, row, column), Words(lang, "linear_maps")))
            assert len(found) == len(expected)
            for place, tensor in zip(found, expected, strict=True):
                assert tensor[place] == values[row, column], (name, row, column, place)


def test_the_number_chosen_at_first_shows_that_head_and_token_change_places():
    default = course.PAGES["linear_maps"].parameter("qkv_cell").default
    made = heads.compute("q", 2, 3, 2, 2, 1, 7)
    apart, first = addresses(heads.why(made, default, Words("en", "linear_maps")))
    assert apart != first
    assert sorted(apart) == sorted(first)


def test_a_number_that_view_alone_puts_right_is_not_called_wrong():
    made, words = heads.compute("q", 1, 3, 2, 2, 1, 7), Words("en", "linear_maps")
    for row, column in np.ndindex(6, 2):
        right = made.values("wrong")[row, column] == made.values("heads")[row, column]
        story = heads.why(made, ("wrong", row, column), words)
        assert ("right by luck" in story) == right, (row, column)
        assert ("stands what belongs to" in story) != right


def test_numbers_stand_in_every_matrix_of_the_way_while_a_screen_has_room_for_them():
    words = Words("en", "linear_maps")
    small, big = (heads.matrices(heads.compute("q", *s, 1, 7), words) for s in ((2, 3, 2, 2), (4, 6, 4, 4)))
    assert all(one.large for row in small for one in row)
    assert not any(one.large for row in big for one in row)


@pytest.mark.parametrize(("a", "b"), [("3, 4", "2, 5"), ("3, 2", "4, 5")])
def test_a_mismatch_is_drawn_with_what_has_no_partner(a, b):
    words = Words("en", "linear_maps")
    found, _ = product.read((a, b), words)
    made = product.compute(found)
    ((left, right),) = product.matrices(made, words)
    assert (left.shape, right.shape) == (product.shape_of(a), product.shape_of(b))
    over, under = (left, right) if left.shape[1] == 4 else (right, left)
    hatched = over.hidden if over is left else over.hidden.T  # the long side, across
    assert hatched.tolist() == [[False, False, True, True]] * len(hatched)
    assert under.hidden is None
    assert "no partner" in over.note
    assert "have no product" in product.summary(made, words)


def test_what_fits_has_nothing_hatched():
    words = Words("en", "linear_maps")
    made = product.compute(product.read(("3, 4", "4, 2"), words)[0])
    (row,) = product.matrices(made, words)
    assert len(row) == 3
    assert all(one.hidden is None for one in row)
    np.testing.assert_array_equal(row[2].values, row[0].values @ row[1].values)


def labels_of(entries, u=(-2.0, 1.0), b=(0.0, 0.0)) -> set[str]:
    data = figure.chart(result(entries, u, b), Words("en", "linear_maps")).data
    return set(data[data.layer == "label"].label) - {""}


@pytest.mark.parametrize(
    ("entries", "u", "written"),
    [
        ((0.6, 0.8, 0.8, -0.6), (2.0, 1.0), {"u = T(u)", "T(e₁)", "T(e₂)"}),  # u on the mirror
        ((0.0, -1.0, 1.0, 0.0), (-2.0, 1.0), {"u", "T(u)", "T(e₁)", "T(e₂)"}),
        ((1.0, 1.0, 0.5, 0.5), (-2.0, 1.0), {"u", "T(u)", "T(e₁) = T(e₂)"}),
        ((0.0, 0.0, 0.0, 0.0), (-2.0, 1.0), {"u", "T(u) = T(e₁) = T(e₂)"}),
        ((1.0, 0.1, 0.0, 1.0), (-2.0, 1.0), {"u, T(u)", "T(e₁)", "T(e₂)"}),  # T(u) = (−1.9, 1)
    ],
)
def test_labels_that_would_overprint_are_written_as_one(entries, u, written):
    assert labels_of(entries, u) == written


def test_every_preset_but_the_identity_moves_the_first_u():
    page = course.PAGES["linear_maps"]
    u = np.array([page.parameter(name).default for name in ("u1", "u2")])
    for name, preset in figure.PRESETS.items():
        m = np.array([preset[entry] for entry in ("m11", "m12", "m21", "m22")]).reshape(2, 2)
        moved = np.linalg.norm(m @ u - u)
        assert (moved > 0.5) == (name != "identity"), (name, moved)
