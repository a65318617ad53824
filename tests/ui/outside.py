"""A Python that knows nothing of this repository, to run in it what a reader copies from a page.

It has imported torch and waits; each script gets a fork of it. Importing torch anew for every script would cost a
second each, for a hundred of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np

_NURSERY = """
import contextlib, io, json, os, runpy, sys, traceback
import torch
torch.set_num_threads(1)
for line in sys.stdin:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        shown, error = io.StringIO(), ""
        with contextlib.redirect_stdout(shown):
            try:
                runpy.run_path(json.loads(line), run_name="__main__")
            except BaseException:
                error = traceback.format_exc()
        with os.fdopen(write, "w") as out:
            json.dump([error, shown.getvalue()], out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        print(answer.read() or json.dumps(["the script ended its process", ""]), flush=True)
    os.waitpid(child, 0)
"""
_ENDING = """
import json
assert not [m for m in __import__('sys').modules if m.split('.')[0] in ('core', 'ui')]
print(json.dumps([r if isinstance(r, (int, float)) else r.tolist() for r in result]))
"""


def run_outside(text: str, expression: str, folder: Path) -> list[np.ndarray]:
    """Evaluate an expression after the text; what it gives is a list of arrays or numbers."""
    script = folder / "alone.py"
    script.write_text(f"{text}\nresult = {expression.strip()}{_ENDING}", encoding="utf-8")
    nursery = _nursery()
    print(json.dumps(str(script)), file=nursery.stdin, flush=True)
    error, shown = json.loads(nursery.stdout.readline())
    assert not error, error
    return [np.array(value) for value in json.loads(shown)]


@cache
def _nursery() -> subprocess.Popen:
    """Isolated from this folder and its environment; it ends with the tests, when its input does."""
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _NURSERY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
    )
