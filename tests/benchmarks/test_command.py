"""benchmarks/run.py rejects invalid options before it writes anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import run
from suite.cases import CASES, make_quick
from suite.results import describe_machine, read_machine, write_machine


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "nosuch", "--cases", "paths"], "no variant and method of paths match 'nosuch'"),
        (["--variants", "rcv1", "--cases", "paths"], "no variant and method of paths match 'rcv1'"),
        (["--seeds", "-1"], "--seeds -1: expected 0, 1, 2"),
        (["--threads", "0"], "--threads 0: expected numbers from 1 to"),
        (["--threads", "9999"], "--threads 9999: expected numbers from 1 to"),
        (["--report"], "contains no results"),
        (["--cases", "sparse_text"], "no case can be run"),
        (["--quick"], "--quick writes no files; omit --output"),
    ],
)
def test_invalid_options_are_rejected(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path / "missing"))
    with pytest.raises(SystemExit) as error:
        run.main([*arguments, "--output", str(tmp_path / "mine")])
    assert error.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


def test_output_must_not_be_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("kept")
    with pytest.raises(SystemExit):
        run.main(["--output", str(tmp_path / "mine")])
    assert "is a file; expected a folder" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "kept"


def test_results_of_two_machines_are_not_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = describe_machine() | {"memory": "1 GB"}
    write_machine(tmp_path)
    (tmp_path / "machine.json").write_text(json.dumps(other))
    (tmp_path / "paths.csv").write_text("")
    with pytest.raises(SystemExit):
        run.main(["--output", str(tmp_path)])
    assert "contains results of paths from another machine" in capsys.readouterr().err
    # A case that has none yet is described by a file of its own.
    write_machine(tmp_path, "families")
    assert json.loads((tmp_path / "machine.json").read_text()) == other
    assert read_machine(tmp_path, "families") == describe_machine()
    assert read_machine(tmp_path, "paths") == other


@pytest.mark.slow
def test_a_run_writes_only_to_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (run.ROOT / "docs" / "benchmarks.md").read_bytes()
    monkeypatch.setattr(run, "CASES", [make_quick(case) for case in CASES if case.name == "paths"])
    run.main(["--cases", "paths", "--methods", "ksparse", "--seeds", "0", "--threads", "1", "--output", str(tmp_path)])
    assert {path.name for path in tmp_path.iterdir()} >= {"benchmarks.md", "machine.json", "paths.csv"}
    assert (run.ROOT / "docs" / "benchmarks.md").read_bytes() == page
    assert "ksparse path" in capsys.readouterr().out


@pytest.mark.slow
def test_a_quick_run_has_only_the_requested_methods(capsys: pytest.CaptureFixture[str]) -> None:
    run.main(["--quick", "--cases", "paths", "--methods", "ksparse path"])
    fits = [line for line in capsys.readouterr().out.splitlines() if "seed 0" in line]
    assert len(fits) == 1
    assert "ksparse path" in fits[0]
