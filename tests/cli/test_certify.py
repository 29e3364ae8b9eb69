"""``ksparse fit --certify``: what is proved, in words, on the terminal and in the report."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.certificates import ExactResult, Progress, ProofStatus, prove
from ksparse.cli import certifying, main
from ksparse.cli.certifying import describe_progress, describe_proof
from ksparse.cli.summary import list_meanings

from .helpers import accepted, good_table


def make_proof(status: str, lower: float, value: float = 2.0) -> ExactResult:
    none: Any = np.array([])
    return ExactResult(none, none, value, lower, 0.0, ProofStatus(status), 1200, 5, (), False, 12.5)


def test_words_of_proofs() -> None:
    models = "model with 5 columns"
    took = r"\(1,200 parts of the search, 12\.50 s\)\.$"
    other = "with 'a' in place of 'b'"

    def describe(status: str, lower: float, value: float = 2.0) -> str:
        return describe_proof(make_proof(status, lower), value, models, other, 60.0)

    best = describe("optimal", 1.99995)
    assert re.match(r"Proved to be the best model with 5 columns: none .* more than 0\.01 % lower", best)
    assert re.search(took, best)
    open_ = describe("time_limit", 1.976)
    assert open_.startswith(
        "No model with 5 columns can have a loss more than 1.2 % lower; whether one has a lower loss"
    )
    assert "not known after 60 s; more time" in open_
    assert "after Ctrl-C;" in describe("stopped", 1.976)
    nothing = describe("no_bound", 0.0)
    assert nothing.startswith(
        "Nothing useful is proved: how much lower the loss of another model with 5 columns may be"
    )
    rounding = describe("optimal", 1.99995, 2.0 + 1e-9)
    assert rounding == best


def test_words_where_the_proof_finds_a_better_model() -> None:
    """All is relative to the loss of the fitted model, which is not called the best one."""
    models, other = "model with 5 columns", "with 'a' in place of 'b'"

    def describe(status: str, lower: float) -> str:
        text = describe_proof(make_proof(status, lower), 2.1, models, other, 60.0)
        start = (
            f"Not the best {models}: one {other} has a loss 4.8 % lower. --effort 3 looks longer for it, and --always "
        )
        assert text.startswith(start)
        assert "Proved" not in text
        return text

    assert "It is proved that none has a loss more than 4.8 % lower (1,200 parts" in describe("optimal", 1.99995)
    left = describe("time_limit", 1.785)
    assert f"No {models} can have a loss more than 15 % lower; whether another one has a still lower loss is" in left
    assert f"how much lower the loss of another {models} may be is not known" in describe("no_bound", 0.0)


def test_a_better_model_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=X[:, 1] + 0.8 * X[:, 3] + 0.5 * rng.standard_normal(60))
    frame.to_csv(tmp_path / "a.csv", index=False)

    def prove_of_worse(form: Any, units: Any, x: Any, value: float, **options: Any) -> ExactResult:
        proof = prove(form, units, x, value, **options)
        return replace(proof, selected=np.array([0, 3]), value=0.9 * value, lower_bound=0.9 * value)

    monkeypatch.setattr(certifying, "prove", prove_of_worse)
    options = ("fit", tmp_path / "a.csv", "--target", "y", "--k", "2", "--alpha", "0.1", "--certify")
    out = accepted(capsys, *options, "--out", tmp_path / "out")
    line = "Not the best model with 2 features: one with 'a' in place of 'b' has a loss 10 % lower."
    assert line in out
    assert "Proved" not in out
    assert html.unescape((tmp_path / "out/report.html").read_text()).count(line) >= 1


def test_progress_has_gap_parts_and_rate() -> None:
    line = describe_progress(Progress(2.0, 5000, 700, 1.0, 0.75, 0.25))
    assert line == "at most 25 % lower, 5,000 parts, 2,500 a second"


def test_the_proof_is_printed_and_in_the_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text(good_table())
    out = accepted(capsys, "fit", "a.csv", "--target", "outcome", "--k", "2", "--certify", "--out", "out")
    line = re.findall(r"^Proved to be the best model with 2 features.*$", out, flags=re.M)
    assert len(line) == 1
    page = Path("out/report.html").read_text()
    assert "Proved to be the best model with 2 features" in page
    without = accepted(capsys, "fit", "a.csv", "--target", "outcome", "--k", "2", "--out", "out")
    assert "Proved" not in without
    assert "none was asked for" in Path("out/report.html").read_text()


def test_what_is_compared_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Columns that are always selected, and the ridge, if that of the coefficients is another one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=X[:, 1] + 0.1 * rng.standard_normal(60))
    frame.to_csv(tmp_path / "a.csv", index=False)
    options = ("fit", tmp_path / "a.csv", "--target", "y", "--k", "1", "--certify")
    out = accepted(capsys, *options, "--always", "d", "--alpha", "0.1")
    assert "Proved to be the best model with 1 feature that has 'd': none has" in out
    assert "Losses are compared" not in out
    out = accepted(capsys, *options)
    selecting = re.search(r"ridge penalty (\S+) while selecting", out)
    assert ("Losses are compared with the ridge penalty while selecting" in out) == (selecting is not None)
    assert selecting is None or f"while selecting, {selecting[1]}." in out


def test_models_without_proofs_say_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    rows = [f"{a:.3f},{b:.3f},{c:.3f},{np.exp(a):.3f},{int(b > 0)}" for a, b, c in X]
    (tmp_path / "a.csv").write_text("\n".join(["a,b,c,days,died", *rows]))
    out = accepted(capsys, "fit", tmp_path / "a.csv", "--time", "days", "--event", "died", "--k", "1", "--certify", "1")
    assert "Nothing is proved: there are no proofs for the loss of Cox" in out


def test_seconds_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--certify", "data.csv"])
    assert stop.value.code == 2
    assert "expected a number of seconds ≥ 0, such as 60 (DATA goes first), got 'data.csv'" in capsys.readouterr().err


def test_advice_on_effort_names_the_option() -> None:
    """That of a summary in Python is about a parameter."""
    note = "The solver has not found the best model; try effort=1 or more"
    fitted: Any = SimpleNamespace(
        summary=SimpleNamespace(notes=[note], units=[]), settings=SimpleNamespace(resamples=0), resamples=0
    )
    assert list_meanings(fitted) == ["- The solver has not found the best model; try --effort 1 or more"]
