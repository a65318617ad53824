"""The linear maps page in a real Chromium: a slider, a shape that does not fit, the first view, a picture of each look."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.harness import settle, shot, sideways_scroll
from tests.browser.test_attention import cell, numbers, slider


def test_a_slider_moves_the_plane_the_product_and_its_story(open_page):
    page = open_page("linear_maps")
    plane = page.locator("[data-testid=stVegaLiteChart]").first
    before, images = plane.screenshot(), numbers(page, "Y = MX")
    slider(page, "m₁₁").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert "m11=1.3" in page.url
    assert plane.screenshot() != before
    assert numbers(page, "Y = MX") != images
    expect(page.get_by_text("The determinant of M is 1.54")).to_be_visible()  # 1.3 · 1 + 0.6 · 0.4
    cell(page, "Y = MX", 1, 0).click()
    settle(page)
    assert "cell=y.1.0" in page.url
    expect(page.get_by_text("Coordinate 2 of the image of u")).to_be_visible()


def test_whole_numbers_are_whole_wherever_they_are_read(open_page):
    page = open_page("linear_maps")
    page.get_by_text("Product rule", exact=True).click()
    settle(page)
    assert numbers(page, "C = AB") == ["−6", "29", "−15", "15", "−17", "43"]
    cell(page, "C = AB", 1, 0).hover()
    expect(page.get_by_text("C = AB · row 2 · column 1 · −15")).to_be_visible()


def test_a_mismatch_is_explained_where_it_is_typed(open_page):
    page = open_page("linear_maps")
    page.get_by_text("Product rule", exact=True).click()
    settle(page)
    box = page.get_by_role("textbox", name="Shape of B")
    box.fill("5, 4")
    box.press("Enter")
    settle(page)
    expect(page.get_by_text("[3, 4] × [5, 4] does not exist.")).to_be_visible()
    expect(page.get_by_text("With B transposed it works: [3, 4] × [4, 5] → [3, 5]")).to_be_visible()


def test_the_first_view_holds_question_controls_picture_and_story(open_page):
    page = open_page("linear_maps")
    parts = [
        page.get_by_role("grid", name="Y = MX"),
        page.get_by_text("Why this number").first,
        page.get_by_text("What to notice").first,
    ]
    for part in parts:
        box = part.bounding_box()
        assert box["y"] + box["height"] <= 768
    # One row of controls, and the plane beside the matrices.
    tops = {round(slider(page, name).bounding_box()["y"]) for name in ("m₁₁", "u₂", "bias b₂")}
    assert len(tops) == 1
    plane = page.locator("[data-testid=stVegaLiteChart]").first.bounding_box()
    assert plane["x"] + plane["width"] <= page.get_by_role("grid", name="M").first.bounding_box()["x"]
    assert plane["y"] + plane["height"] <= 768
    shot(page, "linear maps en light 1366")


@pytest.mark.parametrize("tab", ["", "从 X 到 Q、K、V"])
def test_on_a_phone_the_page_fits_its_width(open_page, tab):
    page = open_page("linear_maps", "zh", dark=True, width=390, height=844)
    if tab:
        page.get_by_text(tab, exact=True).click()
        settle(page)
    assert sideways_scroll(page) == 0
    shot(page, f"linear maps zh dark 390 {'tab' if tab else ''}", full=True)
