"""Which names a piece of Python takes from the module around it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass
class Uses:
    """How one name is used: which attributes are asked of it, and whether it is also used as it is."""

    attributes: dict[str, None] = field(default_factory=dict)
    whole: bool = False


def names_used(statement: ast.stmt) -> dict[str, Uses]:
    """The names that a top-level statement does not bind itself, in order of first use."""
    finder = _Finder()
    finder.visit(statement)
    return finder.found


class _Finder(ast.NodeVisitor):
    """Walks scopes as Python does: a function sees its own names and those of the functions around it."""

    def __init__(self):
        self.found: dict[str, Uses] = {}
        self.scopes: list[tuple[bool, set[str]]] = []  # (belongs to a class, names bound there)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and not self._is_bound(node.id):
            self.found.setdefault(node.id, Uses()).whole = True

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = node.value
        if not isinstance(name, ast.Name):
            self.visit(name)
        elif not self._is_bound(name.id):
            self.found.setdefault(name.id, Uses()).attributes[node.attr] = None

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_all(node.decorator_list)
        self._visit_signature(node.args)
        self._visit_all([node.returns] if node.returns else [])
        self._inside(node.body, _arguments(node.args) | _bound_in(node.body))

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  (the visitor's own naming)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_signature(node.args)
        self._inside([node.body], _arguments(node.args))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
        self._inside(node.body, _bound_in(node.body), is_class=True)

    def _visit_comprehension(self, node: _COMPREHENSION) -> None:
        targets = _bound_in([generator.target for generator in node.generators])
        self._inside(list(ast.iter_child_nodes(node)), targets)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension  # noqa: N815

    def _visit_signature(self, arguments: ast.arguments) -> None:
        """Defaults and annotations belong to the scope around the function."""
        self._visit_all([*arguments.defaults, *(d for d in arguments.kw_defaults if d)])
        self._visit_all([a.annotation for a in _all_arguments(arguments) if a.annotation])

    def _inside(self, nodes: list[ast.AST], bound: set[str], *, is_class: bool = False) -> None:
        self.scopes.append((is_class, bound))
        self._visit_all(nodes)
        self.scopes.pop()

    def _visit_all(self, nodes: list[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _is_bound(self, name: str) -> bool:
        *around, innermost = self.scopes or [(False, set())]
        return name in innermost[1] or any(name in bound for is_class, bound in around if not is_class)


def _all_arguments(arguments: ast.arguments) -> list[ast.arg]:
    rest = [a for a in (arguments.vararg, arguments.kwarg) if a]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def _arguments(arguments: ast.arguments) -> set[str]:
    return {argument.arg for argument in _all_arguments(arguments)}


def _bound_in(nodes: list[ast.AST]) -> set[str]:
    """The names that these nodes bind in their own scope, not in one that they open."""
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
        if not isinstance(node, _FUNCTION | ast.ClassDef | _COMPREHENSION):
            bound |= _bound_in(list(ast.iter_child_nodes(node)))
    return bound
