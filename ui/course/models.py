"""Whole models: from text to the next token."""

from ui.course.page import Page

PAGES = (
    Page("tokens"),
    Page("architectures"),
    Page("forward_pass"),
    Page("training"),
    Page("real_models"),
)
