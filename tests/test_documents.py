"""The documents stay true: examples run, links lead somewhere, CI runs what the README says."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

import ksparse

ROOT = Path(__file__).parents[1]


def test_ci_runs_the_command_of_the_readme() -> None:
    commands = re.findall(r"^pip install .*$", (ROOT / "README.md").read_text(), flags=re.M)
    assert len(commands) == 2
    assert "ksparse fit" in commands[0]
    assert "pytest" in commands[1]
    assert "grep -m 1 -E '^pip install .*pytest' README.md" in (ROOT / ".ci" / "run").read_text()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/guide.md", "docs/estimators.md"])
def test_links_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text()
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (ROOT / name).parent.joinpath(target).exists(), target


def test_everything_public_is_documented_with_an_example() -> None:
    solvers = ["GraHTP", "FGraHTP", "HTP", "IHT", "GraSP", "FBS", "SwapGraHTP"]
    for name in [*ksparse.objectives.__all__, *solvers, "minimize"]:
        thing = getattr(ksparse, name, None) or getattr(ksparse.objectives, name)
        assert thing.__doc__, name
        interface = name in ("Objective", "Point", "LinearObjective") or name.endswith("Error")
        assert interface or ">>> " in thing.__doc__, name


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
