"""The project's own source, to be shown beside the pictures it makes."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from collections.abc import Callable
from functools import cache


def function_named(dotted: str) -> Callable:
    """The core function behind a dotted name such as core.attention.dot_product.attention."""
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


@cache
def source_of(dotted: str) -> str:
    """The source of one core function as it stands in the file."""
    return textwrap.dedent(inspect.getsource(function_named(dotted)))


@cache
def line_that_makes(variable: str, dotted: str) -> str:
    """The statement in a core function that assigns `variable`, without its indentation.

    Raises LookupError if the function never assigns it: the page and the core have drifted apart.
    """
    source = source_of(dotted)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and variable in _names(node.targets):
            return textwrap.dedent("\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])).strip()
    raise LookupError(f"{dotted} does not assign {variable}")


def _names(targets: list[ast.expr]) -> set[str]:
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
