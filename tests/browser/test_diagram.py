"""The diagram in a real browser: real links, the keyboard, the pointer, a phone, and an update in place."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.harness import settle, sideways_scroll
from ui.diagram import offline_html
from ui.transformer_map import decoder_only
from ui.words import LANGUAGES, Words

pytestmark = pytest.mark.browser
APP = "tests/browser/apps/diagram"
TEXTS = {lang: Words(lang).table("map") for lang in LANGUAGES}


@pytest.fixture
def show(serve, open_page):
    def start(lang="en", model="decoder_only", width=1366, height=768, dark=False, **params):
        page = open_page(
            "",
            lang,
            params={"model": model} | params,
            width=width,
            height=height,
            dark=dark,
            url=serve(APP).url,
        )
        expect(page.locator(".diagram .box").first).to_be_visible()
        return page

    return start


def part(page, node_id):
    return page.locator(f'.diagram li[data-id="{node_id}"]')


def boxes(page):
    """[left, top, right, bottom] of every part in px."""
    return page.locator(".diagram .box").evaluate_all(
        "all => all.map(b => b.getBoundingClientRect()).map(r => [r.left, r.top, r.right, r.bottom])"
    )


def test_a_click_changes_the_page_without_reloading_and_keeps_the_language(show):
    page = show("zh")
    page.evaluate("window.mark = 'still here'")
    part(page, "attention").locator("a").click()
    expect(page.get_by_text("attention page, heard: ['attention']")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/attention\?lang=zh$"))
    assert page.evaluate("window.mark") == "still here"


def test_a_click_arrives_once(show):
    page = show()
    part(page, "mask").locator("a").click()
    expect(page.get_by_text("went: masks, heard: ['masks']")).to_be_visible()
    page.get_by_test_id("stNumberInputStepUp").click()
    expect(page.get_by_text("went: None, heard: ['masks']")).to_be_visible()


def test_a_click_with_control_is_the_browsers_own_and_opens_the_address(show, watch):
    page = show("zh")
    link = part(page, "attention").locator("a")
    assert link.get_attribute("href") == "attention?lang=zh"
    with page.context.expect_page() as opened:
        link.click(modifiers=["Control"])
    expect(opened.value.get_by_text("attention page")).to_be_visible()
    expect(opened.value).to_have_url(re.compile(r"/attention\?lang=zh$"))
    expect(page.get_by_text("went: None, heard: []")).to_be_visible()
    # On a deep link Streamlit first asks for its own health below the page's path, and is told 404.
    watch.errors[:] = [error for error in watch.errors if "404" not in error]


def test_a_page_that_is_not_built_is_dashed_and_said_to_be_so(show):
    page = show(partial=1)
    missing = part(page, "projection")
    assert missing.locator("a").count() == 0
    assert missing.locator(".box").evaluate("b => getComputedStyle(b).borderTopStyle") == "dashed"
    assert missing.locator(".box").get_attribute("title") == "This page is not built yet"
    missing.hover()
    expect(page.locator(".reading")).to_contain_text("This page is not built yet")
    assert (
        part(page, "attention").locator(".box").evaluate("b => getComputedStyle(b).borderTopStyle") == "solid"
    )


def test_the_keyboard_follows_the_computation_with_a_visible_ring(show):
    page = show()
    links = page.locator(".diagram a")
    names = links.all_inner_texts()
    assert names[:4] == ["Tokens", "Embedding", "Positions", "LayerNorm"]
    links.first.focus()
    ring = "() => document.activeElement.shadowRoot?.activeElement ?? document.activeElement"
    visited = []
    for _ in names:
        state = page.evaluate_handle(ring).evaluate(
            "e => [e.innerText, parseFloat(getComputedStyle(e).outlineWidth)]"
        )
        visited.append(state)
        page.keyboard.press("Tab")
    assert [name for name, _ in visited] == names
    assert min(width for _, width in visited[1:]) >= 2


def test_enter_follows_a_link(show):
    page = show()
    part(page, "attention").locator("a").press("Enter")
    expect(page.get_by_text("attention page")).to_be_visible()


def test_the_figure_and_its_parts_have_names(show):
    page = show()
    expect(page.get_by_role("group", name=re.compile("^A decoder-only Transformer: "))).to_be_visible()
    link = page.get_by_role("link", name="Attention", exact=True).and_(page.locator(".box"))
    expect(link).to_have_accessible_description(re.compile("weighted mean"))
    assert page.get_by_role("link", name="Add to the stream").count() == 2


def test_pointing_lights_the_part_with_its_arrows_and_the_line_below_keeps_its_height(show):
    page = show()
    line = page.locator(".reading")
    before = line.bounding_box()
    expect(line).to_have_text(TEXTS["en"]["hint"])
    part(page, "attention").hover()
    lit = page.locator("g.arrow.lit").evaluate_all(
        "all => all.map(g => [g.dataset.source, g.dataset.target])"
    )
    assert sorted(lit) == [["attention", "join"], ["mask", "attention"], ["projection", "attention"]]
    expect(line).to_contain_text("weighted mean")
    assert line.bounding_box() == before
    page.mouse.move(5, 5)
    expect(page.locator("g.arrow.lit")).to_have_count(0)


# A word broken in the middle ("attenti-on") shows as more lines than its spaces and hyphens allow.
BROKEN = """all => all.filter(span => {
  const range = document.createRange();
  range.selectNodeContents(span);
  const lines = new Set([...range.getClientRects()].map(r => Math.round(r.top))).size;
  return /^[\\x00-\\x7f]+$/.test(span.innerText) && lines > span.innerText.split(/[\\s-]+/).length;
}).map(span => span.innerText)"""
CUT = """all => all.filter(b => b.scrollWidth > b.clientWidth + 1 || b.scrollHeight > b.clientHeight + 1)
  .map(b => b.innerText)"""


@pytest.mark.parametrize("model", ["decoder_only", "encoder_decoder"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_fits_and_no_word_is_cut(show, model, lang):
    page = show(lang, model)
    for width, height in ((1366, 768), (1920, 1080), (1000, 700), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        assert sideways_scroll(page) == 0
        assert all(left >= 0 and right <= width for left, _, right, _ in boxes(page))
        named = page.locator(".diagram li:not(.add):not(.tap) .box")
        assert named.evaluate_all(CUT) == []
        assert named.locator("> span:first-child").evaluate_all(BROKEN) == []


@pytest.mark.parametrize("model", ["decoder_only", "encoder_decoder"])
def test_wide_it_runs_to_the_right_within_520_px_and_on_a_phone_downwards(show, model):
    first, last = ("tokens" if model == "decoder_only" else "source"), "next_token"
    page = show("en", model)
    start, end = part(page, first).bounding_box(), part(page, last).bounding_box()
    assert end["x"] - start["x"] > 1000
    assert page.locator(".diagram").bounding_box()["height"] <= 540
    page = show("en", model, width=390, height=844)
    start, end = part(page, first).bounding_box(), part(page, last).bounding_box()
    assert end["y"] - start["y"] > 700


@pytest.mark.parametrize("model", ["decoder_only", "encoder_decoder"])
@pytest.mark.parametrize("width", [1366, 390])
def test_captions_touch_neither_parts_nor_each_other(show, model, width):
    page = show("en", model, width=width)
    captions = page.locator("text.shape").evaluate_all(
        "all => all.map(t => t.getBoundingClientRect()).map(r => [r.left + 1, r.top + 3, r.right - 1, r.bottom - 3])"
    )
    assert len(captions) >= 3
    parts = boxes(page)
    for index, one in enumerate(captions):
        for other in parts + captions[index + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart


def test_a_change_of_numbers_updates_the_same_picture(show):
    page = show()
    frame = page.locator(".diagram").element_handle()
    assert page.locator("text.shape", has_text="[4, 16]").first.is_visible()
    page.get_by_test_id("stNumberInputStepUp").click()
    expect(page.locator("text.shape").filter(has_text=re.compile(r"^\[4, 17\]$"))).to_be_visible()
    settle(page)
    assert frame.evaluate("f => f.isConnected")
    assert page.locator(".diagram").count() == 1


def test_resizing_the_window_turns_the_picture(show):
    page = show()
    across = part(page, "next_token").bounding_box()["x"]
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(
        "x => [...document.querySelectorAll('*')].some(e => e.shadowRoot?.querySelector('li[data-id=next_token]')"
        "?.getBoundingClientRect().x < x / 2)",
        arg=across,
    )
    assert sideways_scroll(page) == 0


def luminance(colour):
    values = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_words_stand_out_in_both_themes(show, dark):
    page = show(dark=dark, partial=1)
    # A canvas turns whatever notation the style gives into red, green and blue.
    paint = """e => { const c = new OffscreenCanvas(1, 1).getContext('2d'); const s = getComputedStyle(e);
      return [s.backgroundColor, s.color].map(v => { c.fillStyle = v; c.fillRect(0, 0, 1, 1);
        return [...c.getImageData(0, 0, 1, 1).data].slice(0, 3).join(','); }); }"""
    for node_id in ("attention", "projection"):
        paper, ink = (luminance(value) for value in part(page, node_id).locator(".box").evaluate(paint))
        assert (max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) >= 4.5
        assert (paper < ink) is dark


def test_labels_are_text_whatever_they_contain(show):
    page = show(hostile=1)
    label = part(page, "tokens").locator(".box > span").first
    expect(label).to_have_text("<img src=x onerror=alert(1)> $x$ **b**")
    assert page.locator(".diagram img").count() == 0


def test_the_offline_file_shows_the_same_parts_without_a_server(browser, tmp_path):
    diagram = decoder_only(True, 4, 16, 512, 6, TEXTS["zh"], stems={"attention"})
    (tmp_path / "map.html").write_text(
        offline_html(diagram, words=TEXTS["zh"], lang="zh", site="https://example.org/"), "utf-8"
    )
    context = browser.new_context(offline=True, viewport={"width": 1366, "height": 768})
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.goto((tmp_path / "map.html").as_uri())
    expect(page.locator(".diagram .box")).to_have_count(len(diagram.nodes))
    expect(page.locator(".diagram a")).to_have_attribute("href", "https://example.org/attention?lang=zh")
    assert errors == []
    context.close()
