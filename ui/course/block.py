"""The block: positions, feed-forward, normalisation, residual."""

from ui.course.page import Page

PAGES = (
    Page("positions"),
    Page("feed_forward"),
    Page("normalization"),
    Page("residual"),
)
