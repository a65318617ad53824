"""The bytes that the matrix component is sent, read back by a decoder that shares no code with it."""

from __future__ import annotations

import dataclasses
import json
import re
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ui.matrix import WORDS, LinkedEvent, Matrix, _reported, encode, spoken
from ui.offline import offline_html
from ui.words import Words

SPOKEN = {name: f"<{name}>" for name in (*WORDS, "query", "key", "feature")}
HOSTILE = (
    "<script>alert(1)</script>",
    "</script>",
    "$x$",
    "\u202eabc",
    "👩‍👩‍👧🙂",
    "a\x00\n",
    "",
    "\ud83d",
    "同",
    "同",
)


def matrix(name="weights", values=((0.25, 0.75), (0.5, 0.5)), **more) -> Matrix:
    values = np.asarray(values, dtype=float)
    labels = {
        "rows": tuple(f"r{i}" for i in range(len(values))),
        "columns": tuple("abcdefghijkl"[: values.shape[1]]),
    }
    return Matrix(
        **{"name": name, "title": "Weights A", "values": values, "fill": "weight", "limits": (0, 1)}
        | labels
        | more
    )


def sent(rows, focus="weights", cell=None, **more):
    return encode(rows, focus, cell, SPOKEN, "five steps", "en", **more)


def decode(data: bytes):
    """Header, and for each name its values as float64 [R, C] and its hidden cells as bool [R, C] or None."""
    (length,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + length].decode("utf-8"))
    body = data[4 + length :]
    values, hidden = {}, {}
    for row in header["rows"]:
        row[:] = [{"arrow": "", "hidden": None} | header["kinds"][entry["kind"]] | entry for entry in row]
    for entry in (entry for row in header["rows"] for entry in row):
        shape = len(header["labels"][entry["rows"]]), len(header["labels"][entry["columns"]])
        count = shape[0] * shape[1]
        low, high = entry["limits"]
        if entry["wire"] == "u8":
            raw = struct.unpack_from(f"<{count}B", body, entry["at"])
            numbers = [low + byte / 254 * (high - low) for byte in raw]
        else:
            assert entry["at"] % 4 == 0
            numbers = struct.unpack_from(f"<{count}f", body, entry["at"])
        values[entry["name"]] = np.array(numbers).reshape(shape)
        hidden[entry["name"]] = None
        if entry["hidden"] is not None:
            bits = [body[entry["hidden"] + i // 8] >> (i % 8) & 1 for i in range(count)]
            hidden[entry["name"]] = np.array(bits, dtype=bool).reshape(shape)
    return header, values, hidden


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
        elements=st.floats(-1e6, 1e6, width=32),
    ),
    st.data(),
)
def test_numbers_and_hidden_cells_come_back_exactly(values, data):
    hidden = data.draw(hnp.arrays(bool, values.shape))
    pictured = np.where(hidden, -np.inf, values)
    rows = [
        [matrix("other", values[:1] + 1)],
        [matrix("weights", pictured, hidden=hidden, fill="signed", limits=(-2, 3))],
    ]
    _, numbers, masks = decode(sent(rows))
    np.testing.assert_array_equal(numbers["other"], (values[:1].astype(float) + 1).astype(np.float32))
    np.testing.assert_array_equal(numbers["weights"][~hidden], values[~hidden])
    assert (masks["weights"] is None) == (not hidden.any())
    if hidden.any():
        np.testing.assert_array_equal(masks["weights"], hidden)


def test_the_header_says_what_is_to_be_drawn():
    shown = matrix(note="6 × 6", arrow="softmax", axis_titles=("queries", "keys"), identity="q")
    header, _, _ = decode(sent([[shown]], cell=("weights", 1, 0), seen=17))
    assert (header["focus"], header["cell"], header["seen"]) == ("weights", ["weights", 1, 0], 17)
    assert (header["lang"], header["summary"], header["words"]["query"]) == ("en", "five steps", "<query>")
    (entry,) = header["rows"][0]
    wanted = {"title": "Weights A", "note": "6 × 6", "arrow": "softmax", "identity": "q", "fill": "weight"}
    wanted |= {"axes": ["query", "key"], "axisTitles": ["queries", "keys"], "limits": [0, 1], "hidden": None}
    assert {name: entry[name] for name in wanted} == wanted
    assert header["labels"][entry["rows"]] == ["r0", "r1"]
    assert decode(encode([[shown]], "weights", None, SPOKEN, "", "zh"))[0]["lang"] == "zh-CN"


def test_labels_are_sent_once_however_many_matrices_have_them():
    header, _, _ = decode(sent([[matrix(), matrix("b")], [matrix("c", np.ones((2, 3)))]]))
    assert header["labels"] == [["r0", "r1"], ["a", "b"], ["a", "b", "c"]]


