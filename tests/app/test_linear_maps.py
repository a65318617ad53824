"""The linear maps page: its words equal an independent computation, its tabs stand bad input and both languages."""

from __future__ import annotations

import re

import nbformat
import numpy as np
import pytest
import torch
from nbclient import NotebookClient

from tests.app.harness import assert_whole, lines_of_code, link_of, open_page
from ui.frame import takeaway
from ui.numbers import number
from ui.words import LANGUAGES

STEM = "linear_maps"


def opened(query: dict | None = None, tab: str = "", lang: str = "en"):
    return open_page(STEM, {"lang": lang} | {n: str(v) for n, v in (query or {}).items()}, tab=tab)


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


MATRICES = {
    "upright": {"m11": 1.5, "m12": -0.5, "m21": 0.3, "m22": 1.2},
    "mirrored": {"m11": 0.6, "m12": 0.8, "m21": 0.8, "m22": -0.6},
    "line": {"m11": 0.8, "m12": 0.4, "m21": 0.4, "m22": 0.2},
    "point": {"m11": 0, "m12": 0, "m21": 0, "m22": 0},
}


@pytest.mark.parametrize("kind", MATRICES)
def test_the_determinant_and_the_letter_are_told_as_numpy_has_them(kind):
    entries = MATRICES[kind]
    m = np.array([[entries["m11"], entries["m12"]], [entries["m21"], entries["m22"]]])
    determinant = np.linalg.det(m)
    told = prose(opened(entries))
    expected = {
        "upright": "the F can still be read",
        "mirrored": "the F is a mirror image",
        "line": "flattened onto a line",
        "point": "every vector ends at one point",
    }
    assert [k for k, words in expected.items() if words in told] == [kind]
    shown = re.search(r"determinant (?:of M )?is ([−\d.]+)", told)[1].rstrip(".")
    assert float(shown.replace("−", "-")) == pytest.approx(round(determinant, 12), abs=5e-3)
    # The F fills 8 of the 15 cells of a box 1.2 wide and 2 high.
    area = 1.2 * 2 * 8 / 15
    assert f"goes from {number(area)} to " in told
    after = float(re.search(r"goes from [\d.]+ to (\d+(?:\.\d+)?)", told)[1])
    assert after == pytest.approx(abs(determinant) * area, abs=5e-3)


def test_an_image_is_a_row_times_a_column_plus_the_bias():
    query = {"m11": 1.5, "m12": -0.5, "u1": 2, "u2": -1.2, "b1": 0.3, "cell": "y.0.0"}
    app = opened(query)
    assert r"1.50\cdot2.00 − 0.500\cdot(−1.20) + 0.300 = 3.90" in prose(app)
    assert lines_of_code(app) == ["y = m @ x + b  # [2, 3]"]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("cell", ["m.1.0", "x.1.0", "x.0.2", "b.1.0", "y.1.2"])
