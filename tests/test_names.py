"""One name for one thing: no file, class, constant or public function of the package is defined in two modules."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import ksparse

ROOT = Path(ksparse.__file__).parent
#: Names of files that say what a file is in its folder.
CONVENTIONAL = {"__init__", "__main__", "base"}


def is_type_variable(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "TypeVar"


def find_definitions(tree: ast.Module) -> Iterator[str]:
    """What a module defines: classes, constants and public functions; type variables are local by convention."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield f"class {node.name}"
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield f"function {node.name}"
        elif isinstance(node, ast.Assign) and not is_type_variable(node):
            names = (name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name))
            yield from (f"constant {name}" for name in names if name.isupper())
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id.isupper():
            yield f"constant {node.target.id}"


def find_clashes(root: Path) -> dict[str, list[str]]:
    """Names with several definitions, and the modules that have them."""
    places: dict[str, set[str]] = defaultdict(set)
    for path in root.rglob("*.py"):
        place = path.relative_to(root).as_posix()
        if path.stem not in CONVENTIONAL:
            places[f"file {path.stem.lstrip('_')}"].add(place)
        for name in find_definitions(ast.parse(path.read_text(encoding="utf-8"))):
            places[name].add(place)
    return {name: sorted(found) for name, found in places.items() if len(found) > 1}


def test_no_name_has_two_meanings() -> None:
    assert not find_clashes(ROOT)


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        ("class A: ...", "class A: ...", "class A"),
        ("LIMIT = 1", "LIMIT: int = 2", "constant LIMIT"),
        ("FIRST, LAST = 1, 2", "LAST = 2", "constant LAST"),
        ("def run(): ...", "def run(): ...", "function run"),
        ("def _run(): ...", "def _run(): ...", None),
        ("LIMIT = 1", "from .one import LIMIT", None),
        ("T = TypeVar('T')", "T = TypeVar('T', bound=int)", None),
        ("def run():\n    LIMIT = 1", "class A:\n    LIMIT = 2", None),
    ],
)
def test_a_second_definition_is_found(tmp_path: Path, first: str, second: str, clash: str | None) -> None:
    (tmp_path / "one.py").write_text(first)
    (tmp_path / "two.py").write_text(second)
    assert find_clashes(tmp_path) == ({clash: ["one.py", "two.py"]} if clash else {})


def test_a_second_file_is_found(tmp_path: Path) -> None:
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        for name in ("__init__", "base", "_pairs" if folder == "left" else "pairs"):
            (tmp_path / folder / f"{name}.py").write_text("")
    assert find_clashes(tmp_path) == {"file pairs": ["left/_pairs.py", "right/pairs.py"]}
