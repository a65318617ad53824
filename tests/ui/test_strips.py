"""Token strips: what is sent to the browser, and what comes back from it."""

import json

import pytest

from ui.offline import offline_html
from ui.strips import Strip, Token, payload, reported, spoken
from ui.words import LANGUAGES, Words

STRIPS = (
    Strip(
        "one",
        "One",
        "2 tokens",
        (Token("a", "1", (0, 1)), Token("</script>", "2", (1, 10), "unknown", ("61",))),
    ),
    Strip("two", "Two", "", (Token("E9", "233", (0, 1), "bytes"),), still=True),
)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_is_sent(lang):
    sent = payload(STRIPS, ("one", 0, 1), words=spoken(Words(lang)), summary="s", lang=lang)
    assert sent["chosen"] == ["one", 1]
    assert sent["strips"][0]["tokens"][1] == ["</script>", "2", 1, 10, "unknown", ["61"]]
    assert [strip["still"] for strip in sent["strips"]] == [False, True]
    assert len(sent["columns"]) == 4
    assert {"{text}", "{number}", "{place}"} <= set(
        sent["words"]["token"]
        .replace("，", " ")
        .replace("：", " ")
        .replace(",", " ")
        .replace(":", " ")
        .split()
    )
    json.dumps(sent)


def test_two_strips_with_one_name_are_refused():
    with pytest.raises(ValueError, match="share a name"):
        payload((STRIPS[0], STRIPS[0]), None, words=spoken(Words("en")), summary="", lang="en")


@pytest.mark.parametrize(
    ("event", "taken"),
    [
        ({"n": 3, "chosen": ["one", 1]}, (3, ("one", 0, 1))),
        ({"n": 3, "chosen": None}, (3, None)),
        ({"n": 3, "chosen": ["one", 2]}, None),
        ({"n": 3, "chosen": ["one", -1]}, None),
        ({"n": 3, "chosen": ["one", True]}, None),
        ({"n": 3, "chosen": ["two", 0]}, None),
        ({"n": 3, "chosen": ["three", 0]}, None),
        ({"n": 3, "chosen": [["one"], 0]}, None),
        ({"n": 3, "chosen": "one"}, None),
        ({"n": 0, "chosen": None}, None),
        ({"n": True, "chosen": None}, None),
        ({"n": 2**53, "chosen": None}, None),
        ("x", None),
        (None, None),
    ],
)
def test_a_report_is_checked(event, taken):
    assert reported(STRIPS, {"event": event}) == taken
    assert reported(STRIPS, None) is None


def test_a_file_to_take_away_holds_the_strips_and_no_text_ends_its_script():
    page = offline_html((), focus="", words=spoken(Words("en")), summary="s", title="T", strips=STRIPS)
    assert page.count("</script>") == 1
    assert "\\u003c/script>" in page
    assert "export default" not in page
