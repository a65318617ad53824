"""What a reader feels: from a key press to the new picture, and from a link to the first one. In Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from bench.report import Row, of_samples
from bench.settings import EMPTY, Subject
from tests.browser.harness import PATIENCE, address, settle
from tests.find_browser import browser_path
from tests.serving import CHROMIUM_ARGS, Server

PROBE = Path(__file__).with_name("probe.js").read_text(encoding="utf-8")
QUIET = 250  # ms without a change after which a page counts as settled; never part of a measured time
WARM_UP = 4  # presses before the first that counts


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser as the tests use it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(CHROMIUM_ARGS))
        yield browser
        browser.close()


def probed_context(browser: Browser, subject: Subject) -> BrowserContext:
    """A context with nothing cached, whose pages carry the probe."""
    context = browser.new_context(viewport={"width": 1366, "height": 768}, locale="en-US")
    script = PROBE.replace("%PICTURE%", subject.picture).replace("%READY%", subject.ready)
    context.add_init_script(script)
    return context


def link(server: Server, subject: Subject) -> str:
    """The address that is measured."""
    return address(server.url, f"{subject.path}?{subject.query}", None)


def first_picture(browser: Browser, server: Server, subject: Subject) -> float:
    """Seconds from the start of the navigation, with nothing cached, until the picture is there."""
    context = probed_context(browser, subject)
    page = context.new_page()
    page.goto(link(server, subject))
    ready = page.wait_for_function("window.__probe.ready", timeout=PATIENCE).json_value()
    settle(page)
    context.close()
    return ready / 1000


class Handle:
    """A page whose slider is pressed."""

    def __init__(self, browser: Browser, server: Server, subject: Subject) -> None:
        self.page: Page = probed_context(browser, subject).new_page()
        self.page.goto(link(server, subject))
        settle(self.page)
        # By attribute: Streamlit's accessible name says the label twice.
        self.slider = self.page.locator(f'input[type="range"][aria-label="{subject.slider}"]')
        self.presses = 0

    def press(self) -> dict[str, float]:
        """Press an arrow key once, to and fro; ms until the picture was redrawn and until the page was still."""
        self.page.bring_to_front()
        self.slider.focus()
        self.presses += 1
        self.slider.press("ArrowRight" if self.presses % 2 else "ArrowLeft")
        return self.page.evaluate(f"window.__probe.settled({QUIET}, {PATIENCE})")


def slider_rows(
    browser: Browser, server: Server, yardstick: Server, subject: Subject, presses: int
) -> list[Row]:
    """(a) key press to the new picture, (b) to the whole page, each beside the empty fragment, press by press."""
    ours, empty = Handle(browser, server, subject), Handle(browser, yardstick, EMPTY)
    for handle in (ours, empty):
        for _ in range(WARM_UP):
            handle.press()
    pairs = [(ours.press(), empty.press()) for _ in range(presses)]

    def row(name: str, field: str, target: float) -> Row:
        floor = median(pair[1][field] for pair in pairs)
        samples = [pair[0][field] for pair in pairs]
        return of_samples(
            name,
            samples,
            "ms",
            yardstick=floor,
            yardstick_name="empty fragment",
            target=target,
            relative=True,
        )

    return [
        row("slider key → picture redrawn", "redrawn", 2.0),
        row("slider key → page settled", "settled", 4.0),
    ]


def first_picture_row(
    browser: Browser, server: Server, yardstick: Server, subject: Subject, repeats: int = 7
) -> Row:
    """(d) the first picture in a process that has served before, and the same for the empty app."""
    look: Callable[[Server, Subject], float] = lambda at, what: first_picture(browser, at, what)  # noqa: E731
    look(server, subject), look(yardstick, EMPTY)
    pairs = [(look(server, subject), look(yardstick, EMPTY)) for _ in range(repeats)]
    return of_samples(
        "link → first picture, warm process",
        [pair[0] for pair in pairs],
        "s",
        yardstick=median(pair[1] for pair in pairs),
        yardstick_name="empty fragment",
        target=1.5,
    )
