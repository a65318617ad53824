"""Compare in a real Chromium: pin, move, hover over all three, choose, copy the link; every look fits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll

TITLES = {"en": ("A (pinned)", "B (now)", "B − A"), "zh": ("A（固定）", "B（现在）", "B − A")}
PIN = {"en": "Pin as A", "zh": "固定为 A"}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()


def grid(page: Page, title: str):
    return page.get_by_role("grid", name=title)


def numbers(page: Page, title: str) -> list[str]:
    """What the cells say to a screen reader: their number is the last word."""
    cells = grid(page, title).get_by_role("gridcell")
    return cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label').split(' ').pop())")


def pinned(page: Page, lang: str = "en") -> Page:
    press(page, PIN[lang])
    expect(page.get_by_text({"en": "B has the same settings", "zh": "目前和它相同"}[lang])).to_be_visible()
    return page


def move(page: Page, lang: str = "en") -> None:
    slider = page.get_by_role("slider", name={"en": "Temperature", "zh": "温度"}[lang])
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(grid(page, TITLES[lang][2])).to_be_visible()
    settle(page)


def test_pin_by_keyboard_then_move_shows_three_of_one_size(open_page):
    page = open_page("attention")
    before = numbers(page, "Weights A")
    page.get_by_role("button", name="Pin as A", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("B has the same settings")).to_be_visible()
    move(page)
    a, b, delta = (numbers(page, title) for title in TITLES["en"])
    assert a == before
    assert b == numbers(page, "Weights A") != before
    for one, other, gap in zip(a, b, delta, strict=True):
        one, other, gap = (float(text.replace("−", "-")) for text in (one, other, gap))
        assert gap == pytest.approx(other - one, abs=1.1e-2)
    boxes = [grid(page, title).bounding_box() for title in TITLES["en"]]
    assert len({round(box["height"]) for box in boxes}) == 1


def test_a_cell_marks_its_row_and_column_in_all_three_and_is_explained(open_page):
    page = pinned(open_page("attention"))
    move(page)
    cell = grid(page, "B − A").get_by_role("row").nth(5).get_by_role("gridcell").nth(2)
    cell.hover()
    expect(page.get_by_text("B − A · Weights · query 5 the · key 3 sat")).to_be_visible()
    marks = page.locator(":is([data-name=a], [data-name=b], [data-name=difference]) .hover-cell")
    assert marks.evaluate_all("marks => marks.filter(mark => mark.getAttribute('d')).length") == 3
    cell.click()
    expect(page.get_by_text("Weight that query 5")).to_be_visible()
    settle(page)
    assert "cell=weights.4.2" in page.url
    page.keyboard.press("Escape")
    expect(page.get_by_text("Choose a cell with a click")).to_be_visible()


def test_the_copied_link_holds_a_and_b_also_in_the_other_language(open_page, app_url):
    page = pinned(open_page("attention", params={"s": "我爱~学习 & a=b", "tokens": 6}))
    move(page)
    settle(page)
    copied, before = page.url, [numbers(page, title) for title in TITLES["en"]]
    fresh = open_page(copied.removeprefix(app_url), lang=None)
    assert fresh.url == copied
    assert [numbers(fresh, title) for title in TITLES["en"]] == before
    other = open_page(copied.removeprefix(app_url).replace("lang=en", "lang=zh"), lang=None)
    assert [numbers(other, title) for title in TITLES["zh"]] == before
    expect(other.get_by_text("A 为 1.00，B 为 1.50")).to_be_visible()


def test_on_a_phone_a_title_makes_its_matrix_the_large_one_and_it_stays(open_page):
    page = pinned(open_page("attention", width=390, height=2800))
    move(page)
    page.get_by_role("button", name="A (pinned) · Weights").click()
    settle(page)
    page.get_by_role("slider", name="Temperature").press("ArrowRight")
    settle(page)
    widths = [grid(page, title).bounding_box()["width"] for title in TITLES["en"]]
    assert widths[0] > 1.5 * widths[1]
    assert widths[0] > 1.5 * widths[2]


def test_swap_and_unpin(open_page):
    page = pinned(open_page("attention"))
    move(page)
    press(page, "Swap A and B")
    expect(page.get_by_role("slider", name="Temperature")).to_have_value("1")
    expect(page.get_by_text("1.50 in A, 1.00 in B")).to_be_visible()
    press(page, "Unpin A")
    expect(page.get_by_text("A against B")).to_have_count(0)
    settle(page)
    assert "a=none" in page.url


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1366, 2000), (390, 2800)], ids=["laptop", "phone"])
def test_each_look_is_kept_as_a_picture_and_fits(open_page, lang, dark, width, height):
    page = pinned(open_page("attention", lang, dark=dark, width=width, height=height), lang)
    move(page, lang)
    assert sideways_scroll(page) == 0
    shot(page, f"compare {lang} {'dark' if dark else 'light'} {width}")
