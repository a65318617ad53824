"""The page on masks in a real Chromium: a mask drawn cell by cell, its link, and pictures of two looks."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import drawn, settle, shot, sideways_scroll
from ui.parameters import Grid

pytestmark = pytest.mark.browser


def cell(page: Page, row: int, column: int, t: int = 7):
    return page.locator(".block[data-name=mask] .cell").nth(row * t + column)


def test_a_mask_is_drawn_by_clicks_and_keys_and_comes_back_from_its_link(open_page, app_url):
    page = open_page("masks", params={"mask": "causal", "also": "none"})
    page.get_by_text("Draw", exact=True).first.click()
    settle(page)
    for column in (3, 4, 5, 6):  # as fast as one can click: none may be lost
        cell(page, 0, column).click()
    settle(page)
    cell(page, 6, 0).click()
    cell(page, 0, 6).click()  # off again
    page.keyboard.press("Tab")
    settle(page)
    wanted = [[j <= i for j in range(7)] for i in range(7)]
    wanted[0][3] = wanted[0][4] = wanted[0][5] = True
    wanted[6][0] = False
    assert drawn(page) == wanted
    assert "mask=drawn" in page.url
    code = page.url.split("drawn=")[1].split("&")[0]
    assert Grid("drawn", 24).cells(code)[:7, :7].tolist() == wanted
    expect(page.get_by_text("The mask keeps 30 of 49 pairs")).to_be_visible()
    fresh = open_page(page.url.removeprefix(app_url), lang=None)
    assert drawn(fresh) == wanted
    assert fresh.url == page.url
    # With Draw off, a click explains the cell and leaves the mask alone.
    fresh.get_by_text("Draw", exact=True).first.click()
    settle(fresh)
    cell(fresh, 0, 4).click()
    settle(fresh)
    assert drawn(fresh) == wanted
    expect(fresh.get_by_text("you turned this cell on")).to_be_visible()


@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_two_looks_fit_and_are_kept_as_pictures(open_page, lang, dark, width, height):
    page = open_page("masks", lang, dark=dark, width=width, height=height)
    assert sideways_scroll(page) == 0
    shot(page, f"masks {lang} {width}")
    if width > 1000:
        parts = [page.get_by_text(t).first for t in ("Why this number", "What to notice")]
        for part in (page.get_by_role("grid", name="Mask").first, *parts):
            box = part.bounding_box()
            assert box["y"] + box["height"] <= height


@pytest.mark.parametrize("sentence", [{"text": "four", "sentence": 1, "tokens": 22}, {"sentence": 3}])
def test_characters_stand_upright_where_longer_labels_are_turned(open_page, sentence):
    page = open_page("masks", params=sentence)
    found = page.locator(".block[data-name=mask] [role=columnheader]")
    expect(found.last).to_have_text("[PAD]")
    heads = found.evaluate_all(
        "heads => heads.map((head) => [head.textContent, head.hasAttribute('transform')])"
    )
    assert {turned for text, turned in heads if len(text) == 1} == {False}
    assert {turned for text, turned in heads if len(text) > 1} == {True}