def test_every_kind_of_number_has_its_story(cell, lang, caplog):
    app = opened({"cell": cell, "b2": -0.5}, lang=lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 1


def test_a_preset_sets_the_entries_and_takes_the_bias_away():
    app = opened({"b1": 1})
    app.session_state[f"{STEM} maps"] = True
    app.run()
    next(b for b in app.button if b.label.startswith("Shear")).click().run()
    link = link_of(app)
    assert [link[n] for n in ("m11", "m12", "m21", "m22", "b1", "b2")] == ["1", "1", "0", "1", "0", "0"]


def test_presets_are_the_maps_that_they_are_called():
    from core.attention import linear_maps as lm
    from ui.figures.linear_maps import PRESETS

    turn, mirror = np.degrees(np.arctan2(0.6, 0.8)), np.degrees(np.arctan2(1, 2))
    expected = {
        "identity": torch.eye(2, dtype=torch.float64),
        "rotation": lm.rotation(turn),
        "quarter": lm.rotation(90),
        "shear": lm.shear(1),
        "reflection": lm.reflection(mirror),
        "projection": lm.projection(mirror),
        "scaling": lm.scaling(1.5, 0.5),
    }
    assert PRESETS.keys() == expected.keys()
    for name, m in expected.items():
        entries = [PRESETS[name][n] for n in ("m11", "m12", "m21", "m22")]
        np.testing.assert_allclose(entries, m.flatten().numpy(), atol=1e-12)


# Product rule


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("3, 4", "4, 2"),
        ("[4, 16, 512]", "512×64"),
        ("（4，16，64）", "4 64 16"),
        ("3, 4", "2, 4"),
        ("4, 3", "4, 2"),
        ("2, 3", "4, 2"),
        ("2, 3", "5, 7"),
        ("4, 16, 64", "3, 64, 16"),
        ("1, 5, 4, 3", "6, 1, 3, 2"),
        ("8, 8", "8, 8"),
    ],
)
def test_the_verdict_is_pytorchs_and_a_mismatch_is_no_error(a, b, lang, caplog):
    app = opened({"shape_a": a, "shape_b": b}, tab="product", lang=lang)
    assert_whole(app, caplog)
    assert not app.info
    sizes = [tuple(map(int, re.findall(r"\d+", text))) for text in (a, b)]
    try:
        shape = list((torch.zeros(sizes[0]) @ torch.zeros(sizes[1])).shape)
    except RuntimeError:
        shape = None
    line = next(m.value for m in app.markdown if m.value.startswith(f"**{list(sizes[0])} × "))
    head = line.split("**")[1]
    assert head.rstrip(".").endswith(f"→ {shape}") if shape else "→" not in head
    for advice in re.findall(r"(\[[\d, ]+\]) × (\[[\d, ]+\]) → (\[[\d, ]+\])", line):
        left, right, out = ([int(n) for n in re.findall(r"\d+", part)] for part in advice)
        assert list((torch.zeros(left) @ torch.zeros(right)).shape) == out


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["three, four", "3", "0, 4", "3, -4", "1,2,3,4,5,6", "99999999, 4", "$x$", "3,,4"]
)
def test_a_shape_that_cannot_be_read_is_told_and_replaced(text, lang, caplog):
    app = opened({"shape_a": text}, tab="product", lang=lang)
    assert_whole(app, caplog)
    assert f"` {text} `" in app.info[0].value
    assert "[3, 4]" in app.info[0].value
    assert "[3, 4] × [4, 2] → [3, 2]" in prose(app)
    assert link_of(app)["shape_a"] == text


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("cell", ["pa.0.1", "pb.3.0", "pc.2.1"])
def test_every_number_of_the_product_has_its_story(cell, lang, caplog):
    app = opened({"product_cell": cell}, tab="product", lang=lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2
    if cell == "pc.2.1":
        story = next(m.value for m in app.markdown if "c_{32}" in m.value)
        terms, value = re.search(r"b_\{m2\} = (.*) = (\S+)\n", story).groups()
        total = eval(terms.replace(r"\cdot", "*").replace("−", "-"))  # our own formula, read as arithmetic
        assert total == int(value.replace("−", "-"))
        assert terms.count(r"\cdot") == 4


@pytest.mark.parametrize("shapes", [("4, 16, 512", "512, 512"), ("9, 2", "2, 9"), ("9, 2", "3, 9")])
def test_why_no_numbers_are_drawn_is_said(shapes):
    app = opened(dict(zip(("shape_a", "shape_b"), shapes, strict=True)), tab="product")
    assert [c.value for c in app.caption] == [
        "Numbers are drawn where both have two axes and none is longer than 8."
    ]
    assert not opened({"shape_a": "8, 2", "shape_b": "3, 8"}, tab="product").caption


def test_a_cell_outside_the_product_is_said():
    assert "outside the present picture" in prose(
        opened({"shape_a": "1, 2", "shape_b": "2, 1", "product_cell": "pc.5.0"}, tab="product")
    )


# Linear or not


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("b", [(0, 0), (1, 0.5), (-0.7, 0)])
def test_the_two_conditions_hold_exactly_without_a_bias(b, lang, caplog):
    query = {"b1": b[0], "b2": b[1], "v1": 0.7, "v2": -1.1, "k": -0.3}
    app = opened(query, tab="linear", lang=lang)
    assert_whole(app, caplog)
    table = next(m.value for m in app.markdown if "T(u + v) = T(u) + T(v)" in m.value and "|:--|" in m.value)
    rows = [line.split("|") for line in table.splitlines()[2:]]
    shown = [[float(x) for x in re.findall(r"-?[\d.]+", row[4].replace("−", "-"))] for row in rows]
    # With T(x) = Mx + b: T(u+v) − T(u) − T(v) = −b and T(ku) − kT(u) = (1 − k) b, whatever M is.
    expected = [[-b[0], -b[1]], [1.3 * b[0], 1.3 * b[1]], list(b)]
    np.testing.assert_allclose(shown, expected, rtol=5e-3)
    assert len({row[5].strip() for row in rows}) == 1


def test_the_lucky_factor_of_one_is_explained():
    assert "One lucky case proves nothing" in prose(opened({"b1": 1, "k": 1}, tab="linear"))
    assert "One lucky case" not in prose(opened({"b1": 0, "k": 1}, tab="linear"))


# Dot product and cosine


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_cosine_is_pytorchs(lang, caplog):
    app = opened({"u1": 1.3, "u2": 0.4, "v1": -0.6, "v2": 1.9}, tab="cosine", lang=lang)
    assert_whole(app, caplog)
    u, v = torch.tensor([1.3, 0.4]), torch.tensor([-0.6, 1.9])
    cosine = torch.nn.functional.cosine_similarity(u, v, dim=0).item()
    told = prose(app)
    assert f"= {number(cosine)}\n" in told
    assert f"{number(np.degrees(np.arccos(cosine)))}°" in told
    m = torch.tensor([[1.2, 0.6], [-0.4, 1.0]])
    assert number(((m @ u) @ (m @ v)).item()) in told


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("query", [{"u1": 0, "u2": 0}, {"v1": 0, "v2": 0}, MATRICES["point"]])
def test_a_vector_without_length_has_no_cosine_and_that_is_said(query, lang, caplog):
    app = opened(query, tab="cosine", lang=lang)
    assert_whole(app, caplog)
    assert "NaN" not in prose(app)
    assert (r"\cos\theta" in prose(app)) == ("m11" in query)


# From X to Q, K, V


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("cell", ["x.0.1", "w.1.2", "flat.2.3", "apart.1.2", "heads.4.1", "wrong.1.0"])
@pytest.mark.parametrize("qkv", ["q", "v"])
def test_every_number_on_the_way_has_its_story(cell, qkv, lang, caplog):
    app = opened({"qkv_cell": cell, "qkv": qkv, "sentence": 2}, tab="qkv", lang=lang)
    assert_whole(app, caplog)
    assert len(lines_of_code(app)) == 2


def test_the_shapes_are_those_of_the_notes_and_the_followed_number_is_one():
    told = prose(opened(tab="qkv"))
    for shape in ("[4, 16, 512]", "[512, 512]", "[4, 16, 8, 64]", "[4, 8, 16, 64]", "[4, 8, 16, 16]"):
        assert shape in told
    values = re.findall(r"\[2, (?:9, 200|9, 3, 8|3, 9, 8)\] = (\S+)", told)
    assert len(values) == 3
    assert len(set(values)) == 1


def test_view_alone_misplaces_as_many_numbers_as_a_count_by_hand_says():
    flat = torch.arange(12).view(3, 4)  # one sentence, T = 3, H = 2, d_head = 2
    right = torch.stack([flat[:, :2], flat[:, 2:]])
    misplaced = int((flat.reshape(2, 3, 2) != right).sum())
    assert f"but {misplaced} of the 12 numbers" in prose(opened(tab="qkv"))
    assert "Numbers in the wrong place: 0 of 6" in prose(opened({"heads": 1}, tab="qkv"))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "ends",
    [{"batch": 1, "tokens": 1, "heads": 1, "d_head": 1}, {"batch": 4, "tokens": 6, "heads": 4, "d_head": 4}],
)
def test_the_way_stands_its_smallest_and_largest_sizes(ends, lang, caplog):
    assert_whole(opened(ends | {"sentence": 4}, tab="qkv", lang=lang), caplog)