def test_eight_thumbnails_cost_a_byte_and_a_half_a_weight_with_all_that_goes_with_them():
    labels = tuple(f"token{i}" for i in range(24))
    weights = np.random.default_rng(0).uniform(0, 1, (8, 24, 24))
    heads = [
        matrix(f"a{h}", weights[h], rows=labels, columns=labels, title=f"Head {h}", note="24 × 24", wire="u8")
        for h in range(8)
    ]
    enlarged = 4 * weights[0].size  # the one in focus is no thumbnail
    everything = len(encode([heads], "a0", None, spoken(Words("zh")), "x" * 200, "zh"))
    assert everything - enlarged <= 1.5 * weights[1:].size
    _, numbers, _ = decode(sent([heads], focus="a0"))
    assert all(np.abs(numbers[f"a{h}"] - weights[h]).max() < 1 / 254 / 2 + 1e-6 for h in range(1, 8))


def test_a_thumbnail_in_focus_is_sent_in_full_since_its_numbers_are_read():
    values = np.array([[0.4529, 0.2868, 0.2603]])
    heads = [matrix(name, values, wire="u8") for name in ("a1", "a2")]
    for focus, other in (("a1", "a2"), ("a2", "a1")):
        header, numbers, _ = decode(sent([heads], focus=focus))
        np.testing.assert_array_equal(numbers[focus], values.astype(np.float32))
        assert np.abs(numbers[other] - values).max() > 1e-4
        _, offline, _ = decode(sent([heads], focus=focus, in_full=True))
        np.testing.assert_array_equal(offline[other], values.astype(np.float32))
        # When another is clicked it becomes a thumbnail at once, before the server has answered.
        assert all(entry["pixels"] for entry in header["rows"][0])


def test_bytes_are_enough_for_a_thumbnail():
    values = np.random.default_rng(0).uniform(-3, 5, (9, 7))
    values[0, :2] = -3, 5
    wide = matrix(values=values, fill="signed", limits=(-3, 5), columns=tuple("abcdefg"))
    small, other = dataclasses.replace(wide, wire="u8"), matrix("b")
    _, numbers, _ = decode(sent([[small, other]], focus="b"))
    assert np.abs(numbers["weights"] - values).max() <= 8 / 254 / 2 + 1e-6
    assert numbers["weights"][0, :2].tolist() == [-3, 5]
    saved = len(sent([[wide, other]], focus="b")) - len(sent([[small, other]], focus="b"))
    assert saved >= 9 * 7 * 3 - 8


def test_a_zero_between_limits_of_both_signs_stays_zero_in_a_thumbnail():
    small = matrix(values=[[0.0, -3, 3]], fill="signed", limits=(-3, 3), wire="u8")
    _, numbers, _ = decode(sent([[small, matrix("b")]], focus="b"))
    np.testing.assert_array_equal(numbers["weights"], [[0.0, -3, 3]])


@pytest.mark.parametrize("value", [np.nan, 5.5, -3.5])
def test_a_thumbnail_never_hides_what_a_byte_cannot_say(value):
    small = matrix(values=[[value, 1.0]], limits=(-3, 5), wire="u8")
    header, numbers, _ = decode(sent([[small, matrix("b")]], focus="b"))
    assert header["rows"][0][0]["wire"] == "f32"
    np.testing.assert_array_equal(numbers["weights"], [[value, 1.0]])


def test_a_hidden_infinity_does_not_cost_a_thumbnail_its_bytes():
    hidden = np.array([[False, True]])
    small = matrix(values=[[0.5, -np.inf]], hidden=hidden, wire="u8", limits=(0.2, 1))
    header, _, masks = decode(sent([[small, matrix("b")]], focus="b"))
    assert header["rows"][0][0]["wire"] == "u8"
    assert masks["weights"].tolist() == [[False, True]]


