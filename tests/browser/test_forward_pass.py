"""The forward pass in a real Chromium: the toy is trained before one's eyes, a prompt is answered, and all of it fits."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll

TRAINED = 300_000  # ms: some seconds alone, more on a busy machine


def numbers(page: Page, title: str) -> list[str]:
    """What the cells of a matrix say to a screen reader."""
    cells = page.get_by_role("grid", name=title).get_by_role("gridcell")
    return cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label'))")


def trained(page: Page, sign: str = "What to notice") -> Page:
    """The page once its toy is there."""
    expect(page.get_by_text(sign).first).to_be_visible(timeout=TRAINED)
    settle(page)
    return page


def test_a_prompt_is_answered_and_a_cut_leaves_one(open_page):
    page = trained(open_page("forward_pass", still=False))
    expect(page.get_by_role("columnheader", name="鱼").first).to_be_attached()
    assert float(numbers(page, "Probabilities")[-12]) > 0.5  # the first candidate after the last token
    box = page.get_by_role("textbox", name="Prompt")
    box.fill("the kitten eats")
    box.press("Enter")
    settle(page)
    assert "cell=probs.3.0" in page.url
    expect(page.get_by_text("The next token is most likely")).to_contain_text("fish")
    page.get_by_role("slider", name="Top-k").press("ArrowRight")
    settle(page)
    expect(page.get_by_text("leave fish alone", exact=False)).to_be_visible()


def test_what_is_unknown_is_named_and_writing_is_explained(open_page):
    page = trained(open_page("forward_pass", still=False))
    box = page.get_by_role("textbox", name="Prompt")
    box.fill("the kitten eats xylophones")
    box.press("Enter")
    settle(page)
    expect(page.get_by_text("xylophones").first).to_be_visible()
    page.get_by_role("radio", name="Step by step", exact=True).click()
    settle(page)
    expect(page.get_by_text("Step 1.")).to_be_visible()
    shot(page, "forward_pass writing", full=True)


@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_each_look_fits_and_is_kept_as_a_picture(open_page, lang, dark, width, height):
    page = open_page("forward_pass", lang, dark=dark, width=width, height=height, still=False)
    trained(page, {"en": "What to notice", "zh": "注意观察"}[lang])
    if width > 1000:
        box = page.get_by_text("What to notice").first.bounding_box()
        assert box["y"] + box["height"] <= height
    else:
        for name in ("Logit 透镜", "温度与截断", "一步一步地写", "KV 缓存", "训练", "玩具做不到的事"):
            page.get_by_role("radio", name=name, exact=True).click()
            settle(page)
            assert sideways_scroll(page) == 0, name
    assert sideways_scroll(page) == 0
    shot(page, f"forward_pass {lang} {width}", full=True)
