"""Imports point down: pages → ui → core. core knows neither Streamlit nor charts; text and models have one licence each."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = {"core": 0, "ui": 1, "pages": 2}
ALLOWED_IN_CORE = {"torch", "core"}
LICENCES = {  # packages that one corner of core may import besides PyTorch and the standard library
    "core/text": {"regex", "tokenizers"},
    "core/models": {"tokenizers", "safetensors"},
    "core/attention/numpy_twin.py": {"numpy"},
}
FILES = sorted(p for floor in FLOORS for p in (ROOT / floor).rglob("*.py"))


def imported(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    here = FLOORS[path.relative_to(ROOT).parts[0]]
    for name in imported(path):
        top = name.partition(".")[0]
        assert FLOORS.get(top, 0) <= here, f"{path} imports {name}"
        assert top != "pages", f"{path} imports a page"


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.is_relative_to(ROOT / "core")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_core_is_pytorch_only(path):
    import sys

    allowed = set(ALLOWED_IN_CORE)
    for corner, extra in LICENCES.items():
        if path.is_relative_to(ROOT / corner):
            allowed |= extra
    tops = {name.partition(".")[0] for name in imported(path)}
    assert tops - set(sys.stdlib_module_names) <= allowed


def test_no_file_is_too_long():
    long = {
        str(p.relative_to(ROOT)): n
        for p in FILES
        if (n := len(p.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long
