"""`python -m bench [slider heads first rerun crowd core depth cold]`: measure, print one table, write build/bench.json."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property

from bench import browser, cold, core, depth, heads, sessions
from bench.report import Row, save, table
from bench.settings import ATTENTION, BUILD, EMPTY, HEADS, Subject
from tests.serving import Server


class Bench:
    """What is shared between measurements, made when first asked for."""

    def __init__(self, subject: Subject, presses: int, stack: ExitStack) -> None:
        self.subject, self.presses, self._stack = subject, presses, stack

    def _served(self, subject: Subject, name: str) -> Server:
        server = subject.start(name)
        self._stack.callback(server.stop)
        return server

    @cached_property
    def app(self) -> Server:
        """The app's server."""
        return self._served(self.subject, "app")

    @cached_property
    def empty(self) -> Server:
        """The yardstick's server."""
        return self._served(EMPTY, "empty")

    @cached_property
    def chromium(self) -> browser.Browser:
        """The browser."""
        return self._stack.enter_context(browser.chromium())

    def slider(self) -> list[Row]:
        """Key press to the new picture and to a still page."""
        return browser.slider_rows(self.chromium, self.app, self.empty, self.subject, self.presses)

    def heads(self) -> list[Row]:
        """Eight heads redrawn, and their weight on the wire."""
        return heads.heads_rows(self.chromium, self.app, self.empty, HEADS, self.presses)

    def first(self) -> list[Row]:
        """A link to the first picture, warm."""
        return [browser.first_picture_row(self.chromium, self.app, self.empty, self.subject)]

    def rerun(self) -> list[Row]:
        """Time and bytes of a rerun on the wire."""
        return sessions.rerun_rows(self.app, self.empty, self.subject)

    def crowd(self) -> list[Row]:
        """Thirty readers: waiting and memory."""
        return sessions.crowd_rows(self.app, self.subject)

    def cold(self) -> list[Row]:
        """Cold starts."""
        return cold.cold_rows(self.chromium, self.subject)

    def core(self) -> list[Row]:
        """The core beside plain torch."""
        return core.core_rows()

    def depth(self) -> list[Row]:
        """Two stacks of 48 layers, forward and backward."""
        return depth.depth_rows(self.app)


MEASUREMENTS = ("slider", "heads", "first", "rerun", "crowd", "core", "depth", "cold")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "only", nargs="*", metavar="NAME", help=f"which of {', '.join(MEASUREMENTS)}; all if none"
    )
    parser.add_argument("--page", default=ATTENTION.path, help="path of the page that is measured")
    parser.add_argument("--slider", default=ATTENTION.slider, help="label of the slider that is pressed")
    parser.add_argument("--picture", default=ATTENTION.picture, help="CSS selector of the picture's elements")
    parser.add_argument("--presses", type=int, default=25, help="presses of the slider that count")
    chosen = parser.parse_args()
    if unknown := set(chosen.only) - set(MEASUREMENTS):
        parser.error(f"no measurement is called {', '.join(sorted(unknown))}")
    return chosen


def main() -> int:
    """Run what was asked for; a missed target is shown, not an error: machines differ."""
    chosen = arguments()
    subject = replace(ATTENTION, path=chosen.page, slider=chosen.slider, picture=chosen.picture)
    rows: list[Row] = []
    with ExitStack() as stack:
        bench = Bench(subject, chosen.presses, stack)
        for name in chosen.only or MEASUREMENTS:
            print(f"measuring: {name}", file=sys.stderr)
            measure: Callable[[], list[Row]] = getattr(bench, name)
            rows += measure()
    save(rows, BUILD / "bench.json")
    print(table(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
