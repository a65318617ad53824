"""The cross-attention page in a real Chromium: a pair of sentences, a cell, a tab, and a picture of each look."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.harness import settle, shot, sideways_scroll
from tests.browser.test_attention import cell


def test_a_pair_a_cell_and_an_experiment(open_page):
    page = open_page("cross_attention")
    page.get_by_role("button", name="Pairs").click()
    page.get_by_role("button", name="the kitten eats fish → 小猫爱吃鱼").click()
    settle(page)
    page.keyboard.press("Escape")
    settle(page)
    expect(page.get_by_text("5 target queries and 6 source keys")).to_be_visible()
    cell(page, "Weights A", 4, 1).click()
    settle(page)
    assert "cell=weights.4.1" in page.url
    expect(page.get_by_text("Weight that target token 5 鱼 gives to source token 2 kitten")).to_be_visible()
    page.get_by_text("Two masks", exact=True).click()
    settle(page)
    cell(page, "Decoder self-attention", 1, 4).click()
    settle(page)
    assert "mask_cell=self.1.4" in page.url
    expect(page.get_by_text("Target token 2 猫 may not look at token 5 鱼")).to_be_visible()
    page.get_by_text("中文", exact=True).click()
    settle(page)
    expect(page.get_by_text("目标词元 2 猫 不能看词元 5 鱼")).to_be_visible()


def test_a_long_formula_shows_its_result_without_scrolling(open_page):
    page = open_page("cross_attention", params={"pad": 3, "dk": 9, "cell": "v.5.2"})
    formula = page.locator(".katex-display").first
    assert formula.evaluate("frame => frame.scrollWidth <= frame.clientWidth")
    expect(formula).to_contain_text("−0.706")


def test_the_looks(open_page):
    shot(open_page("cross_attention", width=1366, height=768), "cross_attention en")
    page = open_page("cross_attention", lang="zh", width=390, height=844, params={"src": "词" * 24})
    for tab in ("加性注意力", "两个掩码", "瓶颈", "为什么用注意力"):
        page.get_by_text(tab, exact=True).click()
        settle(page)
        assert sideways_scroll(page) == 0
        shot(page, f"cross_attention {tab} phone")
