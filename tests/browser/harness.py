"""Helpers for tests in a real browser: wait without sleeping, take pictures, count what went wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import BrowserContext, Page
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.serving import ROOT

HERE = Path(__file__).resolve().parent
SCREENSHOTS = ROOT / "build" / "screenshots"
PATIENCE = 120_000  # ms for whatever is waited for: a busy machine is no fault of the page


def _listen() -> str:
    """listen.js with Streamlit's own field numbers in it."""
    numbers = {
        "RERUN_SCRIPT": BackMsg.DESCRIPTOR.fields_by_name["rerun_script"].number,
        "NEW_SESSION": ForwardMsg.DESCRIPTOR.fields_by_name["new_session"].number,
        "SCRIPT_FINISHED": ForwardMsg.DESCRIPTOR.fields_by_name["script_finished"].number,
        "EARLY_FOR_RERUN": ForwardMsg.FINISHED_EARLY_FOR_RERUN,
    }
    script = (HERE / "listen.js").read_text(encoding="utf-8")
    for name, value in numbers.items():
        script = script.replace(f"%{name}%", str(value))
    return script


LISTEN = _listen()  # every page that `settle` is to wait for must have run this first; open_page sees to it
SETTLED = (HERE / "settled.js").read_text(encoding="utf-8")

# Under a deep link Streamlit's own browser code looks for the server beside the page before it looks at the root.
ASKED_BESIDE_THE_PAGE = re.compile(r"/\w+/_stcore/(health|host-config)$")

SMALLER_THAN_ITS_CONTENT = """
() => {
  const main = document.querySelector('[data-testid="stMain"]') || document.documentElement;
  return Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - window.innerWidth);
}
"""


def settle(page: Page, *, quiet: float = 200, patience: float = PATIENCE) -> float:
    """Wait until Streamlit is idle and the page is still for `quiet` ms; returns the ms waited. Fails after `patience`."""
    return page.evaluate(SETTLED, [quiet, patience])


def drawn(page: Page, t: int = 7) -> list[list[bool]]:
    """Which cells of the mask [t, t] on the page on masks are on, by what they say to a screen reader."""
    labels = page.locator(".block[data-name=mask] .cell").evaluate_all(
        "cells => cells.map((cell) => cell.getAttribute('aria-label') === '1')"
    )
    return [labels[i * t : (i + 1) * t] for i in range(t)]


def shot(page: Page, name: str, *, full: bool = False) -> Path:
    """Settle, then save build/screenshots/NAME.png."""
    settle(page)
    path = SCREENSHOTS / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', name)}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path, full_page=full)
    return path


def sideways_scroll(page: Page) -> int:
    """By how many px the page is wider than its window; a page that fits gives 0."""
    return max(0, page.evaluate(SMALLER_THAN_ITS_CONTENT))


def address(base: str, path: str, lang: str | None, params: dict[str, object] | None = None) -> str:
    """The link to a page: BASE/PATH?lang=LANG&…; a path may carry its own query."""
    path, _, query = path.lstrip("/").partition("?")
    words = ([("lang", lang)] if lang else []) + [
        (name, str(value)) for name, value in (params or {}).items()
    ]
    queries = "&".join(part for part in (query, urlencode(words)) if part)
    return f"{base}/{path}" + (f"?{queries}" if queries else "")


@dataclass
class Watch:
    """What a browser context did that it should not have done."""

    errors: list[str] = field(default_factory=list)  # console errors and uncaught exceptions
    outside: list[str] = field(
        default_factory=list
    )  # addresses other than this machine's that were asked for

    def attach(self, context: BrowserContext) -> None:
        """Listen to every page of the context."""
        context.on("request", lambda request: self._request(request.url))
        context.on("console", lambda message: self._console(message.type, message.text, message.location))
        context.on("weberror", lambda error: self.errors.append(f"uncaught: {error.error}"))
        context.on("page", lambda page: page.on("websocket", lambda socket: self._request(socket.url)))

    def _request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in (
            "localhost",
            "127.0.0.1",
        ):
            self.outside.append(url)

    def _console(self, kind: str, text: str, location: dict) -> None:
        if kind == "error" and not ASKED_BESIDE_THE_PAGE.match(urlsplit(location.get("url", "")).path):
            self.errors.append(text)

    def complaint(self) -> str:
        """One text of everything seen, empty when the page behaved."""
        lines = [f"console: {text}" for text in self.errors]
        lines += [f"outside request: {url}" for url in self.outside]
        return "\n".join(lines)
