"""A cold start: from nothing to a healthy server, and to a page that has run once."""

from __future__ import annotations

import time
from statistics import median

from bench.browser import Browser, first_picture
from bench.client import run_apart, session
from bench.report import Row, of_samples
from bench.sessions import checked
from bench.settings import APPS, Subject

BARE = Subject(APPS / "bare.py", "", "", picture='[data-testid="stMarkdown"]', ready="p")


def start_and_run(subject: Subject) -> tuple[float, float]:
    """Seconds from starting the process to health, and to the end of the first run of the page."""
    server = subject.start("cold")
    try:
        return server.seconds_to_health, run_apart(_first_run(server.url, subject, server.started))
    finally:
        server.stop()


async def _first_run(url: str, subject: Subject, started: float) -> float:
    async with session(url, subject.path, subject.query) as reader:
        checked(reader.first)
        return time.perf_counter() - started


def start_and_see(browser: Browser, subject: Subject) -> float:
    """Seconds from starting the process to the first picture in a browser."""
    server = subject.start("cold")
    try:
        waited = time.perf_counter() - server.started
        return waited + first_picture(browser, server, subject)
    finally:
        server.stop()


def cold_rows(browser: Browser, subject: Subject, repeats: int = 3) -> list[Row]:
    """Cold starts of the app, each beside a bare Streamlit app."""
    ours, bare = zip(*((start_and_run(subject), start_and_run(BARE)) for _ in range(repeats)), strict=True)
    seen, bare_seen = zip(
        *((start_and_see(browser, subject), start_and_see(browser, BARE)) for _ in range(repeats)),
        strict=True,
    )

    def row(name: str, samples: list[float], floor: list[float]) -> Row:
        return of_samples(name, samples, "s", yardstick=median(floor), yardstick_name="bare Streamlit")

    return [
        row("cold start → server healthy", [s[0] for s in ours], [s[0] for s in bare]),
        row("cold start → page has run", [s[1] for s in ours], [s[1] for s in bare]),
        row("cold start → first picture", list(seen), list(bare_seen)),
    ]
