"""The block: positions, feed-forward, normalisation, residual."""

from ui.course import feed_forward, normalization
from ui.course.page import Page

PAGES = (
    Page("positions"),
    feed_forward.PAGE,
    normalization.PAGE,
    Page("residual"),
)
