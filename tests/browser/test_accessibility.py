"""Every built page for those who cannot see it or hold a mouse: axe in both themes, the keyboard alone, and print."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.harness import settle, shot, sideways_scroll
from ui import course

STEMS = [page.stem for page in course.built()]
GRAVE = ("serious", "critical")


def path_of(stem: str) -> str:
    return "" if stem == "home" else stem


def grave_findings(page: Page) -> list[str]:
    """Axe's serious and critical findings, one line for each node, shadow roots included."""
    found = []
    for violation in Axe().run(page).response["violations"]:
        for node in violation["nodes"]:
            if violation["impact"] in GRAVE:
                found.append(f"{violation['id']}: {node['html'][:200]}")
    return found


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("stem", STEMS)
def test_axe_finds_nothing_serious(open_page, stem, dark):
    page = open_page(path_of(stem), dark=dark)
    assert grave_findings(page) == []


def test_the_attention_page_is_operable_by_keyboard_alone(open_page):
    page = open_page("attention")
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("""() => {
            let e = document.activeElement;
            while (e.shadowRoot && e.shadowRoot.activeElement) e = e.shadowRoot.activeElement;
            return e.getAttribute('aria-label') || e.textContent || e.type || '';
        }""")
        )
    for wanted in ("Your sentence", "d_k", "Mask", "Weights A", "Numbers as a table", "Backward pass"):
        assert any(wanted in name for name in reached), (wanted, reached)
    # From the sentence on, without a mouse: a cell is chosen by arrows and Enter, and explained.
    page.get_by_role("grid", name="Weights").get_by_role("gridcell").and_(
        page.locator("[tabindex='0']")
    ).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    settle(page)
    assert "&cell=weights.1.0&" in page.url
    expect(page.get_by_text("Weight that query 2")).to_be_visible()


@pytest.mark.parametrize("stem", STEMS)
def test_print_keeps_the_page_and_drops_the_chrome(open_page, stem):
    page = open_page(path_of(stem))
    page.emulate_media(media="print")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    shot(page, f"print {stem}", full=True)


@pytest.mark.parametrize("stem", STEMS)
def test_large_type_still_fits(open_page, stem):
    """A browser zoom of 200 % on a laptop is a window of half the size."""
    page = open_page(path_of(stem), width=683, height=384)
    assert sideways_scroll(page) == 0
