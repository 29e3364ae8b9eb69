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
from ksparse.cli.progress import bars
from ksparse.datasets import missing_rcv1
from ksparse.experiments import Claim, Experiment, Picture, Settings, Table, Task, TextTable, running
from ksparse.experiments.claims import falls, verdict
from ksparse.experiments.journal import alone
from ksparse.experiments.running import KILLED, Work


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
        self.error: type[BaseException] = KeyboardInterrupt

    def settings(self, scale: Any) -> Few:
        return Few((1, 2)) if scale == "quick" else Few()

    def tasks(self, settings: Few) -> list[Task]:
        return [Task({"n": n}) for n in settings.sizes]

    def run(self, settings: Few, task: Task) -> list[dict[str, Any]]:
        n = task.place["n"]
        if n == self.fails_at:
            raise self.error("no\nluck")
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
    monkeypatch.setenv("KSPARSE_DATA", "")  # what --data sets is then undone
    monkeypatch.delenv("KSPARSE_DATA")
    # The package calls its function by the name of the module.
    for module in (reproduce, sys.modules["ksparse.cli.main"]):
        monkeypatch.setattr(module, "EXPERIMENTS", experiments)
    monkeypatch.setattr(running, "experiment_named", lambda name: next(e for e in experiments if e.name == name))
    return experiments[0]


def with_data(folder: Path) -> Path:
    """A folder that looks as if it had the data."""
    data = folder / "data"
    (data / "text").mkdir(parents=True)
    (data / "text" / "rcv1_binary_subsets.npz").touch()
    return data


def command(folder: Path) -> str:
    """What the report says it was made with."""
    found = re.search(r"\| Command \| (.*) \|", (folder / "report.md").read_text())
    assert found
    return found[1]


