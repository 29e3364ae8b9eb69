"""The logistic simulations in a tiny setting: errors fall with n, and all rows have all measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from reproduction.experiments.logistic import LogisticSettings
from reproduction.frames import mean, select_rows, unique
from reproduction.methods import DEFAULT, METHOD_NAMES

from .helpers import experiment_named, frame_of, results, rows_of, values_of

#: The experiment is run, which takes a few seconds.
pytestmark = pytest.mark.slow

TINY = LogisticSettings(((60, 8), (400, 8)), 3, steps_at=(400,), steps=(1.0, 16.0), p=60, relevant=8)
MEASURES = {"error", "loss", "recall", "seconds", "iterations", "status"}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return results(experiment_named("logistic-n"), TINY)


def test_all_methods_have_all_measures(table: pd.DataFrame) -> None:
    main = select_rows(table, kind="main")
    assert unique(main, "method") == list(METHOD_NAMES)
    assert len(main) == 2 * 3 * len(METHOD_NAMES)
    assert all(set(row) >= MEASURES for row in rows_of(table))
    assert (values_of(table, "seconds") >= 0).all()


def test_errors_fall_with_n(table: pd.DataFrame) -> None:
    claim = experiment_named("logistic-n").judge_claims(TINY, table)[0]
    assert (claim.published.word, claim.default.word if claim.default else "") == ("holds", "holds")
    backwards = frame_of({**row, "n": -row["n"]} for row in rows_of(table))
    assert experiment_named("logistic-n").judge_claims(TINY, backwards)[0].published.word == "does not hold"


def test_the_default_has_the_lowest_objective(table: pd.DataFrame) -> None:
    main = select_rows(table, kind="main", n=400)
    lowest = min(mean(main, "loss", method=method) for method in METHOD_NAMES[:4])
    assert mean(main, "loss", method=DEFAULT) <= lowest * (1 + 1e-6)


def test_steps_are_tried_where_they_are_asked_for(table: pd.DataFrame) -> None:
    steps = select_rows(table, kind="step")
    assert unique(steps, "n") == [400]
    assert unique(steps, "multiple") == [1.0, 16.0]
    same = values_of(select_rows(table, kind="main", n=400), "loss", method="GraHTP")
    np.testing.assert_array_equal(values_of(steps, "loss", method="GraHTP", multiple=16.0), same)


def test_the_last_x_of_runs_that_a_limit_ends() -> None:
    settings = replace(
        TINY, sizes=((100, 8),), steps_at=(100,), extras=2, limit=4, limit_without_debiasing=3, multiple=1.0
    )
    table = results(experiment_named("logistic-n"), settings)
    main, ends = select_rows(table, kind="main"), select_rows(table, kind="end")
    assert unique(ends, "method") == ["FGraHTP", "GraSP"]
    assert unique(ends, "replication") == [0, 1]
    # FGraHTP runs until it converges.
    assert unique(select_rows(ends, method="FGraHTP"), "status") == ["converged"]
    assert unique(select_rows(main, method="FGraHTP"), "status") == ["max_iter"]
    assert values_of(ends, "iterations", method="FGraHTP").min() > 3
    for row in rows_of(select_rows(ends, method="GraSP")):
        same = rows_of(select_rows(main, method="GraSP", replication=row["replication"]))[0]
        assert (row["iterations"], row["returned"]) == (same["iterations"], same["error"])
        # What is given is the x with the lowest f on the way, and the last one is another.
        assert same["loss"] < row["loss"]
        assert same["error"] != row["error"]
    (shown,) = experiment_named("logistic-n").make_tables(settings, table)
    assert [row[:2] for row in shown.rows] == [[100, "FGraHTP"], [100, "GraSP"]]
    assert (shown.rows[0][3], shown.rows[0][5]) == ("0%", "100%")
    assert {len(row) for row in shown.rows} == {len(shown.header)}


def test_the_same_seed_gives_the_same_numbers(table: pd.DataFrame) -> None:
    experiment = experiment_named("logistic-n")
    task = experiment.list_tasks(TINY)[0]
    with threadpool_limits(1):
        again = [{**row, "seconds": 0.0} for row in experiment.run(TINY, task)]
    first = [
        {name: value for name, value in {**row, "seconds": 0.0}.items() if name not in task.key}
        for row in rows_of(select_rows(table, **task.key))
    ]
    assert again == first


def test_errors_with_k_and_what_is_said_of_them() -> None:
    experiment = experiment_named("logistic-k")
    settings = replace(TINY, sizes=((200, 8), (200, 40)), replications=2, steps_at=())
    table = results(experiment, settings)
    claims = {claim.text: claim for claim in experiment.judge_claims(settings, table)}
    grows = claims["n fixed: the errors of all but FBS tend to increase with k"]
    assert grows.default is not None
    assert grows.default.word == "holds"
    assert not any("best step" in words for words in claims)
    fewer = claims["when k is small (k = 8, 40), GraHTP tends to need fewer iterations than FGraHTP"]
    assert fewer.published.word == "holds"


@pytest.mark.parametrize("name", ["logistic-n", "logistic-k"])
def test_settings_grow_with_the_scale(name: str) -> None:
    experiment = experiment_named(name)
    sizes = [len(experiment.list_tasks(experiment.make_settings(scale))) for scale in ("quick", "standard", "full")]
    assert sizes == sorted(sizes)
    full = experiment.make_settings("full")
    assert full.replications == 100
    assert (full.p, full.relevant, full.correlation, full.alpha, full.tolerance) == (1000, 100, 0.5, 1e-4, 1e-4)
    places = [n for n, k in full.sizes] if name == "logistic-n" else [k for n, k in full.sizes]
    assert places == (list(range(100, 2001, 100)) if name == "logistic-n" else list(range(100, 501, 50)))
