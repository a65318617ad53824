"""The training page in a real Chromium: a run that goes on while the language changes, and a picture of each look."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.harness import settle, shot, sideways_scroll

PATIENCE = 120_000  # ms: the process that trains loads PyTorch first, and the machine may be busy
SMALL = {"width": 16, "layers_a": 1, "layers_b": 2, "norm_a": "pre", "steps": 400}


def main(page):
    return page.get_by_test_id("stMain")


def test_a_run_goes_on_while_the_language_changes(open_page):
    page = open_page("training", params=SMALL, width=1366, height=768)
    main(page).get_by_role("button", name="Start", exact=True).click()
    expect(main(page).get_by_role("button", name="Stop", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("Training: step")).to_be_visible(timeout=PATIENCE)
    page.get_by_text("中文", exact=True).click()
    expect(page.get_by_text("已结束：共 400 步，A 止于第 400 步")).to_be_visible(timeout=PATIENCE)
    settle(page)  # nothing asks the server any more
    assert "steps=400" in page.url
    assert "lang=zh" in page.url
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(3)
    shot(page, "training zh ended")
    page.get_by_test_id("stMain").get_by_role("button", name="|◀").click()
    settle(page)
    assert "at=0" in page.url
    expect(page.get_by_text("第 1 步之后").first).to_be_visible()


def test_the_looks(open_page):
    page = open_page("training", width=1366, height=768)
    shot(page, "training en")
    start = main(page).get_by_role("button", name="Start", exact=True).bounding_box()
    assert start["y"] + start["height"] < 500, "the way to begin is in the first view"
    # By now the other test has run these settings on this server: they are shown at once.
    page = open_page("training", lang="zh", width=390, height=844, params=SMALL)
    for tab in ("梯度", "头的形成", "数据"):
        page.get_by_text(tab, exact=True).click()
        settle(page)
        assert sideways_scroll(page) == 0
    shot(page, "training phone", full=True)
