"""The attention page in a real Chromium: sliders, cells, links, languages, hostile text, pictures of each look."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from core.text.tokens import clean, split
from tests.browser.harness import settle, shot, sideways_scroll


def slider(page: Page, name: str):
    return page.get_by_role("slider", name=name)


def cell(page: Page, matrix: str, row: int, column: int):
    """A cell of a matrix by the beginning of its title; counted from 0, the first row being the column labels."""
    rows = page.get_by_role("grid", name=matrix).get_by_role("row")
    return rows.nth(row + 1).get_by_role("gridcell").nth(column)


def numbers(page: Page, matrix: str) -> list[str]:
    """What the cells of a matrix say to a screen reader."""
    return (
        page.get_by_role("grid", name=matrix)
        .get_by_role("gridcell")
        .evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label') || cell.textContent)")
    )


def test_a_slider_moves_and_picture_and_numbers_follow(open_page):
    page = open_page("attention")
    weights, story = numbers(page, "Weights"), page.locator("[data-testid=stMain]").inner_text()
    slider(page, "d_k").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert numbers(page, "Weights") != weights
    assert page.locator("[data-testid=stMain]").inner_text() != story
    assert "dk=9" in page.url
    expect(page.get_by_text("6 × 9").first).to_be_visible()


def test_a_cell_is_chosen_and_explained_and_survives_sliders_and_language(open_page):
    page = open_page("attention")
    cell(page, "Weights", 4, 2).click()
    settle(page)
    assert "cell=weights.4.2" in page.url
    expect(page.get_by_text("Weight that query 5")).to_be_visible()
    slider(page, "Temperature").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert "cell=weights.4.2" in page.url
    page.get_by_text("中文", exact=True).click()
    settle(page)
    assert "cell=weights.4.2" in page.url
    assert "tau=1.1" in page.url
    assert "lang=zh" in page.url
    expect(page.get_by_text("这个数怎么来的")).to_be_visible()
    expect(page.get_by_text("查询 5 the 给键 3 sat 的权重")).to_be_visible()
    assert page.locator("h1").inner_text() == "一个词元怎样决定看谁？"
    for label in ("温度 τ", "词元数", "掩码", "随机种子"):
        expect(page.get_by_text(label, exact=True).first).to_be_visible()


def test_a_copied_link_restores_everything_in_a_fresh_session_and_the_other_language(open_page, app_url):
    page = open_page(
        "attention", params={"s": "我爱学习", "tokens": 4, "mask": "window", "window": 2, "dk": 5, "seed": 11}
    )
    cell(page, "Scores", 2, 1).click()
    settle(page)
    copied, before = page.url, numbers(page, "Weights")
    fresh = open_page(copied.removeprefix(app_url), lang=None)
    assert fresh.url == copied
    assert numbers(fresh, "Weights") == before
    expect(fresh.get_by_text("Score of query 3")).to_be_visible()
    other = open_page(copied.removeprefix(app_url).replace("lang=en", "lang=zh"), lang=None)
    assert [n.split()[-1] for n in numbers(other, "权重")] == [n.split()[-1] for n in before]
    expect(other.get_by_text("对键")).to_be_visible()


@pytest.mark.parametrize(
    "text",
    [
        "<script>document.title='owned'</script>",
        "$x$ and $y$",
        "**bold**",
        ":material/home:",
        "字 long " * 700,
    ],
    ids=["script", "formula", "bold", "icon", "5000 characters"],
)
def test_a_typed_sentence_is_shown_as_text(open_page, text):
    page = open_page("attention")
    box = page.get_by_role("textbox", name="Your sentence")
    box.fill(text)
    box.press("Enter")
    settle(page)
    assert page.title() != "owned"
    # Nothing of what was typed became markup: the tokens stand at the rows as they were typed.
    labels = page.get_by_role("grid", name="Weights").get_by_role("rowheader")
    tokens = labels.evaluate_all("labels => labels.map(label => label.textContent)")
    assert "".join(tokens) == "".join(split(clean(text).text).tokens)
    assert page.locator("[data-testid=stMain] [data-testid=stIconMaterial]").count() == open_icons(page)
    assert sideways_scroll(page) == 0
    assert box.input_value() == text
    shot(page, f"attention typed {text[:12]}")


def open_icons(page: Page) -> int:
    """Icons that belong to Streamlit's own widgets: the arrow of the examples."""
    return page.locator("[data-testid=stPopover] [data-testid=stIconMaterial]").count()


def test_back_undoes_a_move(open_page):
    page = open_page("attention")
    slider(page, "d_k").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    page.go_back()
    settle(page)
    assert "dk=8" in page.url
    assert slider(page, "d_k").input_value() == "8"


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)], ids=["laptop", "phone"])
def test_each_look_is_kept_as_a_picture_and_fits(open_page, lang, dark, width, height):
    page = open_page("attention", lang, dark=dark, width=width, height=height)
    assert sideways_scroll(page) == 0
    shot(page, f"attention {lang} {'dark' if dark else 'light'} {width}")


def test_the_first_view_holds_question_controls_picture_and_story(open_page):
    page = open_page("attention")
    parts = [
        page.get_by_role("grid", name="Weights"),
        *(page.get_by_text(t).first for t in ("Why this number", "What to notice")),
    ]
    for part in parts:
        box = part.bounding_box()
        assert box["y"] + box["height"] <= 768
