"""What a measurement is, and how all of them are shown."""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles


@dataclass(frozen=True)
class Row:
    """One line of the table.

    `target` is the largest good value of the measured value, or of value / yardstick where `relative` is True.
    `samples` holds the single measurements behind `value`, in its unit.
    """

    name: str
    value: float
    unit: str
    yardstick: float | None = None
    yardstick_name: str = ""
    target: float | None = None
    relative: bool = False
    samples: Sequence[float] = field(default_factory=tuple)

    @property
    def ratio(self) -> float | None:
        """How many times the yardstick."""
        return None if not self.yardstick else self.value / self.yardstick

    @property
    def good(self) -> bool | None:
        """Whether the target is met; None without a target."""
        measured = self.ratio if self.relative else self.value
        return None if self.target is None or measured is None else measured <= self.target


def of_samples(name: str, samples: Sequence[float], unit: str, **more: object) -> Row:
    """A row whose value is the median of the samples."""
    return Row(name, median(samples), unit, samples=tuple(samples), **more)


def number(value: float | None) -> str:
    """Three significant digits, never an exponent."""
    if value is None:
        return ""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(row: Row) -> str:
    """The middle half of the samples."""
    if len(row.samples) < 4:
        return ""
    low, _, high = quantiles(row.samples, n=4)
    return f"{number(low)}–{number(high)}"


def cells(row: Row) -> tuple[str, ...]:
    """The texts of one table line."""
    target = (
        "" if row.target is None else f"≤ {number(row.target)}" + (" ×" if row.relative else f" {row.unit}")
    )
    verdict = {None: "", True: "ok", False: "over"}[row.good]
    ratio = "" if row.ratio is None else f"{number(row.ratio)} ×"
    yardstick = "" if row.yardstick is None else f"{number(row.yardstick)} ({row.yardstick_name})"
    return row.name, f"{number(row.value)} {row.unit}", spread(row), yardstick, ratio, target, verdict


HEADINGS = ("measured", "median", "middle half", "yardstick", "ratio", "target", "")


def table(rows: Sequence[Row]) -> str:
    """All rows as one aligned text table."""
    lines = [HEADINGS, *(cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    texts = ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines]
    rule = "  ".join("─" * width for width in widths)
    return "\n".join(text.rstrip() for text in (texts[0], rule, *texts[1:]))


def save(rows: Sequence[Row], path: Path) -> None:
    """Write the rows, their samples and what they were measured on as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    body = [asdict(row) | {"ratio": row.ratio, "good": row.good} for row in rows]
    path.write_text(json.dumps(head | {"rows": body}, ensure_ascii=False, indent=1), encoding="utf-8")
