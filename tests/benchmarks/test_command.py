"""benchmarks/run.py refuses what would run nothing or mix things up, before anything is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import run
from suite.cases import CASES, quick
from suite.results import machine, write_machine


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--methods", "nosuch", "--cases", "paths"], "no method and variant of paths has a name with 'nosuch'"),
        (["--variants", "rcv1", "--cases", "paths"], "no method and variant of paths has a name with 'rcv1'"),
        (["--seeds", "-1"], "--seeds -1: expected 0, 1, 2"),
        (["--threads", "0"], "--threads 0: expected numbers from 1 to"),
        (["--threads", "9999"], "--threads 9999: expected numbers from 1 to"),
        (["--report"], "has no results to report"),
        (["--cases", "sparse_text"], "nothing is left to run"),
        (["--quick"], "--quick writes nothing; leave out --output"),
    ],
)
def test_what_is_refused(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(SystemExit) as stopped:
        run.main([*arguments, "--output", str(tmp_path / "mine")])
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


def test_an_output_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(SystemExit):
        run.main(["--output", str(tmp_path / "mine")])
    assert "is a file; give a folder" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "kept"


def test_results_of_two_machines_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_machine(tmp_path)
    (tmp_path / "machine.json").write_text(json.dumps(machine() | {"memory": "1 GB"}))
    with pytest.raises(SystemExit):
        run.main(["--output", str(tmp_path)])
    assert "has results of another machine" in capsys.readouterr().err


def test_a_run_writes_to_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (run.ROOT / "docs" / "benchmarks.md").read_bytes()
    monkeypatch.setattr(run, "CASES", [quick(case) for case in CASES if case.name == "paths"])
    run.main(["--cases", "paths", "--methods", "ksparse", "--seeds", "0", "--threads", "1", "--output", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} >= {"benchmarks.md", "machine.json", "paths.csv"}
    assert (run.ROOT / "docs" / "benchmarks.md").read_bytes() == page
    assert "ksparse path" in capsys.readouterr().out
