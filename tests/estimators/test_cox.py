"""Cox regression: the forms of y, hazards against statsmodels and their definition, folds, and what is refused."""

from __future__ import annotations

import copy
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import ksparse
from ksparse import (
    SparseCoxRegression,
    SparseCoxRegressionCV,
    SparseCoxRegressionIC,
    StabilitySelection,
    make_survival_target,
)
from ksparse._types import Array
from ksparse.inference import concordance_index
from ksparse.objectives import Cox
from tests.estimators.models import MARGINS, NAMES, TRUE, N, P, X, pd
from tests.problems import draw_survival

PHReg: Any = import_module("statsmodels.duration.hazard_regression").PHReg

RISK: Array = MARGINS - MARGINS.mean()
Y = draw_survival(RISK)
FULL = draw_survival(RISK, entry=True, strata=True)
TIME, EVENT = Y["time"], Y["event"]


def columns(y: Any) -> Array:
    return np.column_stack([y["time"], y["event"]])


# --- y --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "y",
    [
        columns(Y),
        columns(Y).tolist(),
        pd.DataFrame({"event": EVENT, "time": TIME}),
        pd.DataFrame({"Time": TIME, "Event": EVENT.astype(int)}, index=np.arange(N)[::-1]),
        pd.DataFrame({"died": EVENT, "days": TIME}),
        np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("cens", "?"), ("t", "<f8")]),
        np.column_stack([columns(Y), np.zeros(N)]),
    ],
)
def test_the_forms_of_y(y: Any) -> None:
    here, there = SparseCoxRegression(k=3).fit(X, y), SparseCoxRegression(k=3).fit(X, Y)
    assert_array_equal(here.coef_, there.coef_)
    assert here.score(X, y) == there.score(X, Y)


def test_entry_times_and_strata_of_a_frame() -> None:
    frame = pd.DataFrame({name: FULL[name] for name in ("time", "event", "entry", "stratum")})
    assert_array_equal(SparseCoxRegression(k=3).fit(X, frame).coef_, SparseCoxRegression(k=3).fit(X, FULL).coef_)
    categories = frame.assign(stratum=frame["stratum"].astype("category"))
    assert_array_equal(SparseCoxRegression(k=3).fit(X, categories).strata_, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (TIME, r"y has shape \(80,\): times without events; pass ksparse.make_survival_target"),
        (np.column_stack([TIME] * 5), r"y has shape \(80, 5\); expected two columns, time and event"),
        (np.column_stack([TIME, 2.0 * EVENT]), "events must be 0 .censored. or 1, or booleans; event"),
        (np.column_stack([-TIME, EVENT]), "times must be positive; time 0 of y is -.*, and 79 more are not positive$"),
        (
            np.column_stack([np.where(np.arange(N) == 5, 0, TIME), EVENT]),
            "times must be positive; time 5 of y is 0; use half of the shortest positive time, or leave",
        ),
        (
            np.column_stack([np.r_[-2.0, 0.0, TIME[2:]], EVENT]),
            "times must be positive; time 0 of y is -2, and 1 more is not positive$",
        ),
        (np.column_stack([np.where(np.arange(N) == 5, np.nan, TIME), EVENT]), "time of y has 1 NaN or infinite values"),
        (np.column_stack([TIME, np.where(EVENT, np.nan, 0)]), "event of y has .* NaN or infinite values"),
        (
            np.column_stack([TIME, EVENT, TIME]),
            "sample 0 enters at .* and is last seen at .*, and 79 more are not last seen after entry; each",
        ),
        (np.column_stack([TIME, EVENT, -TIME]), "entry times must be at least 0; entry 0 of y is -"),
        (np.column_stack([TIME, 0 * TIME]), "y has no event; Cox needs at least one sample with an event"),
        (
            pd.DataFrame({"a": TIME, "b": EVENT.astype(int)}),
            "y has the columns 'a' and 'b', neither of which has booleans, .* pass ksparse.make_survival_target",
        ),
        (pd.DataFrame({"a": TIME}), "y has the columns 'a'; pass ksparse.make_survival_target"),
        (list(zip(EVENT, TIME, strict=True)), "times of y are all 0 or 1, .* the order of columns is time, event"),
        (
            pd.DataFrame({"time": TIME, "event": pd.array([None, *EVENT[1:]], dtype="boolean")}),
            r"event of y has missing values \(pandas.NA\); remove or impute them",
        ),
        (pd.DataFrame({"time": TIME, "event": EVENT, "age": 1}), "y has a column 'age'; expected time, event, entry"),
        (pd.DataFrame({"time": ["1"] * 79 + ["x"], "event": EVENT}), "time of y must be numeric"),
        (Y[1:], r"inconsistent numbers of samples"),
        (None, "requires y to be passed, but the target y is None"),
    ],
)
def test_bad_targets(y: Any, message: str) -> None:
    for model in (SparseCoxRegression(k=2), SparseCoxRegressionCV(ks=[1])):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)


