"""Text from a stranger: nothing that a terminal obeys or a spreadsheet runs, and no line without end."""

from __future__ import annotations

import csv
import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ksparse import SparseLinearRegression
from ksparse.cli import main
from ksparse.cli.prediction_tables import protect_label
from ksparse.persistence import dumps, load, loads
from ksparse.wording import cut_text, quote_list
from tests.cli.helpers import accepted, refused

from .models import make_labels, make_model

#: Escape sequences, C1 controls, and marks that change the direction of text.
EVIL = "\x1b]0;pwned\x07\x1b[31m\x9b2J\u202eevil\u2066\x00\x7f"
CLEAN = EVIL.replace("\x00", "")
#: Before Python 3.11, the writer of CSV takes no NUL.
LABEL = EVIL if sys.version_info >= (3, 11) else CLEAN


def is_harmless(text: str) -> bool:
    return all(line.isprintable() for line in text.replace("\r\n", "\n").split("\n"))


def write_table(path: Path, column: str = "x", labels: tuple[str, str] = ("a", "b")) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([column, "noise", "y"])
        writer.writerows([i % 5 + 3 * (i % 2), i * i % 7, labels[i % 2]] for i in range(40))


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def run_on_terminal(*arguments: str | Path) -> str:
    """What a command writes to a terminal."""
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "ksparse", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=child, stderr=child, stdin=child, env=os.environ | {"TERM": "dumb"}
    ) as process:
        os.close(child)
        parts = []
        while True:
            try:
                part = os.read(parent, 2**16)
            except OSError:  # how a terminal ends
                break
            if not part:
                break
            parts.append(part)
    os.close(parent)
    assert process.returncode is not None
    return b"".join(parts).decode()


