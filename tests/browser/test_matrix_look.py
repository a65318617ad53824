"""How the linked matrices look: themes, sizes, phones, large maps, and the files they are saved to."""

from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.browser.apps.matrix_scene import HOSTILE, WORDS, scene
from tests.browser.harness import settle, sideways_scroll
from tests.browser.matrix_page import ENCLOSED, cell, python_says, said, shown, weights
from ui.offline import offline_html

SVG = "{http://www.w3.org/2000/svg}"
pytestmark = pytest.mark.browser


@pytest.fixture
def picture(serve, open_page):
    """`picture("t=6", width=…)`: the page of matrix_app.py with that query."""
    return partial(shown, open_page, serve)


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance of #rrggbb."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("focus", ["weights", "scores"])
def test_every_number_can_be_read_in_light_and_dark(picture, dark, focus):
    page = picture(f"t=6&focus={focus}", dark=dark)
    pairs = page.locator(f".block[data-name={focus}] .cell").evaluate_all(
        "cells => cells.map((c) => ['rect', 'text'].map((tag) => c.querySelector(tag).getAttribute('fill')))"
    )
    assert len(pairs) == 36
    assert min(contrast(*pair) for pair in pairs) >= 4.5
    background = page.evaluate(
        "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )
    ground = "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", background)[:3])
    assert (luminance(ground) < 0.1) == dark
    if focus == "weights":
        assert pairs[1][0] == ground, "a weight of 0 is the page itself"
    for title in page.locator(".title").all():
        r, g, b = (int(x) for x in re.findall(r"\d+", title.evaluate("e => getComputedStyle(e).color"))[:3])
        assert contrast(f"#{r:02x}{g:02x}{b:02x}", ground) >= 4.5


def test_the_theme_can_change_under_the_picture(picture):
    page = picture()
    first = cell(page, "weights", 0, 1).locator("rect").get_attribute("fill")
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert (
        luminance(first)
        > 0.9
        > 0.1
        > luminance(cell(page, "weights", 0, 1).locator("rect").get_attribute("fill"))
    )


@pytest.mark.parametrize("query", ["t=6", "t=24", "t=24&lang=zh", "t=7&text=hostile", "t=6&d=64", "big=40"])
def test_a_phone_never_scrolls_sideways(picture, query):
    page = picture(query, width=390, height=844)
    assert sideways_scroll(page) == 0
    frame = page.locator(".picture").bounding_box()
    boxes = {block.get_attribute("data-name"): block.bounding_box() for block in page.locator(".block").all()}
    for box in boxes.values():
        assert box["x"] >= frame["x"] - 0.5
        assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 0.5
    assert min(boxes, key=lambda name: boxes[name]["y"]) == "weights", "the focus comes first"
    if "q" in boxes:
        assert boxes["output"]["y"] < boxes["x"]["y"], "the strip comes last"
    assert page.locator(".arrow").count() == 0


@pytest.mark.parametrize(
    "query", ["t=1", "t=6", "t=24", "t=24&lang=zh", "t=24&d=64", "t=7&text=hostile", "t=6&focus=q"]
)
def test_the_picture_is_never_higher_than_its_part_of_the_screen(picture, query):
    page = picture(query, width=1430)
    assert page.locator(".picture").bounding_box()["height"] <= 450
    assert sideways_scroll(page) == 0
    inside = page.locator(".picture").bounding_box()
    for box in (block.bounding_box() for block in page.locator(".block").all()):
        assert box["x"] + box["width"] <= inside["x"] + inside["width"] + 0.5


def test_cells_are_square_and_large_where_it_matters(picture):
    page = picture("t=6", width=1430)
    for name, low, high in (("weights", 38, 46), ("scores", 16, 22), ("q", 10, 14)):
        box = cell(page, name, 0, 0).locator("rect").bounding_box()
        assert box["width"] == pytest.approx(box["height"], abs=0.05)
        assert low <= box["width"] <= high