def test_make_survival_target_checks_its_columns() -> None:
    with pytest.raises(ValueError, match=r"event of y has shape \(79,\); expected \(80,\), as of time"):
        make_survival_target(TIME, EVENT[1:])
    with pytest.raises(ValueError, match="stratum of y has 1 missing value"):
        make_survival_target([1.0, 2.0], [True, False], strata=["a", None])
    with pytest.raises(ValueError, match=r"stratum of y has shape \(1,\); expected \(2,\), as of time"):
        make_survival_target([1.0, 2.0], [True, False], strata=["a"])
    with pytest.raises(ValueError, match="time of y has shape"):
        make_survival_target([[1.0]], [True])


def test_times_to_predict_must_be_numbers() -> None:
    model = SparseCoxRegression(k=1).fit(X, Y)
    with pytest.raises(ValueError, match="times has 1 NaN; leave them out"):
        model.predict_survival_function(X, times=[1.0, np.nan])
    with pytest.raises(ValueError, match=r"times must be a list of numbers; got an array of shape \(\)"):
        model.predict_survival_function(X, times=1.0)


def test_fewer_events_than_folds_are_said() -> None:
    few = make_survival_target(TIME, np.arange(N) < 3)
    with pytest.warns(UserWarning, match="y has 3 events, and the held-out part of 2 of 5 folds has none") as said:
        SparseCoxRegressionCV(ks=[0, 1], alphas=0.1, refit_alphas=None).fit(X, few)
    assert len(said) == 1


def test_events_at_one_time_only() -> None:
    y = make_survival_target(np.full(N, 3.0), EVENT)
    model = SparseCoxRegression(k=2, alpha=0.1).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert_array_equal(model.event_times_, [3.0])


def test_separation_has_no_minimum_without_a_ridge() -> None:
    y = make_survival_target(np.exp(-X[:, 0]), np.ones(N, bool))
    with pytest.warns(ksparse.ConvergenceWarning, match=r"partial likelihood grows without end.*Set alpha > 0"):
        free = SparseCoxRegression(k=1).fit(X, y)
    assert np.isfinite(free.coef_).all()
    assert SparseCoxRegression(k=1, alpha=0.1).fit(X, y).result_.success


# --- hazards --------------------------------------------------------------------------------------------------------


def test_coefficients_and_baseline_of_statsmodels() -> None:
    model = SparseCoxRegression(k=P, ties="breslow").fit(X, Y)
    peer = PHReg(TIME, X, status=EVENT.astype(int), ties="breslow").fit(disp=0)
    assert_allclose(model.coef_, peer.params, rtol=1e-5)
    times, hazards, _ = peer.baseline_cumulative_hazard[0]
    # statsmodels has the hazard before each of its times, for X = 0.
    at_zero = model.predict_cumulative_hazard(np.zeros((1, P)), times)[0]
    assert_allclose(np.append(0.0, at_zero[:-1])[np.unique(times, return_index=True)[1]],
                    hazards[np.unique(times, return_index=True)[1]], rtol=1e-4)  # fmt: skip


@pytest.mark.parametrize("kind", ["plain", "entry and strata", "weights", "offset"])
def test_the_baseline_hazard_by_its_definition(kind: str) -> None:
    y = FULL if kind == "entry and strata" else Y
    weights = np.linspace(0, 2, N) if kind == "weights" else np.ones(N)
    offset = np.linspace(-1, 1, N) if kind == "offset" else np.zeros(N)
    model = SparseCoxRegression(k=3).fit(X, y, sample_weight=weights, offset=offset)
    risk = weights * np.exp(X @ model.coef_ + offset - model.mean_predictor_)
    assert model.mean_predictor_ == pytest.approx(np.average(X @ model.coef_ + offset, weights=weights))
    strata = y["stratum"] if kind == "entry and strata" else np.full(N, "")
    entry = y["entry"] if kind == "entry and strata" else np.zeros(N)
    times, hazards, labels = [], [], []
    for label in np.unique(strata):
        dead = (strata == label) & y["event"] & (weights > 0)
        for t in np.unique(y["time"][dead]):
            at_risk = (strata == label) & (entry < t) & (t <= y["time"])
            times.append(t)
            hazards.append(weights[dead & (y["time"] == t)].sum() / risk[at_risk].sum())
            labels.append(label)
    assert_array_equal(model.event_times_, times)
    assert_allclose(model.baseline_hazard_, hazards, rtol=1e-10)
    assert_allclose(model.baseline_survival_, np.exp(-model.baseline_cumulative_hazard_))
    if kind == "entry and strata":
        assert_array_equal(model.event_strata_, labels)
        rows = np.array(labels) == "b"
        assert_allclose(model.baseline_cumulative_hazard_[rows], np.cumsum(model.baseline_hazard_[rows]))