# The shared parts


@pytest.mark.parametrize("query", [{}, MATRICES["line"], {"u1": 0, "u2": 0, "b1": 2}])
def test_the_checks_hold(query, caplog):
    app = opened(query, tab="code")
    assert_whole(app, caplog)
    assert not app.warning
    assert "nn.functional.linear" in prose(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_notebook_runs_alone_and_gives_the_pages_numbers(lang, monkeypatch, tmp_path):
    made: dict = {}
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(takeaway, "_offer", lambda stem, kind, make, mime, words: made.update({kind: make}))
    opened({"m11": -0.7, "b2": 1.1, "u1": 0.3}, tab="takeaway", lang=lang)
    notebook = nbformat.reads(made["ipynb"]().decode(), as_version=4)
    nbformat.validate(notebook)
    notebook.cells.append(nbformat.v4.new_code_cell("print(worked.y.tolist())"))
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, startup_timeout=600, resources=where).execute()
    y = np.array(eval(notebook.cells[-1].outputs[0].text))
    m = np.array([[-0.7, 0.6], [-0.4, 1.0]])
    x = np.array([[0.3, 1, 0], [1, 0, 1]])
    np.testing.assert_allclose(y, m @ x + [[0], [1.1]], atol=1e-12)


# Predict first: what must come out, by hand. b = (1, 0.5) → −b; det diag(2, 2) = 4; a projection has no area;
# a reflection keeps lengths.
ANSWERS = {"bias": "minus", "double": "four", "shadow": "zero", "mirror": "equal"}
TOLD = {
    "bias": "(−1, −0.500)",
    "double": "from 1.28 to 5.12",
    "shadow": "from 1.28 to 0",
    "mirror": "determinant from 1 to −1",
}


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ANSWERS)
def test_the_verdicts_are_those_of_pencil_and_paper(name, lang, caplog):
    app = opened({"u1": 1.1, "u2": -0.3}, lang=lang)
    app.button(key=f"{STEM} predict").click().run()
    app.button_group(key=f"{STEM} predict which").set_value(name).run()
    if f"{STEM} predict.set_up" in [b.key for b in app.button]:
        app.button(key=f"{STEM} predict.set_up").click().run()
    app.radio(key=f"{STEM} predict guess {name}").set_value(ANSWERS[name]).run()
    app.button(key=f"{STEM} predict.show").click().run()
    assert_whole(app, caplog)
    assert len(app.success) == 1
    if lang == "en":
        assert TOLD[name] in prose(app)
