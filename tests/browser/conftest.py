"""Fixtures for tests in a real Chromium against a real server.

A test asks for `open_page` (and `app_url` is started for it) or for `serve` when it brings a small app of its own.
When a test ends, it fails if a page logged an error, asked another machine for anything, or if the server logged an
exception or a warning. Helpers to import: `from tests.browser.harness import settle, shot, sideways_scroll`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.harness import LISTEN, PATIENCE, SCREENSHOTS, Watch, address, settle
from tests.find_browser import browser_path
from tests.serving import CHROMIUM_ARGS, ROOT, Server, folder_like_the_apps

LOCALES = {"en": "en-US", "zh": "zh-CN"}
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The one Chromium of the test run."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser_path(), args=list(CHROMIUM_ARGS), timeout=PATIENCE
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def _servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], Server]]:
    """Servers by script, each started once in a test run."""
    running: dict[Path, Server] = {}
    logs = tmp_path_factory.mktemp("servers")

    def start(source: Path) -> Server:
        source = source.resolve()
        if source not in running:
            own = source == ROOT / "app.py"
            script = source if own else folder_like_the_apps(source, logs / f"app{len(running)}")
            running[source] = Server(script, logs / f"{source.stem}{len(running)}.log")
        return running[source]

    yield start
    for server in running.values():
        server.stop()


@pytest.fixture
def serve(_servers: Callable[[Path], Server]) -> Iterator[Callable[[str | Path], Server]]:
    """`serve("tests/browser/host.py")`: a server for a small app (script or folder), relative to the repository.

    The app gets a copy of static/ and .streamlit/ beside it and may import ui, core and so on. What the server logs
    while the test runs must hold no exception and no warning.
    """
    used: dict[Server, int] = {}

    def start(source: str | Path) -> Server:
        server = _servers(ROOT / source)
        used.setdefault(server, server.mark())
        return server

    yield start
    for server, since in used.items():
        if troubles := server.troubles(since):
            pytest.fail(f"The server of {server.url} logged:\n{troubles}", pytrace=False)


@pytest.fixture
def app_server(serve: Callable[[str | Path], Server]) -> Server:
    """The running app."""
    return serve("app.py")


@pytest.fixture
def app_url(app_server: Server) -> str:
    """The address of the running app, without a slash at its end."""
    return app_server.url


@pytest.fixture
def watch() -> Watch:
    """What the pages of this test have done wrong so far; a test that expects an error clears its list."""
    return Watch()


OpenPage = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, watch: Watch, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """`open_page("attention", "zh", dark=True, width=390)`: a settled page in a browser context of its own.

    Arguments: path, which may carry a query; lang, or None to leave it out of the link; params, a dict for the link;
    dark; width, height in px; locale, by default that of the language; url, to look at a server other than the app;
    still=False to get the page before it has settled; any other keyword goes to Playwright's new_context.
    """
    contexts: list[BrowserContext] = []

    def start(
        path: str = "",
        lang: str | None = "en",
        *,
        params: dict[str, object] | None = None,
        dark: bool = False,
        width: int = 1366,
        height: int = 768,
        locale: str | None = None,
        url: str | None = None,
        still: bool = True,
        **more: object,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            locale=locale or LOCALES.get(lang or "en", "en-US"),
            **more,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        watch.attach(context)
        context.add_init_script(LISTEN)
        page = context.new_page()
        page.goto(address(url or request.getfixturevalue("app_url"), path, lang, params))
        if still:
            settle(page)
        return page

    yield start
    if getattr(request.node, "failed_call", False):
        _keep_pictures(contexts, request.node.name)
    for context in contexts:
        context.close()
    if complaint := watch.complaint():
        pytest.fail(complaint, pytrace=False)


def _keep_pictures(contexts: list[BrowserContext], name: str) -> None:
    """Save what a failed test was looking at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    pages = [page for context in contexts for page in context.pages]
    for number, page in enumerate(pages):
        page.screenshot(path=SCREENSHOTS / f"failed-{name.replace('/', '-')}-{number}.png")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Let `open_page` know that its test failed."""
    report = yield
    if call.when == "call":
        item.failed_call = report.failed
    return report
