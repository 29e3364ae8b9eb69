"""Every task of ``ksparse fit``: what is fitted, scored, said, written and refused."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from ksparse import SparseOrdinalRegression, load
from ksparse._types import Array
from ksparse.cli.target import Target, choose_task
from ksparse.cli.tasks import SHOWN_SCORES, TASKS
from ksparse.inference.score_intervals import SCORES as KNOWN_SCORES
from tests.estimators.models import MARGINS, NAMES, X
from tests.problems import responses

from .helpers import accepted, refused
from .pages import read_data

#: pandas, which comes without types.
pd: Any = import_module("pandas")

#: The kind of responses of each task, and options.
CASES: dict[str, tuple[str, list[str]]] = {
    "gamma": ("gamma", []),
    "tweedie": ("tweedie", ["--power", "1.7"]),
    "negative-binomial": ("negative binomial", []),
    "quantile": ("least squares", ["--quantile", "0.8"]),
    "svm": ("hinge", []),
    "huber": ("huber", []),
    "ordinal": ("ordinal", []),
}
#: The first score of each task, of the true and the predicted values.
TRUTH: dict[str, Any] = {
    "gamma": lambda y, m: metrics.d2_tweedie_score(y, m, power=2),
    "tweedie": lambda y, m: metrics.d2_tweedie_score(y, m, power=1.7),
    "quantile": lambda y, m: (
        1
        - metrics.mean_pinball_loss(y, m, alpha=0.8)
        / metrics.mean_pinball_loss(y, np.full(len(y), np.quantile(y, 0.8, method="inverted_cdf")), alpha=0.8)
    ),
    "svm": metrics.accuracy_score,
    "ordinal": metrics.accuracy_score,
    "huber": metrics.r2_score,
}


def write(path: Path, y: Any, name: str = "y") -> Path:
    pd.DataFrame(X, columns=NAMES).assign(**{name: y}).to_csv(path, index=False)
    return path


def read_score(out: str, name: str) -> float:
    """The score of the test rows."""
    found = re.search(rf"^{re.escape(name)} +\S+ +(\S+)", out, flags=re.M)
    assert found
    return float(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("task", CASES)
def test_a_fit_from_the_file_to_the_page(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kind, options = CASES[task]
    data, folder = write(tmp_path / "a.csv", responses(kind, MARGINS)), tmp_path / "out"
    options = [*options, "--ks", "2,3", "--resamples", "5", "--no-nested"]
    out = accepted(capsys, "fit", data, "--target", "y", "--task", task, *options, "--out", folder)
    assert f"Task: {task} (set by --task)" in out
    assert f"{TASKS[task].model} of 'y' with" in out
    written = pd.read_csv(folder / "predictions.csv")
    assert list(written.columns)[:3] == ["row", "y", "prediction"]
    if task in TRUTH:
        expected = TRUTH[task](written["y"], written["prediction"])
        assert read_score(out, TASKS[task].scores[0]) == pytest.approx(expected, abs=6e-4)
    page = read_data((folder / "report.html").read_text())
    assert page["task"] == task
    state = page["states"][page["chosen"]]
    assert len(state["cards"]) == 4
    assert state["scores"][TASKS[task].scores[0]] == pytest.approx(read_score(out, TASKS[task].scores[0]), abs=6e-4)
    names = [label["text"] for label in page["classes"]]
    truth = [names.index(str(label)) for label in written["y"]] if names else written["y"].tolist()
    assert page["predictions"]["truth"] == pytest.approx(truth, rel=1e-5)
    again = accepted(capsys, "predict", folder, data).splitlines()
    model: Any = load(folder)
    predicted = model.predict(pd.read_csv(data))
    assert again[0].split(",")[0] == "prediction"
    first = [line.split(",")[0] for line in again[1:]]
    if names:
        assert first == list(map(str, predicted))
    else:
        np.testing.assert_allclose(np.array(first, dtype=float), predicted, rtol=1e-8)


GRADES = np.array(["poor", "fair", "good"])[responses("ordinal", MARGINS)]


def test_grades_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, folder = write(tmp_path / "a.csv", GRADES), tmp_path / "out"
    options = ["--target", "y", "--task", "ordinal", "--categories", "poor,fair,good"]
    options += ["--k", "2", "--alpha", "0.01", "--resamples", "0", "--no-nested"]
    out = accepted(capsys, "fit", data, *options, "--out", folder)
    model: Any = load(folder)
    assert model.classes_.tolist() == ["poor", "fair", "good"]
    counts = ", ".join(f"{name} ({np.sum(name == GRADES)} rows)" for name in ("poor", "fair", "good"))
    assert f"Classes: {counts}" in out
    assert "Coefficients are for the log-odds of a higher 'y'" in out
    assert re.search(r"^\(threshold poor \| fair\) +-?[\d.]+$", out, flags=re.M)
    written = pd.read_csv(folder / "predictions.csv")
    assert list(written.columns)[3:] == ["probability_poor", "probability_fair", "probability_good"]
    positions = {"poor": 0, "fair": 1, "good": 2}
    error = np.mean(np.abs(written["y"].map(positions) - written["prediction"].map(positions)))
    assert read_score(out, "Mean error in classes") == pytest.approx(error, abs=6e-4)
    features = pd.read_csv(folder / "features.csv").set_index("feature")
    thresholds = features.loc[["(threshold poor | fair)", "(threshold fair | good)"], "coefficient"]
    np.testing.assert_allclose(thresholds, model[-1].thresholds_, rtol=1e-6)
    page = read_data((folder / "report.html").read_text())
    (state,) = page["states"]
    found = [page["classes"].index(label) for label in page["classes"]]
    assert found == [0, 1, 2]
    assert np.sum(state["confusion"]) == 20
    assert [row[0] for row in state["table"]["constants"]] == list(thresholds.index)


@pytest.mark.parametrize(
    ("categories", "said"),
    [
        (
            [],
            "text, whose order is not known: 'fair', 'good', 'poor'; give these classes from the lowest to the highest"
            " by --categories LOWEST,…,HIGHEST\n",
        ),
        (["poor,fair"], "--categories lacks 'good'"),
        (["poor,fair,good,best"], "--categories names 'best', which the target 'y' does not have"),
        (["poor,fair,good,fair"], "--categories names 'fair' twice"),
    ],
)
def test_classes_without_an_order(
    categories: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [part for each in categories for part in ("--categories", each)]
    data = write(tmp_path / "a.csv", GRADES)
    assert said in refused(capsys, "fit", data, "--target", "y", "--task", "ordinal", *options)
    if categories:
        message = refused(capsys, "fit", data, "--target", "y", *options)
        assert "--categories is for --task ordinal, but the task is classification" in message


def test_numbers_out_of_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write(tmp_path / "a.csv", responses("ordinal", MARGINS))
    start: list[str | Path] = ["fit", data, "--target", "y", "--task", "ordinal"]
    said = refused(capsys, *start, "--categories", "0,2,1")
    assert "--categories is out of order: the numbers from the lowest to the highest are 0, 1, 2\n" in said
    assert "--positive is for" in refused(capsys, *start, "--positive", "2")


@pytest.mark.parametrize("categories", [None, "9,9.5,10", "9.0,9.50,10.0"])
def test_half_grades_have_the_order_of_numbers(
    categories: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grades = np.array([9.0, 9.5, 10.0])[responses("ordinal", MARGINS)]
    data, folder = write(tmp_path / "a.csv", grades), tmp_path / "out"
    options = ["--target", "y", "--task", "ordinal", "--k", "2", "--alpha", "0.01", "--resamples", "0", "--no-nested"]
    options += [] if categories is None else ["--categories", categories]
    out = accepted(capsys, "fit", data, *options, "--out", folder)
    model: Any = load(folder)
    assert model.classes_.tolist() == ["9", "9.5", "10"]
    assert f"Classes: 9 ({(grades == 9).sum()} rows), 9.5 (" in out
    assert re.search(r"^\(threshold 9\.5 \| 10\) +-?[\d.]+$", out, flags=re.M)
    whole = SparseOrdinalRegression(k=2, alpha=0.01, standardize=True)
    features = pd.read_csv(data).drop(columns="y")
    whole.fit(features, 2 * grades)
    np.testing.assert_allclose(model[-1].coef_, whole.coef_, rtol=1e-6)
    assert pd.read_csv(folder / "predictions.csv")["prediction"].isin([9.0, 9.5, 10.0]).all()


def test_positive_is_matched_as_a_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = write(tmp_path / "a.csv", np.where(MARGINS > 0, 1.0, 0.5))
    start: list[str | Path] = ["fit", data, "--target", "y", "--k", "1", "--alpha", "0.1", "--resamples", "0"]
    assert "log-odds of '1' versus '0.5'" in accepted(capsys, *start, "--positive", "1.0", "--no-nested")
    assert "log-odds of '0.5' versus '1'" in accepted(capsys, *start, "--positive", ".50", "--no-nested")


def test_parameters_reach_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = write(tmp_path / "a.csv", responses("negative binomial", MARGINS))
    start: list[str | Path] = [
        "fit",
        counts,
        "--target",
        "y",
        "--k",
        "2",
        "--alpha",
        "0",
        "--test",
        "0",
        "--resamples",
        "0",
    ]
    for task, option, value, attribute in (
        ("tweedie", "--power", 1.2, "power"),
        ("quantile", "--quantile", 0.7, "quantile"),
        ("negative-binomial", "--dispersion", 0.3, "dispersion_"),
    ):
        accepted(capsys, *start, "--task", task, option, str(value), "--out", tmp_path / task)
        model: Any = load(tmp_path / task)
        assert getattr(model[-1], attribute) == value
        message = refused(capsys, *start, "--task", "poisson", option, str(value))
        assert f"{option} is for --task {task}, but the task is poisson" in message


@pytest.mark.parametrize(
    ("option", "values"), {"power": "0.5 2.5 x", "quantile": "0 1 -1", "dispersion": "-1 inf"}.items()
)
def test_impossible_parameters(option: str, values: str, capsys: pytest.CaptureFixture[str]) -> None:
    for value in values.split():
        with pytest.raises(SystemExit, match="2"):
            accepted(capsys, "fit", "diabetes", f"--{option}={value}")
        assert f"argument --{option}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "wrong", "need"),
    [
        ("gamma", 0.0, "for numbers greater than 0"),
        ("tweedie", -1.0, "for numbers at least 0"),
        ("poisson", -2.0, "for numbers at least 0"),
        ("negative-binomial", -2.0, "for numbers at least 0"),
    ],
)
def test_targets_that_a_task_does_not_take(
    task: str, wrong: float, need: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    y = np.abs(MARGINS) + 1.0
    y[[3, 7]] = wrong
    message = refused(capsys, "fit", write(tmp_path / "a.csv", y), "--target", "y", "--task", task)
    assert f"--task {task} is {need}, but the target 'y' has {wrong:g}, and 2 of 80 rows have such values" in message
    same = write(tmp_path / "c.csv", np.full(80, 3.0))
    refusal = refused(capsys, "fit", same, "--target", "y", "--task", task)
    assert "the target 'y' is 3 in all rows; choose another --target" in refusal
    text = write(tmp_path / "b.csv", ["low", "high"] * 40)
    assert f"--task {task} is for numbers, but the target 'y' has text" in refused(
        capsys, "fit", text, "--target", "y", "--task", task
    )


def advise(values: Any) -> str:
    """The advice on a target; empty if there is none."""
    return " ".join(choose_task(Target.of_column("y", pd.Series(values)), "auto")[3])


def test_distributions_suggest_tasks() -> None:
    rng = np.random.default_rng(0)
    amounts: Array = rng.lognormal(3.0, 1.0, 200)
    assert "use --task gamma" in advise(amounts)
    assert advise(amounts + 500) == ""  # positive, but not by its nature
    assert advise(rng.normal(100.0, 10.0, 200)) == ""
    claims = amounts * (rng.uniform(size=200) < 0.7)
    assert f"0 in {100 * np.mean(claims == 0):.0f} % of the rows" in advise(claims)
    assert "use --task tweedie" in advise(claims)
    assert advise(amounts - 20) == ""
    assert advise(amounts[:20]) == ""
    visits = rng.poisson(4.0 * rng.gamma(0.5, 2.0, 300))
    said = advise(visits)
    assert "use --task poisson, or --task negative-binomial" in said
    assert f"their variance is {visits.var() / visits.mean():.0f} times their mean" in said
    assert "negative-binomial" not in advise(rng.poisson(4.0, 300))


def test_the_table_of_tasks_is_complete() -> None:
    for task in TASKS.values():
        for suffix in ("", "CV", "IC"):
            assert task.find_class(suffix).__name__ == task.estimator + suffix
        assert set(task.scores) <= set(SHOWN_SCORES)
        parameters = task.find_class()().get_params()
        assert set(task.parameters) <= set(parameters)
    # Concordance compares pairs of rows, by a function of its own.
    assert {score.metric for score in SHOWN_SCORES.values()} <= {*KNOWN_SCORES, "concordance"}
