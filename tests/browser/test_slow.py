"""A slow machine: nothing that a reader clicks is lost, and the controls show the values all the same."""

import pytest
from playwright.sync_api import Page

from tests.browser.harness import drawn, settle

LINK = "attention?lang=en&dk=5&tau=2&tokens=6&mask=causal"


@pytest.mark.parametrize("wait", [0, 300, 600])
def test_a_click_before_the_controls_are_there_leaves_them_their_values(serve, open_page, wait):
    server = serve("tests/browser/apps/slow_app.py")
    hold = server.folder / "hold"
    hold.touch()
    try:
        page = open_page(LINK, None, url=server.url, still=False)
        cells = page.get_by_role("gridcell")
        cells.nth(60).wait_for()
        page.wait_for_timeout(wait)
        assert page.get_by_role("slider").count() == 0, "the click comes too late to show anything"
        asked = page.evaluate("window.__line.asked")
        cells.nth(60).click()
        page.wait_for_function("asked => window.__line.asked > asked", arg=asked)
    finally:
        hold.unlink()
    settle(page)
    shown = [slider.get_attribute("aria-valuetext") for slider in page.get_by_role("slider").all()]
    assert shown == ["6", "5", "2.00"]


def drawing(open_page, url: str) -> Page:
    """The page on masks, ready to be drawn on."""
    page = open_page("masks?lang=en&mask=causal&also=none&draw=1", None, url=url)
    assert drawn(page)[0] == [True] + 6 * [False]
    return page


def test_cells_clicked_while_runs_last_seconds_are_all_drawn(serve, open_page):
    page = drawing(open_page, serve("tests/browser/apps/slow_app.py").url)
    for column in (3, 4, 5):  # each click comes while the run of the one before it still draws the controls
        page.locator(".block[data-name=mask] .cell").nth(column).click()
        page.wait_for_timeout(700)
    settle(page)
    assert drawn(page)[0] == [True, False, False, True, True, True, False]


def test_a_click_is_taken_over_though_the_language_is_switched_meanwhile(serve, open_page):
    page = drawing(open_page, serve("tests/browser/apps/slow_callback_app.py").url)
    for column, language in ((3, "中文"), (4, "English")):
        page.locator(".block[data-name=mask] .cell").nth(column).click()
        page.wait_for_timeout(100)
        page.get_by_text(language, exact=True).first.click()
        settle(page)
    assert drawn(page)[0] == [True, False, False, True, True, False, False]
