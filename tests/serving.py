"""Start and watch a Streamlit server: the tests in a browser and the benchmarks both need one."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# --no-sandbox: containers and root have no user namespaces, and only our own server is visited.
# --disable-dev-shm-usage: a container's /dev/shm is often 64 MB, and Chromium crashes when it is full.
# The resolver rule makes every other host unreachable, so that a test behaves the same with and without a network.
CHROMIUM_ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
)

TROUBLE = re.compile(r"Traceback|Exception|Warning|WARNING|ERROR|CRITICAL")


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without Streamlit's variables, so that only .streamlit/config.toml speaks."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STREAMLIT_")}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | dict(extra or {})


class Server:
    """`streamlit run SCRIPT` on a free port, as in production; its output goes to a file.

    Raises RuntimeError with the end of the log when the server does not answer within `patience` seconds.
    """

    def __init__(self, script: Path, log: Path, *, port: int | None = None, patience: float = 180.0) -> None:
        self.port = port or free_port()
        self.url = f"http://localhost:{self.port}"
        self.log = log
        self.folder = script.parent
        self.forgiven = 0
        log.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "streamlit", "run", script.name, "--server.headless", "true"]
        command += ["--server.port", str(self.port), "--server.address", "127.0.0.1"]
        self.started = time.perf_counter()
        with log.open("wb") as sink:
            self.process = subprocess.Popen(
                command,
                cwd=script.parent,
                env=clean_environment(),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
            )
        self.seconds_to_health = self._wait_until_healthy(patience)

    def _wait_until_healthy(self, patience: float) -> float:
        while time.perf_counter() - self.started < patience:
            if self.process.poll() is not None:
                raise RuntimeError(f"The server stopped by itself:\n{self.tail()}")
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        return time.perf_counter() - self.started
            except OSError:
                time.sleep(0.03)
        self.stop()
        raise RuntimeError(f"The server did not answer within {patience:.0f} s:\n{self.tail()}")

    def written(self, since: int = 0) -> str:
        """What the server has logged after byte `since`."""
        return self.log.read_bytes()[since:].decode("utf-8", "replace")

    def mark(self) -> int:
        """The length of the log now, to be given to `written` or `troubles` later."""
        return self.log.stat().st_size

    def troubles(self, since: int = 0) -> str:
        """The log after byte `since` if anything in it is an exception or a warning, else an empty string."""
        text = self.written(max(since, self.forgiven))
        return text if TROUBLE.search(text) else ""

    def forgive(self) -> None:
        """Overlook what was logged so far: for a test that makes the server log an error on purpose."""
        self.forgiven = self.mark()

    def tail(self, lines: int = 40) -> str:
        """The last lines of the log."""
        return "\n".join(self.written().splitlines()[-lines:])

    def stop(self) -> None:
        """End the server; it is killed if it does not go by itself."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def folder_like_the_apps(source: Path, target: Path) -> Path:
    """Copy a script (or a folder with an app.py) to `target`, beside the app's own static/ and settings.

    Returns the script to run. Streamlit finds static files and settings only beside the script.
    """
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
        script = target / "app.py"
    else:
        target.mkdir(parents=True, exist_ok=True)
        script = Path(shutil.copy(source, target / source.name))
    for name in ("static", ".streamlit"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, dirs_exist_ok=True)
    return script
