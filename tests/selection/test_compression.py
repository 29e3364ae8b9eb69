"""Least squares of many samples: few rows with the same moments give the same scores and models as all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from ksparse import SparseLinearRegression, SparseLinearRegressionCV
from ksparse._types import Array
from ksparse.estimators import Samples, sample_moments
from ksparse.selection import compression
from ksparse.selection.compression import compress_samples

N, P = 300, 6
rng = np.random.default_rng(0)
MIX: Array = np.eye(P) + 0.4 * rng.standard_normal((P, P))
X: Array = rng.standard_normal((N, P)) @ MIX * [1.0, 10.0, 0.1, 1.0, 100.0, 1.0]
Y: Array = X @ [1.0, -0.2, 0.0, 0.5, 0.0, 0.3] + rng.standard_normal(N)
WEIGHTS: Array = rng.uniform(0.1, 3.0, N)
SETTINGS: dict[str, Any] = {"ks": [0, 1, 3, 6], "alphas": [0.01, 1.0], "refit_alphas": [0.0, 0.1]}


def both(
    monkeypatch: pytest.MonkeyPatch, data: Any, y: Any, weights: Any = None, **options: Any
) -> tuple[Any, Any, list[bool]]:
    """The model with folds compressed if they may be, and with all rows; and whether they were compressed."""
    compress, used = compression._compress_splits, []

    def watched(*arguments: Any) -> Any:
        parts = compress(*arguments)
        used.append(parts is not None)
        return parts

    model = SparseLinearRegressionCV(**{**SETTINGS, **options})
    with monkeypatch.context() as patch:
        patch.setattr(compression, "_compress_splits", watched)
        few = model.fit(data, y, weights)
        patch.setattr(sample_moments, "MIN_ROW_RATIO", np.inf)
        return few, SparseLinearRegressionCV(**{**SETTINGS, **options}).fit(data, y, weights), used


def assert_same(few: Any, all_rows: Any, rtol: float = 1e-8) -> None:
    assert_allclose(few.grid_scores_, all_rows.grid_scores_, rtol=rtol)
    assert few.k_ == all_rows.k_
    assert few.alpha_ == all_rows.alpha_
    assert few.refit_alpha_ == all_rows.refit_alpha_
    size = np.abs(all_rows.coef_path_).max()
    assert_allclose(few.coef_path_, all_rows.coef_path_, rtol=rtol, atol=rtol * size)
    assert_allclose(few.intercept_path_, all_rows.intercept_path_, rtol=rtol, atol=rtol * (1 + np.abs(Y).max()))


@pytest.mark.parametrize(
    "cv",
    [
        KFold(3),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=0),
        ShuffleSplit(3, test_size=0.2, random_state=0),
        ShuffleSplit(2, test_size=0.2, train_size=0.5, random_state=0),
        TimeSeriesSplit(3),
        [(np.arange(200), np.arange(100, 300)), (np.repeat(np.arange(200), 2), np.arange(200, 300))],
        [(np.arange(150), np.repeat(np.arange(150, 300), 2)), (np.arange(300), np.arange(300))],
        [(np.arange(4, N), np.arange(4))],  # fewer held-out rows than variables stay as they are
    ],
    ids=str,
)
def test_any_splits(monkeypatch: pytest.MonkeyPatch, cv: Any) -> None:
    few, all_rows, used = both(monkeypatch, X, Y, cv=cv)
    assert used == [True]
    assert_same(few, all_rows)


@pytest.mark.parametrize(
    "case", ["weights", "some weights 0", "responses", "float32", "constant", "offset", "no scaling"]
)
def test_kinds_of_data(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    data, y, weights, options = X, Y, None, dict[str, Any]()
    rtol = 1e-8
    if case == "weights":
        weights = WEIGHTS
    elif case == "some weights 0":
        weights = np.where(np.arange(N) % 3 == 0, 0.0, WEIGHTS)
    elif case == "responses":
        y = np.column_stack([Y, X[:, 2] + rng.standard_normal(N), rng.standard_normal(N)])
    elif case == "float32":
        data, rtol = X.astype(np.float32), 1e-4
    elif case == "constant":
        data = np.column_stack([X, np.full(N, 0.1), np.zeros(N), np.ones(N)])
    elif case == "offset":
        data, y = X + 1e6, Y - 1e6
    else:
        options = {"standardize": False, "fit_intercept": False}
    few, all_rows, used = both(monkeypatch, data, y, weights, cv=KFold(4), **options)
    assert used == [True]
    assert_same(few, all_rows, rtol)


@pytest.mark.parametrize(
    "options",
    [{"feature_groups": [0, 0, 1, 1, 2, 2], "ks": [0, 1, 2]}, {"always_select": [2], "ks": [1, 3]}, {"positive": True}],
)
def test_options_of_the_model(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    few, all_rows, used = both(monkeypatch, X, Y, WEIGHTS, cv=KFold(3), **options)
    assert used == [True]
    assert_same(few, all_rows)


def test_scorers_see_all_held_out_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    few, all_rows, used = both(monkeypatch, X, Y, cv=KFold(3), scoring="neg_median_absolute_error")
    assert used == [True]
    assert_same(few, all_rows)


def test_held_out_samples_with_more_weights_than_all(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.where(np.arange(N) < 100, 1e6, 1.0)
    few, all_rows, _ = both(monkeypatch, X, Y, weights, cv=KFold(3))
    assert_same(few, all_rows, 1e-7)


@pytest.mark.parametrize("case", ["duplicates", "nearly duplicates", "exact fit", "one-hot"])
def test_moments_that_would_not_be_accurate_are_not_used(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    data, y = X, Y
    if case == "duplicates":
        data = np.column_stack([X, X[:, 0]])
    elif case == "nearly duplicates":
        data = np.column_stack([X, X[:, 0] + 1e-7 * rng.standard_normal(N)])
    elif case == "exact fit":
        y = X[:, 0] - 0.1 * X[:, 1]
    else:
        data = np.column_stack([X, np.eye(3)[np.arange(N) % 3]])
    few, all_rows, used = both(monkeypatch, data, y, cv=KFold(3))
    assert used == [False]
    assert_array_equal(few.grid_scores_, all_rows.grid_scores_)
    assert_array_equal(few.coef_path_, all_rows.coef_path_)


def test_a_level_that_only_held_out_samples_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """A feature that is constant in the training part of one fold."""
    data = np.column_stack([X, np.arange(N) == 7])
    few, all_rows, _ = both(monkeypatch, data, Y, cv=KFold(3))
    assert_same(few, all_rows)


@pytest.mark.parametrize("size", [1e7, 1e10])
def test_an_outlying_sample_does_not_spoil_the_folds_without_it(monkeypatch: pytest.MonkeyPatch, size: float) -> None:
    data = X.copy()
    data[7, 3] = size
    few, all_rows, _ = both(monkeypatch, data, Y, cv=KFold(3))
    assert_allclose(few.grid_scores_, all_rows.grid_scores_, rtol=1e-8)


@pytest.mark.slow
def test_few_samples_and_sparse_ones_are_not_compressed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both(monkeypatch, X[:30], Y[:30], cv=KFold(3))[2] == []
    assert both(monkeypatch, sparse.csr_array(X), Y, cv=KFold(3))[2] == []
    assert both(monkeypatch, X[:33], Y[:33], cv=LeaveOneOut())[2] == [True]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_named(bad: float) -> None:
    data, y = X.copy(), Y.copy()
    data[17, 2] = bad
    with pytest.raises(ValueError, match=r"(?i)X.*(nan|infin)"):
        SparseLinearRegressionCV(**SETTINGS).fit(data, Y)
    y[17] = bad
    with pytest.raises(ValueError, match=r"(?i)y.*(nan|infin)"):
        SparseLinearRegressionCV(**SETTINGS).fit(X, y)


def test_numbers_whose_squares_overflow() -> None:
    with pytest.raises(ValueError, match="squares overflow"):
        SparseLinearRegressionCV(**SETTINGS).fit(X, 1e200 * Y)


# --- the rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("outputs", [0, 1, 3])
def test_compressed_samples_have_the_same_moments(weights: Any, outputs: int) -> None:
    y = Y if outputs == 0 else rng.standard_normal((N, outputs)) + 3.0
    few = compress_samples(Samples(X + 5.0, y, weights))
    assert few is not None
    assert few.sample_weight is not None
    variables = P + max(outputs, 1)
    assert few.X.shape == (variables + 1, P)
    assert few.y.shape == (variables + 1, *y.shape[1:])
    total = float(N) if weights is None else weights.sum()
    assert few.sample_weight.sum() == pytest.approx(total)
    before, after = (
        np.column_stack([np.ones(len(sample.X)), sample.X, sample.y]) for sample in (Samples(X + 5.0, y), few)
    )
    given = np.ones(N) if weights is None else weights
    assert_allclose((after.T * few.sample_weight) @ after, (before.T * given) @ before, rtol=1e-10)


def test_moments_are_summed_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = compress_samples(Samples(X, Y, WEIGHTS))
    monkeypatch.setattr(compression, "BLOCK_SIZE", 100)
    blocks = compress_samples(Samples(X, Y, WEIGHTS))
    assert whole is not None
    assert blocks is not None
    assert_allclose(blocks.X, whole.X, rtol=1e-9, atol=1e-9)


def test_fits_of_compressed_samples_are_the_same() -> None:
    few = compress_samples(Samples(X, Y, WEIGHTS))
    assert few is not None
    for k in range(P + 1):
        model = SparseLinearRegression(k, alpha=0.1, refit_alpha=0.01, standardize=True)
        here = model.fit(few.X, few.y, few.sample_weight).coef_.copy()
        assert_allclose(here, model.fit(X, Y, WEIGHTS).coef_, rtol=1e-8, atol=1e-10)


def test_what_cannot_be_compressed() -> None:
    assert compress_samples(Samples(np.column_stack([X, X[:, 0]]), Y)) is None
    assert compress_samples(Samples(X, X[:, 1] - 0.3)) is None
    assert compress_samples(Samples(np.where(X[3, 3] == X, np.nan, X), Y)) is None
    assert compress_samples(Samples(X, Y, np.zeros(N))) is None
