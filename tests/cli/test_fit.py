"""``ksparse fit`` as a person meets it: every reader, what is printed, what is written."""

from __future__ import annotations

import bz2
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris
from sklearn.model_selection import train_test_split

from ksparse import SparseLinearRegression
from ksparse.cli import main
from ksparse.cli.settings import FILES
from ksparse.persistence import load

from .helpers import NAMES, accepted, class_table, good_table, numbers, response, table


def coefficients(out: str) -> dict[str, list[float]]:
    """Names and first numbers of the rows of the table of features: the coefficient, and per standard deviation."""
    table = re.findall(r"^Feature .*\n─+\n((?:.+\n)+)", out, flags=re.M)[0]
    table = re.sub(r"\S+ to \S+", "", table)  # intervals
    number = r"-?[\d.]\S*(?!\S| %)"
    rows = re.findall(rf"^ *(\S+(?: \S+)*) {{2,}}({number}(?: {{2,}}{number})*)", table, flags=re.M)
    return {name: [float(number) for number in values.split()] for name, values in rows}


@pytest.mark.parametrize(
    ("data", "feature", "score"), [("breast-cancer", "worst concave points", "Accuracy"), ("diabetes", "bmi", "R²")]
)
def test_built_in_data(capsys: pytest.CaptureFixture[str], data: str, feature: str, score: str) -> None:
    out = accepted(capsys, "fit", data, "--k", "4")
    rows = coefficients(out)
    assert feature in rows
    assert list(rows)[-1] == "(intercept)"
    assert len(rows) == 5
    losses = [float(loss) for loss in re.findall(r"^\S.* \d+ % +([\d.]+) % ", out, flags=re.M)]
    assert len(losses) == 4
    assert losses == sorted(losses, reverse=True)
    assert "with 4 of" in out
    assert re.search(rf"^{score} +0\.\d{{3}} +0\.\d{{3}} +0\.\d{{3}} to 0\.\d{{3}}$", out, flags=re.M)
    assert re.search(r"^The search is complete \([\d.]+ s\)$", out, flags=re.M)
    assert all(line == line.rstrip() for line in out.splitlines())


@pytest.mark.slow
def test_the_default_is_breast_cancer(capsys: pytest.CaptureFixture[str]) -> None:
    without = accepted(capsys, "fit").splitlines()
    assert without[:-1] == accepted(capsys, "fit", "breast_cancer").splitlines()[:-1]


