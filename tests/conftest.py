"""What all tests share: steady property tests, browser tests last, and no test that quietly does not run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# One thread for torch, as in the app: sums are then added in the same order on every machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples on every machine, and no deadline: a busy machine is not a defect of the code.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lives in tests/browser and run it last: a wrong formula should be reported before a wrong page."""
    for item in items:
        if "browser" in item.path.relative_to(ROOT).parts:
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A skipped test fails: what cannot be checked must not look checked."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped; no test may be: {report.longrepr}"
    return report
