"""The documents stay true: examples run, links lead somewhere, CI runs what the README says."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import ksparse
from ksparse.datasets.real import STOCKS

ROOT = Path(__file__).parents[1]


def test_ci_runs_the_command_of_the_readme() -> None:
    commands = re.findall(r"^pip install .*$", (ROOT / "README.md").read_text(), flags=re.M)
    assert len(commands) == 2
    assert "ksparse fit" in commands[0]
    assert "pytest" in commands[1]
    assert "grep -m 1 -E '^pip install .*pytest' README.md" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/command.md",
        "docs/comparison.md",
        "docs/functions.md",
        "docs/gallery.md",
        "docs/guide.md",
        "docs/inference.md",
        "docs/tables.md",
        "docs/theory.md",
        "docs/estimators.md",
        "docs/graphs.md",
        "docs/benchmarks.md",
        "docs/prediction.md",
    ],
)
def test_links_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text()
    for target in re.findall(r"\]\(([^)#]+)", text):
        if target.startswith("https://"):
            continue
        assert (ROOT / name).parent.joinpath(target).exists(), target


#: What people meet only through other things: interfaces to implement, and parts that results are made of.
INTERFACES = {"Objective", "Point", "LinearObjective", "Sparsity", "Units", "Solver", "StepRule"}
INTERFACES |= {
    "GraphModel",
    "Summarized",
    "SparseEstimator",
    "SparseLinearModel",
    "Loss",
    "JointLoss",
    "TwiceDifferentiable",
}
PARTS = {
    "NearSupport",
    "ProofStage",
    "Progress",
    "LevelSetDual",
    "QuadraticDual",
    "Solved",
    "Budget",
    "SolverState",
    "Bounds",
    "Debias",
    "ExpressionData",
    "HaltingRule",
    "Iterate",
    "Iteration",
    "LinearModelData",
    "Outcome",
    "PrecisionData",
    "Problem",
    "RealData",
    "Solution",
    "SplitData",
    "Step",
    "StockData",
    "KnownTarget",
}
PACKAGES = (
    "certificates",
    "objectives",
    "sparsity",
    "debias",
    "solvers",
    "estimators",
    "inference",
    "selection",
    "plots",
    "datasets",
    "tables",
    "theory",
)


def test_every_public_class_is_documented_with_an_example() -> None:
    places = [ksparse, *(getattr(ksparse, name) for name in PACKAGES)]
    public = {name: getattr(place, name) for place in places for name in place.__all__}
    for name, thing in public.items():
        is_class = issubclass(type(thing), type)  # not so an alias, which Python 3.10 takes for an instance of type
        if not is_class or issubclass(thing, Exception | Warning) or name in INTERFACES | PARTS:
            continue
        assert ">>> " in (thing.__doc__ or ""), name
    for name in ("minimize", "path", "save", "load", "information_criterion"):
        assert ">>> " in public[name].__doc__, name


def test_the_changelog_names_the_version() -> None:
    assert f"## {ksparse.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("figure", [False, True])
def test_the_example_runs(
    figure: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--samples", "60", "--features", "80", "--k", "5"]
    if figure:
        arguments += ["--figure", str(tmp_path / "methods.png")]
    monkeypatch.setattr(sys, "argv", ["methods_compared.py", *arguments])
    runpy.run_path(str(ROOT / "examples" / "methods_compared.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    values = {line[:20].strip(): float(line.split()[-5]) for line in lines[1:]}
    assert len(values) == 6
    assert values["ksparse default"] == min(values.values())
    assert (tmp_path / "methods.png").exists() == figure


@pytest.mark.slow
def test_the_stocks_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    sectors = np.repeat(["Energy", "Utilities", "Materials"], 5)
    common = np.repeat(rng.standard_normal((120, 3)), 5, axis=1)
    prices = np.exp(np.cumsum(0.01 * (common + rng.standard_normal((120, 15))), axis=0))
    file = tmp_path / STOCKS
    file.parent.mkdir()
    np.savez(file, X=prices, ticker=[f"T{number}" for number in range(15)], sector=sectors)
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path))
    arguments = ["--edges", "12", "--held-out", "--out", str(tmp_path / "pictures")]
    monkeypatch.setattr(sys, "argv", ["stocks.py", *arguments])
    runpy.run_path(str(ROOT / "examples" / "stocks.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    values = {line[:20].strip(): float(line.split()[-5]) for line in lines[2:4] if line}
    assert values["ksparse"] < values["graphical lasso"]
    assert {file.name for file in (tmp_path / "pictures").iterdir()} == {"stocks_graph.png", "stocks_support.png"}
    monkeypatch.delenv("KSPARSE_DATA")
    with pytest.raises(SystemExit, match="set the environment variable KSPARSE_DATA"):
        runpy.run_path(str(ROOT / "examples" / "stocks.py"), run_name="__main__")