TEXT = good_table()
VARIANTS = {
    "a.csv": TEXT.encode(),
    "a.txt": good_table("\t", "\r\n").encode(),
    "a.tsv": good_table("\t").encode().rstrip(),
    "semicolon.csv": good_table(";").encode(),
    "bom.CSV": TEXT.encode("utf-8-sig"),
    "a.csv.gz": gzip.compress(TEXT.encode()),
    "b.CSV.GZ": gzip.compress(TEXT.encode()),
    "a.tsv.bz2": bz2.compress(good_table("\t").encode()),
    "quotes.csv": re.sub(r"([^,\n]+)", r'"\1"', TEXT).encode(),
    "blank.csv": ("\n" + TEXT.replace("\n", "\n\n", 3) + "\n\n").encode(),
    "spaces.csv": TEXT.replace(",", " , ").encode(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_every_way_to_write_a_table_reads_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(VARIANTS[name])
    out = accepted(
        capsys, "fit", tmp_path / name, "--target", "outcome", "--k", "2", "--test", "0", "--out", tmp_path / "o"
    )
    X = numbers()
    direct = SparseLinearRegression(k=2).fit(X, response(X))
    model: Any = load(tmp_path / "o" / "model.json")
    np.testing.assert_allclose(model[-1].coef_, direct.coef_, rtol=1e-6)
    np.testing.assert_allclose(model[-1].intercept_, direct.intercept_, rtol=1e-6)
    assert model.feature_names_in_.tolist() == NAMES
    rows = coefficients(out)
    assert set(rows) == {"dose", "weight", "(intercept)"}
    for feature in ("dose", "weight"):
        column = NAMES.index(feature)
        expected = direct.coef_[column] * np.array([1, X[:, column].std()])
        np.testing.assert_allclose(rows[feature][:2], expected, rtol=1e-3)


def test_parquet_reads_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X = numbers()
    columns = {name: X[:, j] for j, name in enumerate(NAMES)} | {"flag": X[:, 0] > 40, "count": np.arange(60)}
    parquet.write_table(arrow.table(columns | {"outcome": response(X)}), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text(TEXT)
    options = ["--target", "outcome", "--k", "2"]
    first = accepted(capsys, "fit", tmp_path / "a.csv", *options)
    second = accepted(capsys, "fit", tmp_path / "a.parquet", *options)
    assert coefficients(first) == coefficients(second)
    assert "Left out: count (it numbers the rows from 0 to 59)" in second
    parquet.write_table(arrow.table(columns | {"outcome": X[:, 1] > 0}), tmp_path / "b.parquet")
    assert "the target is true or false" in accepted(capsys, "fit", tmp_path / "b.parquet", *options)
    text = arrow.array(np.where(X[:, 1] > 0, "up", "down")).dictionary_encode()
    parquet.write_table(arrow.table(columns | {"outcome": text}), tmp_path / "c.parquet")
    assert "log-odds of 'up' versus 'down'; --positive 'down' turns this round." in accepted(
        capsys, "fit", tmp_path / "c.parquet", *options
    )


@pytest.mark.slow
@pytest.mark.parametrize(("first", "ending"), [(0, ".svm"), (1, ".svmlight"), (0, ".libsvm.gz"), (1, ".svm.bz2")])
def test_svmlight_stays_sparse(first: int, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = np.where(np.random.default_rng(2).random((80, 30)) < 0.8, 0.0, 2.0)
    X[0, 0] = 1.0
    y = 3 * X[:, 7] - 2 * X[:, 11] + 0.01 * np.random.default_rng(3).standard_normal(80)
    dump_svmlight_file(X, y, str(tmp_path / "a"), zero_based=first == 0)
    pack: Any = {".gz": gzip.compress, ".bz2": bz2.compress}.get(Path(ending).suffix, bytes)
    (tmp_path / f"a{ending}").write_bytes(pack((tmp_path / "a").read_bytes()))
    out = accepted(capsys, "fit", tmp_path / f"a{ending}", "--k", "2", "--alpha", "0.01", "--out", tmp_path / "o")
    assert set(coefficients(out)) == {str(7 + first), str(11 + first), "(intercept)"}
    assert "80 rows, 30 features" in out
    predicted = accepted(capsys, "predict", tmp_path / "o" / "model.json", tmp_path / f"a{ending}").split()[1:]
    np.testing.assert_allclose(np.array(predicted, dtype=float), y, atol=0.1)
    without = accepted(capsys, "fit", tmp_path / f"a{ending}", "--k", "2", "--alpha", "0.01", "--drop", str(7 + first))
    assert str(7 + first) not in coefficients(without)


TASKS: dict[str, tuple[Any, str]] = {
    "text": (lambda y: np.where(y > 1.4, "ill", "well"), "classification (since the target is text"),
    "two": (lambda y: np.where(y > 1.4, 1.5, 2.5), "classification (since the target has 2 distinct values"),
    "few": (lambda y: np.digitize(y, [0, 2]), "classification (since the target has only 3 distinct integers"),
    "three fractions": (lambda y: np.digitize(y, [0, 2]) / 2, "regression"),
    "true": (lambda y: y > 1.4, "classification (since the target is true or false"),
    "numbers": (lambda y: y, "regression (since the target has many distinct numbers"),
}


@pytest.mark.parametrize("name", TASKS)
def test_the_task_follows_from_the_target(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make, expected = TASKS[name]
    X = numbers()
    (tmp_path / "a.csv").write_text(table(X, [str(value) for value in make(response(X)).tolist()]))
    out = accepted(capsys, "fit", tmp_path / "a.csv", "--target", "outcome", "--k", "1", "--test", "0.4")
    assert f"Task: {expected}" in out
    assert "use --task to change this" in out


def test_every_task_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X = numbers()
    counts = np.random.default_rng(0).poisson(np.exp(0.3 * response(X)))
    (tmp_path / "a.csv").write_text(table(X, [str(count) for count in counts.tolist()]))
    for task, score in (("poisson", "D² (deviance)"), ("huber", "Median |error|"), ("regression", "R²")):
        out = accepted(capsys, "fit", tmp_path / "a.csv", "--target", "outcome", "--task", task, "--k", "2")
        assert f"Task: {task} (set by --task)" in out
        assert f"\n{score} " in out


def test_true_and_false_columns_are_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        f"{flag},{number / 2},{2.5 * (flag == 'True') + 0.01 * number}"
        for number, flag in enumerate(["True", "False", "False"] * 9)
    ]
    (tmp_path / "a.csv").write_text("flag,x,y\n" + "\n".join(rows))
    assert coefficients(accepted(capsys, "fit", tmp_path / "a.csv", "--target", "y"))["flag"][0] == pytest.approx(2.5)
    (tmp_path / "a.csv").write_text("flag,x,y\n" + "\n".join([*rows, "maybe,1,2"]))
    out = accepted(capsys, "fit", tmp_path / "a.csv", "--target", "y", "--k", "2", "--resamples", "0")
    assert "Text as categories: flag (2 values, rare ones together)" in out
    assert coefficients(out)["flag=True"][0] == pytest.approx(2.5, abs=0.1)


def test_always_drop_and_large_k(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text(class_table().replace("noise", '"noise, or so"', 1))
    start: list[str | Path] = ["fit", tmp_path / "a.csv", "--target", "outcome"]
    assert "noise, or so" in coefficients(accepted(capsys, *start, "--k", "2", "--always", "noise, or so"))
    out = accepted(capsys, *start, "--k", "9", "--drop", "age,height", "--drop", "noise, or so")
    assert set(coefficients(out)) == {"dose", "weight", "(intercept)"}
    assert "--k 9 is more than the 2 features" in out


def test_k_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("fit", "diabetes", "--alpha", "0", "--seed", "1")
    out = accepted(capsys, *options, "--rule", "best")
    tried = re.findall(r"^ ?(\d+) +(-[\d.]+) +[\d.]+(.*)$", out, flags=re.M)
    best = max(tried, key=lambda row: float(row[1]))
    assert best[2].strip() == "<- chosen"
    assert f"(k = {best[0]}, chosen by cross-validation with the best score as it is; ridge penalty alpha = 0)" in out
    assert len(coefficients(out)) >= int(best[0]) + 1
    assert accepted(capsys, *options, "--rule", "best", "--k", "auto").splitlines()[:-1] == out.splitlines()[:-1]
    small = accepted(capsys, *options, "--rule", "1se", "--jobs", "2")
    assert int(re.findall(r"k = (\d+), chosen", small)[0]) < int(best[0])
    out = accepted(capsys, "fit", "diabetes", "--k", "auto", "--criterion", "bic")
    values = {int(k): float(value) for k, value in re.findall(r"^ ?(\d+) +([\d.]+)", out, flags=re.M)}
    assert f"(k = {min(values, key=lambda k: values[k])}, chosen by BIC" in out


def test_k_is_chosen_among_some_and_ridges_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    out = accepted(capsys, "fit", "diabetes", "--ks", "5,1,2")
    assert re.findall(r"^ ?(\d+) +-[\d.]+ ", out, flags=re.M) == ["1", "2", "5"]
    assert re.search(r"ridge penalty [\d.]+ while selecting, [\d.]+ for the coefficients", out)
    assert "k = 5 is the largest that was tried" in out
    assert "Choosing k" not in accepted(capsys, "fit", "diabetes", "--k", "3")


def test_noise_has_no_features(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    rows = [",".join(f"{value:.3f}" for value in row) for row in rng.standard_normal((80, 6))]
    (tmp_path / "noise.csv").write_text("a,b,c,d,e,y\n" + "\n".join(rows))
    out = accepted(capsys, "fit", tmp_path / "noise.csv", "--target", "y", "--out", tmp_path / "out")
    assert "(k = 0, chosen by cross-validation" in out
    assert "No feature improves clearly on a constant: the model has none" in out
    assert "No feature improves clearly" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_three_classes_have_a_column_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bunch = load_iris()
    lines = [
        ",".join([*map(str, row), bunch.target_names[label]])
        for row, label in zip(bunch.data, bunch.target, strict=True)
    ]
    (tmp_path / "iris.csv").write_text("a,b,<script>alert(1)</script>,$d [red],species\n" + "\n".join(lines))
    out = accepted(
        capsys, "fit", tmp_path / "iris.csv", "--target", "species", "--k", "auto", "--out", tmp_path / "results"
    )
    heads = [f"coefficient {name}" for name in ("setosa", "versicolor", "virginica")]
    assert re.search(rf"^Feature +{' +'.join(heads)} +selected +loss without$", out, flags=re.M)
    assert all(len(row) == 3 for row in coefficients(out).values())
    heads = [rf"per std\. dev\. {name} +95 % interval {name}" for name in ("setosa", "versicolor", "virginica")]
    assert re.search(rf"^Feature +{' +'.join(heads)}$", out, flags=re.M)
    assert "2 bootstrap resamples, each with the whole selection repeated" in out
    assert "- intervals of each class or response are per standard deviation, too" in out
    assert ".frame" not in out  # words for Python
    page = (tmp_path / "results" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
    assert not re.search(r"(src|href)=", markup)
    assert "http" not in markup.replace("http-equiv", "")
    for part in ("The features it uses", "How many features", "How well it predicts", "Predict new rows", "Versions"):
        assert part in page


@pytest.mark.slow
def test_the_report_of_a_regression(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = accepted(capsys, "fit", "diabetes", "--out", tmp_path / "a" / "b")
    assert f"Wrote {tmp_path}/a/b/report.html" in out
    assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == sorted(FILES)
    assert "Predicting progression with" in (tmp_path / "a" / "b" / "report.html").read_text()
    assert json.loads((tmp_path / "a" / "b" / "model.json").read_text())["about"]["target"] == "progression"


@pytest.mark.parametrize("far", ["1e4", "1e90"])
def test_predictions_that_are_not_finite_have_no_score(
    far: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that is far from all others may have an infinite count; it is in the test part here."""
    rows = [f"{i % 9},{i % 9 + i % 2}" for i in range(60)]
    fields = {"--target": "y", "--task": "poisson", "--k": "1", "--alpha": "0.01", "--seed": "0"}
    options = [part for pair in fields.items() for part in pair]
    held_out = [row for row in range(60) if row not in _find_training_rows(60)]
    rows[held_out[0]] = f"{far},1"
    (tmp_path / "a.csv").write_text("x,y\n" + "\n".join(rows))
    out = accepted(capsys, "fit", tmp_path / "a.csv", *options, "--no-refit-all", "--out", tmp_path / "o")
    assert re.search(r"^RMSE +[\d.]+ +– +–$", out, flags=re.M)
    assert "always answering" not in out
    assert (tmp_path / "o" / "report.html").exists()
    assert main(["predict", str(tmp_path / "o" / "model.json"), str(tmp_path / "a.csv")]) == 0
    predictions, problem = capsys.readouterr()
    assert predictions.splitlines()[held_out[0] + 1] == "inf"
    assert problem == "ksparse: 1 of 60 rows have predictions that are not finite: they are too large for a number\n"


def _find_training_rows(count: int) -> set[int]:
    return set(train_test_split(np.arange(count), test_size=0.25, random_state=0)[0].tolist())
