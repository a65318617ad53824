"""The diagram's data: what it refuses, how arrows run, what the browser is told and what a click may do."""

import json
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from ui.diagram import Diagram, Edge, Group, Node, built, offline_html, payload, route

WORDS = {"hint": "point", "not_built": "later"}
A = Node("a", "Tokens", 0, 0, "token", "tokens", "pieces of text")
B = Node("b", "Norm", 2, 1, "norm", "normalization")
C = Node("c", "+", 2, 0, "add")
SMALL = Diagram(
    (A, B, C), (Edge("a", "b"), Edge("c", "b", "[4, 16]")), (Group("Block", ("b", "c"), "× 2"),), "T", "S"
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": (A, B, C, replace(B, row=5))}, "share an id"),
        ({"nodes": (A, replace(B, kind="magic"), C)}, "magic"),
        ({"edges": (Edge("a", "nowhere"),)}, "nowhere"),
        ({"edges": (Edge("a", "b", style="wavy"),)}, "wavy"),
        ({"groups": (Group("", ("ghost",)),)}, "ghost"),
        ({"edges": (Edge("a", "b", path=((0, 0), (2, 1))),)}, "slanted"),
    ],
)
def test_a_broken_diagram_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(SMALL, **change)


def test_arrows_run_straight_where_they_can_and_else_turn_once():
    assert route(SMALL, Edge("a", "c")) == ((0, 0), (2, 0))
    assert route(SMALL, Edge("a", "b")) == ((0, 0), (0, 1), (2, 1))
    detour = ((0, 0), (0, 3), (2, 3), (2, 1))
    assert route(SMALL, Edge("a", "b", path=detour)) == detour


def test_the_browser_gets_plain_values_that_survive_json():
    sent = payload(SMALL, words=WORDS, lang="zh")
    assert json.loads(json.dumps(sent)) == sent
    assert (sent["title"], sent["summary"], sent["hint"], sent["notBuilt"]) == ("T", "S", "point", "later")
    assert [node["label"] for node in sent["nodes"]] == ["Tokens", "Norm", "+"]
    assert sent["edges"][1] == {
        "source": "c",
        "target": "b",
        "label": "[4, 16]",
        "style": "flow",
        "points": [[2, 0], [2, 1]],
    }
    assert sent["groups"] == [{"label": "Block", "repeat": "× 2", "nodes": ["b", "c"]}]


def test_a_missing_word_is_an_error_and_not_an_empty_label():
    with pytest.raises(KeyError, match="not_built"):
        payload(SMALL, words={"hint": "point"})


def test_addresses_are_relative_and_keep_the_language():
    tokens, norm, plus = payload(SMALL, words=WORDS, lang="zh")["nodes"]
    parts = urlsplit(tokens["href"])
    assert (parts.scheme, parts.netloc, parts.path, parse_qs(parts.query)) == (
        "",
        "",
        "tokens",
        {"lang": ["zh"]},
    )
    assert norm["href"] == "normalization?lang=zh"
    assert plus["href"] == ""


def test_a_page_that_is_not_built_has_no_address():
    partly = built(SMALL, {"tokens"})
    assert [node.available for node in partly.nodes] == [True, False, True]
    assert [node["href"] for node in payload(partly, words=WORDS)["nodes"]] == ["tokens?lang=en", "", ""]


def _app():
    import streamlit as st

    from tests.ui.test_diagram import SMALL, WORDS
    from ui.diagram import built, draw

    heard = st.session_state.setdefault("heard", [])
    st.text(f"went {draw('map', built(SMALL, {'tokens'}), words=WORDS, on_go=heard.append)}")


def test_it_mounts_and_nothing_has_been_clicked():
    app = AppTest.from_function(_app, default_timeout=300).run()  # s, on a busy machine
    assert not app.exception
    assert app.text[0].value == "went None"
    assert app.session_state.heard == []


@pytest.mark.parametrize(
    ("value", "stem"),
    [
        ("tokens", "tokens"),
        ("normalization", None),
        ("../admin", None),
        ("", None),
        (None, None),
        (["tokens"], None),
    ],
)
def test_only_the_page_of_an_available_node_is_believed(value, stem):
    from ui.diagram import _stem

    assert _stem(built(SMALL, {"tokens"}), value) == stem


def test_a_label_cannot_end_the_script_of_the_offline_file():
    nasty = replace(SMALL, nodes=(replace(A, label="</script><b>"), B, C), title="<i>")
    file = offline_html(nasty, words=WORDS)
    assert file.count("</script>") == 1
    assert "<b>" not in file
    assert "<i>" not in file
