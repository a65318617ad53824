"""Training and alignment: the losses."""

from ui.course.page import Page

PAGES = (
    Page("losses"),
    Page("alignment"),
    Page("lora"),
)