@pytest.mark.parametrize(
    ("query", "width", "wider"),
    [("t=24", 1430, False), ("t=24&d=64&focus=output", 1430, True), ("t=24", 390, True)],
)
def test_a_matrix_too_small_for_numbers_is_drawn_larger_on_demand(picture, query, width, wider):
    page = picture(query, width=width)
    focus = "output" if "output" in query else "weights"
    block = page.locator(f".block[data-name={focus}]")
    assert not any(block.locator(".cell text").all_text_contents())
    places = page.locator(".block").evaluate_all("blocks => blocks.map((b) => b.dataset.name)")
    page.locator(".grow").click()
    settle(page)
    assert all(block.locator(".cell text").all_text_contents())
    assert cell(page, focus, 0, 0).locator("rect").bounding_box()["width"] >= 28
    stage = page.locator(".stage")
    assert stage.evaluate("s => s.scrollWidth > s.clientWidth") == wider
    assert sideways_scroll(page) == 0
    boxes = {name: page.locator(f".block[data-name={name}]").bounding_box() for name in places}
    bottom = boxes[focus]["y"] + boxes[focus]["height"]
    assert all(box["y"] >= bottom for name, box in boxes.items() if name != focus), "the others stand below"
    cell(page, focus, 2, 1, columns=64 if focus == "output" else 24).click()
    python_says(page, f"{focus} ('{focus}', 2, 1)")
    assert all(block.locator(".cell text").all_text_contents()), "a click leaves it as it is"
    page.locator(".grow").click()
    settle(page)
    assert not any(block.locator(".cell text").all_text_contents())


def test_nothing_is_offered_where_the_numbers_are_there_already(picture):
    page = picture("t=6")
    assert not page.locator(".grow").is_visible()


@pytest.mark.parametrize("query", ["t=6&d=64", "t=10"])
def test_the_rows_above_do_not_take_the_numbers_from_the_cells_in_focus(picture, query):
    page = picture(query, width=1430)
    assert all(page.locator(".block[data-name=weights] .cell text").all_text_contents())


def test_a_large_map_is_a_canvas_with_the_same_manners(picture):
    page = picture("big=40")
    assert page.locator(".cell").count() == 0
    canvas = page.locator("canvas.cells")
    box = canvas.bounding_box()
    step = box["width"] / 40
    wave = np.sin(np.arange(40)[:, None] * np.arange(40)[None, :] / 30)
    page.mouse.move(box["x"] + 30.5 * step, box["y"] + 12.5 * step)
    assert said(page) == f"Large map · query 13 t12 → key 31 t30 · {wave[12, 30]:.3f}".replace("-", "−")
    page.mouse.click(box["x"] + 30.5 * step, box["y"] + 12.5 * step)
    python_says(page, "weights ('weights', 12, 30)")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    python_says(page, "weights ('weights', 13, 30)")
    assert page.locator(".read").get_attribute("aria-live") == "polite"
    assert canvas.get_attribute("aria-label") == "Large map, 40 rows, 40 columns"
    colours = canvas.evaluate(
        """(c, cells) => { const pen = c.getContext('2d');
        return cells.map(([r, q]) => [...pen.getImageData((q + .5) * c.width / 40, (r + .5) * c.height / 40, 1, 1).data]) }""",
        [divmod(int(i), 40) for i in (wave.argmin(), 0, wave.argmax())],
    )
    brown, ground, teal = colours
    assert brown[0] > brown[2] + 60, "the lowest value is brown"
    assert teal[1] > teal[0] + 60, "the highest is teal"
    assert ground[:3] == [255, 255, 255], "0 is the page"


def test_the_table_is_built_when_opened_and_kept_up_to_date(picture):
    page = picture()
    assert page.locator("table tr").count() == 0
    page.get_by_text("Numbers as a table").click()
    read = "rows => rows.slice(1).map((r) => [...r.querySelectorAll('td')].map((c) => c.textContent))"
    np.testing.assert_allclose(
        np.array(page.locator("table tr").evaluate_all(read), float), weights(1.0), rtol=0.006
    )
    assert page.locator("table th[scope=col]").all_inner_texts() == [
        "The",
        "small",
        "cat",
        "saw",
        "the",
        "other",
    ]
    page.get_by_role("slider").press("ArrowRight")
    settle(page)
    np.testing.assert_allclose(
        np.array(page.locator("table tr").evaluate_all(read), float), weights(1.1), rtol=0.006
    )


