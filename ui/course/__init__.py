"""The one registry of the course: every page, in the order in which a course takes them.

Navigation, the home map, links, lessons and tests read it. A page is announced here with its stem (also its
URL path, its words and its tests), its parameters, the core functions it shows, what to know before it and
its sources. A page whose file is not there yet is listed, and shown as not built yet.
"""

from __future__ import annotations

from pathlib import Path

from ui.course import alignment, attention, block, cost, learn, models, start
from ui.course.page import Page

ROOT = Path(__file__).resolve().parents[2]
SECTIONS: dict[str, tuple[Page, ...]] = {
    "start": start.PAGES,
    "attention": attention.PAGES,
    "block": block.PAGES,
    "models": models.PAGES,
    "cost": cost.PAGES,
    "alignment": alignment.PAGES,
    "learn": learn.PAGES,
}
PAGES: dict[str, Page] = {page.stem: page for pages in SECTIONS.values() for page in pages}


def file_of(page: Page) -> Path:
    """Where the page's script is, or will be."""
    return ROOT / "pages" / f"{page.stem}.py"


def is_built(page: Page) -> bool:
    """Whether the page can be opened."""
    return file_of(page).exists()


def built() -> tuple[Page, ...]:
    """The pages that can be opened, in course order."""
    return tuple(page for page in PAGES.values() if is_built(page))


def next_page(stem: str) -> Page | None:
    """The built page that the course takes after this one."""
    stems = [page.stem for page in built()]
    after = stems[stems.index(stem) + 1 :] if stem in stems else []
    return PAGES[after[0]] if after else None
