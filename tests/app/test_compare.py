"""Pin, move on, and see A, B and their difference; the link holds both. Numbers are checked independently."""

import json
import struct

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from core.attention.toy import toy_inputs
from tests.app.harness import assert_whole, link_of, open_page
from ui import course

CAT = ("the", "cat", "sat", "on", "the", "mat")


def weights(dk: int = 8, tau: float = 1.0, causal: bool = True) -> np.ndarray:
    """The page's weights, from PyTorch's own attention with the unit matrix as values."""
    toy = toy_inputs(CAT, 7, dk)
    eye = torch.eye(6, dtype=torch.float64)
    scale = 1 / (tau * dk**0.5)
    return scaled_dot_product_attention(toy.q, toy.k, eye, is_causal=causal, scale=scale).numpy()


def drawn(app) -> dict[str, dict]:
    """The matrices of the comparison as they were sent to the browser, under their names."""
    found = {}
    for element in app.main:
        _collect(element, found)
    return found


def _collect(element, found) -> None:
    proto = getattr(element, "proto", None)
    data = getattr(proto, "bytes", b"") if proto is not None else b""
    if b'"name":"b"' in data:
        (length,) = struct.unpack("<I", data[:4])
        header, body = json.loads(data[4 : 4 + length]), data[4 + length :]
        for slim in header["rows"][0]:
            entry = {"hidden": None} | header["kinds"][slim["kind"]] | slim
            shape = len(header["labels"][entry["rows"]]), len(header["labels"][entry["columns"]])
            flat = np.frombuffer(body, "<f4", count=shape[0] * shape[1], offset=entry["at"])
            found[entry["name"]] = entry | {"values": flat.reshape(shape)}
    for child in getattr(element, "children", {}).values():
        _collect(child, found)


def pin(app):
    return app.button(key="attention pin").click().run()


def prose(app) -> str:
    return "\n".join(m.value for m in app.markdown)


def test_nothing_pinned_draws_nothing():
    app = open_page("attention", {"lang": "en"})
    assert link_of(app)["a"] == "none"
    assert not drawn(app)
    assert "A against B" not in [s.value for s in app.header]


def test_pin_then_move_shows_both_and_their_difference(caplog):
    app = pin(open_page("attention", {"lang": "en"}))
    assert "B has the same settings so far" in prose(app)
    app.slider(key="attention.dk").set_value(32).run()
    app.slider(key="attention.tau").set_value(2.0).run()
    assert_whole(app, caplog)
    a, b, delta = (drawn(app)[name] for name in ("a", "b", "difference"))
    np.testing.assert_allclose(a["values"], weights(), atol=1e-6)
    np.testing.assert_allclose(b["values"], weights(32, 2.0), atol=1e-6)
    np.testing.assert_allclose(delta["values"], weights(32, 2.0) - weights(), atol=1e-6)
    assert a["limits"] == b["limits"] == [0, 1]
    assert delta["limits"] == [-0.5, 0.5]  # the largest difference is 0.4…, see the values above
    assert 0.2 < np.abs(delta["values"]).max() <= 0.5
    assert "**d_k**: 8 in A, 32 in B" in prose(app)
    assert "**Temperature τ**: 1.00 in A, 2.00 in B" in prose(app)
    assert "**Mask**" not in prose(app)


def test_the_table_tells_the_numbers_of_both():
    app = pin(open_page("attention", {"lang": "en", "mask": "none"}))
    app.slider(key="attention.tau").set_value(3.0).run()
    before, after = weights(causal=False), weights(tau=3.0, causal=False)
    entropies = [float(-(w * np.log(w)).sum(-1).mean()) for w in (before, after)]
    table = next(m.value for m in app.markdown if m.value.startswith("| Number"))
    (row,) = [line for line in table.splitlines() if "entropy" in line]
    told = [float(cell.replace("−", "-")) for cell in row.split("|")[2:5]]
    assert told == pytest.approx([*entropies, entropies[1] - entropies[0]], rel=6e-3)
    (row,) = [line for line in table.splitlines() if "Largest" in line]
    assert float(row.split("|")[2]) == pytest.approx(before.max(), rel=6e-3)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_link_restores_a_and_b_in_a_fresh_session_and_the_other_language(lang, caplog):
    app = pin(open_page("attention", {"lang": "en", "tau": "0.5"}))
    app.selectbox(key="attention.mask").set_value("none").run()
    app.text_input(key="attention.s").set_value("a ~ b & c=d 我").run()
    link, seen = link_of(app), drawn(app)
    fresh = open_page("attention", link | {"lang": lang})
    assert_whole(fresh, caplog)
    assert not fresh.info
    assert link_of(fresh) == link | {"lang": lang}
    for name, entry in drawn(fresh).items():
        np.testing.assert_array_equal(entry["values"], seen[name]["values"])
    # A reader's text is quoted; the label and the value of the mask are translated.
    assert "` a ~ b & c=d 我 `" in prose(fresh)
    assert {"en": "**Mask**: Causal in A, None in B", "zh": "**掩码**：A 为 因果，B 为 无"}[lang] in prose(
        fresh
    )


