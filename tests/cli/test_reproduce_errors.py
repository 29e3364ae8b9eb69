"""``ksparse reproduce`` when things go wrong: nothing is lost, and what to do is said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ksparse.cli import main, reproduce
from ksparse.experiments import Picture
from ksparse.experiments.journal import alone
from ksparse.experiments.running import KILLED, Work

from .small_experiment import Small, WithData, command, with_data


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


def test_an_experiment_whose_data_are_missing_is_an_error_if_there_is_no_other(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KSPARSE_DATA", "")
    assert main(["reproduce", "with-data", "--jobs", "1", "--out", str(tmp_path / "out")]) == 2
    assert "rcv1.binary is not part of the package" in capsys.readouterr().err
    assert not (tmp_path / "out" / "report.html").exists()
    assert not (tmp_path / "out").exists()


def test_a_second_interrupt_costs_the_report_only(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    small.fails_at = 3
    monkeypatch.setattr(reproduce.ReproduceCommand, "_finish", interrupted)
    assert main(["reproduce", "small", "--jobs", "1", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err.endswith("ksparse: interrupted; the same command goes on where it stopped\n")


def test_an_experiment_that_was_not_begun_has_no_results(small: Small, tmp_path: Path) -> None:
    small.fails_at = 2
    arguments = ["reproduce", "--jobs", "1", "--out", str(tmp_path / "out"), "--data", str(with_data(tmp_path))]
    other = vars(reproduce)["EXPERIMENTS"][1]
    assert isinstance(other, WithData)
    other.fails_at = 1
    assert main(arguments) == 130
    assert (tmp_path / "out" / "small.csv").exists()
    assert not (tmp_path / "out" / "with-data.csv").exists()
    assert "This experiment was not begun." in (tmp_path / "out" / "report.md").read_text()


def test_unknown_arguments_come_with_the_usage_of_the_command(small: Small, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["reproduce", "--fast"])
    error = capsys.readouterr().err
    assert "usage: ksparse reproduce" in error
    assert "unrecognized arguments: --fast" in error


@pytest.mark.parametrize("command", ["reproduce", "fit"])
def test_folders_that_are_none(small: Small, tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([command, "--out", ""])
    assert "expected the name of a folder, got ''" in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main([command, "--out", str(tmp_path / "file" / "below")]) == 2
    assert re.search(r"--out '.*below' is below '.*file', which is a file; give a folder", capsys.readouterr().err)
