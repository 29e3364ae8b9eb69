"""The import graph of the package: no cycles between its parts, also by imports within functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import ksparse

ROOT = Path(ksparse.__file__).parent
Graph = dict[str, set[str]]


def imported_modules(module: str, tree: ast.AST, is_package: bool) -> Iterator[str]:
    """Full names of what a module imports; of ``from a import b``, both a and a.b."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{name}.{alias.name}" for alias in node.names)


@cache
def module_graph(root: Path = ROOT) -> Graph:
    """Which modules of the package each of them imports."""
    paths = {".".join(["ksparse", *path.relative_to(root).with_suffix("").parts]): path for path in root.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): path for name, path in paths.items()}
    graph: Graph = {name: set() for name in modules}
    for name, path in modules.items():
        for imported in imported_modules(name, ast.parse(path.read_text()), path.name == "__init__.py"):
            target = imported if imported in modules else imported.rpartition(".")[0]
            if target in modules and target != name:
                graph[name].add(target)
    return graph


def part_of(module: str) -> str:
    """The subpackage or top-level module to which a module belongs."""
    return ".".join(module.split(".")[:2])


def part_graph(modules: Graph) -> Graph:
    """The graph between the parts of the package, without the package itself, which only collects names."""
    graph: Graph = {part_of(name): set() for name in modules if name != "ksparse"}
    for name, imported in modules.items():
        if name != "ksparse":
            graph[part_of(name)] |= {part_of(other) for other in imported - {"ksparse"}} - {part_of(name)}
    return graph


def cycles(graph: Graph) -> list[list[str]]:
    """The strongly connected components with more than one node."""
    reached = {node: reachable(graph, node) for node in graph}
    components = {frozenset({a} | {b for b in reached[a] if a in reached[b]}) for a in graph}
    return sorted(sorted(component) for component in components if len(component) > 1)


def reachable(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    ahead = [start]
    while ahead:
        for other in graph[ahead.pop()] - seen:
            seen.add(other)
            ahead.append(other)
    return seen


def test_no_cycles_between_subpackages() -> None:
    graph = part_graph(module_graph())
    assert {"ksparse.designs", "ksparse.objectives", "ksparse.solvers", "ksparse.estimators"} <= graph.keys()
    assert not cycles(graph), {part: sorted(graph[part] & set(cycle)) for cycle in cycles(graph) for part in cycle}


def test_no_cycles_between_modules() -> None:
    """Packages themselves are left out: they only collect the names of their modules."""
    graph = module_graph()
    packages = {name for name in graph if (ROOT.parent / name.replace(".", "/")).is_dir()}
    plain = {name: imported - packages for name, imported in graph.items() if name not in packages}
    assert not cycles(plain), cycles(plain)


def test_the_core_does_not_import_what_is_built_on_it() -> None:
    graph = part_graph(module_graph())
    layers = [["designs"], ["objectives"], ["debias"], ["solvers"], ["selection", "estimators"], ["cli"]]
    above: set[str] = set()
    for layer in reversed(layers):
        for part in layer:
            assert not graph[f"ksparse.{part}"] & above, part
        above |= {f"ksparse.{part}" for part in layer}


def test_cycles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}
    assert cycles(graph) == [["a", "b", "c"]]


def test_imports_are_found_wherever_they_are() -> None:
    source = "import ksparse.x\ndef f():\n    from .y import z\n    from . import w\n    from ..u import v\n"
    found = set(imported_modules("ksparse.a.b", ast.parse(source), False))
    assert found == {"ksparse.x", "ksparse.a.y.z", "ksparse.a.w", "ksparse.u.v"}
