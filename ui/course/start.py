"""Start: where a reader comes in."""

from ui.course.page import Page
from ui.parameters import Choice, Whole

PAGES = (
    Page(
        "home",
        parameters=(
            Choice("map", ("decoder", "encoder_decoder"), "decoder"),
            Whole("batch", 1, 64, 4),
            Whole("tokens", 1, 2048, 16),
            Whole("width", 64, 1024, 512, step=64),
        ),
        sources=("vaswani2017", "radford2019"),
    ),
)
