"""Breast cancers by discriminant analysis, on made-up data of the same shape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind
from sklearn.model_selection import StratifiedKFold

from ksparse import SparseDiscriminantAnalysis
from ksparse.debias import Exact
from reproduction.data import ExpressionData
from reproduction.experiments import breast_cancer
from reproduction.experiments.breast_cancer import (
    BreastCancer,
    BreastCancerSettings,
    Split,
    classify,
    make_split,
    score,
)
from reproduction.experiments.breast_cancer_table import MEASURES, PUBLISHED_TABLE
from reproduction.frames import mean, select_rows, unique
from reproduction.graphs import GRAPH_METHOD_NAMES, find_method
from reproduction.methods import DEFAULT

from .helpers import experiment_named, frame_of, results, rows_of, show_all, values_of

#: The experiment is run, which takes a few seconds.
pytestmark = pytest.mark.slow

TINY = BreastCancerSettings(
    replications=2, curves=1, genes=10, folds=3, fractions=(0.05, 0.2), penalties=(0.5, 0.2), curve_fraction=0.2
)


def data(shift: float = 1.5, seed: int = 0, genes: int = 40) -> ExpressionData:
    """133 subjects, 34 of them with a response, of which twelve genes are shifted."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [34, 99]))
    X = rng.standard_normal((133, genes)) + 0.5 * rng.standard_normal((133, 1))
    X[y == 1, 5:17] += shift
    return ExpressionData(X, y, False, "simulated")


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breast_cancer, "load_hess", lambda: data())


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(breast_cancer, "load_hess", lambda: data())
        return results(BreastCancer(), TINY)


def test_it_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    found = experiment_named("breast-cancer")
    assert isinstance(found, BreastCancer)
    monkeypatch.delenv("KSPARSE_DATA", raising=False)
    assert "Hess et al." in (found.find_missing_data() or "")


@pytest.mark.parametrize("scale", ["quick", "standard", "full"])
def test_scales(scale: Any) -> None:
    settings = BreastCancer().make_settings(scale)
    assert len(BreastCancer().list_tasks(settings)) == 2 * settings.replications
    assert settings.curves <= settings.replications


def test_the_split_is_the_papers() -> None:
    X, y = data()[:2]
    split = make_split(np.asarray(X), y, replace(TINY, genes=12), seed=4)
    assert split.X.shape == (112, 12)
    assert (split.y_test == 1).sum() == 5
    assert (split.y_test == 0).sum() == 16
    np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(split.X.std(axis=0), 1.0)
    statistics = np.abs(ttest_ind(split.X[split.y == 1], split.X[split.y == 0]).statistic)
    assert (np.diff(statistics) <= 0).all()
    assert statistics.min() > 2


def test_test_subjects_have_no_part_in_the_choice_of_genes() -> None:
    X, y = data()[:2]
    split = make_split(np.asarray(X), y, TINY, seed=4)
    rng = np.random.default_rng(4)
    test = np.concatenate([rng.permutation(np.flatnonzero(y == label))[:count] for label, count in ((1, 5), (0, 16))])
    spoiled = np.array(X)
    spoiled[test] += 100.0 * (2 * y[test, None] - 1)
    np.testing.assert_array_equal(make_split(spoiled, y, TINY, seed=4).X, split.X)
    assert not np.array_equal(make_split(spoiled, y, TINY, seed=4, by_all=True).X, split.X)


def test_genes_that_all_subjects_chose() -> None:
    X, y = np.asarray(data(shift=0.3)[0]), data()[1]
    split = make_split(X, y, TINY, seed=4, by_all=True)
    best = np.argsort(-np.abs(ttest_ind(X[y == 1], X[y == 0]).statistic))[: TINY.genes]
    rng = np.random.default_rng(4)
    test = np.concatenate([rng.permutation(np.flatnonzero(y == label))[:count] for label, count in ((1, 5), (0, 16))])
    train = np.delete(X, test, axis=0)[:, best]
    np.testing.assert_allclose(split.X, (train - train.mean(axis=0)) / train.std(axis=0))


@pytest.mark.parametrize(("instead", "expected"), [(0.5, "sensitivity, MCC"), (0.2, "none of the metrics")])
def test_which_choice_of_genes_is_closer_to_the_paper(instead: float, expected: str) -> None:
    """Only replications count that both have."""
    rows = [
        {"kind": kind, "replication": each, "method": name, **dict.fromkeys(MEASURES, value), "edges": 3}
        for kind, value, each in (("main", 0.3, 0), ("main", 0.77, 1), ("by all", instead, 0))
        for name in GRAPH_METHOD_NAMES
    ]
    for row in rows:
        row["specificity"] = 0.77 if row["kind"] == "main" else 0.9
    _, second = BreastCancer().make_tables(TINY, frame_of(rows))
    assert f"closer to the paper's than in the first table in: {expected}." in second.caption
    assert f"specificity +0.13, sensitivity {instead - 0.77:+.2f}, MCC {instead - 0.49:+.2f}." in second.caption
    assert [row[5] for row in second.rows] == [f"{instead:.2f}"] * 2