def test_fit_shows_no_control_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tmp_path / "a.csv", CLEAN, (CLEAN, "b" + CLEAN))
    out = accepted(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--k", "1", "--out", tmp_path / "o")
    assert is_harmless(out)
    assert "\\x1b[31m" in out
    page = (tmp_path / "o" / "report.html").read_text()
    assert not any(letter in page for letter in "\x1b\x07\x9b\u202e\u2066\x7f")
    for options in ([], ["--target", EVIL], ["--target", "y", "--drop", EVIL], ["--target", "y", "--task", "poisson"]):
        assert is_harmless(refused(capsys, "fit", tmp_path / "a.csv", *options))


def test_a_file_with_nul_characters_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pandas ends a cell at a NUL, so that labels with one would be mixed up."""
    write_table(tmp_path / "a.csv", "x", ("a|b", "a|c"))
    (tmp_path / "a.csv").write_text((tmp_path / "a.csv").read_text().replace("|", "\0"))
    assert "has NUL characters" in refused(capsys, "fit", tmp_path / "a.csv", "--target", "y")


@pytest.mark.slow
def test_predictions_keep_labels_in_files_and_escape_them_on_terminals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("1,b,c\n1,2,3\n-9,2,3\n")
    (tmp_path / "m.json").write_text(make_model(classes_=make_labels([LABEL, "other" + LABEL])))
    rows = read(accepted(capsys, "predict", tmp_path / "m.json", tmp_path / "a.csv"))
    assert rows[0] == ["prediction", f"probability_{LABEL}", f"probability_other{LABEL}"]
    assert {row[0] for row in rows[1:]} == {LABEL, f"other{LABEL}"}
    shown = run_on_terminal("predict", tmp_path / "m.json", tmp_path / "a.csv")
    assert is_harmless(shown)
    assert "\\x1b]0;pwned" in shown
    assert shown.count("\\u202eevil") == 4


def test_errors_of_models_show_no_control_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("1,b,c\n1,2,3\n")
    for text in (
        make_model(solver={"GraHTP": {EVIL: 1}}),
        make_model(solver={EVIL: 1}),
        make_model(**{EVIL: 1}),
        make_model(_sklearn_version=EVIL),
        make_model(_sklearn_version="9" * 1000),
        make_model().replace('"ksparse-model"', f'"{EVIL[2:5]}"'),
        make_model(feature_names_in_=make_labels([EVIL, "b", "c"])),
        make_model(result_={"Status": {"value": EVIL}}),
    ):
        (tmp_path / "m.json").write_text(text)
        line = refused(capsys, "predict", tmp_path / "m.json", tmp_path / "a.csv")
        assert is_harmless(line)
        assert len(line) < 700


def test_formulas_get_an_apostrophe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("1,b,c\n1,2,3\n-9,2,3\n")
    (tmp_path / "m.json").write_text(make_model(classes_=make_labels(['=HYPERLINK("x")', "@SUM(1)"])))
    rows = read(accepted(capsys, "predict", tmp_path / "m.json", tmp_path / "a.csv"))
    assert rows[0] == ["prediction", 'probability_=HYPERLINK("x")', "probability_@SUM(1)"]
    assert {row[0] for row in rows[1:]} == {'\'=HYPERLINK("x")', "'@SUM(1)"}
    accepted(capsys, "predict", tmp_path / "m.json", tmp_path / "a.csv", "--out", tmp_path / "p.csv")
    assert read((tmp_path / "p.csv").read_text()) == rows


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd", "-cmd", "@SUM(1)", "\t=1", "\r=1", "\n=1", "-1+1", "+1|2", "-inf", "=1\n"]
)
def test_what_a_spreadsheet_would_run(text: str) -> None:
    assert protect_label(text) == f"'{text}"
    assert protect_label(f"'{text}") == f"''{text}"  # labels remain distinct


@pytest.mark.parametrize(
    "label", ["ill", "-1", "+1.5e-3", "-.5", "-", "+", "", "'", "'tis", "a=b", "-1.", 3, -1.5, True]
)
def test_other_labels_stay_as_they_are(label: object) -> None:
    assert protect_label(label) == label


def test_long_names_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(tmp_path / "a.csv", "x" * 100_000, ("a" * 100_000, "b" * 100_000))
    out = accepted(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--k", "1", "--out", tmp_path / "o")
    assert len(out) < 8000
    assert len((tmp_path / "o" / "report.html").read_text()) < 1.5 * 10**6  # the library for charts has 1.2 MB
    assert set(load(tmp_path / "o" / "model.json").classes_) == {"a" * 100_000, "b" * 100_000}
    assert cut_text("a" * 59 + "b") == "a" * 59 + "b"
    assert len(cut_text("a" * 61)) == 60
    assert len(cut_text("\x1b" * 10**6)) == 60


@pytest.mark.slow
def test_many_columns_are_not_all_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"column {j}" for j in range(1000)]
    rows = [",".join([f"text {row}"] * 1000) + f",{row}\n" for row in range(30)]
    (tmp_path / "a.csv").write_text(",".join(names) + ",y\n" + "".join(rows))
    for options in (["--target", "y"], [], ["--target", "nothing like it"]):
        line = refused(capsys, "fit", tmp_path / "a.csv", *options)
        assert len(line) < 2000
        assert "more" in line
    assert "… and 993 more" in line
    (tmp_path / "b.csv").write_text(
        "a" + "," * 1000 + "y\n" + "".join(f"{i * i}{',' * 1000}{i % 2}.5\n" for i in range(15))
    )
    out = accepted(capsys, "fit", tmp_path / "b.csv", "--target", "y", "--k", "1", "--task", "regression")
    assert "Columns 2, 3, 4, 5, 6, 7, 8, 9, … and 991 more have no name" in out
    assert quote_list("abc", 2) == "'a', 'b', … and 1 more"


def test_errors_in_python_show_no_control_characters() -> None:
    for text in ("{}", make_model(solver={"GraHTP": {EVIL: 1}}), make_model(_sklearn_version=EVIL)):
        with pytest.raises(ValueError, match="not a model") as caught:
            loads(text, name=EVIL)
        assert is_harmless(str(caught.value))


def test_a_model_of_another_scikit_learn_is_a_warning_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    X = np.random.default_rng(0).standard_normal((20, 2))
    text = dumps(make_pipeline(StandardScaler(), SparseLinearRegression(k=1)).fit(X, X[:, 0]))
    (tmp_path / "m.json").write_text(text.replace(f'"{sklearn.__version__}"', '"1.0"'))
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "a.csv")]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("prediction\n")
    assert "saved with scikit-learn 1.0" in captured.err
    assert captured.err.count("\n") == 1
