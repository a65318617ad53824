"""Open a page of the app without a browser, and see that it is whole."""

from __future__ import annotations

import logging

from streamlit.testing.v1 import AppTest

from ui import course

# Streamlit remarks that the test itself runs outside a browser session.
BARE_MODE = "streamlit.runtime.scriptrunner_utils.script_run_context"
SCRIPT = str(course.ROOT / "app.py")


def open_page(
    stem: str, query: dict[str, str] | None = None, locale: str = "en-US", *, tab: str = ""
) -> AppTest:
    """The page under a link, in a fresh session that comes to it directly; with one of its lazy tabs open."""
    app = AppTest.from_file(SCRIPT, default_timeout=300)  # s, on a busy machine
    app.context["locale"] = locale
    if stem != "home":
        # A first run makes the pages known; it is on the home page and leaves its link behind.
        app.run()
        app.query_params.clear()
        app.switch_page(str(course.file_of(course.PAGES[stem])))
    if tab:
        app.session_state[f"{stem} open tab"] = tab
    for name, value in (query or {}).items():
        app.query_params[name] = value
    return app.run()


def assert_whole(app: AppTest, caplog) -> None:
    """No exception, no failed part, nothing logged as a warning or worse."""
    assert not app.exception, [e.value for e in app.exception]
    assert not app.error, [e.value for e in app.error]
    assert app.title, "the page has no title"
    loud = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING and r.name != BARE_MODE]
    assert not loud, loud


def link_of(app: AppTest) -> dict[str, str]:
    """The link that the page wrote."""
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def lines_of_code(app: AppTest) -> list[str]:
    """The lines of core that the page's stories of a number name, each the last code span of its story."""
    stories = [m.value for m in app.markdown if m.value.startswith("## ") and m.value.endswith(" `")]
    return [story.rsplit("` ", 1)[1].removesuffix(" `") for story in stories]
