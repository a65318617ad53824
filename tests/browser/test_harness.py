"""The harness itself: it must see the errors that it promises to see."""

from __future__ import annotations

import pytest

from tests.browser.harness import Watch, address, settle, shot, sideways_scroll

HOST = "tests/browser/hosts/plain.py"


def test_a_quiet_page_settles_and_makes_no_outside_request(serve, open_page, watch):
    page = open_page(url=serve(HOST).url)
    assert page.get_by_text("value 3").is_visible()
    page.get_by_role("slider").press("ArrowRight")
    settle(page)
    assert page.get_by_text("value 4").is_visible()
    assert watch.complaint() == ""
    assert shot(page, "harness plain").stat().st_size > 2000


def test_a_run_that_began_before_it_was_asked_for_is_no_answer(serve, open_page):
    page = open_page(url=serve(HOST).url)
    wait = "() => { const now = performance.now(); Object.assign(window.__line, {begun: now - 9, asked: now - 6, finished: now - 3}); }"
    page.evaluate(wait)
    assert settle(page) > 1900, "another run may be about to begin; only a dropped one never does"
    page.evaluate("() => { window.__line.asked = performance.now(); }")
    with pytest.raises(Exception, match="a run was asked for"):
        settle(page, patience=2500)


def test_a_move_that_the_browser_holds_back_is_waited_for(serve, open_page):
    page = open_page(url=serve(HOST).url)
    page.evaluate("setTimeout(() => document.body.setAttribute('data-late', '1'), 150)")
    settle(page)
    assert page.locator("body[data-late]").count() == 1


@pytest.mark.parametrize("dark", [False, True])
def test_the_colour_scheme_reaches_the_page(serve, open_page, dark):
    page = open_page(url=serve(HOST).url, dark=dark)
    colour = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    brightness = sum(int(part) for part in colour.strip("rgba()").split(",")[:3]) / 3
    assert (brightness < 80) == dark


def test_a_console_error_and_an_outside_request_are_seen(serve, open_page, watch):
    page = open_page(url=serve(HOST).url)
    page.evaluate("fetch('http://example.org/x.js').catch(() => console.error('lost'))")
    page.evaluate(
        "setTimeout(() => { throw new Error('thrown') }); new Promise(done => setTimeout(done, 50))"
    )
    assert watch.outside == ["http://example.org/x.js"]
    assert any("lost" in text for text in watch.errors)
    assert any("thrown" in text for text in watch.errors)
    assert "outside request: http://example.org/x.js" in watch.complaint()
    watch.errors.clear()
    watch.outside.clear()


def test_a_warning_in_the_servers_log_is_seen(serve, open_page):
    server = serve("tests/browser/hosts/failing.py")
    before = server.mark()
    page = open_page(url=server.url)
    assert "ZeroDivisionError" in server.troubles(before)
    assert "ZeroDivisionError" not in page.content(), "readers see no traceback"
    server.forgive()
    assert server.troubles(before) == ""


def test_sideways_scroll_is_measured(serve, open_page):
    page = open_page(url=serve(HOST).url, width=390)
    assert sideways_scroll(page) == 0
    page.evaluate(
        "document.querySelector('[data-testid=stMain]').insertAdjacentHTML("
        "'beforeend', '<div style=\"min-width:900px;height:9px\"></div>')"
    )
    assert sideways_scroll(page) > 200


def test_addresses():
    assert address("http://h", "", "en") == "http://h/?lang=en"
    assert address("http://h", "/masks", "zh", {"t": 4}) == "http://h/masks?lang=zh&t=4"
    assert address("http://h", "masks?t=4", None) == "http://h/masks?t=4"


def test_only_this_machine_is_inside():
    watch = Watch()
    for url in ("http://localhost:1/", "ws://127.0.0.1:2/x", "data:text/plain,1", "blob:http://localhost/1"):
        watch._request(url)
    assert watch.outside == []
    watch._request("wss://example.org/")
    assert watch.outside == ["wss://example.org/"]
