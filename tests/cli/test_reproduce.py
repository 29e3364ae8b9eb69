"""``ksparse reproduce``: reports, goes on where it stopped, and says what it leaves out."""

from __future__ import annotations

import csv
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ksparse.cli import main, reproduce
from ksparse.datasets import missing_rcv1
from ksparse.experiments import Claim, Experiment, Picture, Settings, Table, Task, TextTable, running
from ksparse.experiments.claims import falls, verdict
from ksparse.experiments.running import Work


@dataclass(frozen=True)
class Few(Settings):
    sizes: tuple[int, ...] = (1, 2, 3)


class Small(Experiment):
    """An experiment that takes no time, and counts how often it is run."""

    name, title, paper, text = "small", "A <small> one", "Figure 0", "Nothing is done."
    runs: list[int]

    def __init__(self) -> None:
        self.runs = []
        self.fails_at: int | None = None

    def settings(self, scale: Any) -> Few:
        return Few((1, 2)) if scale == "quick" else Few()

    def tasks(self, settings: Few) -> list[Task]:
        return [Task({"n": n}) for n in settings.sizes]

    def run(self, settings: Few, task: Task) -> list[dict[str, Any]]:
        n = task.place["n"]
        if n == self.fails_at:
            raise KeyboardInterrupt
        self.runs.append(n)
        return [{"method": method, "error": 1.0 / n} for method in ("GraHTP", "FBS")]

    def pictures(self, settings: Few, table: Table) -> list[Picture]:
        return [Picture("small", "A line & its name.", lambda figure: figure.add_subplot().plot([1, 2]))]

    def text_tables(self, settings: Few, table: Table) -> list[TextTable]:
        return [TextTable("All of it", ("n", "error"), [[row["n"], row["error"]] for row in table.rows])]

    def claims(self, settings: Few, table: Table) -> list[Claim]:
        return [
            Claim("Figure 0", "errors fall", falls(table, "error", "n", ("GraHTP",)), verdict([False], "never")),
            Claim("Figure 0", "nobody knows", verdict([], "")),
        ]


class WithData(Small):
    name, title = "with-data", "One with data"

    def unavailable(self) -> str | None:
        return missing_rcv1()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Small:
    experiments = (Small(), WithData())
    monkeypatch.delenv("KSPARSE_DATA", raising=False)
    # The package calls its function by the name of the module.
    for module in (reproduce, sys.modules["ksparse.cli.main"]):
        monkeypatch.setattr(module, "EXPERIMENTS", experiments)
    monkeypatch.setattr(running, "experiment_named", lambda name: next(e for e in experiments if e.name == name))
    return experiments[0]


def test_report_results_and_claims(small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--jobs", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    for text in ("A &lt;small&gt; one", "A line &amp; its name", "does not hold", "not measured", "data:image/svg+xml"):
        assert text in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    rows = list(csv.DictReader((tmp_path / "small.csv").read_text().splitlines()))
    assert [(row["n"], row["method"]) for row in rows][:2] == [("1", "GraHTP"), ("1", "FBS")]
    verdicts = [row["verdict"] for row in csv.DictReader((tmp_path / "claims.csv").read_text().splitlines())]
    assert verdicts == ["holds", "not measured"]
    out = capsys.readouterr().out
    assert "holds  Figure 0: errors fall; default solver: does not hold" in out
    assert "One with data: rcv1.binary is not part of the package" in out
    assert "One with data" in page
    assert not (tmp_path / "with-data.csv").exists()


def test_the_report_as_markdown_names_figures_that_are_there(small: Small, tmp_path: Path) -> None:
    assert main(["reproduce", "--jobs", "1", "--out", str(tmp_path)]) == 0
    text = (tmp_path / "report.md").read_text()
    figures = re.findall(r"!\[.*\]\((.*)\)", text)
    assert figures
    for name in figures:
        assert (tmp_path / name).read_text().startswith("<?xml")
    assert "## A \\<small\\> one (`small`)" in text
    assert "| Figure 0 | errors fall | holds |" in text


def test_experiments_take_turns(small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that an interrupted run has something of each."""
    order: list[str] = []

    def note(work: list[Work], *_: object) -> None:
        order.extend(f"{name} {task.place['n']}" for name, _, task in work)

    monkeypatch.setattr("ksparse.cli.reproduce.run_all", note)
    data = tmp_path / "data" / "text"
    data.mkdir(parents=True)
    (data / "rcv1_binary_subsets.npz").touch()
    assert main(["reproduce", "--out", str(tmp_path / "out"), "--data", str(data.parent)]) == 0
    assert order == [f"{name} {n}" for n in (1, 2, 3) for name in ("small", "with-data")]


def test_an_interrupted_run_goes_on_where_it_stopped(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]
    small.fails_at = 3
    assert main(arguments) == 130
    assert "goes on where it stopped" in capsys.readouterr().err
    assert "1 of 3 tasks are missing" in (tmp_path / "report.html").read_text()
    assert "**This run was not finished: 1 of 3 tasks" in (tmp_path / "report.md").read_text()
    small.fails_at = None
    assert main(arguments) == 0
    assert small.runs == [1, 2, 3]
    assert "missing" not in (tmp_path / "report.html").read_text()
    assert main(arguments) == 0
    assert small.runs == [1, 2, 3]


def test_results_of_other_settings_are_not_mixed(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert main(["reproduce", "small", "--quick", "--jobs", "1", "--out", str(tmp_path)]) == 2
    assert "give --out another folder" in capsys.readouterr().err


def test_a_name_that_is_not_known(small: Small, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", "large"])
    assert stopped.value.code == 2
    assert "small" in capsys.readouterr().err


def test_the_folder_of_the_data_is_handed_on(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KSPARSE_DATA", "")
    data = tmp_path / "data"
    (data / "text").mkdir(parents=True)
    (data / "text" / "rcv1_binary_subsets.npz").touch()
    out = tmp_path / "out"
    assert main(["reproduce", "--jobs", "1", "--out", str(out), "--data", str(data)]) == 0
    assert (out / "with-data.csv").exists()
    assert "Left out" not in capsys.readouterr().out
