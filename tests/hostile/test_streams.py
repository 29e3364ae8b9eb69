"""Standard streams that are closed, full or broken, and warnings of libraries: never a traceback, one line at most."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse.cli import main, program
from ksparse.cli.settings import FILES
from ksparse.cli.streams import occupy_descriptors, prepare_streams, write_error, write_output
from tests.cli.helpers import refused

from .outputs import make_quick_fit, save_model

CLOSED = "cannot write to standard output: it is closed"


class Full(io.RawIOBase):
    """A device on which no byte fits, as /dev/full."""

    def writable(self) -> bool:
        return True

    def write(self, _: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def make_full() -> io.TextIOWrapper:
    """A text stream that learns only when it is flushed that nothing fits."""
    buffer: Any = io.BufferedWriter(Full(), 1 << 20)
    return io.TextIOWrapper(buffer, encoding="utf-8")


def drop(stream: io.TextIOWrapper) -> None:
    """Close a full stream without the error that comes with it."""
    with pytest.raises(OSError, match="No space left"):
        stream.close()


# --- closed ---------------------------------------------------------------------------------------------------------


def test_a_closed_output_is_found_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    for arguments in (
        ["fit", "nothing.csv"],
        ["predict", "none.json", "nothing.csv"],
        ["predict", "none.json", "nothing.csv", "--out", "-"],
        ["predict", "none.json", "nothing.csv", "--out", "/dev/fd/1"],
        ["--help"],
        ["fit", "--help"],
        ["--version"],
    ):
        assert main(arguments) == 2, arguments
        line = capsys.readouterr().err
        assert line.startswith(f"ksparse: {CLOSED}; ")
        assert line.count("\n") == 1
    assert sys.stdout is None


def test_files_are_written_without_an_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = save_model(tmp_path)
    fit = make_quick_fit(monkeypatch)
    for closed in (["stdout"], ["stderr"], ["stdout", "stderr"], ["stdin", "stdout", "stderr"]):
        with monkeypatch.context() as patch:
            for name in closed:
                patch.setattr(sys, name, None)
            folder, file = tmp_path / "-".join(closed), tmp_path / f"{len(closed)}.csv"
            assert main([*fit, "--out", str(folder)]) == 0
            assert main(["predict", str(model), str(data), "--out", str(file)]) == 0
        assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
        assert file.read_text().count("\n") == 3
    assert capsys.readouterr().err == ""


def test_errors_without_a_place_for_them(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["fit", "nothing.csv"]) == 2
    assert main(["predict", "none.json", "nothing.csv"]) == 2
    with pytest.raises(SystemExit, match="2"):
        main(["fit", "--k", "many"])
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["--help"]) == 2
    assert capsys.readouterr().out == ""


def run_closed(redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    shell = f'exec "$0" -m ksparse "$@" {redirection}'
    return subprocess.run(
        ["bash", "-c", shell, sys.executable, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_a_shell_closes(redirection: str, tmp_path: Path) -> None:
    fit = ("fit", "diabetes", "--k", "1", "--alpha", "0", "--resamples", "0")
    done = run_closed(redirection, *fit, "--out", str(tmp_path / "out"))
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    done = run_closed(redirection, *fit)
    says = f"ksparse: {CLOSED}; give --out DIR to write a report and the model\n"
    without_output = ">&-" in redirection.split()
    assert done.returncode == (2 if without_output else 0)
    assert done.stderr == (says if redirection == ">&-" else "")
    assert ("with 1 of 10 features" in done.stdout) == (not without_output)


@pytest.mark.slow
def test_no_file_gets_the_number_of_a_closed_stream() -> None:
    program = "import os; from ksparse.cli.streams import *; occupy_descriptors(); os._exit(os.open('.', os.O_RDONLY))"
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(["bash", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, program], check=False)
        assert done.returncode >= 3
    occupy_descriptors()  # nothing to do
    with open(os.devnull) as file:
        assert file.fileno() >= 3


# --- full and broken ------------------------------------------------------------------------------------------------


def test_a_full_output_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = save_model(tmp_path)
    fit = make_quick_fit(monkeypatch)
    for arguments in (fit, ["predict", str(model), str(data)], ["--help"], ["fit", "--help"], ["--version"]):
        full = make_full()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", full)
            assert main(arguments) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err == (
            "ksparse: cannot write to standard output: No space left on device; direct it elsewhere\n"
        )
        drop(full)


def test_a_full_place_for_errors_hides_them(monkeypatch: pytest.MonkeyPatch) -> None:
    full = make_full()
    monkeypatch.setattr(sys, "stderr", full)
    assert main(["fit", "nothing.csv"]) == 2
    monkeypatch.undo()
    drop(full)


def test_a_broken_pipe_is_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data = save_model(tmp_path)
    for arguments in (["predict", str(model), str(data)], ["fit", "--help"]):
        reader, writer = os.pipe()
        os.close(reader)
        with monkeypatch.context() as patch, open(writer, "w") as stream:
            patch.setattr(sys, "stdout", stream)
            assert main(arguments) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["fit", "diabetes", "--k", "1", "--alpha", "0"]])
def test_python_does_not_complain_when_it_exits(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The buffer that could not be written must not be written again: a file that is open for reading takes nothing."""
    (tmp_path / "file").write_text("")
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with (tmp_path / "file").open() as readable:
        command = [sys.executable, "-m", "ksparse", *arguments]
        done = subprocess.run(command, stdout=readable, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr == "ksparse: cannot write to standard output: Bad file descriptor; direct it elsewhere\n"


@pytest.mark.slow
def test_python_does_not_complain_of_a_broken_place_for_errors(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (tmp_path / "file").open() as readable:
        command = [sys.executable, "-m", "ksparse", "fit", "nothing.csv"]
        assert subprocess.run(command, stderr=readable, check=False).returncode == 2


def test_letters_that_a_stream_lacks_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    buffers = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(buffer, encoding="ascii") for buffer in buffers]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    with prepare_streams():
        write_output("R²")
        write_error("k ≥ 0")
    monkeypatch.undo()
    assert [buffer.getvalue() for buffer in buffers] == [b"R\\xb2", b"k \\u2265 0"]


# --- warnings -------------------------------------------------------------------------------------------------------


def test_predictions_that_are_too_large_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.default_rng(0).standard_normal((40, 2))
    model: Any = ksparse.SparsePoissonRegression(k=1, alpha=0.1).fit(X, np.round(np.exp(X[:, 0])))
    ksparse.save(model, tmp_path / "model.json")
    (tmp_path / "new.csv").write_text("a,b\n1,1\n1e6,1\n1e90,2\n-1e90,3\n")
    assert main(["predict", str(tmp_path / "model.json"), str(tmp_path / "new.csv")]) == 0
    captured = capsys.readouterr()
    assert captured.out.split()[2:] == ["inf", "inf", "0"]
    assert captured.err == (
        "ksparse: 2 of 4 rows have predictions that are not finite: they are too large for a number\n"
    )


def test_probabilities_that_are_not_numbers_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.default_rng(0).standard_normal((40, 2))
    model: Any = ksparse.SparseLogisticRegression(k=2).fit(X, np.where(X[:, 0] > X[:, 1], "yes", "no"))
    model.coef_ = model.coef_ * 1e250  # one feature times 1e90 is +inf, the other -inf
    ksparse.save(model, tmp_path / "model.json")
    (tmp_path / "new.csv").write_text("a,b\n1e90,1e90\n1e-250,0\n")
    assert main(["predict", str(tmp_path / "model.json"), str(tmp_path / "new.csv")]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1].endswith(",nan,nan")
    assert captured.err.startswith("ksparse: 1 of 2 rows have predictions that are not finite")


@pytest.mark.parametrize("task", ["huber", "regression", "poisson"])
def test_one_row_is_refused(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.svm").write_text("3 1:1 2:2\n")
    options = ["--task", task, "--test", "0", "--k", "1", "--alpha", "0"]
    assert "the target 'label' is 3 in all rows" in refused(capsys, "fit", tmp_path / "one.svm", *options)
    (tmp_path / "one.csv").write_text("a,b,y\n1,2,3\n")
    assert "the target 'y' is 3 in all rows" in refused(capsys, "fit", tmp_path / "one.csv", "--target", "y", *options)


@pytest.mark.parametrize("asked", [False, True])
def test_warnings_are_hidden_unless_they_are_asked_for(asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "warnoptions", ["error"] if asked else [])
    monkeypatch.delenv("PYTHONWARNINGS", raising=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program._hide_warnings()
        warnings.warn("for programmers", RuntimeWarning, stacklevel=1)
    assert len(caught) == asked
    assert os.environ.get("PYTHONWARNINGS") == (None if asked else "ignore")