def test_a_text_that_looks_like_markup_or_like_a_link_stays_a_text(caplog):
    text = "x~dk-1~~|**b**` $y$"
    app = pin(open_page("attention", {"lang": "en", "s": text}))
    app.slider(key="attention.dk").set_value(9).run()
    fresh = open_page("attention", link_of(app))
    assert_whole(fresh, caplog)
    fresh.text_input(key="attention.s").set_value("other").run()
    assert "`` x~dk-1~~|**b**` $y$ ``" in prose(fresh)


def test_swap_and_unpin():
    app = pin(open_page("attention", {"lang": "en", "dk": "4"}))
    app.slider(key="attention.dk").set_value(9).run()
    first = drawn(app)
    app.button(key="attention swap").click().run()
    assert app.slider(key="attention.dk").value == 4
    swapped = drawn(app)
    np.testing.assert_array_equal(swapped["a"]["values"], first["b"]["values"])
    np.testing.assert_array_equal(swapped["difference"]["values"], -first["difference"]["values"])
    app.button(key="attention unpin").click().run()
    assert link_of(app)["a"] == "none"
    assert not drawn(app)


def test_the_pin_survives_language_and_other_pages(caplog):
    app = pin(open_page("attention", {"lang": "en", "dk": "4"}))
    app.slider(key="attention.dk").set_value(9).run()
    before = link_of(app)
    app.button_group(key="language switch").set_value("zh").run()
    assert link_of(app) == before | {"lang": "zh"}
    app.query_params.clear()
    app.switch_page(str(course.file_of(course.PAGES["home"]))).run()
    app.query_params.clear()
    app.switch_page(str(course.file_of(course.PAGES["attention"]))).run()
    assert_whole(app, caplog)
    assert link_of(app) == before | {"lang": "zh"}
    assert set(drawn(app)) == {"a", "b", "difference"}


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"tokens": "3"}, "A is 6 × 6 and B is 3 × 3"),
        ({"s": "one two three four five six"}, "stand for other tokens in A than in B"),
        ({"step": "output", "dk": "5"}, "A is 6 × 8 and B is 6 × 5"),
        ({"step": "q", "dk": "5"}, "A is 6 × 8 and B is 6 × 5"),
    ],
)
def test_where_no_difference_can_be_taken_it_is_said(query, reason, caplog):
    app = open_page("attention", {"lang": "en", "a": "dk-8"} | query)
    assert_whole(app, caplog)
    assert set(drawn(app)) == {"a", "b"}
    assert reason in prose(app)


def test_what_a_mask_hides_in_one_of_them_has_no_difference():
    app = open_page("attention", {"lang": "en", "mask": "none", "a": "mask-causal", "step": "masked"})
    delta = drawn(app)["difference"]
    assert delta["hiddenAs"] == "hidden in A or in B, so without a difference"
    assert delta["hidden"] is not None
    assert np.tril(delta["values"]).tolist() == np.zeros((6, 6)).tolist()  # what both may see is the same


def test_what_is_wrong_inside_a_pinned_state_is_told():
    app = open_page("attention", {"lang": "en", "a": "dk-999~mask-spiral~colour-red"})
    told = app.info[0].value
    assert all(part in told for part in ("pinned state A", "` 999 `", "` spiral `", "` colour `"))
    assert "dk-64~" in link_of(app)["a"]
