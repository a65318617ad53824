"""The app on a slow machine: every slider takes its time, so that a reader can click before the controls are there."""

import time

from ui.frame import run_app
from ui.frame.controls import Controls

quick = getattr(Controls.slider, "quick", Controls.slider)


def slow(self, name, **look):
    """The slider, late."""
    time.sleep(1.2)
    return quick(self, name, **look)


slow.quick = quick
Controls.slider = slow
run_app()