def test_survival_functions() -> None:
    model = SparseCoxRegression(k=3).fit(X, Y)
    curves = model.predict_survival_function(X)
    assert curves.shape == (N, len(model.event_times_))
    assert (np.diff(curves, axis=1) <= 0).all()
    relative = np.exp(model.predict(X) - model.mean_predictor_)
    assert_allclose(curves, model.baseline_survival_ ** relative[:, None])
    ends = model.predict_survival_function(X[:2], times=[0.0, model.event_times_[0], 1e9])
    assert_allclose(ends[:, 0], 1.0)
    assert_allclose(ends[:, 1:], curves[:2][:, [0, -1]])
    shifted = model.predict_cumulative_hazard(X[:2], [1.0], offset=[np.log(2.0)] * 2)
    assert_allclose(shifted, 2.0 * model.predict_cumulative_hazard(X[:2], [1.0]))


def test_features_far_from_zero_do_not_overflow() -> None:
    here, there = SparseCoxRegression(k=3).fit(X, Y), SparseCoxRegression(k=3).fit(X + 1e4, Y)
    assert_allclose(there.baseline_survival_, here.baseline_survival_, rtol=1e-6)
    assert_allclose(there.predict_survival_function(X + 1e4), here.predict_survival_function(X), atol=1e-6)


def test_strata_have_baselines_of_their_own() -> None:
    model = SparseCoxRegression(k=3).fit(X, FULL)
    curves = model.predict_survival_function(X, [1.0], strata=FULL["stratum"])
    for label in "abc":
        rows = FULL["stratum"] == label
        alone = model.predict_survival_function(X[rows], [1.0], strata=[label] * rows.sum())
        assert_array_equal(curves[rows], alone)
    with pytest.raises(ValueError, match="the model has strata, each with a baseline of its own; pass strata"):
        model.predict_survival_function(X)
    with pytest.raises(ValueError, match=r"the stratum 'z' was not there in the fit, which had \['a', 'b', 'c'\]"):
        model.predict_survival_function(X[:1], strata=["z"])
    with pytest.raises(ValueError, match="the model has no strata"):
        SparseCoxRegression(k=3).fit(X, Y).predict_survival_function(X, strata=FULL["stratum"])
    with pytest.raises(ValueError, match="the model has strata, but y has none"):
        model.encode_target(Y)


# --- choosing -------------------------------------------------------------------------------------------------------


def test_folds_have_events_and_the_score_is_a_partial_likelihood() -> None:
    late = make_survival_target(TIME, np.arange(N) >= N - 15)  # sorted: unshuffled folds would have no events
    model = SparseCoxRegressionCV(ks=[0, 2], alphas=0.1, refit_alphas=None, standardize=False, cv=5).fit(X, late)
    assert np.isfinite(model.scores_).all()
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)
    for number, (train, held_out) in enumerate(splitter.split(X, late["event"])):
        assert late["event"][held_out].sum() == 3
        fold = SparseCoxRegression(k=2, alpha=0.1).fit(X[train], late[train])
        total = {}
        for name, rows in (("all", np.arange(N)), ("train", train)):
            objective = Cox(X[rows], late[rows])
            total[name] = len(rows) * objective.evaluate(fold.coef_).value
        expected = (total["train"] - total["all"]) / len(held_out)
        assert model.scores_[1, number] == pytest.approx(expected, rel=1e-6)


def test_strata_and_entry_times_survive_folds() -> None:
    rare = FULL.copy()
    rare["stratum"] = np.where(np.arange(N) == 3, "rare", FULL["stratum"].astype(str))
    for model in (SparseCoxRegressionCV(ks=[1, 3], cv=4), SparseCoxRegressionCV(ks=[1, 3], cv=KFold(4))):
        assert np.isfinite(model.fit(X, rare).scores_).all()
    chosen = SparseCoxRegressionCV(ks=[1, 3], cv=4).fit(X, FULL)
    assert_array_equal(
        chosen.at(3).support_,
        SparseCoxRegression(k=3, alpha=chosen.at(3).alpha, standardize=True).fit(X, FULL).support_,
    )
    summary = chosen.summary(resamples=5)
    assert summary.features["hazard_ratio"].to_numpy() == pytest.approx(np.exp(summary.features["coefficient"]))
    stable = StabilitySelection(SparseCoxRegression(k=3), n_pairs=10, threshold=0.6, random_state=0).fit(X, FULL)
    assert {1, 6} <= set(stable.get_support(indices=True))


