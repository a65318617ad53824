"""Whole models: from text to the next token."""

from ui.course import architectures, tokens
from ui.course.page import Page

PAGES = (
    tokens.PAGE,
    architectures.PAGE,
    Page("forward_pass"),
    Page("training"),
    Page("real_models"),
)