def test_hostile_labels_are_only_data():
    labels = HOSTILE
    square = matrix(values=np.eye(len(labels)), rows=labels, columns=labels, title=labels[0], note=labels[2])
    header, numbers, _ = decode(sent([[square]]))
    back = header["labels"][header["rows"][0][0]["rows"]]
    assert back == [label.replace("\ud83d", "\ufffd") for label in labels]
    assert back.count("同") == 2, "a label that occurs twice stays two rows"
    assert numbers["weights"].shape == (10, 10)
    page = offline_html([[square]], focus="weights", words=SPOKEN, summary=labels[1], title=labels[0])
    assert page.count("<script") == 1
    assert page.count("</script>") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_the_same_picture_gives_the_same_bytes():
    assert sent([[matrix()]]) == sent([[matrix()]])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rows": ("a",)}, "labels"),
        ({"values": np.zeros(2)}, "labels"),
        ({"values": np.zeros((0, 2)), "rows": ()}, "labels"),
        ({"hidden": np.zeros((1, 2), bool)}, "hidden has shape"),
        ({"values": [[np.inf, 0], [0, 0]]}, "infinity"),
        ({"values": [[0, -np.inf], [0, 0]], "hidden": np.eye(2, dtype=bool)}, "infinity"),
        ({"values": [[1e300, 0], [0, 0]]}, "infinity"),
        ({"limits": (1, 1)}, "limits"),
        ({"limits": (0, np.nan)}, "limits"),
        ({"fill": "rainbow"}, "fill"),
        ({"identity": "x"}, "identity"),
        ({"wire": "f16"}, "wire"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_a_matrix_that_makes_no_sense_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(matrix(), **wrong)


def test_a_matrix_keeps_its_own_copy_of_the_numbers():
    values = np.zeros((2, 2))
    kept = matrix(values=values)
    values[0, 0] = 1
    assert kept.values[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        kept.values[0, 0] = 1


@pytest.mark.parametrize(
    ("focus", "cell", "rows", "message"),
    [
        ("nothing", None, [[matrix()]], "no matrix"),
        ("weights", ("nothing", 0, 0), [[matrix()]], "no cell"),
        ("weights", ("weights", 2, 0), [[matrix()]], "no cell"),
        ("weights", ("weights", 0, -1), [[matrix()]], "no cell"),
        ("weights", None, [[matrix()], [matrix()]], "share a name"),
    ],
)
def test_a_focus_or_cell_outside_the_picture_is_refused(focus, cell, rows, message):
    with pytest.raises(ValueError, match=message):
        sent(rows, focus, cell)


@pytest.mark.parametrize("missing", [*WORDS, "key"])
def test_a_missing_word_is_an_error(missing):
    words = {name: text for name, text in SPOKEN.items() if name != missing}
    with pytest.raises(KeyError, match=missing):
        encode([[matrix()]], "weights", None, words, "")


@pytest.mark.parametrize(
    "event",
    [
        None,
        "weights",
        {"n": 1, "focus": "elsewhere", "cell": None},
        {"n": "1", "focus": "weights", "cell": None},
        {"n": 1, "focus": ["weights"], "cell": None},
        {"n": 1, "focus": "weights", "cell": ["weights", 0, 9]},
        {"n": 1, "focus": "weights", "cell": ["weights", 0, 0.5]},
        {"n": 1, "focus": "weights", "cell": ["weights", True, 0]},
        {"n": 1, "focus": "weights", "cell": "weights"},
        {"n": float("nan"), "focus": "weights", "cell": None},
    ],
)
def test_a_report_from_the_browser_is_checked(event):
    assert _reported([[matrix()]], {"event": event}) is None
    assert _reported([[matrix()]], None) is None


def test_a_good_report_is_understood():
    event = {"n": 12, "focus": "weights", "cell": ["weights", 1, 0]}
    assert _reported([[matrix()]], {"event": event}) == (12, LinkedEvent("weights", ("weights", 1, 0)))


def test_clicks_in_a_matrix_to_draw_in_are_counted_once_and_checked():
    drawn, other = matrix(draw=True), matrix("other")
    clicks = [[3, "weights", 0, 0], [4, "weights", 1, 0], [5, "weights", 1, 0], [6, "other", 0, 0]]
    clicks += [[7, "weights", 2, 0], [8, "nothing", 0, 0], ["9", "weights", 0, 0], [9, "weights"], 5, [9] * 4]
    event = {"n": 9, "focus": "weights", "cell": None, "toggled": clicks}
    _, report = _reported([[drawn, other]], {"event": event}, 3)
    assert report.toggled == (("weights", 1, 0), ("weights", 1, 0))
    for nonsense in (None, 7, "weights", {"a": 1}):
        assert _reported([[drawn]], {"event": event | {"toggled": nonsense}})[1].toggled == ()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_projects_own_words_are_complete(lang):
    words = spoken(Words(lang))
    header, _, _ = decode(encode([[matrix()]], "weights", None, words, "", lang))
    for mark in ("title", "row_axis", "row", "row_label", "column_axis", "column", "column_label", "value"):
        assert f"{{{mark}}}" in header["words"]["readout"]
    assert "{{" not in " ".join(words.values())


def test_the_offline_file_needs_nothing_from_outside():
    page = offline_html([[matrix()]], focus="weights", words=SPOKEN, summary="A & B", title="T")
    # The one address in it is the name of the SVG format, which nothing fetches.
    assert set(re.findall(r"https?://[^'\"\s)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|href)=|@import|url\(['\"]?(?!#)(?!\$)", page)
    assert not re.search(r"\bimport\s*[({'\"]|^\s*(import|export)\b|import\.meta", page, re.MULTILINE)
    assert "<title>T</title>" in page
    assert "A &amp; B" in page
    assert "prefers-color-scheme: dark" in page
