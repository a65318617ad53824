"""The experiments of the page on positions: their numbers against ones computed here, their sentences at any setting."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from core.attention.toy import toy_inputs
from tests.app.harness import assert_whole, open_page
from ui import course
from ui.figures import positions_curves as curves
from ui.figures import positions_learned as learned
from ui.figures import positions_long as longer
from ui.figures import positions_rotation as rotation
from ui.matrix import spoken
from ui.numbers import number
from ui.words import LANGUAGES, Words

TABS = ("curves", "rotation", "learned", "turning", "layouts", "alibi", "long", "order")
SENTENCE = ("the", "dog", "bit", "the", "man")


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_tab_opens_in_both_languages(tab, lang, caplog):
    methods = {"methods": "interpolation.ntk.yarn.longrope"}
    assert_whole(open_page("positions", {"lang": lang} | methods, tab=tab), caplog)


CELLS = {
    "curves": ("curve_cell", ("heat.0.0", "heat.31.31")),
    "rotation": (
        "rot_cell",
        ("r_shift.0.0", "r_shift.0.1", "r_shift.1.0", "r_shift.0.5", "r_from.0.0", "r_from.1.0"),
    ),
    "learned": ("learn_cell", ("l_table.13.0", "l_dots.2.14", "l_dots.1.2", "s_table.14.3", "s_dots.15.2")),
    "layouts": ("layout_cell", ("y_inter.1.2", "y_half.1.2", "y_forgot.1.2", "y_mixed.1.2")),
    "alibi": ("alibi_cell", ("a_bias.4.1", "a_bias.1.4", "a_weights.4.1", "a_weights.1.4")),
    "order": ("order_cell", ("ow_none.1.2", "ow_rope.0.4", "od_learned.1.1")),
}


@pytest.mark.parametrize(
    ("tab", "name", "cell"), [(t, n, c) for t, (n, cells) in CELLS.items() for c in cells]
)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_cell_of_a_tab_has_its_story(tab, name, cell, lang, caplog):
    app = open_page("positions", {"lang": lang, name: cell}, tab=tab)
    assert_whole(app, caplog)
    stories = [m.value for m in app.markdown if m.value.startswith("## ") and "$$" in m.value]
    assert len(stories) == 2  # the main picture's and the tab's


def test_the_product_is_the_same_everywhere_and_as_published():
    # d = 8, δ = 5: cos 5 + cos 0.5 + cos 0.05 + cos 0.005.
    expected = sum(math.cos(5 / 10**i) for i in range(4))
    told = prose(open_page("positions", {"lang": "en", "rot_d": "8", "delta": "5"}, tab="rotation"))
    assert ", ".join([f"{expected:.4f}"] * 4) in told


@pytest.mark.parametrize(
    ("heads", "told"),
    [
        (8, "from 0.500 to 0.00391"),
        (12, "for 16 heads is taken (0.707, 0.354, 0.177, 0.0884)."),
        (1, "2⁻⁸ = 0.00391"),
        (3, "The first 2 heads get the slopes for 2, from 0.0625 to 0.00391; for the rest (1)"),
    ],
)
def test_slopes_are_those_of_the_paper(heads, told):
    assert told in prose(open_page("positions", {"lang": "en", "heads": str(heads)}, tab="alibi"))


@pytest.mark.parametrize(
    ("heads", "head", "exponent"),
    [(12, 9, -1 / 2), (12, 10, -3 / 2), (12, 8, -8), (8, 3, -3), (1, 1, -8), (3, 3, -2), (64, 64, -8)],
)
@pytest.mark.parametrize("mask", ["none", "causal"])
def test_the_bias_of_any_head_is_its_published_slope_times_the_distance(heads, head, exponent, mask):
    slope = 2.0**exponent
    query = {"lang": "en", "heads": str(heads), "slope": str(head), "mask": mask}
    told = prose(open_page("positions", query | {"alibi_cell": "a_bias.4.1"}, tab="alibi"))
    power, shown = re.search(r"2\^\{ -8\\cdot (\d+/\d+) \} = (\S+)\n", told).groups()
    assert -8 * float(Fraction(power)) == exponent
    assert shown == number(slope)
    assert f"-{number(slope)}\\cdot3 = {number(-3 * slope)}\n" in told
    told = prose(open_page("positions", query | {"alibi_cell": "a_weights.2.0"}, tab="alibi"))
    raw = np.exp(-slope * abs(np.arange(3 if mask == "causal" else 5) - 2))
    assert f"= {number(raw[0] / raw.sum())}\n" in told


def test_a_mask_hides_keys_from_the_weights_of_the_bias_too():
    query = {"lang": "en", "mask": "causal", "alibi_cell": "a_weights.1.4"}
    told = prose(open_page("positions", query, tab="alibi"))
    assert "may not look at key 5" in told.split("## Why this number")[2]


@pytest.mark.parametrize(("t_max", "want", "dots"), [(12, 16, 12), (20, 9, 9)])
def test_a_table_has_the_shape_of_its_rows_not_of_the_places_that_are_wanted(t_max, want, dots):
    query = {"lang": "en", "t_max": str(t_max), "want": str(want)}
    shapes = {"l_table": f"{t_max} × 16", "l_dots": f"{dots} × {dots}", "s_table": f"{want} × 16"}
    for name, shape in shapes.items():
        told = prose(open_page("positions", query | {"learn_cell": f"{name}.2.1"}, tab="learned"))
        assert f"has shape {shape};" in told


def test_the_reach_of_a_head_is_the_mean_of_its_weights():
    weights = np.exp(-0.25 * np.arange(100_000))
    mean = (weights * np.arange(100_000)).sum() / weights.sum()
    told = prose(open_page("positions", {"lang": "en", "heads": "8", "slope": "2"}, tab="alibi"))
    assert f"would look back {mean:.3g} positions on average" in told


def long_table(**query) -> dict[str, list[str]]:
    app = open_page("positions", {"lang": "en"} | query, tab="long")
    table = next(m.value for m in app.markdown if m.value.startswith("| Method"))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    return {name: cells for name, *cells in rows}


@pytest.mark.parametrize("d", [16, 64, 128])
def test_pairs_at_new_angles_are_those_counted_here(d):
    table = long_table(long_d=str(d), methods="interpolation.ntk.yarn", trained="2048", factor="8")
    theta = 10000.0 ** (-np.arange(0, d, 2) / d)
    slow = theta * 2048 < 2 * np.pi
    ntk = (10000.0 * 8 ** (d / (d - 2))) ** (-np.arange(0, d, 2) / d)
    assert int(table["plain RoPE"][2]) == slow.sum()
    assert int(table["interpolation"][2]) == int(table["YaRN"][2]) == 0
    assert int(table["NTK-aware"][2]) == (slow & (ntk * 8 > theta * (1 + 1e-9))).sum()
    assert table["interpolation"][:2] == ["8", "8"]
    assert table["NTK-aware"][:2] == ["1", "8"]
    assert float(table["YaRN"][3]) == pytest.approx(0.1 * math.log(8) + 1, rel=5e-3)


def test_the_range_of_the_even_head_is_that_computed_here():
    table = long_table(long_d="64", trained="512", factor="4", methods="interpolation")
    theta = 10000.0 ** (-np.arange(0, 64, 2) / 64)
    known, beyond = (np.cos(np.arange(*ends)[:, None] * theta).mean(-1) for ends in ((0, 512), (512, 2048)))
    outside = 100 * ((beyond < known.min()) | (beyond > known.max())).mean()
    assert float(table["plain RoPE"][5].removesuffix(" %")) == pytest.approx(outside, rel=5e-3)
    assert float(table["plain RoPE"][4]) == pytest.approx(known[0] - known[8], rel=5e-3)
    stretched = np.cos(np.array([0, 8])[:, None] * theta / 4).mean(-1)
    assert float(table["interpolation"][4]) == pytest.approx(stretched[0] - stretched[1], rel=5e-3)


@pytest.mark.parametrize(
    ("typed", "factors", "changed"),
    [
        ("1 2 4 8", (1, 2, 4, 8), False),
        ("１，２", (1, 2), False),
        ("1, 2; 3", (1, 2, 3), False),
        ("0 1 5000 2", (1, 2), True),
        ("no numbers", (1,), True),
        ("-3 2", (2,), True),
        ("1e2 4", (4,), True),
        ("1..5 4", (4,), True),
        (".5 2. 0.75", (0.5, 2, 0.75), False),
        ("1.12345678901234 3", (1.12345678901234, 3), False),
        ("1 2 3 4 5 6 7 8 9 10", (1, 2, 3, 4, 5, 6, 7, 8), True),
        ("9" * 500, (1,), True),
    ],
)
def test_factors_are_read_and_what_is_left_out_is_told(typed, factors, changed):
    assert longer.read_factors(typed, 8) == (factors, changed)


def test_strange_factors_are_told_on_the_page_and_the_preset_sets_them(caplog):
    query = {"lang": "en", "methods": "longrope", "factors": "1 2 x 4", "long_d": "16", "factor": "16"}
    app = open_page("positions", query, tab="long")
    assert_whole(app, caplog)
    assert "Used are ` 1 2 4 `" in app.info[0].value or "Used are 1 2 4" in app.info[0].value
    assert course.PAGES["positions"].parameter("factors").default == longer.illustrative(8)
    preset = longer.illustrative(16)
    numbers = [float(x) for x in preset.split()]
    assert (len(numbers), numbers[0], numbers[-1]) == (8, 1, 16)
    assert longer.read_factors(preset, 8) == (tuple(numbers), False)


def test_the_scores_by_distance_are_those_of_complex_numbers():
    toy = toy_inputs(SENTENCE, 7, 8, 16)
    theta = 100.0 ** (-np.arange(0, 8, 2) / 8)
    q, k = (y[:4] + 1j * y[4:] for y in (toy.q.numpy()[4], toy.k.numpy()[1]))
    scores = (q * np.exp(1j * np.arange(65)[:, None] * theta) * k.conj()).real.sum(-1) / 8**0.5
    told = prose(open_page("positions", {"lang": "en", "turn_q": "5", "turn_k": "2"}, tab="turning"))
    best = int(scores.argmax())
    assert best > 0
    assert f"highest at distance {best} ({scores.max():.3g})" in told


def test_mixed_layouts_are_found_by_moving_the_text_and_a_forgotten_permutation_is_not():
    told = prose(open_page("positions", {"lang": "en"}, tab="layouts"))
    assert "the largest difference is 0." in told
    assert "1, 3, 5, 7, 2, 4, 6, 8" in told
    assert "Moving the text by 10 positions changes them by 0," in told
    toy = toy_inputs(SENTENCE, 7, 8, 16)
    theta = 10000.0 ** (-np.arange(0, 8, 2) / 8)

    def mixed(start):
        turn = np.exp(1j * np.arange(start, start + 5)[:, None] * theta)
        q, k = toy.q.numpy(), toy.k.numpy()
        q = (q[:, 0::2] + 1j * q[:, 1::2]) * turn
        k = (k[:, :4] + 1j * k[:, 4:]) * turn
        q = np.stack([q.real, q.imag], -1).reshape(5, 8)
        return q @ np.concatenate([k.real, k.imag], -1).T / 8**0.5

    assert f"changes scores by up to {abs(mixed(10) - mixed(0)).max():.3g}" in told


def test_order_shows_under_every_scheme_but_a_reversal_not_under_bare_alibi():
    rows = {}
    for order in ("random", "reverse"):
        app = open_page("positions", {"lang": "en", "order": order}, tab="order")
        table = next(m.value for m in app.markdown if m.value.startswith("| Scheme"))
        rows[order] = {
            line.split("|")[1].strip(): line.split("|")[2].strip() for line in table.splitlines()[2:]
        }
        assert ("ALiBi without a mask does not notice" in prose(app)) == (order == "reverse")
    for order, table in rows.items():
        blind = {name for name, value in table.items() if value == "none: order is invisible"}
        assert blind == ({"None"} if order == "random" else {"None", "ALiBi"})


def test_a_text_that_reads_the_same_backwards_has_nothing_to_notice():
    app = open_page("positions", {"lang": "en", "s": "a b a", "tokens": "3", "order": "reverse"}, tab="order")
    assert "reads like the original" in prose(app)


@pytest.mark.parametrize(("t_max", "want", "missing"), [(12, 16, 4), (32, 16, 0)])
def test_the_end_of_the_table_is_told_in_the_cores_own_words(t_max, want, missing):
    app = open_page("positions", {"lang": "en", "t_max": str(t_max), "want": str(want)}, tab="learned")
    errors = [c.value for c in app.code if "ValueError" in c.value]
    assert errors == (
        [f"ValueError: the table has {t_max} positions, {want} were asked for"] if missing else []
    )
    assert (f"for {missing} of them there is no row" in prose(app)) == bool(missing)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_row_named_by_its_place_t_is_not_counted_as_a_place_as_well(lang):
    """Row 4 of a table is t = 3; "position 4 t = 3" would name two places at once."""
    words = Words(lang, "positions")
    shown = {
        curves: curves.compute(32, 10000, [1, 6, 13]),
        rotation: rotation.compute(8, 10, 5),
        learned: learned.compute(12, 16, 7),
    }
    counted = 0
    for figure, result in shown.items():
        for matrix in (m for row in figure.matrices(result, words) for m in row):
            for axis, labels in zip(matrix.axes, (matrix.rows, matrix.columns), strict=True):
                if labels[0].startswith("t = "):
                    counted += 1
                    assert spoken(words)[axis] in ("row", "column", "行", "列"), (matrix.name, axis)
    assert counted == 9
