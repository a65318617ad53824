"""The app on a busy machine: taking over a drawn cell takes its time, so that the next click comes meanwhile."""

import time

from ui.figures import masks
from ui.frame import run_app

quick = getattr(masks.drawn_code, "quick", masks.drawn_code)


def slow(*arguments):
    """The drawn mask, late."""
    time.sleep(0.3)
    return quick(*arguments)


slow.quick = quick
masks.drawn_code = slow
run_app()
