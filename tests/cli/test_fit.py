"""The command as a person meets it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from ksparse.cli import main


@pytest.mark.parametrize(("data", "feature"), [("breast-cancer", "worst"), ("diabetes", "bmi")])
def test_fit_prints_the_selected_features(capsys: pytest.CaptureFixture[str], data: str, feature: str) -> None:
    assert main(["fit", "--data", data, "--k", "4"]) == 0
    out = capsys.readouterr().out
    rows = re.findall(r"^  (.+?)  +([+-]\d+\.\d{4})$", out, flags=re.M)
    assert len(rows) == 5
    sizes = [abs(float(coefficient)) for _, coefficient in rows[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert feature in out
    assert "k = 4" in out
    assert "on test data" in out
    scores = [float(score) for score in re.findall(r"(\d\.\d{3}) on", out)]
    assert min(scores) > (0.9 if data == "breast-cancer" else 0.3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "-1"], "k must be at least 0"),
        (["--alpha", "-2"], "alpha must be finite and at least 0"),
        (["--test", "1.5"], "--test must lie between 0 and 1"),
    ],
)
def test_bad_options_give_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["fit", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert message in captured.err


def test_unknown_options_give_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["fit", "--data", "iris"], ["fit", "--k", "many"], ["unfit"], []):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2
        assert "usage: ksparse" in capsys.readouterr().err


def test_the_module_runs_as_a_command() -> None:
    done = subprocess.run([sys.executable, "-m", "ksparse", "fit"], capture_output=True, text=True, check=True)
    assert "breast-cancer" in done.stdout
    assert done.stderr == ""
