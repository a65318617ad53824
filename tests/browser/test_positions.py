"""The page on positions in a real Chromium: RoPE's pairs played, stepped and left alone; and pictures of two looks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from core.attention.toy import toy_inputs
from tests.browser.harness import settle, shot, sideways_scroll

pytestmark = pytest.mark.browser


def score(apart: float) -> float:
    """Query "man" and key "dog" of the default sentence at a distance, by complex numbers."""
    toy = toy_inputs(("the", "dog", "bit", "the", "man"), 7, 8, 16)
    q, k = (y[:4] + 1j * y[4:] for y in (toy.q.numpy()[4], toy.k.numpy()[1]))
    turn = np.exp(1j * apart * 100.0 ** (-np.arange(0, 8, 2) / 8))
    return float((q * turn * k.conj()).real.sum() / 8**0.5)


def told(page: Page) -> tuple[float, float, float, float]:
    """Place of query and key, distance and score, as the line under the circles says them."""
    text = page.locator(".pairs .told").inner_text().replace("−", "-")
    found = re.fullmatch(r"query man at (.*), key dog at (.*), distance (.*): score q·k/√d_k = (.*)", text)
    return tuple(float(x) for x in found.groups())


DISTANCE = "const far = () => [...document.querySelectorAll('*')].map(e => e.shadowRoot?.querySelector('.pairs .told') ?? e)"
DISTANCE += ".find(e => e.matches('.pairs .told')).textContent.match(/distance ([^:]*):/)[1];"
FURTHER_THAN = f"at => {{ {DISTANCE} return Number(far()) > at; }}"
# Every distance that is shown from now on, as it is written; looked for at every frame.
NOTE_ALL = f"""() => {{ {DISTANCE} window.noted = new Set();
  const look = () => {{ window.noted.add(far()); requestAnimationFrame(look); }}; look(); }}"""


def turning(open_page, **more) -> Page:
    page = open_page("positions", **more)
    page.get_by_text("RoPE: pairs turning").click()
    settle(page)
    return page


def test_pairs_turn_by_steps_by_key_and_by_play_and_only_the_distance_counts(open_page):
    page = turning(open_page)
    assert told(page) == (0, 0, 0, pytest.approx(score(0), rel=6e-3))
    page.get_by_role("button", name="Step").click()
    page.get_by_role("button", name="Step").click()
    assert told(page) == (2, 0, 2, pytest.approx(score(2), rel=6e-3))
    page.locator(".pairs input").press("ArrowRight")
    assert told(page) == (3, 0, 3, pytest.approx(score(3), rel=6e-3))
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.wait_for_function(FURTHER_THAN, arg=3.6)
    page.get_by_role("button", name="Pause").click()
    at = told(page)
    assert at[2] >= 4
    assert at[2] == int(at[2])
    assert at[3] == pytest.approx(score(at[2]), rel=6e-3, abs=6e-4)
    page.get_by_role("button", name="Both move").click()
    page.get_by_role("button", name="Back to 0").click()
    first = told(page)
    assert first[:3] == (3, 0, 3)
    for _ in range(5):
        page.get_by_role("button", name="Step").click()
    assert told(page) == (8, 5, 3, first[3])
    assert "at=" not in page.url  # playback is no part of the state


def test_less_motion_means_whole_positions(open_page):
    page = turning(open_page, reduced_motion="reduce")
    page.get_by_role("button", name="Play").click()
    page.evaluate(NOTE_ALL)
    page.wait_for_function("() => window.noted.size >= 2")
    noted = page.evaluate("[...window.noted]")
    assert all(distance.isdigit() for distance in noted), noted


@pytest.mark.parametrize(
    ("lang", "dark", "width", "height"),
    [("en", False, 1366, 768), ("zh", True, 390, 844)],
    ids=["laptop", "phone"],
)
def test_two_looks_fit_and_are_kept_as_pictures(open_page, lang, dark, width, height):
    page = open_page("positions", lang, dark=dark, width=width, height=height)
    assert sideways_scroll(page) == 0
    shot(page, f"positions {lang} {width}")
    if width > 1000:
        parts = [page.get_by_text(t).first for t in ("Why this number", "What to notice")]
        for part in (page.get_by_role("grid", name="Weights").first, *parts):
            box = part.bounding_box()
            assert box["y"] + box["height"] <= height


TOUCHING = """
(grids) => grids.flatMap((grid) => {
  const names = [...grid.querySelectorAll('text')].filter((text) => /^\\d+$/.test(text.textContent));
  if (names.length < 16) throw Error('no column numbers found');
  const boxes = names.map((name) => name.getBoundingClientRect());
  return names.slice(1).filter((_, i) => boxes[i + 1].left - boxes[i].right < 1).map((name) => name.textContent);
})
"""


@pytest.mark.parametrize(("dk", "width"), [(32, 1920), (16, 1366)])
def test_the_numbers_of_neighbouring_components_do_not_run_into_one(open_page, dk, width):
    page = open_page("positions", params={"s": "我爱学习", "scheme": "rope", "dk": dk}, width=width)
    turned = page.locator(".block[data-name=tq] svg.grid, .block[data-name=tk] svg.grid")
    expect(turned).to_have_count(2)
    assert turned.evaluate_all(TOUCHING) == []
