"""Find a Chromium that runs, or get one; print its path and write it to .venv/browser-path.

Order: the CHROMIUM variable, a browser that is installed, Playwright's own (downloaded if need be), Debian's package.
Run as `python tests/find_browser.py`; `browser_path()` is what the tests and the benchmarks call.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTE = ROOT / ".venv" / "browser-path"

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
ADVICE = (
    "No Chromium was found and none could be installed: install Chromium or Google Chrome "
    "(Debian: apt-get install chromium; macOS: brew install --cask chromium), "
    "or set CHROMIUM to the path of one, then run this again."
)


def runs(path: str | os.PathLike[str]) -> bool:
    """Whether `path --version` answers: some systems ship a `chromium` that only says how to install it."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and any(letter.isdigit() for letter in answer.stdout)


def installed() -> Iterator[str]:
    """Browsers that may be on this machine, the likeliest first."""
    for command in COMMANDS:
        if found := shutil.which(command):
            yield found
    for folder in ("/", str(Path.home())):
        yield from (str(Path(folder, app.lstrip("/"))) for app in MAC_APPS)


def first_that_runs(paths: Iterator[str]) -> str | None:
    """The first of `paths` that exists and answers, or None."""
    return next((path for path in paths if Path(path).exists() and runs(path)), None)


def playwrights_own() -> str | None:
    """Where Playwright keeps its Chromium, if it is there and has the libraries that it needs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() and runs(path) else None


def try_command(*command: str, timeout: float = 600) -> bool:
    """Run a set-up command whose failure is no failure of ours; its output goes to stderr."""
    print("$ " + " ".join(command), file=sys.stderr)
    try:
        done = subprocess.run(command, stdout=sys.stderr, stdin=subprocess.DEVNULL, timeout=timeout)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return False
    return done.returncode == 0


def as_root() -> list[str] | None:
    """The words before a command that needs root: none, sudo without a password, or None where neither works."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return []
    sudo = shutil.which("sudo")
    if sudo and subprocess.run([sudo, "-n", "true"], capture_output=True).returncode == 0:
        return [sudo, "-n"]
    return None


def apt_install(*packages: str) -> bool:
    """Install Debian packages where that is possible without a question."""
    root = as_root()
    if shutil.which("apt-get") is None or root is None:
        return False
    # `env` because sudo drops the variable that keeps apt from asking.
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    return try_command(*apt, "update") and try_command(
        *apt, "install", "-y", "--no-install-recommends", *packages
    )


def download() -> str | None:
    """Playwright's own Chromium, downloaded; with the system libraries where they can be installed."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    if not try_command(*command):
        return None
    if path := playwrights_own():
        return path
    # It is here but does not start: libraries are missing.
    if shutil.which("apt-get") and as_root() is not None and try_command(*command, "--with-deps"):
        return playwrights_own()
    return None


def from_debian() -> str | None:
    """Debian's own package. (Ubuntu's package of that name is a stub; `runs` tells.)"""
    return first_that_runs(installed()) if apt_install("chromium") else None


def look_for_chinese_font() -> None:
    """Without a Chinese font every screenshot shows boxes. Installed where possible, otherwise said."""
    if sys.platform != "linux" or not shutil.which("fc-list"):
        return
    listed = subprocess.run(["fc-list", ":lang=zh", "family"], capture_output=True, text=True)
    if listed.stdout.strip() or apt_install("fonts-noto-cjk"):
        return
    print(
        "No Chinese font: Chinese text in screenshots will be boxes (fonts-noto-cjk has one).",
        file=sys.stderr,
    )


def find() -> str | None:
    """The path of a Chromium that runs, after every way to get one was tried."""
    wished = os.environ.get("CHROMIUM")
    if wished:
        return wished if runs(wished) else None
    return first_that_runs(installed()) or playwrights_own() or download() or from_debian()


def browser_path() -> str:
    """What `make` found, or a quick look around; raises RuntimeError with advice when there is nothing."""
    noted = NOTE.read_text(encoding="utf-8").strip() if NOTE.exists() else ""
    path = os.environ.get("CHROMIUM") or (noted if Path(noted).is_file() else first_that_runs(installed()))
    if not path:
        raise RuntimeError(ADVICE)
    return path


def main() -> int:
    """Entry point of `make test` and `make bench`."""
    path = find()
    if path is None:
        print(ADVICE, file=sys.stderr)
        return 1
    look_for_chinese_font()
    NOTE.parent.mkdir(exist_ok=True)
    NOTE.write_text(path + "\n", encoding="utf-8")
    print(f"Browser: {path}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