@pytest.mark.parametrize("query", ["t=6", "t=7&text=hostile&look=1", "big=40"])
def test_the_picture_is_saved_as_svg(picture, query):
    page = picture(query)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as SVG").click()
    assert waiting.value.suggested_filename == "attention.svg"
    text = Path(waiting.value.path()).read_text(encoding="utf-8")
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert "var(" not in text
    assert set(re.findall(r"https?://[^\s\"'<>)]+", text)) == {"http://www.w3.org/2000/svg"}
    drawn = [element.text for element in root.iter(f"{SVG}text")]
    if query == "t=6":
        assert {"Weights A", "Q", "6 × 8", "softmax", "queries", "keys"} <= set(drawn)
        assert sum(text in drawn for text in [f"{w:.3f}" for w in weights(1.0)[np.tril_indices(6, -1)]]) == 15
        assert len(list(root.iter(f"{SVG}rect"))) > 9 * 36
    elif query == "big=40":
        (image,) = root.iter(f"{SVG}image")
        assert base64.b64decode(image.get("href").split(",")[1])[:4] == b"\x89PNG"
    else:
        assert "NaN" in "".join(drawn) or "url(#" in text


def test_a_number_that_is_none_has_its_own_look(picture):
    page = picture("t=6&look=1&focus=scores")
    missing = cell(page, "scores", 1, 1)
    assert missing.locator("rect").get_attribute("fill").startswith("url(")
    assert missing.text_content() == "NaN"
    missing.hover()
    assert said(page).endswith("not a number")
    hidden = cell(page, "masked", 0, 5)
    hidden.hover()
    assert said(page).endswith("−∞ (hidden)")
    page.locator(
        ".block[data-name=q] svg.grid"
    ).hover()  # a thumbnail is painted: it has no elements for its cells
    assert "≈" in said(page), "a byte is not the number itself"


@pytest.mark.parametrize("dark", [False, True])
def test_the_offline_file_opens_without_a_network(browser, watch, tmp_path, dark):
    rows = scene(6, 8, 1.0, "en", HOSTILE[:6], look=False)
    file = tmp_path / "picture.html"
    file.write_text(
        offline_html(
            rows,
            focus="weights",
            cell=("weights", 2, 1),
            words=WORDS["en"],
            summary="In five steps",
            title="Attention",
        ),
        encoding="utf-8",
    )
    context = browser.new_context(
        viewport={"width": 1280, "height": 720}, color_scheme="dark" if dark else "light", offline=True
    )
    watch.attach(context)
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(file.as_uri())
    page.locator(".block").first.wait_for()
    assert page.title() == "Attention"
    assert page.get_by_role("heading").inner_text() == "Attention"
    assert said(page).startswith("Weights A · query 3 ")
    cell(page, "weights", 3, 0).hover()
    assert page.evaluate(ENCLOSED, ["k", "hover"]) == [[[0], list(range(8))]]
    page.get_by_role("button", name="Scores QKᵀ").click()
    assert page.locator(".title[aria-pressed=true]").inner_text() == "Scores QKᵀ"
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(int(x) for x in re.findall(r"\d+", ground)[:3]) < 200) == dark
    assert asked == [file.as_uri()]
    context.close()


INSIDE = """
(svgs) => svgs.flatMap((svg) => [...svg.querySelectorAll('text')].filter((text) => {
  const [a, b] = [svg.getBoundingClientRect(), text.getBoundingClientRect()];
  return b.top < a.top - 1 || b.bottom > a.bottom + 1 || b.left < a.left - 1 || b.right > a.right + 1;
}).map((text) => text.textContent))
"""


@pytest.mark.parametrize("width", [1430, 390])
@pytest.mark.parametrize(
    "query", ["t=1", "t=6", "t=6&focus=q", "t=24", "large=2", "large=5", "big=8&limit=0.25"]
)
def test_no_word_of_a_matrix_is_cut_at_its_edge(picture, query, width):
    page = picture(query, width=width)
    assert page.locator(".block svg.grid").evaluate_all(INSIDE) == []


@pytest.mark.parametrize("query", ["large=2", "large=5"])
def test_a_row_of_large_matrices_says_once_what_they_have_in_common(picture, query):
    page = picture(query, width=1430)
    texts = [block.locator("text").all_text_contents() for block in page.locator(".block").all()]
    assert sum("a long name of the rows" in one for one in texts) == 1
    assert page.locator(".block linearGradient").count() == 1, "one scale for all weights"


def test_what_rounds_to_nothing_has_no_sign(picture):
    shown = picture().evaluate(
        "async (all) => { const { formatInCell } = await import('/app/static/matrix/text.js');"
        " return all.map(([value, decimals]) => formatInCell(value, decimals)) }",
        [[-0.001, 2], [-0.0004, 3], [-0.006, 2], [-3.2, 2], [0, 2]],
    )
    assert shown == ["0.00", "0.000", "−0.01", "−3.20", "0"]
