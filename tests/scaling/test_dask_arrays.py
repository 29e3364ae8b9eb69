"""Estimators on arrays of Dask: the answers of arrays in memory, on threads and on two worker processes."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from ksparse import (
    SparseCoxRegression,
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLinearSVC,
    SparseLogisticRegression,
    SparseNegativeBinomialRegression,
    SparsePoissonRegression,
)
from ksparse._types import Array
from ksparse.debias.newton import line_search
from ksparse.designs import as_design
from ksparse.objectives import Logistic
from tests.problems import draw_survival

N, P = 300, 12
CHUNKS = {
    1: (N,),
    3: (140, 7, 153),
    17: (1, 40, 3, 27, 11, 29, 2, 31, 19, 17, 13, 23, 5, 37, 7, 20, 15),
}
rng = np.random.default_rng(0)
X: Array = rng.standard_normal((N, P)) * np.linspace(0.5, 3.0, P) + np.linspace(-1.0, 4.0, P)
SIGNAL: Array = X[:, 1] - 0.5 * X[:, 4] + 0.4 * X[:, 9]
SIGNAL -= SIGNAL.mean()
NOISE = rng.standard_normal(N)
MODELS: dict[str, tuple[Any, Any]] = {
    "linear": (SparseLinearRegression(k=3), SIGNAL + NOISE),
    "linear, several responses": (SparseLinearRegression(k=3), np.column_stack([SIGNAL + NOISE, SIGNAL - NOISE])),
    "linear, standardized": (SparseLinearRegression(k=3, standardize=True, alpha=0.01), SIGNAL + NOISE),
    "logistic": (SparseLogisticRegression(k=3, alpha=1e-3), np.where(SIGNAL + NOISE > 0, "yes", "no")),
    "logistic, standardized": (
        SparseLogisticRegression(k=3, alpha=1e-3, standardize=True),
        np.where(SIGNAL + NOISE > 0, "yes", "no"),
    ),
    "three classes": (SparseLogisticRegression(k=3, alpha=1e-2), np.digitize(SIGNAL + NOISE, [-0.5, 0.5])),
    "groups": (
        SparseLogisticRegression(k=2, alpha=1e-3, feature_groups=np.arange(P) // 2),
        np.where(SIGNAL + NOISE > 0, 1, 0),
    ),
    "huber": (SparseHuberRegression(k=3, alpha=1e-3), SIGNAL + NOISE),
    "squared hinge": (SparseLinearSVC(k=3, alpha=1e-3), SIGNAL + NOISE > 0),
    "negative binomial": (
        SparseNegativeBinomialRegression(k=3, alpha=1e-3),
        rng.poisson(np.exp(0.3 * SIGNAL) * rng.gamma(2.0, 0.5, N)),
    ),
    "poisson": (SparsePoissonRegression(k=3, alpha=1e-3), rng.poisson(np.exp(0.3 * SIGNAL))),
}


def in_chunks(values: Any, count: int = 3) -> Any:
    return da.from_array(np.asarray(values), chunks=(CHUNKS[count], *np.shape(values)[1:]))


def make_sparse(values: Array) -> Array:
    """The same array with most entries zero."""
    return np.where(np.abs(values - values.mean(axis=0)) > values.std(axis=0), values, 0.0)


def assert_same(here: Any, there: Any, tolerance: float = 1e-8) -> None:
    np.testing.assert_array_equal(here.support_, there.support_)
    np.testing.assert_allclose(here.coef_, there.coef_, rtol=0, atol=tolerance * np.abs(there.coef_).max())
    np.testing.assert_allclose(here.intercept_, there.intercept_, rtol=0, atol=tolerance * 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"),
    [
        *((name, 3) for name in MODELS),
        *((name, count) for name in ("linear", "logistic", "poisson") for count in (1, 17)),
    ],
)
def test_the_answers_are_those_in_memory(name: str, count: int) -> None:
    model, y = MODELS[name]
    assert_same(model.fit(in_chunks(X, count), y), type(model)(**model.get_params()).fit(X, y))


@pytest.mark.slow
@pytest.mark.parametrize("count", CHUNKS)
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_kinds_of_blocks(count: int, storage: str, dtype: Any) -> None:
    values = (X if storage == "dense" else make_sparse(X)).astype(dtype)
    blocks, whole = in_chunks(values, count), values
    if storage == "sparse":
        blocks, whole = blocks.map_blocks(sparse.csr_matrix), sparse.csr_matrix(values)
    y = MODELS["logistic"][1]
    assert_same(
        SparseLogisticRegression(k=3, alpha=1e-3).fit(blocks, y),
        SparseLogisticRegression(k=3, alpha=1e-3).fit(whole, y),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["linear", "logistic", "poisson", "groups"])
def test_two_worker_processes(client: Any, name: str) -> None:
    model, y = MODELS[name]
    here = model.fit(in_chunks(X), in_chunks(y))
    assert_same(here, type(model)(**model.get_params()).fit(X, y))
    np.testing.assert_array_equal(here.predict(in_chunks(X)), here.predict(X))


def test_arrays_that_are_on_the_workers_already(client: Any) -> None:
    y = SIGNAL + NOISE
    there = SparseLinearRegression(k=3).fit(X, y)
    assert_same(SparseLinearRegression(k=3).fit(in_chunks(X).persist(), in_chunks(y).persist()), there)
    assert_same(SparseLinearRegression(k=3).fit(in_chunks(X).persist() + 0.0, y), there)


def test_labels_that_are_sent_cause_no_warning(client: Any) -> None:
    import dask

    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1B"}):
        assert SparseLinearRegression(k=3).fit(in_chunks(X), SIGNAL + NOISE).support_.sum() == 3


@pytest.mark.slow
def test_sparse_single_precision_on_two_worker_processes(client: Any) -> None:
    values, y = make_sparse(X).astype(np.float32), MODELS["logistic"][1]
    blocks = in_chunks(values).map_blocks(sparse.csr_matrix)
    assert_same(
        SparseLogisticRegression(k=3, alpha=1e-3).fit(blocks, y),
        SparseLogisticRegression(k=3, alpha=1e-3).fit(sparse.csr_matrix(values), y),
    )


def test_weights_and_offsets() -> None:
    y, weights, offset = MODELS["poisson"][1], rng.integers(0, 3, N), 0.1 * NOISE
    here, there = SparsePoissonRegression(k=3, alpha=1e-3), SparsePoissonRegression(k=3, alpha=1e-3)
    here.fit(in_chunks(X), in_chunks(y), in_chunks(weights), offset=in_chunks(offset))
    assert_same(here, there.fit(X, y, weights, offset=offset))


# --- refused before any work ------------------------------------------------------------------------------------------


class Untouched:
    """Fails if a block is read."""

    def __call__(self, block: Array) -> Array:
        raise AssertionError("a block was read")


def test_bad_blocks_are_refused_before_they_are_read() -> None:
    blocks, y = in_chunks(X).map_blocks(Untouched(), meta=np.empty((0, 0))), np.zeros(N)
    model = SparseLinearRegression(k=2)
    with pytest.raises(ValueError, match=f"y has {N - 1} values for {N} rows of X"):
        model.fit(blocks, y[1:])
    with pytest.raises(ValueError, match=r"sizes of the chunks of X are not known; call X\.compute_chunk_sizes"):
        model.fit(in_chunks(X)[da.from_array(y == 0, chunks=(CHUNKS[3],))], y)
    with pytest.raises(ValueError, match="expected \\(n, p\\)"):
        model.fit(blocks[:, 0], y)
    with pytest.raises(ValueError, match="has the type <U1; SparseLinearRegression needs numbers"):
        model.fit(da.from_array(np.full((4, 2), "a")), np.zeros(4))


def test_missing_values_are_counted() -> None:
    bad = X.copy()
    bad[[3, 200], 5] = np.nan
    bad[200, 6] = np.inf
    with pytest.raises(ValueError, match="X has NaN or infinite values, in 2 rows; remove or impute them"):
        SparseLogisticRegression(k=2).fit(in_chunks(bad), MODELS["logistic"][1])


def test_chunks_along_columns_are_joined_with_a_warning() -> None:
    model, y = MODELS["logistic"]
    blocks = da.from_array(X, chunks=(CHUNKS[3], (5, P - 5)))
    with pytest.warns(UserWarning, match=r"2 chunks along its columns.*rechunked, which moves up to 2.9e-05 GB"):
        model.fit(blocks, y)
    assert_same(model, type(model)(**model.get_params()).fit(X, y))


def test_models_of_all_samples_together_are_refused() -> None:
    survival = draw_survival(SIGNAL)
    with pytest.raises(ValueError, match="SparseCoxRegression needs all samples in one place"):
        SparseCoxRegression(k=2).fit(in_chunks(X), survival)


# --- what travels -----------------------------------------------------------------------------------------------------


def test_a_newton_step_is_one_round_trip() -> None:
    y = MODELS["logistic"][1]
    f = Logistic(in_chunks(X), y, alpha=1e-3)
    support = np.zeros(P, dtype=bool)
    support[[1, 4, 9]] = True
    restricted = f.restrict(support)
    before = f.counters.round_trips
    point = restricted.evaluate(np.array([0.1, -0.2, 0.3]))
    _ = point.gradient, restricted.hessian(point)
    assert f.counters.round_trips == before + 1
    trial = restricted.evaluate(np.array([0.2, -0.2, 0.3]))
    _ = restricted.relative_change(point, trial), trial.gradient, restricted.hessian(trial)
    assert f.counters.round_trips == before + 2


def test_what_travels_does_not_grow_with_the_rows() -> None:
    """Sums come back, and functions with k coefficients go out: nothing has an entry for each row."""
    traffic = []
    for copies in (1, 50):
        many, y = np.tile(X, (copies, 1)), np.tile(MODELS["logistic"][1], copies)
        labels = da.from_array(y, chunks=copies * 100)
        f = Logistic(da.from_array(many, chunks=(copies * 100, P)), labels, alpha=1e-3)
        restricted = f.restrict(np.arange(P) < 4)
        _ = restricted.evaluate(np.full(4, 0.1)).extend(f, np.arange(P) < 4).gradient
        traffic.append((f.counters.round_trips, f.counters.bytes_sent, f.counters.bytes_received))
    small, large = traffic
    assert large[0] == small[0]
    assert abs(large[1] - small[1]) < 200
    assert abs(large[2] - small[2]) < 200


def restrict_logistic() -> tuple[Any, Any]:
    f = Logistic(in_chunks(X), MODELS["logistic"][1], alpha=1e-3)
    restricted = f.restrict(np.arange(P) < 4)
    return f, restricted.evaluate(np.full(4, 0.1))


def test_several_trial_steps_share_a_round_trip() -> None:
    f, point = restrict_logistic()
    gradient = point.gradient
    before = f.counters.round_trips
    trial = line_search(point.objective, point, gradient, -64.0 * gradient / np.abs(gradient).max(), None)
    halvings = np.log2(64.0 / np.abs(gradient).max() / (np.abs(trial.x - point.x) / np.abs(gradient)).max())
    assert 4 < halvings <= 8
    assert f.counters.round_trips == before + 3  # the whole step, then four halvings, and four more
    _ = trial.gradient, point.objective.hessian(trial), point.objective.relative_change(point, trial)
    assert f.counters.round_trips == before + 3


def test_several_trial_supports_share_a_round_trip() -> None:
    f, _ = restrict_logistic()
    starts = [(np.isin(np.arange(P), (1, 4, j)), np.array([0.1, -0.1, 0.0])[np.argsort((1, 4, j))]) for j in (2, 7, 9)]
    alone = [f.restrict(support).evaluate(x) for support, x in starts]
    expected = [(point.value, point.gradient, point.objective.hessian(point)) for point in alone]
    before = f.counters.round_trips
    f.anticipate_refits(iter(starts))
    for (support, x), (value, gradient, hessian) in zip(starts, expected, strict=True):
        restricted = f.restrict(support)
        point = restricted.evaluate(x)
        assert point.value == pytest.approx(value, rel=1e-14)
        np.testing.assert_allclose(point.gradient, gradient, rtol=0, atol=1e-14)
        np.testing.assert_allclose(restricted.hessian(point), hessian, rtol=0, atol=1e-14)
    assert f.counters.round_trips == before + 1
    assert f.restrict(starts[0][0]) is not alone[0].objective


@pytest.mark.parametrize("name", ["logistic", "poisson"])
def test_round_trips_of_a_fit_are_few(name: str) -> None:
    model, y = MODELS[name]
    design = as_design(in_chunks(X))
    model.fit(design, y)
    assert design.counters.round_trips <= 8 * design.counters.passes + 4 * design.counters.restrictions
    assert design.counters.bytes_sent <= 6000 * design.counters.round_trips
