"""The experiments under the attention page in a real Chromium: tabs, choices in their matrices, charts, phone width."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll

TABS = {
    "rows": ("Two queries", "两个查询"),
    "saturation": ("Why ÷ √d_k", "为什么要 ÷ √d_k"),
    "backward": ("Backward pass", "反向传播"),
    "order": ("Order test", "顺序测试"),
    "dropout": ("Dropout", "Dropout"),
}


def open_tab(page: Page, name: str, lang: str = "en") -> None:
    page.get_by_role("radio", name=TABS[name][lang == "zh"], exact=True).click()
    settle(page)


def test_tabs_open_one_after_the_other(open_page):
    """Every second click used to be undone, because the tabs' default followed the reader."""
    page = open_page("attention")
    for name in (*TABS, "rows", "order"):
        open_tab(page, name)
        expect(page.get_by_role("radio", name=TABS[name][0], exact=True)).to_be_checked()
        expect(page.get_by_role("heading", name="What to notice")).to_have_count(
            2
        )  # the page's and the tab's


def test_the_open_tab_stays_open_in_the_other_language_and_while_a_slider_moves(open_page):
    page = open_page("attention")
    open_tab(page, "order")
    page.get_by_role("slider", name="Tokens").focus()
    page.keyboard.press("ArrowLeft")
    settle(page)
    expect(page.get_by_text("New order (5 tokens)")).to_be_visible()
    page.get_by_text("中文", exact=True).click()
    settle(page)
    expect(page.get_by_role("radio", name="顺序测试")).to_be_checked()
    expect(page.get_by_text("5 个词元的新顺序")).to_be_visible()
    open_tab(page, "backward", "zh")
    page.get_by_text("English", exact=True).click()
    settle(page)
    expect(page.get_by_role("radio", name="Backward pass")).to_be_checked()


@pytest.mark.parametrize(
    ("tab", "matrix", "name", "story"),
    [
        ("backward", "dA", "grad_cell=da.2.1", "Gradient of the weight that query 3"),
        ("order", "Put back", "order_cell=w_back.2.1", "Query 3"),
        ("dropout", "Factors", "drop_cell=factors.2.1", "Query 3"),
    ],
)
def test_a_choice_in_an_experiment_is_explained_and_kept_beside_the_pages_own(
    open_page, tab, matrix, name, story
):
    page = open_page("attention")
    open_tab(page, tab)
    rows = page.get_by_role("grid", name=re.compile(f"^{matrix},")).get_by_role("row")
    rows.nth(3).get_by_role("gridcell").nth(1).click()
    settle(page)
    assert name in page.url
    assert "&cell=weights.3.1" in page.url
    expect(page.get_by_text(story).last).to_be_visible()
    page.get_by_role("button", name=matrix, exact=True).last.click()
    settle(page)
    assert f"{name.partition('_')[0]}_step={name.partition('=')[2].partition('.')[0]}" in page.url
    assert "&step=weights" in page.url


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_on_a_phone_nothing_scrolls_sideways(open_page, lang):
    page = open_page("attention", lang=lang, width=390, height=844)
    for name in TABS:
        open_tab(page, name, lang)
        assert sideways_scroll(page) == 0
        shot(page, f"attention experiment {name} {lang} phone")
