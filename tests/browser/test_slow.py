"""A click that comes before the controls: they must show the values all the same."""

import pytest

from tests.browser.harness import settle

LINK = "/attention?lang=en&dk=5&tau=2&tokens=6&mask=causal"


@pytest.mark.parametrize("wait", [0, 300, 600])
def test_a_click_before_the_controls_are_there_leaves_them_their_values(serve, browser, wait):
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(serve("tests/browser/apps/slow_app.py").url + LINK)
    cells = page.get_by_role("gridcell")
    cells.nth(60).wait_for()
    page.wait_for_timeout(wait)
    assert page.get_by_role("slider").count() == 0, "the click comes too late to show anything"
    cells.nth(60).click()
    page.get_by_role("slider").nth(2).wait_for()
    page.wait_for_timeout(4500)  # the run that the click asked for ends
    settle(page)
    shown = [slider.get_attribute("aria-valuetext") for slider in page.get_by_role("slider").all()]
    assert shown == ["6", "5", "2.00"]
    page.close()
