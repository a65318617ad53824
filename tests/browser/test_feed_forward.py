"""The feed-forward page in a real Chromium: the activation bends, a replaced token moves one row, all of it fits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll


def numbers(page: Page, title: str) -> list[str]:
    """What the cells of a matrix say to a screen reader."""
    cells = page.get_by_role("grid", name=title).get_by_role("gridcell")
    return cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label'))")


def test_relu_cuts_and_gelu_does_not(open_page):
    page = open_page("feed_forward")
    cut = numbers(page, "After activation")
    assert cut.count("0") == 53
    page.get_by_role("combobox", name="Activation").click()
    page.get_by_role("option", name="GELU (exact)").click()
    settle(page)
    assert "act=gelu" in page.url
    soft = numbers(page, "After activation")
    assert len(soft) == len(cut) == 6 * 16
    assert "0" not in soft
    # Where ReLU kept a number GELU keeps its sign; where ReLU cut it GELU has a small negative one.
    assert all(new.startswith("−") == (old == "0") for new, old in zip(soft, cut, strict=True))
    row = page.get_by_role("grid", name="After activation").get_by_role("row").nth(4)
    row.get_by_role("gridcell").nth(2).click()
    settle(page)
    assert "cell=hidden.3.2" in page.url
    expect(page.get_by_text("hidden unit 3, after GELU")).to_be_visible()
    expect(page.get_by_text("bends softly")).to_be_visible()


def test_a_replaced_token_moves_one_row_here_and_all_rows_of_attention(open_page):
    page = open_page("feed_forward")
    page.get_by_role("radio", name="One token changed", exact=True).click()
    settle(page)
    box = page.get_by_role("textbox", name="Replaced by")
    box.fill("horse")
    box.press("Enter")
    settle(page)
    assert "word=horse" in page.url
    ffn, attention = (numbers(page, f"Change after {name}") for name in ("FFN", "attention"))
    assert [n // 4 for n, value in enumerate(ffn) if value != "0"] == [1] * 4
    assert {n // 4 for n, value in enumerate(attention) if value != "0"} == set(range(6))
    shot(page, "feed_forward one token", full=True)


@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_each_look_fits_and_is_kept_as_a_picture(open_page, lang, dark, width, height):
    page = open_page("feed_forward", lang, dark=dark, width=width, height=height)
    if width > 1000:
        box = page.get_by_text("What to notice").first.bounding_box()
        assert box["y"] + box["height"] <= height
    else:
        for name in ("反向传播", "SwiGLU 与 8/3", "混合专家", "总参数与激活参数"):
            page.get_by_role("radio", name=name, exact=True).click()
            settle(page)
            assert sideways_scroll(page) == 0, name
    assert sideways_scroll(page) == 0
    shot(page, f"feed_forward {lang} {width}", full=True)
