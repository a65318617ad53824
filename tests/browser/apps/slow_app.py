"""The app on a slow machine: a slider takes its time, and as long as a file `hold` lies here it does not come at all."""

import time
from pathlib import Path

from ui.frame import run_app
from ui.frame.controls import Controls

quick = getattr(Controls.slider, "quick", Controls.slider)


def slow(self, name, **look):
    """The slider, late."""
    while Path("hold").exists():
        time.sleep(0.05)
    time.sleep(1.2)
    return quick(self, name, **look)


slow.quick = quick
Controls.slider = slow
run_app()
