"""Cost: what attention costs, and what is done about it."""

from ui.course.page import Page

PAGES = (
    Page("efficient_attention"),
    Page("state_space"),
    Page("sizes"),
)
