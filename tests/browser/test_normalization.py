"""The page on normalisation in a real Chromium: an outlier moves, a margin is explained, all of it fits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll

WIDE = 6  # four features and two margins


def numbers(page: Page, title: str) -> list[str]:
    """What the cells of a matrix say to a screen reader."""
    cells = page.get_by_role("grid", name=title).get_by_role("gridcell")
    expect(cells).to_have_count(10 * WIDE)  # eight tokens and two margins: all of it is drawn
    return cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label'))")


def test_a_larger_outlier_changes_a_row_here_and_a_column_there(open_page):
    page = open_page("normalization")
    before = {title: numbers(page, title) for title in ("LayerNorm", "RMSNorm", "BatchNorm")}
    page.get_by_role("slider", name="Outlier").press("ArrowRight")
    settle(page)
    assert "outlier=11" in page.url
    inside = [r * WIDE + c for r in range(8) for c in range(4)]  # without the margins
    for title, old in before.items():
        new = numbers(page, title)
        moved = {divmod(at, WIDE) for at in inside if new[at] != old[at]}
        assert moved
        assert {c for _, c in moved} == {2} if title == "BatchNorm" else {r for r, _ in moved} == {1}
    # A click on a margin: the mean of a column.
    grid = page.get_by_role("grid", name="BatchNorm")
    grid.get_by_role("gridcell").nth(8 * WIDE + 2).click()
    settle(page)
    assert "cell=batch.8.2" in page.url
    expect(page.get_by_text("BatchNorm: mean of feature 3,")).to_be_visible()


@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_each_look_fits_and_is_kept_as_a_picture(open_page, lang, dark, width, height):
    page = open_page("normalization", lang, dark=dark, width=width, height=height)
    assert sideways_scroll(page) == 0
    shot(page, f"normalization {lang} {width}", full=True)
    if width > 1000:
        box = page.get_by_text("What to notice").first.bounding_box()
        assert box["y"] + box["height"] <= 768
