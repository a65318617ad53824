"""The block: positions, feed-forward, normalisation, residual."""

from ui.course import normalization
from ui.course.page import Page

PAGES = (
    Page("positions"),
    Page("feed_forward"),
    normalization.PAGE,
    Page("residual"),
)
