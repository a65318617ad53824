"""What the tests of the matrix component share: the page they open, where things are on it, and what it should say."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Locator, Page

from tests.browser.harness import settle

APP = "tests/browser/apps/matrix_app.py"

# Which rows and columns the mark named `kind` encloses in a matrix, found from where things are on the screen.
ENCLOSED = """
([name, kind]) => {
  const host = [...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.picture')) ?? document;
  const block = (host.shadowRoot ?? host).querySelector(`.block[data-name=${name}]`);
  const frame = block.querySelector('.grid').getBoundingClientRect();
  const boxes = [...(block.querySelector(`path.${kind}`).getAttribute('d') ?? '').matchAll(
    /M([\\d.]+) ([\\d.]+)h([\\d.]+)v([\\d.]+)/g)].map((m) => m.slice(1).map(Number));
  return boxes.map(([x, y, w, h]) => {
    const inside = [...block.querySelectorAll('[role=row]')].filter((row) => row.querySelector('[role=gridcell]')).flatMap((row, r) =>
      [...row.querySelectorAll('[role=gridcell] rect')].map((cell, c) => [r, c, cell.getBoundingClientRect()])
    ).filter(([, , box]) => {
      const cx = box.x + box.width / 2 - frame.x, cy = box.y + box.height / 2 - frame.y;
      return cx > x && cx < x + w && cy > y && cy < y + h;
    });
    return [[...new Set(inside.map(([r]) => r))], [...new Set(inside.map(([, c]) => c))]];
  });
}
"""


def shown(open_page, serve, query: str = "t=6", **more) -> Page:
    """The page of matrix_app.py with that query, once the matrices are there."""
    page = open_page(f"?{query}", None, url=serve(APP).url, **more)
    page.locator(".block").first.wait_for()
    settle(page)
    return page


def cell(page: Page, name: str, row: int, column: int, columns: int = 6) -> Locator:
    """A cell of a matrix that is drawn in elements."""
    return page.locator(f".block[data-name={name}] .cell").nth(row * columns + column)


def said(page: Page) -> str:
    """The read-out line."""
    return page.locator(".read").inner_text()


def python_says(page: Page, text: str) -> None:
    """Wait until the script has run with this focus and cell."""
    page.get_by_text(f"python: {text}", exact=True).wait_for()


def weights(temperature: float, t: int = 6, d: int = 8) -> np.ndarray:
    """The same attention, computed here."""
    draw = np.random.default_rng(7)
    _, q, k, _ = (draw.normal(size=(t, d)) for _ in range(4))
    scores = np.where(np.tril(np.ones((t, t))) == 1, q @ k.T / np.sqrt(d) / temperature, -np.inf)
    powers = np.exp(scores)
    return powers / powers.sum(1, keepdims=True)
