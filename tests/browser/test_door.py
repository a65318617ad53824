"""Coming in: by the front page, by a deep link as the very first visitor of a process, and with a bad link."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.harness import settle, shot, sideways_scroll
from tests.serving import ROOT, Server

HEADING = {"en": "What is inside a Transformer?", "zh": "Transformer 里面有什么？"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_cold_deep_link_is_whole_for_the_very_first_visitor(open_page, tmp_path, lang):
    server = Server(ROOT / "app.py", tmp_path / "cold.log")
    try:
        page = open_page("attention", lang, params={"dk": 5}, url=server.url)
        assert page.get_by_role("navigation").get_by_role("button").count() >= 2
        assert "dk=5" in page.url
        assert page.get_by_role("grid", name="A").first.is_visible()
        assert not server.troubles()
        page.close()  # before its server goes
    finally:
        server.stop()


def test_the_first_visit_follows_the_browser_and_the_switch_wins(open_page):
    page = open_page("", None, locale="zh-CN")
    expect(page.get_by_role("heading", level=1)).to_have_text(HEADING["zh"])
    page.get_by_text("English", exact=True).click()
    settle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(HEADING["en"])
    assert "lang=en" in page.url


def test_a_bad_link_is_told_in_sentences_and_keeps_the_rest(open_page):
    bad = {
        "dk": 900,
        "tau": "hot",
        "mask": "<b>",
        "colour": ":material/home:",
        "s": "我爱学习",
        "tokens": 4,
        "cell": "x",
    }
    page = open_page("attention", params=bad)
    notice = page.get_by_test_id("stAlert").first
    for words in ("900", "hot", "<b>", "colour", "64"):
        expect(notice).to_contain_text(words)
    assert notice.get_by_test_id("stIconMaterial").count() == 0
    assert "dk=64" in page.url
    assert "mask=causal" in page.url
    assert "colour" not in page.url
    rows = page.get_by_role("grid", name="Weights").get_by_role("rowheader")
    assert rows.evaluate_all("rows => rows.map(row => row.textContent)") == list("我爱学习")


def test_the_map_leads_to_pages_without_a_reload(open_page):
    page = open_page()
    page.evaluate("window.stillTheSameDocument = true")
    page.get_by_role("link", name="Attention", exact=True).first.click()
    settle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("How does a token decide what to look at?")
    assert page.evaluate("window.stillTheSameDocument") is True
    assert "/attention?" in page.url
    assert "batch=" not in page.url


def test_the_menu_keeps_values_and_language(open_page):
    page = open_page("attention", "zh", params={"dk": 3})
    page.get_by_test_id("stTopNavSection").nth(0).click()
    page.locator("a:has-text('总图')").last.click()
    settle(page)
    assert "lang=zh" in page.url
    page.get_by_test_id("stTopNavSection").nth(1).click()
    page.locator("a:has-text('注意力分步看')").last.click()
    settle(page)
    assert "lang=zh" in page.url
    assert "dk=3" in page.url


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)], ids=["laptop", "phone"])
def test_the_map_is_kept_as_a_picture_in_each_look(open_page, lang, dark, width, height):
    page = open_page("", lang, dark=dark, width=width, height=height)
    assert sideways_scroll(page) == 0
    shot(page, f"home {lang} {'dark' if dark else 'light'} {width}")


@pytest.mark.parametrize(("path", "script"), [("attention", "matrix.js"), ("", "diagram.js")])
def test_a_script_that_does_not_load_is_said_in_both_languages(open_page, watch, path, script):
    page = open_page(
        "attention" if path == "" else ""
    )  # a page without the script, to block it before it is asked for
    page.context.route(f"**/app/static/{script}*", lambda route: route.abort())
    page.goto(page.url.split("?")[0].rsplit("/", 1)[0] + f"/{path}?lang=en")
    expect(page.get_by_text("The picture could not be loaded")).to_be_visible()
    expect(page.get_by_text("图没有载入")).to_be_visible()
    assert watch.errors
    watch.errors.clear()


@pytest.mark.parametrize("width", [1366, 390])
def test_the_place_kept_for_the_map_is_as_high_as_the_map(open_page, width):
    page = open_page("", width=width, height=844)
    place = page.locator(".st-key-home-diagram")
    kept = float(place.evaluate("e => parseFloat(getComputedStyle(e).minHeight)"))
    assert place.bounding_box()["height"] == pytest.approx(kept, abs=8)
