"""Whole models: from text to the next token."""

from ui.course import architectures, forward_pass, tokens, training
from ui.course.page import Page

PAGES = (
    tokens.PAGE,
    architectures.PAGE,
    forward_pass.PAGE,
    training.PAGE,
    Page("real_models"),
)
