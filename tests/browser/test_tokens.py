"""The page on tokens in a real Chromium: tokens chosen by mouse and keys, hostile text, its file, and two looks."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll

pytestmark = pytest.mark.browser


def token(page: Page, strip: str, place: int):
    return page.locator(f"section[data-name={strip}] .token").nth(place)


def lit(page: Page, strip: str) -> list[str]:
    return page.locator(f"section[data-name={strip}] li.lit .text").all_text_contents()


def test_a_token_is_chosen_by_click_and_by_keys_and_what_shares_its_bytes_is_marked(open_page):
    page = open_page("tokens")
    token(page, "pairs", 10).click()
    settle(page)
    assert "&cell=pairs.0.10&" in page.url
    expect(page.get_by_text("only part of a character")).to_be_visible()
    page.mouse.move(5, 5)
    assert lit(page, "words") == ["爱", "吃"], "B1 E5 90 is the end of one and the beginning of the other"
    assert token(page, "pairs", 10).get_attribute("aria-pressed") == "true"
    token(page, "pairs", 10).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    settle(page)
    assert "&cell=words.0.5&" in page.url
    page.keyboard.press("Escape")
    settle(page)
    assert "&cell=none&" in page.url
    page.locator("details summary").first.click()
    rows = page.locator(".strips table").nth(2).locator("tbody tr")
    expect(rows).to_have_count(18)
    assert rows.nth(10).locator("td").all_text_contents() == ["11", "B1 E5 90", "575", "B1 E5 90"]


def test_text_is_text_and_the_slider_keeps_the_strips_in_place(open_page):
    page = open_page("tokens", params={"s": "<img src=x onerror=alert(1)> `$x$` 👨‍👩‍👧", "merges": 600})
    assert page.locator("section img").count() == 0
    texts = page.locator("section[data-name=characters] .text").all_text_contents()
    assert "".join(texts) == "<img␣src=x␣onerror=alert(1)>␣`$x$`␣👨‍👩‍👧"
    kept = token(page, "pairs", 0).element_handle()
    before = page.locator("section[data-name=pairs] .token").count()
    slider = page.get_by_role("slider", name="Merges")
    slider.focus()
    slider.press("Home")
    settle(page)
    assert page.locator("section[data-name=pairs] .token").count() > before
    assert kept.evaluate("node => node.isConnected"), "the same strip, brought up to date"


@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_two_looks_fit_and_are_kept_as_pictures(open_page, lang, dark, width, height):
    page = open_page("tokens", lang, dark=dark, width=width, height=height)
    assert sideways_scroll(page) == 0
    shot(page, f"tokens {lang} {width}")
    if width > 1000:
        parts = [page.get_by_text(text).first for text in ("Why this number", "What to notice")]
        for part in (page.locator("section[data-name=pairs]"), *parts):
            box = part.bounding_box()
            assert box["y"] + box["height"] <= height
