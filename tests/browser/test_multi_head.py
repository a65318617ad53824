"""The multi-head page in a real Chromium: a head is switched off, another is enlarged, all of it fits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll


def numbers(page: Page, title: str) -> list[str]:
    """What the cells of a matrix say to a screen reader."""
    cells = page.get_by_role("grid", name=title).get_by_role("gridcell")
    return cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label'))")


def test_a_head_is_switched_off_and_on_again(open_page):
    page = open_page("multi_head")
    joined, output = numbers(page, "Concat"), numbers(page, "Output")
    page.get_by_text("Switch a head off", exact=True).click()
    settle(page)
    assert set(numbers(page, "Difference")) == {"0"}
    pill = page.get_by_test_id("stButtonGroup").get_by_role("button", name="2", exact=True)
    pill.click()
    settle(page)
    assert "off=2" in page.url
    # Of every row of 24, the six numbers of head 2 are 0 and the others are as before.
    less = numbers(page, "Concat")
    assert [n for n in range(24) if less[n] != joined[n]] == list(range(6, 12))
    assert set(less[6:12]) == {"0"}
    # W_O carries the loss into every column of the output.
    moved = [new != old for new, old in zip(numbers(page, "Output"), output, strict=True)]
    assert all(any(moved[column::24]) for column in range(24))
    assert "0" not in numbers(page, "Difference")
    expect(page.get_by_text("Off: head 2.", exact=True)).to_be_visible()
    shot(page, "multi_head head 2 off", full=True)
    pill.click()
    settle(page)
    assert "off=none" in page.url
    assert numbers(page, "Output") == output


def test_a_thumbnail_is_enlarged_and_its_cell_explained(open_page):
    page = open_page("multi_head", params={"heads": 8, "d_model": 48})
    # Thumbnails are painted; the enlarged one has a cell for every weight.
    assert page.get_by_role("grid", name="Head 3").count() == 0
    page.get_by_role("button", name="Head 3", exact=True).click()
    settle(page)
    assert "step=a3" in page.url
    grid = page.get_by_role("grid", name="Head 3")
    assert grid.get_by_role("gridcell").count() == 36
    assert page.get_by_role("grid", name="Head 1").count() == 0
    grid.get_by_role("row").nth(5).get_by_role("gridcell").nth(2).click()
    settle(page)
    assert "cell=a3.4.2" in page.url
    expect(page.get_by_text("Head 3: weight that query 5")).to_be_visible()


def test_on_a_phone_the_steps_stay_in_their_order(open_page):
    page = open_page("multi_head", width=390, height=844)
    titles = ("Head 2", "O₁", "Concat", "Output")
    tops = [page.get_by_role("button", name=title, exact=True).first.bounding_box()["y"] for title in titles]
    assert tops == sorted(tops)


@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_each_look_fits_and_is_kept_as_a_picture(open_page, lang, dark, width, height):
    page = open_page("multi_head", lang, dark=dark, width=width, height=height, params={"heads": 8})
    assert sideways_scroll(page) == 0
    shot(page, f"multi_head {lang} {width}", full=True)
    if width > 1000:
        box = page.get_by_text("What to notice").first.bounding_box()
        assert box["y"] + box["height"] <= 768
