"""Every page × both languages × the ends of every declared parameter; what links and languages do to the state."""

import pytest

from tests.app.harness import assert_whole, link_of, open_page
from ui import course
from ui.parameters import Text, read_link, write_link
from ui.words import LANGUAGES

ENDS = [
    pytest.param(page, parameter, value, id=f"{page.stem}-{parameter.name}-{str(value)[:12]}")
    for page in course.built()
    for parameter in page.parameters
    for value in parameter.ends()
]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", course.built(), ids=lambda page: page.stem)
def test_page_opens_and_writes_its_whole_link(page, lang, caplog):
    app = open_page(page.stem, {"lang": lang})
    assert_whole(app, caplog)
    assert not app.info
    assert link_of(app) == write_link(read_link({}, page.parameters)[0], page.parameters, lang)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("page", "parameter", "value"), ENDS)
def test_both_ends_of_every_parameter(page, parameter, value, lang, caplog):
    text = value if isinstance(parameter, Text) else parameter.write(value)
    app = open_page(page.stem, {"lang": lang, parameter.name: text})
    assert_whole(app, caplog)
    assert link_of(app)[parameter.name] == parameter.write(value)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", [p for p in course.built() if p.parameters], ids=lambda page: page.stem)
def test_nonsense_in_a_link_is_told_and_replaced(page, lang, caplog):
    broken = {p.name: "‽" for p in page.parameters if not isinstance(p, Text)}
    app = open_page(page.stem, {"lang": lang, "nonsense": "$x$"} | broken)
    assert_whole(app, caplog)
    told = app.info[0].value
    assert told.count("‽") == len(broken)
    assert "` $x$ `" in told
    assert link_of(app) == write_link(read_link({}, page.parameters)[0], page.parameters, lang)


@pytest.mark.parametrize(
    ("locale", "lang"), [("zh-CN", "zh"), ("zh-TW", "zh"), ("en-GB", "en"), ("fr-FR", "en")]
)
def test_the_first_visit_follows_the_browser(locale, lang):
    assert link_of(open_page("attention", locale=locale))["lang"] == lang


def test_a_link_wins_over_the_browser_and_an_unknown_language_is_told():
    assert link_of(open_page("attention", {"lang": "zh"}, locale="en-US"))["lang"] == "zh"
    app = open_page("attention", {"lang": "fr"}, locale="zh-CN")
    assert link_of(app)["lang"] == "zh"
    assert "fr" in app.info[0].value


def test_the_language_switch_keeps_every_value(caplog):
    app = open_page("attention", {"lang": "en", "dk": "5", "s": "a b c", "tokens": "3", "mask": "window"})
    before = link_of(app)
    app.button_group(key="language switch").set_value("zh").run()
    assert_whole(app, caplog)
    assert link_of(app) == before | {"lang": "zh"}
    assert app.slider(key="attention.dk").label == "d_k"
    assert app.title[0].value.endswith("？")


def test_leaving_a_page_loses_nothing(caplog):
    app = open_page("attention", {"lang": "en"})
    app.slider(key="attention.dk").set_value(3).run()
    app.query_params.clear()
    app.switch_page(str(course.file_of(course.PAGES["home"]))).run()
    assert "dk" not in link_of(app)
    app.query_params.clear()
    app.switch_page(str(course.file_of(course.PAGES["attention"]))).run()
    assert_whole(app, caplog)
    assert link_of(app)["dk"] == "3"
    assert app.slider(key="attention.dk").value == 3


def test_remarks_follow_one_another_as_chinese_sentences_do():
    text = "学\u0007 " * 300  # too long, and with a sign that is taken out
    pages = [page for page in course.built() if any(p.name == "s" for p in page.parameters)]
    told = [box.value for page in pages for box in open_page(page.stem, {"lang": "zh", "s": text}).info]
    assert sum("。文本超过" in box for box in told) > 5, "two remarks in one box"
    assert not any("。 " in box for box in told)


def test_a_link_without_a_value_means_the_default_even_in_a_used_session():
    app = open_page("attention", {"lang": "en", "dk": "3"})
    app.query_params.clear()
    app.query_params["tau"] = "2"
    app.run()
    assert link_of(app)["dk"] == "8"
    assert app.slider(key="attention.dk").value == 8
    assert app.slider(key="attention.tau").value == 2.0
