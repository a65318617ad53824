"""The block: positions, feed-forward, normalisation, residual."""

from ui.course import feed_forward, normalization, positions
from ui.course.page import Page

PAGES = (
    positions.PAGE,
    feed_forward.PAGE,
    normalization.PAGE,
    Page("residual"),
)