def test_report_results_and_claims(small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--jobs", "1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    for text in ("A &lt;small&gt; one", "A line &amp; its name", "does not hold", "not measured", "data:image/svg+xml"):
        assert text in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert re.findall(r'href="#(.*?)"', page) == re.findall(r'<section id="(.*?)"', page) == ["small"]
    assert "<b>0</b><span>of 1 claims hold with the default solver</span>" in page
    rows = list(csv.DictReader((tmp_path / "small.csv").read_text().splitlines()))
    assert [(row["n"], row["method"]) for row in rows][:2] == [("1", "GraHTP"), ("1", "FBS")]
    verdicts = [row["verdict"] for row in csv.DictReader((tmp_path / "claims.csv").read_text().splitlines())]
    assert verdicts == ["holds", "not measured"]
    out = capsys.readouterr().out
    assert "holds  Figure 0: errors fall; default solver: does not hold" in out
    assert "Left out: One with data: rcv1.binary is not part of the package (what to do: see the report)\n" in out
    assert "One with data</td><td>rcv1.binary is not part of the package; set" in page
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
    data = with_data(tmp_path)
    assert main(["reproduce", "--out", str(tmp_path / "out"), "--data", str(data)]) == 0
    assert order == [f"{name} {n}" for n in (1, 2, 3) for name in ("small", "with-data")]


def test_an_interrupted_run_goes_on_where_it_stopped(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]
    small.fails_at = 3
    assert main(arguments) == 130
    captured = capsys.readouterr()
    assert captured.err.endswith("ksparse: interrupted; the same command goes on where it stopped\n")
    first = "Not finished, and shown as far as they came: small (1 of 3 tasks are missing)."
    assert first in captured.out
    page, text = ((tmp_path / f"report.{kind}").read_text() for kind in ("html", "md"))
    assert f"<b>{first}</b>" in page
    assert "1 of 3 tasks are missing, so that means are over fewer results" in page
    assert f"**{first}**" in text
    assert "**This run was not finished: 1 of 3 tasks" in text
    small.fails_at = None
    assert main(arguments) == 0
    assert small.runs == [1, 2, 3]
    assert "missing" not in (tmp_path / "report.html").read_text()
    assert main(arguments) == 0
    assert small.runs == [1, 2, 3]


def test_what_was_not_asked_for_is_said_too(small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder may come to hold parts of it; the report then names the others."""
    data = with_data(tmp_path)
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path), "--data", str(data)]) == 0
    assert "Left out" not in capsys.readouterr().out
    assert "| One with data | not run; 'ksparse reproduce with-data' does |" in (tmp_path / "report.md").read_text()


def test_a_quick_run_says_that_it_proves_nothing(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "--quick", "--jobs", "1", "--out", str(tmp_path)]) == 0
    said = "few replications of small settings show that everything runs, not what is true"
    for text in (capsys.readouterr().out, *((tmp_path / f"report.{kind}").read_text() for kind in ("html", "md"))):
        assert said in text


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
    assert "there is no experiment 'large'; choose from small, with-data\n" in capsys.readouterr().err


def test_the_folder_of_the_data_is_handed_on(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KSPARSE_DATA", "")
    data = with_data(tmp_path)
    out = tmp_path / "out"
    assert main(["reproduce", "--jobs", "1", "--out", str(out), "--data", str(data)]) == 0
    assert (out / "with-data.csv").exists()
    assert "Left out" not in capsys.readouterr().out


def test_a_task_that_fails_does_not_cost_the_report(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]
    small.fails_at, small.error = 2, ValueError
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert 'Failed: small {"n": 2}: ValueError: no\\nluck\n' in error
    assert "ksparse: 1 failure, named above; the report is of what there is, and the same command goes on" in error
    assert "1 of 3 tasks are missing" in (tmp_path / "report.html").read_text()
    small.fails_at = None
    assert main(arguments) == 0
    assert small.runs == [1, 3, 2]


def test_results_that_cannot_be_shown_do_not_cost_the_others(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crooked(figure: Any) -> None:
        raise ArithmeticError("too few")

    monkeypatch.setattr(WithData, "pictures", lambda *_: [Picture("crooked", "A crooked line.", crooked)])
    out = tmp_path / "out"
    assert main(["reproduce", "--jobs", "1", "--out", str(out), "--data", str(with_data(tmp_path))]) == 1
    problem = "its results cannot be shown (ArithmeticError: too few)"
    assert f"Failed: with-data: {problem}" in capsys.readouterr().err
    assert f"{problem}; they are in with-data.csv" in (out / "report.html").read_text()
    assert "A line &amp; its name" in (out / "report.html").read_text()
    assert (out / "with-data.csv").exists()


def test_a_killed_process_is_said(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def kill(work: list[Work], journals: object, jobs: object, done: object, failed: Any) -> None:
        for item in work[:2]:
            failed(item, KILLED)

    monkeypatch.setattr("ksparse.cli.reproduce.run_all", kill)
    assert main(["reproduce", "small", "--out", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert 'small {"n": 1}: a process was killed' in error
    assert "2 failures, named above" in error
    assert (tmp_path / "report.html").exists()


def test_damaged_lines_are_skipped_and_counted(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 0
    journal = tmp_path / "journal" / "small.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([*lines[:2], lines[2][:9] + b"\n", *lines[3:]]))
    assert main(arguments) == 0
    assert "Skipped 1 damaged line of" in capsys.readouterr().err
    assert small.runs == [1, 2, 3, 2]


def test_two_runs_in_one_folder(small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fcntl")
    with alone(tmp_path / "journal"):
        assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 2
    assert "another run (process" in capsys.readouterr().err
    assert small.runs == []
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 0


def test_the_report_has_former_results_of_the_folder_too(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = with_data(tmp_path)
    out = tmp_path / "out"
    arguments = ["--jobs", "1", "--out", str(out)]
    assert main(["reproduce", "with-data", *arguments, "--data", str(data)]) == 0
    assert command(out).startswith("ksparse reproduce with-data --jobs 1 --data …; results on 20")
    assert main(["reproduce", "small", *arguments]) == 0
    assert "## One with data" in (out / "report.md").read_text()
    assert command(out).startswith("KSPARSE\\_DATA=… ksparse reproduce small with-data --jobs 1; results on 20")
    monkeypatch.delenv("KSPARSE_DATA")
    capsys.readouterr()
    assert main(["reproduce", *arguments]) == 0
    assert "## One with data" in (out / "report.md").read_text()
    assert command(out).startswith("ksparse reproduce --jobs 1; results on 20")
    assert "Not gone on with: One with data: rcv1.binary is not part" in capsys.readouterr().out


def test_former_results_of_other_settings_are_left_out(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["reproduce", "small", "--quick", "--jobs", "1", "--out", str(out)]) == 0
    data = ["--data", str(with_data(tmp_path))]
    assert main(["reproduce", "with-data", *data, "--jobs", "1", "--out", str(out)]) == 0
    assert re.search(r"Left out: A <small> one: .* holds results of other settings", capsys.readouterr().out)
    assert "## A \\<small" not in (out / "report.md").read_text()
    assert "| A \\<small\\> one | " in (out / "report.md").read_text()


def test_more_jobs_than_cores(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert main(["reproduce", "small", "--jobs", "900", "--out", str(tmp_path)]) == 0
    assert "--jobs 900: only 1 at a time, one for each core" in capsys.readouterr().err
    assert command(tmp_path).startswith("ksparse reproduce small --jobs 1;")


def test_a_folder_of_data_that_is_not_there(small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--out", str(tmp_path / "out"), "--data", str(tmp_path / "none")]) == 2
    assert re.search(r"--data '.*none' is not a folder", capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["journal", "journal/small.jsonl", "journal/lock"])
def test_something_else_in_the_place_of_results(
    small: Small, tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if place == "journal":
        (tmp_path / place).touch()
    else:
        (tmp_path / place).mkdir(parents=True)
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert re.search(rf"cannot use '.*{place}': .*--out must be a folder where you may write", error)
    assert "Errno" not in error


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder where nobody can write")
def test_a_folder_that_cannot_be_made(small: Small, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--out", "/proc/reproduction"]) == 2
    error = capsys.readouterr().err
    assert "/proc" in error
    assert "Errno" not in error


def test_the_time_left_is_on_the_bars(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with bars({"small": (1, 4), "large": (0, 2)}, jobs=1) as advance:
        advance("small", 60.0)
        advance("large", 3600.0)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)  # without colours
    for name, count, left in (("small", "2/4", "0:02:00"), ("large", "1/2", "1:00:00"), ("in all", "3/6", "1:02:00")):
        assert re.search(rf"{name} .* {count} {left} left", shown)


def test_elsewhere_there_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with bars({"small": (1, 4), "large": (0, 20)}, jobs=2) as advance:
        advance("small", 60.0)
        advance("large", 2.0)
        advance("large", 2.0)
    assert capsys.readouterr().err == "small: 2 of 4\nlarge: 2 of 20 (in all 0:01:18 left)\n"


def test_what_was_done_before_is_said_and_only_what_was_asked_for_is_printed(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--jobs", "1", "--out", str(tmp_path / "out"), "--data", str(with_data(tmp_path))]
    assert main(["reproduce", "small", *out]) == 0
    first = capsys.readouterr()
    assert "done before" not in first.err
    assert main(["reproduce", "with-data", *out]) == 0
    second = capsys.readouterr()
    assert second.out.count("errors fall") == first.out.count("errors fall") == 1
    assert main(["reproduce", *out]) == 0
    third = capsys.readouterr()
    assert "6 of 6 tasks were done before" in third.err
    assert third.out.count("errors fall") == 2


def test_an_interrupt_before_there_is_anything_writes_no_report(
    small: Small, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small.fails_at = 1
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 130
    assert not list(tmp_path.glob("*.*"))
    assert "Wrote" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("scale", "name"), [(["--quick"], "reproduction-quick"), ([], "reproduction"), (["--full"], "reproduction-full")]
)
def test_each_scale_has_a_folder_of_its_own(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: list[str], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "small", "--jobs", "1", *scale]) == 0
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_what_a_reader_has_to_know_of_the_data_is_there(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Small, "remark", lambda self, settings: "Data: not those of the paper.")
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert "<p><b>Data: not those of the paper.</b></p>" in (tmp_path / "report.html").read_text()
    assert "**Data: not those of the paper.**" in (tmp_path / "report.md").read_text()


def test_an_experiment_whose_data_are_missing_is_an_error_if_there_is_no_other(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KSPARSE_DATA", "")
    assert main(["reproduce", "with-data", "--jobs", "1", "--out", str(tmp_path / "out")]) == 2
    assert "rcv1.binary is not part of the package" in capsys.readouterr().err
    assert not (tmp_path / "out" / "report.html").exists()
