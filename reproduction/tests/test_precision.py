"""The simulation of precision matrices: methods, the choice of k, measures and claims."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse import minimize
from ksparse.datasets import make_precision
from ksparse.objectives import LogDet, eigenvalue_bounds
from ksparse.solvers import FBS
from reproduction.base import Array, Task
from reproduction.experiments import precision
from reproduction.experiments.precision import Precision, PrecisionSettings, compute_covariances, f_score
from reproduction.frames import select_rows, unique
from reproduction.graphs import (
    GRAPH_METHOD_NAMES,
    GRAPH_METHODS,
    GREEDY,
    Fit,
    GraphSettings,
    find_method,
    fit_tuned,
    log_det_loss,
    tune,
)
from reproduction.methods import DEFAULT

from .helpers import experiment_named, frame_of, results, rows_of, show_all

TINY = PrecisionSettings(
    sizes=(8, 12),
    replications=2,
    steps_at=(8,),
    adm_at=(8,),
    extras=1,
    steps=(0.25, 0.5),
    n=60,
    probability=0.2,
    fractions=(0.05, 0.1, 0.2, 0.3),
    penalties=(0.5, 0.2, 0.1, 0.05),
)
MEASURES = ("error", "fscore", "edges", "parameter", "loss", "seconds", "iterations", "status")


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return results(Precision(), TINY)


def covariances(p: int = 10, n: int = 60) -> tuple[Array, Array]:
    return compute_covariances(make_precision(2 * n, p, 0.2, random_state=3).X, n)


def test_it_is_registered() -> None:
    assert isinstance(experiment_named("precision"), Precision)


@pytest.mark.parametrize("scale", ["quick", "standard", "full"])
def test_scales(scale: Any) -> None:
    settings = Precision().make_settings(scale)
    assert len(Precision().list_tasks(settings)) == settings.replications * len(settings.sizes)
    assert set(settings.steps_at) | set(settings.adm_at) <= set(settings.sizes)
    assert settings.multiple in settings.steps


def test_rows_have_all_measures(table: pd.DataFrame) -> None:
    main = select_rows(table, kind="main")
    assert len(main) == 4 * len(GRAPH_METHOD_NAMES)
    for place in unique(main, "p"):
        assert unique(select_rows(main, p=place, replication=0), "method") == list(GRAPH_METHOD_NAMES)
    for row in rows_of(main):
        assert all(name in row for name in (*MEASURES, "held_out", "tuning_seconds", "tried"))
        assert 0 <= row["fscore"] <= 1
        assert row["error"] > 0
        assert row["tuning_seconds"] >= row["seconds"]


def test_extras_are_where_they_are_asked_for(table: pd.DataFrame) -> None:
    steps, adm = select_rows(table, kind="step"), select_rows(table, kind="adm")
    assert unique(steps, "multiple") == [0.25, 0.5]
    assert {(row["p"], row["replication"]) for row in (*rows_of(steps), *rows_of(adm))} == {(8, 0)}
    usual = rows_of(select_rows(table, kind="main", method="GraHTP", p=8, replication=0))[0]
    same = rows_of(select_rows(steps, multiple=TINY.multiple))[0]
    assert [same[name] for name in ("error", "edges", "loss")] == [usual[name] for name in ("error", "edges", "loss")]


def test_alternating_directions_find_the_same_minimum(table: pd.DataFrame) -> None:
    adm = select_rows(table, kind="adm")
    assert unique(adm, "method") == list(GREEDY)
    for row in rows_of(adm):
        usual = rows_of(select_rows(table, kind="main", method=row["method"], p=8, replication=0))[0]
        assert row["loss"] == pytest.approx(usual["loss"], abs=1e-4)
        assert row["loss"] != usual["loss"]  # another way to it rounds differently


def test_more_samples_find_more_edges() -> None:
    def rows(n: int) -> dict[str, Any]:
        settings = replace(TINY, n=n, extras=0)
        return {row["method"]: row for row in Precision().run(settings, Task({"p": 12, "replication": 1}))}

    few, many = rows(15), rows(2000)
    assert all(many[name]["fscore"] > few[name]["fscore"] for name in (*GREEDY, DEFAULT))
    assert all(many[name]["error"] < few[name]["error"] for name in GRAPH_METHOD_NAMES)
    # With this many samples the likelihood chooses the first k of the grid that has room for all edges.
    edges = int(np.triu(make_precision(1, 12, 0.2, random_state=1).precision, 1).astype(bool).sum())
    chosen = min(k for k in TINY.ks(12) if k >= edges)
    assert many[DEFAULT]["parameter"] == chosen
    assert many[DEFAULT]["fscore"] == pytest.approx(2 * edges / (edges + chosen))


def test_f_score_by_hand() -> None:
    found, true = np.array([1, 1, 1, 0, 0], dtype=bool), np.array([1, 0, 0, 1, 0], dtype=bool)
    assert f_score(found, true) == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    assert f_score(~found & found, ~found & found) == 1.0


def test_loss_of_what_is_not_positive_definite_is_infinite() -> None:
    assert log_det_loss(np.diag([1.0, -1.0]), np.eye(2)) == np.inf
    assert log_det_loss(np.diag([2.0, 0.5]), np.eye(2)) == pytest.approx(2.5)


def test_the_step_is_a_multiple_of_the_inverse_squared_variance() -> None:
    covariance, _ = covariances()
    result = find_method("GraHTP").solve(GraphSettings(multiple=0.25), covariance, 5)
    assert result.history["step"][0] == pytest.approx(0.25 / np.trace(covariance / 10) ** 2)


def test_greedy_methods_have_the_bounds_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    covariance, held_out = covariances()
    seen = []
    original = LogDet.restrict
    monkeypatch.setattr(LogDet, "restrict", lambda self, at: seen.append(self.bounds) or original(self, at))  # type: ignore[func-returns-value]
    for name in (*GREEDY, DEFAULT):
        fit_tuned(find_method(name), TINY, covariance, [(covariance, held_out)])
    assert covariance.shape == (10, 10)
    assert eigenvalue_bounds(covariance) in seen
    assert {bounds for bounds in seen if bounds.upper == np.inf} == set()


def test_paths_of_forward_selection_are_fits() -> None:
    covariance, _ = covariances()
    method = find_method("FBS")
    for fit in method.solve_path(replace(TINY, accuracy=1e-12), covariance, [2.0, 5.0, 9.0]):
        alone = minimize(LogDet(covariance), int(fit.parameter), solver=FBS())
        np.testing.assert_allclose(fit.omega, alone.x, atol=1e-8)
        assert fit.iterations == alone.n_iter == fit.parameter


@pytest.mark.parametrize("method", GRAPH_METHODS, ids=lambda method: method.name)
def test_the_held_out_sample_chooses(method: Any) -> None:
    covariance, held_out = covariances()
    settings = replace(TINY, patience=100)
    grid = method.make_grid(settings, covariance)
    losses = [log_det_loss(fit.omega, held_out) for fit in method.solve_path(settings, covariance, grid)]
    tuning = tune(method, settings, grid, [(covariance, held_out)])
    assert tuning.fits[0].parameter == grid[int(np.argmin(losses))]
    assert tuning.loss == pytest.approx(min(losses))
    assert tuning.tried == len(grid)


class _Listed:
    """A method whose matrices have given held-out losses at Σ = 0: −log det Ω."""

    def __init__(self, losses: list[float]) -> None:
        self._losses = losses
        self.fitted = 0

    def solve_path(self, settings: GraphSettings, covariance: Array, grid: Any) -> Iterator[Fit]:
        for value, loss in zip(grid, self._losses, strict=True):
            self.fitted += 1
            yield Fit(value, np.array([[np.exp(-loss)]]), 0.0, 1, "converged")


def test_patience_ends_the_search() -> None:
    zero = np.zeros((1, 1))
    method = _Listed([3.0, 1.0, 2.0, 0.5, 2.0, 2.0, 0.0])
    tuning = tune(method, GraphSettings(patience=2), range(7), [(zero, zero)])  # type: ignore[arg-type]
    assert (tuning.fits[0].parameter, tuning.tried, method.fitted) == (3, 6, 6)


def test_the_mean_over_folds_decides() -> None:
    zero = np.zeros((1, 1))
    one, ten = np.zeros((1, 1)), np.array([[10.0]])
    method = _Listed([0.0, -1.0])
    # Of Σ = 0 the larger Ω is better, of Σ = 10 the smaller one, and by more.
    assert tune(method, GraphSettings(), [0, 1], [(zero, one)]).fits[0].parameter == 1  # type: ignore[arg-type]
    assert tune(method, GraphSettings(), [0, 1], [(zero, one), (zero, ten)]).fits[0].parameter == 0  # type: ignore[arg-type]


@pytest.mark.slow
def test_pictures(table: pd.DataFrame) -> None:
    figures = show_all(Precision(), TINY, table)
    assert list(figures) == ["precision", "precision-steps", "precision-adm"]
    assert len(figures["precision"].axes) == 4
    plain = frame_of(rows_of(select_rows(table, kind="main")))
    assert list(show_all(Precision(), TINY, plain)) == ["precision"]


def test_the_caption_names_the_steps_with_the_lowest_f() -> None:
    losses = {(0, 0.25): 1.0, (0, 0.5): 0.5, (1, 0.25): 2.0, (1, 0.5): 0.5, (2, 0.25): 0.0, (2, 0.5): 7.0}
    steps = frame_of(
        {"p": 8, "replication": each, "multiple": multiple, "loss": loss} for (each, multiple), loss in losses.items()
    )
    assert precision._describe_lowest(steps) == "p = 8: 0.25 for 1 data set, 0.5 for 2 data sets"


def test_captions_report_which_runs_did_not_converge() -> None:
    rows = [
        {"method": name, "multiple": multiple, "status": status}
        for name, multiple, status in (
            ("GraHTP", 0.5, "converged"),
            ("GraHTP", 1.0, "periodic"),
            ("GraSP", 1.0, "max_iter"),
            ("FBS", 0.5, "converged"),
        )
    ]
    assert precision._describe_unsettled(frame_of(rows)) == "runs that did not converge are 2 of 2 with 1/v²"
    assert precision._describe_unsettled(frame_of(rows[:1])) == "all runs converged"
    expected = "Runs with repeating supports, or stopped at the limit, return their best Ω: GraHTP 50%, GraSP 100%."
    assert precision._describe_unconverged(frame_of(rows)) == expected
    assert precision._describe_unconverged(frame_of(rows[:1])) == ""


def test_better_rivals_are_reported() -> None:
    claim = Precision().judge_claims(TINY, made_up("GLasso", "GraHTP"))[0]
    assert claim.published.word == "does not hold"
    assert claim.explanation.startswith(
        "GraSP has the smaller error at p = 30; GraSP has the larger F-score at p = 30; FBS has"
    )
    assert claim.explanation.endswith(
        "60 samples reveal few of the edges of a large graph: at p = 30, with about 87 edges, the held-out likelihood"
        " selects 300 edges of GraHTP, which are not shrunk, and 100 of GLasso, all shrunk."
    )


def made_up(better: str, worse: str) -> pd.DataFrame:
    """Results in which one method beats another in everything, and varies more."""
    rows = []
    for kind in ("main", "adm"):
        for replication in range(3):
            for name in GRAPH_METHOD_NAMES:
                rank = {better: 0, worse: 2}.get(name, 1)
                spread = (3 - rank) * replication
                measures = {"error": 10 + 10 * rank + spread, "fscore": 0.9 - 0.3 * rank + 0.01 * spread}
                times = {"seconds": 10.0**rank, "edges": 100 * (rank + 1)}
                rows.append({"kind": kind, "p": 30, "replication": replication, "method": name, **measures, **times})
    return frame_of(rows)


def words(table: pd.DataFrame) -> list[str]:
    return [claim.published.word for claim in Precision().judge_claims(TINY, table)]


def test_claims_follow_the_results() -> None:
    best, worst = words(made_up("GraHTP", "GLasso")), words(made_up("GLasso", "GraHTP"))
    assert best[0] == "holds"
    assert worst[0] == "does not hold"
    assert best[1] == "holds"
    assert worst[1] == "does not hold"
    assert worst[3:5] == ["holds", "holds"]
    assert best[3:5] == ["does not hold", "does not hold"]
    assert best[5:7] == ["holds", "holds"]
    assert worst[5:7] == ["does not hold", "does not hold"]
    assert (best[7], worst[7]) == ("holds", "does not hold")


def test_claims_of_the_default_solver_follow_its_results() -> None:
    claims = Precision().judge_claims(TINY, made_up(DEFAULT, "GLasso"))
    assert [claim.default.word for claim in claims if claim.default] == [
        "holds",
        "holds",
        "does not hold",
        "holds",
        "holds",
    ]


def test_full_settings_are_the_papers() -> None:
    full = Precision().make_settings("full")
    assert (full.sizes, full.replications, full.n, full.probability) == ((30, 60, 120, 200), 100, 100, 0.1)


def test_the_papers_way_of_minimizing_is_judged_by_its_own_seconds() -> None:
    """GLasso's seconds are in the main rows, those of the greedy methods beside them too."""
    table = made_up("GLasso", "GraHTP")
    faster = frame_of(
        {**row, "seconds": 1e-3} if row["kind"] == "adm" and row["method"] == "GraHTP" else row
        for row in rows_of(table)
    )
    assert words(table)[3:7] == ["holds", "holds", "does not hold", "does not hold"]
    assert words(faster)[3:7] == ["does not hold", "holds", "holds", "does not hold"]


def test_half_of_the_time_is_much_less() -> None:
    def with_fraction(fraction: float) -> str:
        rows = [
            {"kind": "main", "p": 30, "replication": 0, "method": name, "seconds": 1.0} for name in GRAPH_METHOD_NAMES
        ]
        rows[0]["seconds"] = fraction
        return words(frame_of(rows))[6]

    assert (with_fraction(0.49), with_fraction(0.51)) == ("holds", "does not hold")


def test_claims_without_results_are_not_measured() -> None:
    assert set(words(frame_of([]))) == {"not measured"}
