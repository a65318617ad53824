"""The page on architectures in a real Chromium: marks, a part that leads to its page, and two looks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.harness import settle, shot, sideways_scroll

pytestmark = pytest.mark.browser


def drawing(page, place: int):
    return page.locator(".diagram").nth(place)


def test_another_model_redraws_the_marks_and_a_part_leads_to_its_page(open_page):
    page = open_page("architectures")
    upper, lower = drawing(page, 0), drawing(page, 1)
    marked = [upper.locator(".marked").count(), lower.locator(".marked").count()]
    assert min(marked) > 3
    norms = [d.locator('[data-id="decoder.self_norm"]').bounding_box() for d in (upper, lower)]
    adds = [d.locator('[data-id="decoder.self_plus"]').bounding_box() for d in (upper, lower)]
    assert norms[0]["x"] > adds[0]["x"], "GPT-1 normalises behind the addition"
    assert norms[1]["x"] < adds[1]["x"], "GPT-2 before the sub-layer"
    assert abs(adds[0]["x"] - adds[1]["x"]) < 1, "like parts stand at like places"
    page.get_by_role("combobox", name="B: lower model").click()
    page.get_by_role("option", name="GPT-1", exact=True).click()
    expect(page.locator(".marked")).to_have_count(0)
    settle(page)
    assert "right=gpt1" in page.url
    upper.locator('[data-id="decoder.self_norm"] a').hover()
    expect(upper.locator(".reading")).to_contain_text("Post-LN")
    upper.locator('[data-id="decoder.self_norm"] a').click()
    expect(page).to_have_url(re.compile("/normalization"))


@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_each_look_fits_and_is_kept_as_a_picture(open_page, lang, dark, width, height):
    page = open_page("architectures", lang, dark=dark, width=width, height=height)
    assert sideways_scroll(page) == 0
    boxes = page.locator(".diagram .box").evaluate_all(
        "all => all.map(b => b.getBoundingClientRect()).map(r => [r.left, r.right])"
    )
    assert all(left >= 0 and right <= width for left, right in boxes)
    shot(page, f"architectures {lang} {width}", full=True)
    if width > 1000:
        box = page.get_by_text("What to notice").first.bounding_box()
        assert box["y"] + box["height"] <= 768
