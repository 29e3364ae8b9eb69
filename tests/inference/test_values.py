"""What units are worth and what replaces them, against refits of all subsets by another route."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from ksparse import SparseLinearRegression, SparseLogisticRegression, minimize
from ksparse._types import Array, IntArray
from ksparse.inference.correlating import correlate_blocks
from ksparse.inference.refits import Refits, fix_model
from ksparse.inference.replacing import predict_changes
from ksparse.inference.units import describe_units
from tests.estimators.models import FIXED, MODELS, WITHOUT_INTERCEPT, N, P, X, fitted, response

ALPHA = 0.02
WEIGHTS = np.arange(1, N + 1) % 3 + 0.5


def find_minimum(name: str, features: IntArray, data: Array = X, **options: Any) -> float:
    """The minimum of f on some columns, by fitting a model that has no others."""
    kind = MODELS[name][1]
    options = {"alpha": ALPHA, "fit_intercept": name not in WITHOUT_INTERCEPT, **options}
    columns = data[:, features] if len(features) else np.zeros((len(data), 1))
    objective = kind(columns, response(name), **options)
    return minimize(objective, k=columns.shape[1]).value


def find_all(
    model: Any, name: str, data: Array = X, **options: Any
) -> tuple[dict[Any, float], dict[Any, float], float]:
    """By brute force: increases of f without each selected feature, with each other one in its place, and f(∅) − f."""
    estimates = {parameter: getattr(model, f"{parameter}_") for parameter in FIXED.get(name, {})}
    inside, outside = np.flatnonzero(model.support_), np.flatnonzero(~model.support_)

    def minimum(features: Any) -> float:
        return find_minimum(name, np.array(features, dtype=int), data, **estimates, **options)

    value = minimum(inside)
    without = {i: minimum(np.setdiff1d(inside, [i])) - value for i in inside.tolist()}
    swapped = {
        (i, j): minimum(np.append(np.setdiff1d(inside, [i]), j)) - value
        for i, j in product(inside.tolist(), outside.tolist())
    }
    return without, swapped, minimum([]) - value


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_losses_and_replacements_are_those_of_all_refits(name: str, weighted: bool) -> None:
    weights = WEIGHTS if weighted else None
    model = fitted(name, sample_weight=weights, alpha=ALPHA)
    summary = model.summary(intervals=None, replacements=P)
    without, swapped, explained = find_all(model, name, sample_weight=weights)
    assert summary.explained == pytest.approx(explained, rel=1e-6)
    for unit, row in summary.units.iterrows():
        i = int(str(unit)[1:])
        assert row["increase"] == pytest.approx(without[i], rel=1e-5)
        assert row["fraction"] == pytest.approx(without[i] / explained, rel=1e-5)
        best = min((value, j) for (out, j), value in swapped.items() if out == i)
        assert row["replacement"] == f"x{best[1]}"
        assert row["replacement_fraction"] == pytest.approx(best[0] / explained, rel=1e-5, abs=1e-9)
    assert len(summary.replacements) == len(swapped)
    for row in summary.replacements.itertuples():
        value = swapped[int(row.unit[1:]), int(row.replacement[1:])]
        assert row.increase == pytest.approx(value, rel=1e-5, abs=1e-9)


def test_mean_losses_leave_out_the_ridge() -> None:
    model = fitted("linear", alpha=ALPHA)
    summary, y = model.summary(intervals=None), response("linear")
    weights = model.coef_
    mean_loss = 0.5 * np.mean((y - model.predict(X)) ** 2)
    assert summary.mean_loss == pytest.approx(mean_loss)
    assert summary.value == pytest.approx(mean_loss + 0.5 * ALPHA * weights @ weights)
    unit = int(summary.units.index[0][1:])
    kept = np.setdiff1d(np.flatnonzero(model.support_), [unit])
    refit = SparseLinearRegression(k=2, alpha=ALPHA).fit(X[:, kept], y)
    increase = 0.5 * np.mean((y - refit.predict(X[:, kept])) ** 2) - mean_loss
    assert summary.units["loss_increase"].iloc[0] == pytest.approx(increase)


def test_f_has_the_ridge_of_the_coefficients_and_standardized_features() -> None:
    model = fitted("linear", alpha=1.0, refit_alpha=ALPHA, standardize=True)
    summary = model.summary(intervals=None)
    _, _, explained = find_all(model, "linear", X / X.std(axis=0))
    assert summary.explained == pytest.approx(explained)
    assert summary.value == pytest.approx(model.result_.value)


@pytest.mark.parametrize("name", ["linear", "multinomial", "poisson"])
def test_groups(name: str) -> None:
    labels = np.repeat(["a", "b", "c", "d"], 2)
    model = fitted(name, alpha=ALPHA, k=2, feature_groups=labels)
    summary = model.summary(intervals=None, replacements=4)
    inside = list(summary.units.index)

    def minimum(groups: list[str]) -> float:
        return find_minimum(name, np.flatnonzero(np.isin(labels, groups)))

    value = minimum(inside)
    for group in inside:
        kept = [other for other in inside if other != group]
        assert summary.units.loc[group, "increase"] == pytest.approx(minimum(kept) - value, rel=1e-5)
        swaps = {other: minimum([*kept, other]) - value for other in "abcd" if other not in inside}
        rows = summary.replacements.query("unit == @group").set_index("replacement")["increase"].to_dict()
        assert rows == pytest.approx(swaps, rel=1e-5)


@pytest.mark.parametrize("name", ["linear", "responses"])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_quadratic_model_is_exact_for_least_squares(name: str, grouped: bool) -> None:
    """The screening of all candidates: for least squares it predicts what exact refits give."""
    labels = np.repeat(np.arange(P // 2), 2) if grouped else None
    model = fitted(name, alpha=ALPHA, k=2, feature_groups=labels)
    fixed = fix_model(model)
    refits, units = Refits(fixed, model._samples), describe_units(model)
    current = refits.refit(units.selected)
    inside, outside = np.flatnonzero(units.selected), np.flatnonzero(~units.selected)
    for unit, row in zip(inside, predict_changes(refits, current, inside, outside), strict=True):
        for other, change in zip(outside, row, strict=True):
            selected = units.selected.copy()
            selected[unit], selected[other] = False, True
            assert change == pytest.approx(refits.refit(selected).value - current.value, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("kind", [SparseLinearRegression, SparseLogisticRegression])
def test_a_copy_of_a_feature_replaces_it_at_no_loss(kind: Any) -> None:
    y = response("logistic" if kind is SparseLogisticRegression else "linear")
    model = kind(k=3, alpha=0.0).fit(X, y)
    chosen = int(np.flatnonzero(model.support_)[1])
    doubled = np.column_stack([X, -3.0 * X[:, chosen] + 1.0])
    summary = kind(k=3, alpha=0.0).fit(doubled, y).summary(intervals=None, replacements=1)
    row = summary.replacements.set_index("unit").loc[f"x{chosen}"]
    assert row["replacement"] == f"x{P}"
    assert row["fraction"] == pytest.approx(0.0, abs=1e-9)
    assert row["correlation"] == pytest.approx(-1.0)


def test_candidates_of_many_coordinates_are_narrowed_down(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from ksparse.inference import replacing

    model = fitted("multinomial", alpha=ALPHA)
    best = model.summary(intervals=None).units["replacement"]
    size = replacing.MODEL_TUNING
    monkeypatch.setattr(replacing, "MODEL_TUNING", replace(size, max_model_size=9 + 12, min_candidates=6))
    narrow = model.summary(intervals=None)
    assert narrow.units["replacement"].tolist() == best.tolist()
    assert len(set(narrow.replacements["replacement"])) == 4


@pytest.mark.parametrize("name", ["linear", "responses"])
def test_always_selected_features_and_bounds(name: str) -> None:
    """What is always selected has a worth too; with bounds, replacements respect them."""
    model = fitted(name, positive=True, always_select=[0])
    summary = model.summary(intervals=None, replacements=P)
    assert "x0" in summary.units.index
    kept = [int(unit[1:]) for unit in summary.units.index]
    for row in summary.replacements.itertuples():
        features = [j for j in kept if f"x{j}" != row.unit] + [int(row.replacement[1:])]
        refit = SparseLinearRegression(k=3, positive=True).fit(X[:, features], response(name))
        assert row.increase == pytest.approx(refit.result_.value - summary.value, abs=1e-10)
    best = summary.replacements.groupby("unit")["increase"].min()
    first = model.summary(intervals=None, replacements=1).replacements.set_index("unit")["increase"]
    np.testing.assert_allclose(first, best[first.index], atol=1e-12)


def test_sparse_features_give_the_same() -> None:
    dense, other = (fitted("poisson", data, alpha=ALPHA).summary(intervals=None) for data in (X, sparse.csr_array(X)))
    for part in ("features", "units", "replacements"):
        left, right = getattr(dense, part), getattr(other, part)
        assert left.index.tolist() == right.index.tolist()
        np.testing.assert_allclose(left.select_dtypes("number"), right.select_dtypes("number"), rtol=1e-6, atol=1e-9)


def test_correlations() -> None:
    rng = np.random.default_rng(0)
    a, b, weights = rng.standard_normal((30, 2)), rng.standard_normal((30, 2)), rng.random(30)
    weights /= weights.sum()
    covariance = np.cov(a[:, 0], b[:, 0], aweights=weights)
    expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert correlate_blocks(a[:, :1], b[:, :1], weights) == pytest.approx(expected)
    assert correlate_blocks(a, np.column_stack([b, a @ [1.0, 2.0]]), weights) == pytest.approx(1.0)
    # The largest canonical correlation is the largest correlation of any two combinations.
    from sklearn.cross_decomposition import CCA

    uniform = np.full(30, 1 / 30)
    left, right = CCA(n_components=1, max_iter=5000, tol=1e-12).fit_transform(a, b)
    assert correlate_blocks(a, b, uniform) == pytest.approx(np.corrcoef(left[:, 0], right[:, 0])[0, 1], rel=1e-6)
    assert np.isnan(correlate_blocks(np.ones((30, 1)), b, uniform))
