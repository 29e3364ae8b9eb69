"""The logistic simulations in a tiny setting: errors fall with n, and all rows have all measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ksparse.experiments import Table, experiment_named
from ksparse.experiments.logistic import METHODS, LogisticSettings
from ksparse.experiments.methods import DEFAULT
from ksparse.threads import one_thread

from .helpers import results

TINY = LogisticSettings(((60, 8), (400, 8)), 3, steps_at=(400,), steps=(1.0, 16.0), p=60, relevant=8)
MEASURES = {"error", "loss", "recall", "seconds", "iterations", "status"}


@pytest.fixture(scope="module")
def table() -> Table:
    return results(experiment_named("logistic-n"), TINY)


def test_all_methods_have_all_measures(table: Table) -> None:
    main = table.where(kind="main")
    assert main.distinct("method") == list(METHODS)
    assert len(main) == 2 * 3 * len(METHODS)
    assert all(set(row) >= MEASURES for row in table.rows)
    assert (table.values("seconds") >= 0).all()


def test_errors_fall_with_n(table: Table) -> None:
    claim = experiment_named("logistic-n").claims(TINY, table)[0]
    assert (claim.faithful.word, claim.ours.word if claim.ours else "") == ("holds", "holds")
    backwards = Table({**row, "n": -row["n"]} for row in table.rows)
    assert experiment_named("logistic-n").claims(TINY, backwards)[0].faithful.word == "does not hold"


def test_the_default_has_the_lowest_objective(table: Table) -> None:
    main = table.where(kind="main", n=400)
    lowest = min(main.mean("loss", method=method) for method in METHODS[:4])
    assert main.mean("loss", method=DEFAULT) <= lowest * (1 + 1e-6)


def test_steps_are_tried_where_they_are_asked_for(table: Table) -> None:
    steps = table.where(kind="step")
    assert steps.distinct("n") == [400]
    assert steps.distinct("multiple") == [1.0, 16.0]
    same = table.where(kind="main", n=400).values("loss", method="GraHTP")
    np.testing.assert_array_equal(steps.values("loss", method="GraHTP", multiple=16.0), same)


def test_the_last_x_of_runs_that_a_limit_ends() -> None:
    settings = replace(
        TINY, places=((100, 8),), steps_at=(100,), extras=2, limit=4, limit_without_debiasing=3, multiple=1.0
    )
    table = results(experiment_named("logistic-n"), settings)
    main, ends = table.where(kind="main"), table.where(kind="end")
    assert ends.distinct("method") == ["FGraHTP", "GraSP"]
    assert ends.distinct("replication") == [0, 1]
    # FGraHTP goes on until it ends by itself.
    assert ends.where(method="FGraHTP").distinct("status") == ["converged"]
    assert main.where(method="FGraHTP").distinct("status") == ["max_iter"]
    assert ends.values("iterations", method="FGraHTP").min() > 3
    for row in ends.where(method="GraSP").rows:
        same = main.where(method="GraSP", replication=row["replication"]).rows[0]
        assert (row["iterations"], row["returned"]) == (same["iterations"], same["error"])
        # What is given is the x with the lowest f on the way, and the last one is another.
        assert same["loss"] < row["loss"]
        assert same["error"] != row["error"]
    (shown,) = experiment_named("logistic-n").text_tables(settings, table)
    assert [row[:2] for row in shown.rows] == [[100, "FGraHTP"], [100, "GraSP"]]
    assert (shown.rows[0][3], shown.rows[0][5]) == ("0%", "100%")
    assert {len(row) for row in shown.rows} == {len(shown.heads)}


def test_the_same_seed_gives_the_same_numbers(table: Table) -> None:
    experiment = experiment_named("logistic-n")
    task = experiment.tasks(TINY)[0]
    with one_thread():
        again = [{**row, "seconds": 0.0} for row in experiment.run(TINY, task)]
    first = [
        {name: value for name, value in {**row, "seconds": 0.0}.items() if name not in task.place}
        for row in table.where(**task.place).rows
    ]
    assert again == first


def test_errors_with_k_and_what_is_said_of_them() -> None:
    experiment = experiment_named("logistic-k")
    settings = replace(TINY, places=((200, 8), (200, 40)), replications=2, steps_at=())
    table = results(experiment, settings)
    claims = {claim.words: claim for claim in experiment.claims(settings, table)}
    grows = claims["n fixed: the errors of all but FBS tend to increase with k"]
    assert grows.ours is not None
    assert grows.ours.word == "holds"
    assert not any("best step" in words for words in claims)
    fewer = claims["when k is small (k = 8, 40), GraHTP tends to need fewer iterations than FGraHTP"]
    assert fewer.faithful.word == "holds"


@pytest.mark.parametrize("name", ["logistic-n", "logistic-k"])
def test_settings_grow_with_the_scale(name: str) -> None:
    experiment = experiment_named(name)
    sizes = [len(experiment.tasks(experiment.settings(scale))) for scale in ("quick", "standard", "full")]
    assert sizes == sorted(sizes)
    full = experiment.settings("full")
    assert full.replications == 100
    assert (full.p, full.relevant, full.correlation, full.alpha, full.tolerance) == (1000, 100, 0.5, 1e-4, 1e-4)
    places = [n for n, k in full.places] if name == "logistic-n" else [k for n, k in full.places]
    assert places == (list(range(100, 2001, 100)) if name == "logistic-n" else list(range(100, 501, 50)))
