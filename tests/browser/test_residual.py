"""The residual page in a real Chromium: a point clicked in a chart, both sides changed, and a picture of each look."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.harness import settle, shot, sideways_scroll


def test_a_point_of_a_chart_is_explained_and_a_residual_cut(open_page):
    page = open_page("residual", params={"layers": 12})
    chart = page.get_by_test_id("stVegaLiteChart").first
    expect(chart.locator("canvas, svg").first).to_be_visible()
    settle(page)
    box = chart.bounding_box()
    # Near the right end and the top: the point next to it is the last of Pre-LN, whose vectors are the longer ones.
    page.mouse.click(box["x"] + 0.97 * box["width"], box["y"] + 0.3 * box["height"])
    settle(page)
    assert "cell=norm.0.12" in page.url
    expect(page.get_by_text("A: Pre-LN: length of a token's vector after layer 12")).to_be_visible()
    page.get_by_text("B: residual", exact=True).click()
    settle(page)
    assert "res_b=0" in page.url
    expect(page.get_by_text("The norm keeps the scale.")).to_be_visible()


def test_the_looks(open_page):
    page = open_page("residual", width=1366, height=768)
    shot(page, "residual en")
    notice = page.get_by_role("heading", name="What to notice").bounding_box()
    assert notice["y"] + notice["height"] < 768, "the words begin in the first view"
    hard = {"norm_b": "none", "res_b": 0, "init_b": "he", "layers": 48}
    page = open_page("residual", lang="zh", width=390, height=844, params=hard)
    for tab in ("一个块", "逐层的数", "词元变得相同", "更深", "换种子", "初始权重", "Dropout"):
        page.get_by_text(tab, exact=True).click()
        settle(page)
        assert sideways_scroll(page) == 0
        shot(page, f"residual {tab} phone")
