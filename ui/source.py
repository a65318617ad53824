"""The project's own source, to be shown beside the pictures it makes, alone or with everything it calls."""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ui.names import Uses, names_used

OWN = "core"
POSTPONED = "from __future__ import annotations"


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
    """The statement in a core function that assigns `variable`, without its indentation; for "return", what it returns.

    Raises LookupError if the function never assigns it: the page and the core have drifted apart.
    """
    source = source_of(dotted)
    for node in ast.walk(ast.parse(source)):
        made = isinstance(node, ast.Assign) and variable in _names(node.targets)
        if made or (variable == "return" and isinstance(node, ast.Return)):
            return textwrap.dedent("\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])).strip()
    raise LookupError(f"{dotted} does not assign {variable}")


def file_of(dotted: str) -> str:
    """Where a core function stands: core/attention/dot_product.py."""
    return dotted.rpartition(".")[0].replace(".", "/") + ".py"


def closure(dotted_names: str | Iterable[str]) -> str:
    """Core functions and everything from core that they use, in dependency order, as one file without core.

    Every part is the text of its own file, comments above it included. A core module that is used as a whole
    (`masks.causal`) becomes a small namespace of that name.
    Raises ValueError if two different things would get the same name, and LookupError for a name that
    nothing at the top level of its module binds.
    """
    return _closure((dotted_names,) if isinstance(dotted_names, str) else tuple(dotted_names))


@cache
def _closure(dotted_names: tuple[str, ...]) -> str:
    gathered = _Gathered()
    for dotted in dotted_names:
        module, _, name = dotted.rpartition(".")
        gathered.take(module, name)
    return gathered.text()


@dataclass(frozen=True)
class _Module:
    """A core module read as text: what each name of its top level is bound by."""

    name: str
    lines: tuple[str, ...]
    bound: dict[str, ast.stmt]
    postponed: bool  # it says `from __future__ import annotations`

    def text(self, node: ast.stmt) -> str:
        """The statement with its decorators and the comments right above it."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        while first > 0 and self.lines[first - 1].startswith("#"):
            first -= 1
        return "\n".join(self.lines[first : node.end_lineno])


@cache
def _module(name: str) -> _Module:
    text = Path(importlib.util.find_spec(name).origin).read_text(encoding="utf-8")
    bound: dict[str, ast.stmt] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound[node.name] = node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name.partition(".")[0]): node for alias in node.names}
        elif isinstance(node, ast.Assign):
            bound |= dict.fromkeys(_names(node.targets), node)
        elif isinstance(node, ast.AnnAssign):
            bound |= dict.fromkeys(_names([node.target]), node)
    lines = tuple(text.splitlines())
    return _Module(name, lines, bound, POSTPONED in lines)


@dataclass
class _Gathered:
    """What has been found so far, each thing after those it needs."""

    origin: dict[str, str] = field(default_factory=dict)  # name in the new file → where it comes from
    imports: set[str] = field(default_factory=set)
    parts: list[str] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)
    spaces: dict[str, dict[str, None]] = field(default_factory=dict)  # name of a module → attributes used

    def take(self, module_name: str, name: str) -> None:
        """Add what `name` is bound by in a core module, after everything that it uses."""
        module = _module(module_name)
        if name not in module.bound:
            raise LookupError(f"{module_name} has no {name} at its top level")
        node = module.bound[name]
        if not self._claim(name, f"{module_name}:{node.lineno}"):
            return
        self.files[f"{module_name.replace('.', '/')}.py"] = None
        if module.postponed:
            self.imports.add(POSTPONED)
        for used, uses in names_used(node).items():
            if used in module.bound:
                self._resolve(module, used, uses)
            elif not hasattr(builtins, used):
                raise LookupError(f"{module_name}.{name} uses {used}, which its module does not bind")
        text = module.text(node)
        if text not in self.parts:  # `a, b = …` is one statement for two names
            self.parts.append(text)

    def _resolve(self, module: _Module, used: str, uses: Uses) -> None:
        node = module.bound[used]
        if not isinstance(node, ast.Import | ast.ImportFrom):
            self.take(module.name, used)
            return
        alias = next(a for a in node.names if (a.asname or a.name.partition(".")[0]) == used)
        where = node.module if isinstance(node, ast.ImportFrom) else alias.name
        if where.partition(".")[0] != OWN:
            whole = where if alias.asname else used  # `import a.b` binds a
            self._claim(used, f"{where}.{alias.name}" if isinstance(node, ast.ImportFrom) else whole)
            self.imports.add(ast.unparse(type(node)(**_fields(node) | {"names": [alias]})))
        elif isinstance(node, ast.Import):
            raise LookupError(f"{module.name} says `import {where}`; a closure needs `from … import …`")
        elif _is_module(f"{where}.{alias.name}"):
            self._take_namespace(used, f"{where}.{alias.name}", uses)
        else:
            self.take(where, alias.name)
            if used != alias.name and self._claim(used, f"{where}.{alias.name}"):
                self.parts.append(f"{used} = {alias.name}")

    def _take_namespace(self, used: str, module_name: str, uses: Uses) -> None:
        if uses.whole:
            raise LookupError(
                f"{module_name} is handed on as a value; a closure can only follow its attributes"
            )
        self._claim(used, module_name)
        for attribute in uses.attributes:
            self.take(module_name, attribute)
            self.spaces.setdefault(used, {})[attribute] = None

    def _claim(self, name: str, origin: str) -> bool:
        """Whether the name is new. Raises ValueError if something else has it."""
        known = self.origin.get(name)
        if known not in (None, origin):
            raise ValueError(f"two things are called {name}: {known} and {origin}")
        self.origin[name] = origin
        return known is None

    def text(self) -> str:
        """The whole file."""
        head = f"# From Glassformer (MIT licence): {', '.join(self.files)}"
        spaces = [
            f"{name} = SimpleNamespace({', '.join(f'{a}={a}' for a in attributes)})"
            for name, attributes in self.spaces.items()
        ]
        if spaces:
            self.imports.add("from types import SimpleNamespace")
        standard = sorted((i for i in self.imports if _top(i) in sys.stdlib_module_names), key=_import_order)
        others = sorted(self.imports - set(standard), key=_import_order)
        blocks = ["\n".join(block) for block in (standard, others) if block]
        return "\n\n".join([head, *blocks]) + "\n\n\n" + "\n\n\n".join(self.parts + spaces) + "\n"


def _is_module(dotted: str) -> bool:
    try:
        return importlib.util.find_spec(dotted) is not None
    except ModuleNotFoundError:  # the part before the last dot is a module, not a package
        return False


def _fields(node: ast.AST) -> dict[str, object]:
    return dict(ast.iter_fields(node))


def _top(statement: str) -> str:
    return statement.split()[1].partition(".")[0]


def _import_order(statement: str) -> tuple[bool, bool, str]:
    return statement != POSTPONED, statement.startswith("from"), statement


def _names(targets: list[ast.expr]) -> set[str]:
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
