"""Several targets: one model with the same features for all of them, and what is told of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

import ksparse
from ksparse.cli.reporting import gather_report
from ksparse.cli.summary import tabulate_scores

from .helpers import accepted, refused
from .pages import EVIL, fit

#: A name with a comma, one that a spreadsheet takes for a formula, and a plain one.
TARGETS = ("yield, total", "=protein", "fat")


def make_table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    Y = X[:, [1, 4]] @ np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]]) + 0.5 * rng.standard_normal((120, 3))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(6)]).assign(**dict(zip(TARGETS, Y.T, strict=True)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_table().to_csv(tmp_path / "field.csv", index=False)
    return tmp_path / "field.csv"


def test_coefficients_and_scores_are_those_of_least_squares(path: Path) -> None:
    fitted = fit(data=str(path), target=['"yield, total",=protein', "fat"], k=2, alpha=0.0, resamples=0)
    table = make_table()
    columns = np.column_stack([table[["x1", "x4"]], np.ones(len(table))])
    Y = table[list(TARGETS)].to_numpy()
    solution = np.linalg.lstsq(columns, Y, rcond=None)[0]
    np.testing.assert_allclose(fitted.model.coef_[:, [1, 4]], solution[:2].T, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fitted.model.intercept_, solution[2], rtol=1e-8, atol=1e-10)

    train = np.linalg.lstsq(columns[fitted.train], Y[fitted.train], rcond=None)[0]
    scores = r2_score(Y[fitted.test], columns[fitted.test] @ train, multioutput="raw_values")
    shown = tabulate_scores(fitted)["Test"]
    assert shown["R², mean over targets"] == f"{scores.mean():.3f}"
    assert [shown[f"R² of {name}"] for name in TARGETS] == [f"{score:.3f}" for score in scores]
    errors = np.sqrt(np.mean(np.square(Y[fitted.test] - columns[fitted.test] @ train), axis=0))
    np.testing.assert_allclose([float(shown[f"RMSE of {name}"]) for name in TARGETS], errors, rtol=1e-3)


def test_the_command_writes_a_column_for_each_target(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--target", TARGETS[0], "--target", "=protein,fat", "--k", "2", "--alpha", "0", "--resamples", "0"]
    printed = accepted(capsys, "fit", path, *options, "--out", tmp_path / "out")
    assert "targets 'yield, total', '=protein', 'fat'" in printed
    assert "Better than always answering the mean of each target" in printed
    features = pd.read_csv(tmp_path / "out" / "features.csv", index_col="feature")
    model = ksparse.load(tmp_path / "out")
    heads = [f"coefficient {name}" for name in TARGETS]
    np.testing.assert_allclose(features.loc[["x1", "x4"], heads], model[-1].coef_[:, [1, 4]].T, rtol=1e-6)
    np.testing.assert_allclose(features.loc["(intercept)", heads].astype(float), model[-1].intercept_, rtol=1e-6)

    predictions = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert predictions.columns.tolist() == [
        "row",
        TARGETS[0],
        "'=protein",
        "fat",
        *(f"prediction_{t}" for t in TARGETS),
    ]
    lines = accepted(capsys, "predict", tmp_path / "out", path).splitlines()
    assert lines[0] == '"prediction_yield, total",prediction_=protein,prediction_fat'
    np.testing.assert_allclose([float(cell) for cell in lines[1].split(",")], model.predict(make_table())[0], rtol=1e-8)


def test_rows_that_lack_a_target_are_left_out(path: Path) -> None:
    table = make_table()
    table.loc[3, "fat"] = np.nan
    table.loc[5, "=protein"] = np.nan
    table.to_csv(path, index=False)
    fitted = fit(data=str(path), target=["=protein", "fat"], k=1, alpha=0.1, resamples=0)
    assert len(fitted.y) == 118
    assert "2 of 120 rows lack a target and are left out" in fitted.notes


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, ["--target", "fat,nothing"], "has no column 'nothing', which --target names"),
        ({}, ["--target", "fat,fat"], "--target must name different columns"),
        ({}, ["--target", "fat,x1", "--task", "poisson"], "--task poisson predicts one target, but --target names 2"),
        ({}, ["--target", "fat,x1", "--positive", "1"], "--positive is for two classes"),
        ({"x1": "north"}, ["--target", "fat,x1"], "several targets must have numbers, but 'x1' has text"),
        ({"x1": 2.0}, ["--target", "fat,x1"], "the target 'x1' is 2 in all rows"),
        ({"x1": np.nan}, ["--target", "fat,x1"], "the targets 'fat', 'x1' are missing in all rows"),
        ({"x1": 1e300}, ["--target", "fat,x1"], "the target 'x1' is infinite or beyond"),
    ],
)
def test_targets_that_do_not_go_together(
    change: dict[str, Any], options: list[str], message: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_table().assign(**change).to_csv(path, index=False)
    assert message in refused(capsys, "fit", path, *options, "--out", path.parent / "out")
    assert not (path.parent / "out").exists()


def test_a_time_and_an_event_are_told(path: Path) -> None:
    rng = np.random.default_rng(0)
    make_table().assign(days=rng.exponential(size=120), died=rng.integers(0, 2, 120)).to_csv(path, index=False)
    fitted = fit(data=str(path), target=["fat", "died"], k=1, alpha=0.1, resamples=0)
    assert not any("survival analysis" in note for note in fitted.notes if "'fat'" in note)
    for targets in (["days", "died"], ["fat", "days"]):
        fitted = fit(data=str(path), target=targets, k=1, alpha=0.1, resamples=0)
        assert any(
            "If 'days' is a time until an event and 'died' says whether it came" in note for note in fitted.notes
        )


def test_a_target_of_another_size_is_told(path: Path) -> None:
    make_table().assign(fat=lambda table: 100 * table["fat"]).to_csv(path, index=False)
    fitted = fit(data=str(path), target=["=protein", "fat"], k=1, alpha=0.1, resamples=0)
    assert any("'fat' varies far more than '=protein'" in note for note in fitted.notes)


def test_the_report_has_all_targets(path: Path) -> None:
    make_table().rename(columns={"fat": EVIL}).to_csv(path, index=False)
    fitted = fit(data=str(path), target=["=protein", EVIL], ks=(0, 2), alpha=0.01, resamples=0)
    report = gather_report(fitted)
    state = report["states"][report["chosen"]]
    assert len(report["responses"]) == len(state["predictions"]) == len(report["predictions"]["truth"]) == 2
    assert len(report["paths"]) == 2
    np.testing.assert_allclose(
        np.array(state["predictions"]).T, fitted.predict_rows(fitted.test).prediction, rtol=1e-3, atol=1e-4
    )
    assert "2 targets" in report["summary"]["title"]
    assert "\x1b" not in str(report)
