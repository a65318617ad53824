"""Which page, slider and picture are measured; the command line of `python -m bench` can change each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.serving import ROOT, Server, folder_like_the_apps

APPS = Path(__file__).resolve().parent / "apps"
BUILD = ROOT / "build"


@dataclass(frozen=True)
class Subject:
    """Something to measure: a page with a slider and a picture that follows it.

    `picture` is a CSS selector of the elements whose inside, shadow roots included, is the picture; `ready` selects,
    inside them, what must be there for the picture to count as drawn.
    """

    script: Path
    path: str
    slider: str
    picture: str
    ready: str
    query: str = "lang=en"

    def start(self, name: str) -> Server:
        """A server of its own for this subject, with the app's settings."""
        own = self.script == ROOT / "app.py"
        script = self.script if own else folder_like_the_apps(self.script, BUILD / "bench" / self.script.stem)
        return Server(script, BUILD / "bench" / f"{name}.log")


ATTENTION = Subject(
    ROOT / "app.py",
    "attention",
    "d_k",
    picture='[data-testid="stBidiComponentIsolated"]',
    ready="svg text",
)
HEADS = Subject(
    ROOT / "app.py",
    "multi_head",
    "Temperature τ",
    picture='[data-testid="stBidiComponentIsolated"]',
    ready="canvas",
    query="lang=en&heads=8&tokens=24&d_model=24&s=" + "%20".join(f"w{n}" for n in range(24)),
)
EMPTY = Subject(
    APPS / "empty_fragment.py",
    "",
    "n",
    picture='[data-testid="stMarkdown"]',
    ready="p",
)
