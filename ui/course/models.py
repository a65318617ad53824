"""Whole models: from text to the next token."""

from ui.course import tokens
from ui.course.page import Page

PAGES = (
    tokens.PAGE,
    Page("architectures"),
    Page("forward_pass"),
    Page("training"),
    Page("real_models"),
)
