"""The benchmark measures what it says: checked on the smallest app, never on how fast it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench import browser as measure
from bench.client import run_apart, session
from bench.sessions import checked
from bench.settings import EMPTY


@pytest.fixture
def empty(serve):
    return serve("bench/apps/empty_fragment.py")


def test_a_press_is_seen_in_the_picture_and_on_the_page(browser, empty):
    handle = measure.Handle(browser, empty, EMPTY)
    try:
        for _ in range(3):
            times = handle.press()
            assert 0 < times["first"] <= times["redrawn"] <= times["settled"]
        assert handle.page.get_by_text("9", exact=True).count() == 2, "the thumb and the text"
    finally:
        handle.page.context.close()


def test_a_picture_that_does_not_follow_is_an_error_not_a_time(browser, empty):
    context = measure.probed_context(browser, replace(EMPTY, picture="#nothing"))
    page = context.new_page()
    page.goto(empty.url)
    page.locator('input[type="range"]').press("ArrowRight")
    with pytest.raises(Exception, match="not redrawn"):
        page.evaluate("window.__probe.settled(50, 1500)")
    context.close()


def test_the_client_moves_a_slider_beside_a_browser_as_a_browser_does(browser, empty):
    async def move() -> list:
        async with session(empty.url) as reader:
            slider = reader.sliders["n"]
            assert (slider.low, slider.high, slider.step, slider.value) == (1, 64, 1, 8)
            replies = [
                reader.first,
                await reader.move("n"),
                await reader.move("n", 55),
                await reader.move("n"),
            ]
            assert slider.fragment, "the slider belongs to a fragment"
            assert reader.sliders["n"].value == 63, "at its end it turns back"
            with pytest.raises(KeyError, match="no slider 'm'"):
                await reader.move("m")
            return replies

    replies = run_apart(move())
    assert all(checked(reply).bytes > 500 and reply.seconds > 0 for reply in replies)


def test_the_client_reports_a_page_that_failed(serve):
    server = serve("tests/browser/hosts/failing.py")

    async def look() -> None:
        async with session(server.url) as reader:
            checked(reader.first)

    with pytest.raises(RuntimeError, match="the page raised"):
        run_apart(look())
    server.forgive()
