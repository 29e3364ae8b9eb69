"""y, weights and offsets as arrays of Dask: they stay on the workers, and the answers are those of memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from ksparse import (
    SparseHuberRegression,
    SparseLinearRegression,
    SparseLinearSVC,
    SparseLogisticRegression,
    SparseQuantileRegression,
)
from ksparse._types import Array
from ksparse.designs import as_design
from ksparse.designs.blocked import BlockedDesign, RowValues, open_row_values
from ksparse.estimators.pilot import compute_weighted_median
from ksparse.objectives import LeastSquares, Logistic, Poisson
from ksparse.weights import count_weighted_samples
from tests.scaling.test_dask_arrays import MODELS, NOISE, SIGNAL, N, P, X, assert_same, in_chunks

WEIGHTS: Array = np.random.default_rng(5).integers(0, 3, N).astype(float)
OFFSET: Array = 0.1 * NOISE
QUANTILE = SparseQuantileRegression(k=3, alpha=1e-3, quantile=0.7)
#: What is done with targets on the workers: their means, medians, labels and columns, and checks of each kind.
KINDS: dict[str, tuple[Any, Any]] = {
    **{name: MODELS[name] for name in ("linear, several responses", "logistic", "huber", "negative binomial")},
    "quantile": (QUANTILE, SIGNAL + NOISE),
    "huber, delta": (SparseHuberRegression(k=3, delta=0.5), SIGNAL + NOISE),
    "balanced": (SparseLogisticRegression(k=3, class_weight="balanced"), np.digitize(SIGNAL + NOISE, [1.0, 2.0])),
    "three classes, hinge": (SparseLinearSVC(k=3), np.digitize(SIGNAL + NOISE, [-0.5, 0.5])),
}


def other_chunks(values: Any) -> Any:
    """Chunks that are not those of X."""
    return da.from_array(np.asarray(values), chunks=(77, *np.shape(values)[1:]))


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_the_answers_are_those_of_a_target_in_memory(name: str) -> None:
    model, y = KINDS[name]
    here = model.fit(in_chunks(X, 17), other_chunks(y))
    there = type(model)(**model.get_params()).fit(X, y)
    assert_same(here, there)
    if hasattr(there, "classes_"):
        np.testing.assert_array_equal(here.classes_, there.classes_)


@pytest.mark.parametrize("name", ["linear", "logistic", "linear, standardized", "huber"])
def test_weights_and_offsets(name: str) -> None:
    model, y = MODELS[name]
    here = model.fit(in_chunks(X), other_chunks(y), in_chunks(WEIGHTS), offset=other_chunks(OFFSET))
    assert_same(here, type(model)(**model.get_params()).fit(X, y, WEIGHTS, offset=OFFSET))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["poisson", "huber"])
def test_two_worker_processes(client: Any, name: str) -> None:
    model, y = MODELS[name]
    blocks, target = in_chunks(X, 17).persist(), other_chunks(y).persist()
    assert_same(model.fit(blocks, target), type(model)(**model.get_params()).fit(X, y))


@pytest.mark.parametrize("kind", ["column", "series", "frame", "persisted"])
def test_columns_of_data_frames(kind: str) -> None:
    columns = [f"f{j}" for j in range(P)]
    table = pd.DataFrame(X, columns=columns).assign(y=SIGNAL + NOISE, z=SIGNAL - NOISE)
    frame = dd.from_pandas(table, npartitions=3)
    target = frame["y"] if kind != "frame" else frame[["y", "z"]]
    if kind == "series":
        target = dd.from_pandas(table["y"], npartitions=2)
    if kind == "persisted":
        target = target.persist()
    model = SparseLinearRegression(k=3, alpha=0.01, feature_groups=np.arange(P) // 2)
    there = SparseLinearRegression(k=3, alpha=0.01, feature_groups=np.arange(P) // 2)
    assert_same(model.fit(frame[columns], target), there.fit(X, table[["y", "z"]] if kind == "frame" else table["y"]))


def test_labels_of_text_in_a_data_frame() -> None:
    labels = pd.Series(np.where(SIGNAL > 0, "yes", "no"), dtype="category")
    model = SparseLogisticRegression(k=3).fit(in_chunks(X), dd.from_pandas(labels, npartitions=2))
    assert_same(model, SparseLogisticRegression(k=3).fit(X, labels.astype(str)))


# --- what passes this process -----------------------------------------------------------------------------------------


def repeat(values: Any, copies: int) -> Any:
    """The rows again and again, in as many chunks."""
    whole = da.concatenate([da.from_array(np.asarray(values), chunks=(N, *np.shape(values)[1:]))] * copies)
    return whole.rechunk({0: N * copies // 2})


@pytest.mark.parametrize("name", ["linear", "logistic", "huber", "linear, standardized"])
def test_bytes_through_this_process_do_not_grow_with_the_rows(name: str) -> None:
    model, y = MODELS[name]
    traffic = []
    for copies in (2, 60):
        design = as_design(repeat(X, copies))
        assert isinstance(design, BlockedDesign)
        model.fit(design, repeat(y, copies), repeat(WEIGHTS, copies))
        counters = design.counters
        traffic.append((counters.bytes_sent + counters.bytes_received) / counters.round_trips)
    small, large = traffic
    assert large < 1.2 * small + 300


def test_a_target_from_this_process_is_sent_once() -> None:
    design = as_design(in_chunks(X))
    assert isinstance(design, BlockedDesign)
    f = Logistic(design, MODELS["logistic"][1], alpha=1e-3)
    _ = f.evaluate(np.zeros(P)).gradient
    assert 8 * N <= f.counters.bytes_sent < 8 * N + 20_000
    for _ in range(5):
        _ = f.evaluate(np.zeros(P)).gradient
    assert f.counters.bytes_sent < 8 * N + 60_000


# --- checks by sums over blocks ---------------------------------------------------------------------------------------


def test_wrong_responses_are_counted_where_they_are() -> None:
    y = np.abs(NOISE)
    y[[150, 299]] = -2.0
    with pytest.raises(ValueError, match=r"Poisson needs counts y >= 0; y\[150\] is -2, .* and so is 1 more"):
        Poisson(in_chunks(X), other_chunks(y))
    y[[1, 7]] = np.nan
    with pytest.raises(ValueError, match="y has 2 NaN or infinite values"):
        LeastSquares(in_chunks(X), other_chunks(y))
    with pytest.raises(ValueError, match="y has 2 NaN or infinite labels"):
        Logistic(in_chunks(X), other_chunks(y))
    with pytest.raises(ValueError, match="sample_weight must not be negative; entry 150 is -2"):
        LeastSquares(in_chunks(X), other_chunks(NOISE), sample_weight=other_chunks(np.where(np.isnan(y), 0, y)))
    with pytest.raises(ValueError, match=f"y has {N - 1} values for {N} rows of X"):
        SparseLinearRegression(k=2).fit(in_chunks(X), other_chunks(y[1:]))
    with pytest.raises(ValueError, match="the sizes of the chunks of y are not known"):
        SparseLinearRegression(k=2).fit(in_chunks(X), other_chunks(y)[other_chunks(y) > 0])
    labels = np.arange(N) % 3
    with pytest.raises(ValueError, match=r"no sample of class \[2\] has a positive sample_weight"):
        SparseLogisticRegression(k=2).fit(in_chunks(X), other_chunks(labels), other_chunks(labels < 2))
    with pytest.raises(ValueError, match="y has only one class"):
        SparseLogisticRegression(k=2).fit(in_chunks(X), other_chunks(np.ones(N, dtype=int)))


def test_too_many_labels_are_refused() -> None:
    rows = 10_500
    y = da.arange(rows, chunks=2000)
    with pytest.raises(ValueError, match="more than 10000 distinct labels"):
        Logistic(da.ones((rows, 1), chunks=(5000, 1)), y)


def hold(values: Array, name: str = "y") -> RowValues:
    opened = open_row_values(other_chunks(values), as_design(in_chunks(np.ones((len(values), 1)))), name)
    assert isinstance(opened, RowValues)
    return opened


@pytest.mark.parametrize("kind", ["normal", "ties", "two clusters", "constant", "wide"])
def test_medians_are_those_in_memory(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.estimators.stored_medians.FEW_DISTINCT", 4)
    monkeypatch.setattr("ksparse.estimators.stored_medians.COUNTED_PARTS", 8)
    values = {
        "normal": NOISE,
        "ties": np.round(NOISE),
        "two clusters": np.where(np.arange(N) < N // 2, -1.0, 1e6) + 1e-9 * NOISE,
        "constant": np.full(N, 3.5),
        "wide": np.exp(100 * NOISE),
    }[kind]
    for weights in (np.ones(N), WEIGHTS):
        stored = compute_weighted_median(hold(values), hold(weights))
        assert stored == compute_weighted_median(values, weights)


@pytest.mark.parametrize("kind", ["counts", "thirds", "any"])
def test_weights_stand_for_as_many_samples(kind: str) -> None:
    weights = {"counts": WEIGHTS, "thirds": (1 + WEIGHTS) / 3, "any": np.exp(NOISE)}[kind]
    assert count_weighted_samples(hold(weights)) == pytest.approx(count_weighted_samples(weights), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("persisted", [True, False])
@pytest.mark.usefixtures("without_stealing")
def test_row_vectors_stay_where_their_rows_are(client: Any, persisted: bool) -> None:
    """Refits and passes move sums between workers: less than half of a row vector in each of five steps."""
    rows, target = repeat(X, 80), repeat(MODELS["logistic"][1], 80).rechunk(3108)
    rows = rows.rechunk({0: 2000})
    if persisted:
        rows, target = rows.persist(), target.persist()
    f = Logistic(rows, target, alpha=1e-3)
    restricted = f.restrict(np.arange(P) < 4)
    _ = restricted.evaluate(np.zeros(4)).gradient, f.evaluate(f.start).gradient
    before = count_moved_bytes(client)
    for step in range(1, 6):
        _ = restricted.evaluate(np.full(4, 0.01 * step)).extend(f, np.arange(P) < 4).gradient
    assert count_moved_bytes(client) - before < 5 * 8 * len(rows) / 2


@pytest.fixture
def without_stealing(client: Any) -> Iterator[None]:
    """On a busy machine Dask gives tasks of a late worker to another, and their rows with them."""

    async def stop(dask_scheduler: Any) -> None:
        await dask_scheduler.extensions["stealing"].stop()

    async def start(dask_scheduler: Any) -> None:
        await dask_scheduler.extensions["stealing"].start()

    client.run_on_scheduler(stop)
    yield
    client.run_on_scheduler(start)


def count_moved_bytes(client: Any) -> int:
    def count(dask_worker: Any) -> int:
        return sum(int(each["total"]) for each in dask_worker.transfer_incoming_log)

    return sum(client.run(count).values())


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Dask with a newer pandas
def test_a_frame_from_parquet_with_its_target(tmp_path: Path) -> None:
    columns = [f"f{j}" for j in range(P)]
    table = pd.DataFrame(X, columns=columns).assign(y=np.where(SIGNAL > 0, "yes", "no"))
    for i, part in enumerate(np.array_split(np.arange(N), 3)):
        table.iloc[part].to_parquet(tmp_path / f"{i}.parquet", index=False)
    frame = dd.read_parquet(str(tmp_path / "*.parquet"))
    model = SparseLogisticRegression(k=3).fit(frame[columns], frame["y"])
    assert_same(model, SparseLogisticRegression(k=3).fit(X, table["y"]))
    assert model.classes_.tolist() == ["no", "yes"]