def test_scikit_learn_selects_rows_of_y() -> None:
    for y in (FULL, Y, columns(Y), pd.DataFrame({"time": TIME, "event": EVENT})):
        scores = cross_val_score(SparseCoxRegression(k=3), X, y, cv=KFold(4, shuffle=True, random_state=0))
        assert (scores >= 0.5).all()
        assert scores.mean() > 0.7
    pipeline = make_pipeline(StandardScaler(), SparseCoxRegression())
    found = GridSearchCV(pipeline, {"sparsecoxregression__k": [0, 3]}, cv=KFold(4)).fit(X, Y)
    assert found.best_params_ == {"sparsecoxregression__k": 3}


def test_a_criterion_counts_events() -> None:
    model = SparseCoxRegressionIC(ks=range(5), criterion="bic").fit(X, Y)
    objective = Cox(X, Y)
    for k, value in zip(model.ks_, model.criterion_, strict=True):
        lost = 2 * N * objective.evaluate(model.path_.coef[k]).value
        assert value == pytest.approx(lost + k * np.log(EVENT.sum()))
    assert set(TRUE) <= set(model.get_support(indices=True))


def test_naive_intervals_are_those_of_statsmodels() -> None:
    model = SparseCoxRegression(k=P).fit(X, Y)
    table = model.summary(intervals="naive", replacements=0).features
    peer = PHReg(TIME, X, status=EVENT.astype(int), ties="efron").fit(disp=0)
    order = table.index.str[1:].astype(int)
    assert_allclose(table[["low", "high"]].to_numpy(), peer.conf_int()[order], rtol=1e-4)
    split = SparseCoxRegression(k=3).fit(X, FULL).summary(intervals="split", resamples=3)
    assert (split.features["low"] <= split.features["high"]).all()


def test_the_summary_speaks_of_hazards() -> None:
    text = str(SparseCoxRegression(k=2).fit(X, Y).summary(intervals=None))
    assert "coefficients are for the logarithm of the hazard" in text
    assert "hazard ratio (SD or 0/1)" in text
    assert "(intercept)" not in text


# --- saving ---------------------------------------------------------------------------------------------------------


def test_saved_models_have_their_baselines(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    model = SparseCoxRegressionCV(ks=[0, 1, 3], cv=3).fit(frame, FULL)
    ksparse.save(model, tmp_path / "model.json")
    loaded = ksparse.load(tmp_path / "model.json")
    options = {"times": [0.3, 1.0], "strata": FULL["stratum"]}
    for here, there in ((loaded, model), (loaded.at(1), model.at(1)), (copy.deepcopy(model).at(3), model.at(3))):
        assert_array_equal(
            here.predict_survival_function(frame, **options), there.predict_survival_function(frame, **options)
        )
    assert loaded.score(frame, FULL) == model.score(frame, FULL)


# --- scikit-learn ---------------------------------------------------------------------------------------------------


class Uncensored(SparseCoxRegression):
    """A model of numbers, as scikit-learn's checks pass them: increasing functions of them are times of events."""

    def check_data(self, X: Any, y: Any) -> Any:
        X, y = super(SparseCoxRegression, self).check_data(X, y)  # a y of numbers
        times = np.exp(np.asarray(y, dtype=np.float64) / (1.0 + np.abs(np.asarray(y, dtype=np.float64)).max()))
        return super().check_data(X, make_survival_target(times, np.ones(len(times), bool)))

    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
        return concordance_index(
            make_survival_target(np.exp(np.asarray(y)), np.ones(len(y), bool)), self.predict(X), sample_weight
        )


@pytest.mark.slow
@parametrize_with_checks([Uncensored(k=2, alpha=0.1, ties="breslow")])  # type: ignore[untyped-decorator]
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("scale", [1e-50, 1.0, 1e50])
@pytest.mark.parametrize(("k", "p"), [(2, 12), (1, 1)])
@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_events_that_are_all_tied_have_their_minimum_at_zero(ties: str, k: int, p: int, scale: float) -> None:
    """f is log of the mean of exp(m) − the mean of m, at least 0 (Jensen), and 0 where all m are equal."""
    data = scale * np.random.default_rng(2).standard_normal((40, p))
    y = make_survival_target(np.ones(40), np.ones(40, dtype=bool))
    model = SparseCoxRegression(k=k, ties=ties).fit(data, y)
    assert model.result_.status == "converged"
    assert model.result_.value == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(scale * model.coef_, 0.0, atol=1e-12)
