"""Learn: pitfalls, questions, formulas, lessons."""

from ui.course.page import Page

PAGES = (
    Page("pitfalls"),
    Page("quiz"),
    Page("cheat_sheet"),
    Page("lessons"),
)