def test_tasks_with_genes_by_all_subjects_have_them(loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []

    def noted(X: Any, y: Any, settings: BreastCancerSettings, seed: int, by_all: bool = False) -> Split:
        calls.append(by_all)
        return make_split(X, y, settings, seed, by_all)

    monkeypatch.setattr(breast_cancer, "make_split", noted)
    settings = replace(TINY, replications=1, curves=0)
    plain, other = BreastCancer().list_tasks(settings)
    assert {row["kind"] for row in BreastCancer().run(settings, plain)} == {"main", "main, equal priors", "step"}
    rows = BreastCancer().run(settings, other)
    assert [(row["kind"], row["method"]) for row in rows] == [
        (kind, method) for method in ("GraHTP", DEFAULT) for kind in ("by all", "by all, equal priors")
    ]
    assert calls == [False, True]


def test_k_is_chosen_by_subjects_that_were_held_out() -> None:
    X, y = data()[:2]
    split = make_split(np.asarray(X), y, TINY, seed=0)
    folds = StratifiedKFold(TINY.folds, shuffle=True, random_state=5)
    pairs = list(breast_cancer._compute_fold_covariances(TINY, split, 5))
    for (kept, out), found in zip(folds.split(split.X, split.y), pairs, strict=True):
        means = np.array([split.X[kept][split.y[kept] == label].mean(axis=0) for label in (0, 1)])
        for rows, covariance in zip((kept, out), found, strict=True):
            around = split.X[rows] - means[split.y[rows]]
            np.testing.assert_allclose(covariance, around.T @ around / len(rows))


def test_splits_differ() -> None:
    X, y = data()[:2]
    one, other = (make_split(np.asarray(X), y, TINY, seed) for seed in (0, 1))
    assert not np.array_equal(one.X_test, other.X_test)


def test_measures_by_hand() -> None:
    y = np.array([1, 1, 1, 0, 0, 0, 0])
    predicted = np.array([1, 1, 0, 0, 0, 0, 1])
    tp, fn, tn, fp = 2, 1, 3, 1
    row = score(y, predicted)
    assert row["sensitivity"] == pytest.approx(tp / (tp + fn))
    assert row["specificity"] == pytest.approx(tn / (tn + fp))
    root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert row["mcc"] == pytest.approx((tp * tn - fp * fn) / root)
    assert score(y, np.zeros_like(y)) == {"specificity": 1.0, "sensitivity": 0.0, "mcc": 0.0}


def test_the_rule_is_that_of_the_estimator() -> None:
    X, y = data(shift=0.5)[:2]
    split = make_split(np.asarray(X), y, TINY, seed=0)
    model = SparseDiscriminantAnalysis(k=9, bounds="paper", standardize=False).fit(split.X, split.y)
    np.testing.assert_array_equal(classify(model.precision_, split), model.predict(split.X_test))
    covariance = split.covariance
    own = find_method(DEFAULT).fit(TINY, covariance, 9)
    np.testing.assert_allclose(own.omega, model.precision_, atol=1e-8)


def test_equal_priors_are_those_of_the_estimator() -> None:
    X, y = data(shift=0.5)[:2]
    for seed in range(5):
        split = make_split(np.asarray(X), y, TINY, seed=seed)
        model = SparseDiscriminantAnalysis(k=9, bounds="paper", standardize=False).fit(split.X, split.y)
        # δ₁ − δ₀ of the estimator contains log(π₁/π₀), with π₁ < ½: equal priors assign more subjects to class 1.
        difference = model.decision_function(split.X_test) - np.log(np.mean(split.y == 1) / np.mean(split.y == 0))
        equal = classify(model.precision_, split, equal_priors=True)
        np.testing.assert_array_equal(equal, difference > 0)
        assert equal.sum() >= classify(model.precision_, split).sum()


@pytest.mark.parametrize(
    ("sensitivity", "text"),
    [
        (0.74, "change the sensitivity by +0.44 on average, which leaves a difference of +0.01 from the paper's"),
        (0.50, "so that they explain only a part of the difference"),
        (0.20, "so that they do not explain the difference"),
    ],
)
def test_the_effect_of_equal_priors_is_computed(sensitivity: float, text: str) -> None:
    rows = [
        {
            "kind": kind,
            "replication": 0,
            "method": name,
            "specificity": PUBLISHED_TABLE[name].specificity[0],
            "sensitivity": value,
            "mcc": PUBLISHED_TABLE[name].mcc[0],
        }
        for kind, value in (("main", 0.3), ("main, equal priors", sensitivity))
        for name in PUBLISHED_TABLE
    ]
    (table,) = BreastCancer().make_tables(TINY, frame_of(rows))
    assert text in table.caption


def test_rows_have_all_measures(table: pd.DataFrame) -> None:
    main = select_rows(table, kind="main")
    assert len(main) == 2 * len(GRAPH_METHOD_NAMES)
    names = ("specificity", "sensitivity", "mcc", "seconds", "tuning_seconds", "edges", "parameter", "iterations")
    for row in rows_of(main):
        assert all(np.isfinite(row[name]) for name in names)
        assert isinstance(row["status"], str)
        assert row["tuning_seconds"] >= row["seconds"]


def test_separated_classes_are_recognized(monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame) -> None:
    monkeypatch.setattr(breast_cancer, "load_hess", lambda: data(shift=0.0))
    none = select_rows(results(BreastCancer(), replace(TINY, curves=0)), kind="main")
    for name in GRAPH_METHOD_NAMES:
        assert mean(table, "mcc", method=name) > 0.5
        assert mean(none, "mcc", method=name) < 0.4


def test_curves_begin_together_and_end_lower(table: pd.DataFrame) -> None:
    curves = select_rows(table, kind="curve")
    assert unique(curves, "replication") == [0]
    begins = {rows_of(select_rows(curves, method=name))[0]["loss"] for name in unique(curves, "method")}
    assert len(begins) == 1
    for name in unique(curves, "method"):
        values = values_of(curves, "loss", method=name)
        assert values[-1] < values[0]
    assert len(select_rows(curves, method="FBS")) == 1 + 9  # an iteration for each edge


def test_pictures_and_table(table: pd.DataFrame) -> None:
    assert list(show_all(BreastCancer(), TINY, table)) == ["breast-cancer-curves"]
    shown, by_all, steps = BreastCancer().make_tables(TINY, table)
    assert [row[0] for row in steps.rows] == ["0.0625/v²", "0.125/v²", "0.25/v²", "0.5/v²", "1/v²", "2/v²"]
    assert steps.rows[0][1] != "nan"
    assert [row[0] for row in by_all.rows] == ["GraHTP", DEFAULT, "GraHTP, equal priors", f"{DEFAULT}, equal priors"]
    assert {len(row) for row in by_all.rows} == {len(by_all.header)}
    assert [row[0] for row in shown.rows] == [
        *GRAPH_METHOD_NAMES,
        *(f"{name}, equal priors" for name in GRAPH_METHOD_NAMES),
    ]
    assert {len(row) for row in shown.rows} == {len(shown.header)}
    mcc = select_rows(table, kind="main", method="FBS")["mcc"]
    assert shown.rows[2][5] == f"{mcc.mean():.2f} ({mcc.std():.2f})"
    assert shown.rows[2][6] == "0.48 (0.19)"
    assert shown.rows[len(GRAPH_METHOD_NAMES) - 1][2] == ""
    # Equal priors have their own means, the same numbers of the paper, and no fits of their own.
    equal = select_rows(table, kind="main, equal priors", method="FBS")["sensitivity"]
    line = shown.rows[len(GRAPH_METHOD_NAMES) + 2]
    assert line[3:5] == [f"{equal.mean():.2f} ({equal.std():.2f})", "0.74 (0.18)"]
    assert line[-5:] == [""] * 5


def test_steps_and_the_papers_way_of_minimizing(table: pd.DataFrame) -> None:
    steps, adm = select_rows(table, kind="step"), select_rows(table, kind="adm")
    assert unique(steps, "multiple") == list(TINY.steps)
    assert unique(steps, "replication") == [0, 1]
    # Steps matter: the losses differ.
    assert len({row["loss"] for row in rows_of(select_rows(steps, replication=0))}) > 1
    assert unique(adm, "method") == ["GraHTP", "GraSP", "FBS", "GLasso"]
    assert unique(adm, "replication") == [0]


def test_adm_is_what_the_paper_has(loaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, float]] = []

    def noted(method: Any, tol: float) -> Exact:
        made.append((method, tol))
        return Exact(method, tol=tol)

    monkeypatch.setattr(breast_cancer, "Exact", noted)
    used: list[Any] = []
    for kind in {type(find_method(name)) for name in GRAPH_METHOD_NAMES}:
        plain = kind.fit

        def fit(self: Any, *arguments: Any, plain: Any = plain) -> Any:
            used.extend(each for each in arguments if isinstance(each, Exact))
            return plain(self, *arguments)

        monkeypatch.setattr(kind, "fit", fit)
    settings = replace(TINY, replications=1)
    BreastCancer().run(settings, BreastCancer().list_tasks(settings)[0])
    assert made == [("adm", settings.adm_tolerance)]
    assert used == [Exact("adm", tol=settings.adm_tolerance)] * 4


def test_full_settings_are_the_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KSPARSE_DATA", raising=False)
    full = BreastCancer().make_settings("full")
    assert (full.test_positive, full.test_negative, full.genes, full.folds) == (5, 16, 113, 6)
    assert full.replications == 100
