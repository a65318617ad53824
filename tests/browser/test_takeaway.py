"""Code, take-away and where to go in a real Chromium; the offline page is opened without a network."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.harness import settle, shot, sideways_scroll
from ui.words import Words

SENTENCE = "我爱</script> =1+1 <b>学习</b>"
STATE = {"s": SENTENCE, "tokens": 12, "dk": 5, "mask": "window", "window": 2}


def open_tab(page: Page, name: str, lang: str) -> None:
    page.get_by_role("radio", name=Words(lang)(f"tab.{name}"), exact=True).click()
    settle(page)


def download(page: Page, kind: str, lang: str, folder: Path) -> Path:
    with page.expect_download() as coming:
        page.get_by_role("button", name=Words(lang).plain(f"takeaway.{kind}"), exact=True).click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def spoken(page: Page, matrix: str) -> list[str]:
    """What the cells of a matrix say to a screen reader."""
    return (
        page.get_by_role("grid", name=matrix)
        .get_by_role("gridcell")
        .evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label') || cell.textContent)")
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_offline_page_draws_from_a_file_without_a_network(
    open_page, browser: Browser, watch, tmp_path, lang
):
    page, words = open_page("attention", lang, params=STATE), Words(lang, "attention")
    title = words("title.weights")
    numbers, address = spoken(page, title), page.url
    assert len(numbers) == 12 * 12
    open_tab(page, "takeaway", lang)
    file = download(page, "html", lang, tmp_path)
    assert file.name == "glassformer-attention.html"

    context = browser.new_context(offline=True, viewport={"width": 1366, "height": 768})
    watch.attach(context)
    context.route(re.compile("^(https?|wss?):"), lambda route: route.abort())
    alone = context.new_page()
    asked: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.goto(file.as_uri())
    expect(alone.get_by_role("grid", name=title)).to_be_visible()
    assert spoken(alone, title) == numbers
    assert asked == [file.as_uri()]
    expect(alone.get_by_role("heading", name=words("question"))).to_be_visible()
    for text in (SENTENCE, words.plain("control.dk.label"), words.plain("choice.mask.window")):
        expect(alone.get_by_text(text, exact=True).first).to_be_visible()
    link = alone.get_by_role("link", name=words.plain("takeaway.link")).get_attribute("href")
    assert urlsplit(link)[:3] == urlsplit(address)[:3]
    assert dict(parse_qsl(urlsplit(link).query)) == dict(parse_qsl(urlsplit(address).query))
    alone.get_by_role("grid", name=words("title.scores")).get_by_role("gridcell").first.click()
    alone.screenshot(
        path=shot(page, f"attention takeaway {lang}").with_name(f"offline-{lang}.png"), full_page=True
    )
    context.close()


def test_numbers_and_notebook_are_made_when_asked_for(open_page, tmp_path):
    page = open_page("attention", params=STATE)
    open_tab(page, "takeaway", "en")
    with download(page, "csv", "en", tmp_path).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {"'="} == {row["row_label"] for row in rows if "=" in row["row_label"]}
    assert sum(row["matrix"] == "weights" for row in rows) == 144
    notebook = json.loads(download(page, "ipynb", "en", tmp_path).read_text(encoding="utf-8"))
    intro = "".join(notebook["cells"][0]["source"])
    assert intro.count("# How does a token decide") == 1
    assert re.search(r"<http://[^>]+/attention\?lang=en&[^>]+>", intro)
    # A download changes nothing on the page.
    assert "window=2" in page.url
    expect(page.get_by_role("button", name="Numbers (CSV)")).to_be_visible()


def test_the_shown_source_can_be_copied(open_page):
    page = open_page("attention", permissions=["clipboard-read", "clipboard-write"])
    open_tab(page, "code", "en")
    page.get_by_text("With everything it calls", exact=True).click()
    settle(page)
    block = page.locator("[data-testid=stCode]").filter(has_text="From Glassformer")
    block.hover()
    block.get_by_role("button").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("# From Glassformer (MIT licence): core/attention/dot_product.py")
    compile(copied, "copied", "exec")
    assert "def masked_softmax(" in copied


@pytest.mark.parametrize("tab", ["code", "takeaway", "where"])
@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_each_look_fits(open_page, tab, lang, dark, width, height):
    page = open_page("attention", lang, dark=dark, width=width, height=height)
    open_tab(page, tab, lang)
    assert sideways_scroll(page) == 0
    page.get_by_role("radiogroup").last.scroll_into_view_if_needed()
    shot(page, f"attention {tab} {lang} {width}")
