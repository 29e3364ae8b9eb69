"""Data that are not what they were declared to be, and files that are not X: errors that say so, and no answers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from ksparse import (
    SparseLinearRegression,
    SparseLinearRegressionCV,
    SparseLogisticRegression,
    SparsePrecision,
    open_blocks,
)
from ksparse._types import Array
from ksparse.cli.errors import InputError
from ksparse.cli.reading import ReadingOptions
from ksparse.cli.stored.engines import OnWorkers
from ksparse.cli.stored.large_files import find_stored_files
from ksparse.designs.blocked import dask_chunks
from ksparse.designs.blocked.machine_memory import find_container_limit
from tests.scaling.test_dask_arrays import NOISE, SIGNAL, P, X, in_chunks
from tests.scaling.test_disk import LIMIT, NAMES, write_parquet, write_zarr

Y: Array = SIGNAL + NOISE
NOTHING = np.empty((0, 0))


@pytest.fixture(autouse=True)
def small_row_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of ten rows, beside which vectors with an entry for each row take nothing."""
    monkeypatch.setattr("ksparse.designs.blocked.disk_inputs.ROW_VECTORS", 0)


# --- chunks of other shapes than declared ---------------------------------------------------------------------------

CHANGES: dict[str, Callable[[Array], Array]] = {
    "fewer rows": lambda block: block[1:],
    "more rows": lambda block: np.vstack([block, block[:1]]),
    "fewer columns": lambda block: block[:, 1:],
    "one axis": lambda block: block[:, 0],
}
ESTIMATORS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda blocks: SparseLinearRegression(k=3).fit(blocks, Y),
    "logistic": lambda blocks: SparseLogisticRegression(k=3).fit(blocks, Y > 0),
    "linear CV": lambda blocks: SparseLinearRegressionCV(ks=[1, 2], cv=2).fit(blocks, da.from_array(Y, chunks=50)),
    "precision": lambda blocks: SparsePrecision(k=3).fit(blocks),
    "predict": lambda blocks: SparseLinearRegression(k=3).fit(X, Y).predict(blocks),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_blocks_of_other_shapes_are_refused(name: str, change: str) -> None:
    blocks = da.from_array(X, chunks=(100, -1)).map_blocks(CHANGES[change], meta=NOTHING)
    with pytest.raises(ValueError, match=rf"block [012] of X has the shape .* but \(100, {P}\) was declared"):
        ESTIMATORS[name](blocks)


@pytest.mark.filterwarnings("ignore:X is in 2 chunks along its columns")
@pytest.mark.parametrize("kind", ["readers", "columns", "persisted", "sparse"])
def test_blocks_of_other_shapes_however_they_are_read(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = da.from_array(X, chunks=(30, P // 2 if kind == "columns" else -1))
    blocks = chunks.map_blocks(CHANGES["fewer rows"], meta=NOTHING)
    if kind == "readers":
        monkeypatch.setattr(dask_chunks, "BLOCKS_PER_THREAD", 0.2)
    if kind == "persisted":
        blocks = blocks.persist()
    if kind == "sparse":
        blocks = blocks.map_blocks(sparse.csr_matrix)
    with pytest.raises(ValueError, match=r"block \d+ of X has the shape \(29, \d+\), but \(30, \d+\) was declared"):
        SparseLogisticRegression(k=3).fit(blocks, Y > 0)


@pytest.mark.parametrize("size", [100, 150, 50])
def test_responses_and_weights_of_other_shapes_are_refused(size: int) -> None:
    blocks, good = da.from_array(X, chunks=(100, -1)), da.from_array(Y, chunks=size)
    # A row too many would be cut off where chunks become smaller.
    bad = good.map_blocks(lambda part: np.append(part, 1.0), meta=np.empty(0))
    with pytest.raises(ValueError, match=rf"block \d of y has the shape \({size + 1},\), but \({size},\) was declared"):
        SparseLinearRegression(k=3).fit(blocks, bad)
    with pytest.raises(ValueError, match=rf"block \d of sample_weight has the shape \({size + 1},\)"):
        SparseLinearRegression(k=3).fit(blocks, good, sample_weight=abs(bad))


def test_parquet_files_that_have_changed_are_refused(tmp_path: Path) -> None:
    pattern, model = write_parquet(tmp_path, X), SparseLinearRegression(k=3)
    design = open_blocks(pattern, memory_limit=LIMIT * 2)
    changed = tmp_path / "1.parquet"
    for values in (X[:20], X[:8], X[:0], X[:40]):
        pd.DataFrame(values, columns=NAMES).to_parquet(changed, row_group_size=8)
        with pytest.raises(ValueError, match=rf"1.parquet' has changed: it has {len(values)} rows, and had 30 when"):
            model.fit(design, Y)
    changed.write_bytes(b"garbage")
    with pytest.raises(ValueError, match=r"1.parquet' cannot be read as Parquet: .* write it again"):
        model.fit(design, Y)
    with pytest.raises(ValueError, match=r"1.parquet' cannot be read as Parquet"):
        open_blocks(pattern)


# --- what is not finite ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", ["dense", "sparse", "frame", "disk"])
def test_predictions_refuse_what_they_refuse_in_memory(form: str, value: float) -> None:
    model, bad = SparseLinearRegression(k=3).fit(X, Y), X.copy()
    bad[200, 0] = value  # column 0 is not selected
    with pytest.raises(ValueError, match=r"Input X contains") as expected:
        model.predict(bad)
    blocks: dict[str, Callable[[], Any]] = {
        "dense": lambda: in_chunks(bad),
        "sparse": lambda: in_chunks(bad).map_blocks(sparse.csr_matrix),
        "frame": lambda: dd.from_pandas(pd.DataFrame(bad), npartitions=3),
        "disk": lambda: open_blocks(bad, memory_limit=LIMIT),
    }
    with pytest.raises(ValueError, match=r"Input X contains") as found:
        model.predict(blocks[form]())
    assert str(found.value).splitlines()[0] == str(expected.value).splitlines()[0]


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("fit", [ESTIMATORS["linear"], ESTIMATORS["linear CV"], ESTIMATORS["precision"]])
def test_missing_values_cause_an_error_without_warnings(fit: Callable[[Any], Any], value: float) -> None:
    bad = X.copy()
    bad[7, 7], bad[299, 4] = np.inf, value
    with pytest.raises(ValueError, match="X has NaN or infinite values"):
        fit(da.from_array(bad, chunks=(30, -1)))


# --- names ----------------------------------------------------------------------------------------------------------


def test_columns_with_the_same_name_are_refused(tmp_path: Path) -> None:
    pattern = write_parquet(tmp_path, X)
    with pytest.raises(ValueError, match="several columns with the name 'f1'"):
        open_blocks(pattern, columns=["f1", "f0", "f1"])
    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=2)
    with pytest.raises(ValueError, match="several columns with the name 'f0'"):
        SparseLinearRegression(k=2).fit(frame.rename(columns={"f1": "f0"}), Y)


# --- what open_blocks takes -----------------------------------------------------------------------------------------


def find_support(source: Any) -> list[int]:
    model = SparseLinearRegression(k=3).fit(open_blocks(source), Y)
    return list(np.flatnonzero(model.support_))


def test_paths_of_arrays(tmp_path: Path) -> None:
    wanted = list(np.flatnonzero(SparseLinearRegression(k=3).fit(X, Y).support_))
    np.save(tmp_path / "X.npy", X)
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["X"], file["y"] = X, Y
    write_zarr(tmp_path, X)
    for name in ("X.npy", "X.h5", "X.zarr"):
        assert find_support(tmp_path / name) == wanted
        assert find_support(str(tmp_path / name)) == wanted
    with h5py.File(tmp_path / "X.h5", "a") as file:
        file["Z"] = X
    with pytest.raises(ValueError, match=r"X.h5' has 2 arrays of shape \(n, p\) at its top: X, Z; open it and pass"):
        open_blocks(tmp_path / "X.h5")
    np.savez(tmp_path / "X.npz", X)
    with pytest.raises(ValueError, match=r"X.npz' is compressed or has several arrays; save X by np.save"):
        open_blocks(tmp_path / "X.npz")
    (tmp_path / "X.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"X.csv' is text, .* use the command ksparse fit, .* dask.dataframe.read_csv"):
        open_blocks(tmp_path / "X.csv")


@pytest.mark.parametrize(("name", "kind"), [("X.npy", "NumPy"), ("X.h5", "HDF5"), ("X.zarr", "Zarr")])
def test_array_files_that_are_damaged_or_missing(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    with pytest.raises(FileNotFoundError, match=rf"there is no file '.*{name}'; check the path"):
        open_blocks(path)
    path.mkdir() if kind == "Zarr" else path.write_bytes(b"garbage")
    with pytest.raises(ValueError, match=rf"{name}' cannot be read as an array of {kind}: .*; write it again") as found:
        open_blocks(path)
    assert "pickle" not in str(found.value)


def test_arrays_of_objects(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.array([[1, "a"]], dtype=object))
    with pytest.raises(ValueError, match=r"X.npy' cannot be read as an array of NumPy: .*objects"):
        open_blocks(tmp_path / "X.npy")


def test_folders_of_parquet_files(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=12).to_parquet(folder, write_index=False)
    (folder / "_unfinished.parquet").write_bytes(b"")
    wanted = list(np.flatnonzero(SparseLinearRegression(k=3).fit(X, Y).support_))
    for source in (folder, str(folder / "part*.parquet"), [folder]):  # part.2 is before part.10
        design = open_blocks(source)
        np.testing.assert_array_equal(design.collect_columns(np.arange(P)), X)
    assert find_support(folder) == wanted
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty' has no Parquet files"):
        open_blocks(tmp_path / "empty")


def test_columns_that_are_no_list_of_names(tmp_path: Path) -> None:
    pattern: Any = write_parquet(tmp_path, X)
    with pytest.raises(TypeError, match=r"columns is the text 'ab'; expected names in a list, such as \['ab'\]"):
        open_blocks(pattern, columns="ab")
    with pytest.raises(ValueError, match="columns names no column; name at least one, or leave columns out for all"):
        open_blocks(pattern, columns=[])


def test_series_of_dask_and_text_for_numbers() -> None:
    with pytest.raises(ValueError, match=r"X is a series of Dask; .* One feature is X.to_frame\(\)"):
        SparseLinearRegression(k=1).fit(dd.from_pandas(pd.Series(X[:, 0]), npartitions=2), Y)
    with pytest.raises(ValueError, match=r"y must be numeric; could not convert string to float: .*'a'"):
        SparseLinearRegression(k=1).fit(in_chunks(X), da.from_array(np.array(["a"] * len(X)), chunks=50))


def test_columns_in_the_names_of_folders_are_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=NAMES).assign(town=np.where(X[:, 0] > 0, "Ulm", "Bonn"))
    folder = tmp_path / "step=1" / "data"
    frame.to_parquet(folder, partition_cols=["town"], index=False)
    one, all_files = folder / "town=Ulm", sorted(map(str, folder.rglob("*.parquet")))
    sources: list[Any] = [folder, str(folder), str(folder / "*" / "*.parquet"), all_files]
    for source in sources:
        with pytest.raises(ValueError, match=r"the columns \['town'\] are in the names of folders \(town=...\)"):
            open_blocks(source)
    for source in (one, str(one / "*.parquet")):
        assert open_blocks(source).column_names.tolist() == NAMES
    assert open_blocks(folder, columns=NAMES[:2]).shape == (len(X), 2)
    with pytest.raises(InputError, match=r"'town': in the names of folders \(town=...\) and not in the files"):
        find_stored_files(str(folder / "*" / "*.parquet"), ReadingOptions())
    assert find_stored_files(str(one / "*.parquet"), ReadingOptions()) is not None
    shutil.rmtree(one)
    with pytest.raises(ValueError, match="would be lost"):
        open_blocks(folder)


def test_arrays_that_are_not_on_disk_are_refused() -> None:
    with pytest.raises(TypeError, match="X is of Dask, which goes to fit and predict as it is"):
        open_blocks(in_chunks(X))
    others: list[Any] = [pd.DataFrame(X), X.tolist(), [], None]
    for other in others:
        with pytest.raises(
            TypeError, match=f"X is of type {type(other).__name__}, .* paths of them or of Parquet files"
        ):
            open_blocks(other)
    with pytest.raises(TypeError, match="X is a sparse matrix, which goes to fit and predict as it is"):
        open_blocks(sparse.csr_matrix(X))


def test_a_file_that_is_closed(tmp_path: Path) -> None:
    file = h5py.File(tmp_path / "X.h5", "w")
    data = file.create_dataset("X", data=X)
    design = open_blocks(data)
    file.close()
    for use in (lambda: open_blocks(data), lambda: SparseLinearRegression(k=2).fit(design, Y)):
        with pytest.raises(ValueError, match="the HDF5 file of X is closed; open it again"):
            use()
    with pytest.raises(ValueError, match="the HDF5 file of X is closed"):
        SparseLinearRegression(k=2).fit(data, Y)


# --- clients and memory ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_client_that_is_not_the_default() -> None:
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"processes": False, "dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        model = SparseLinearRegression(k=3).fit(X, Y)
        blocks, y = client.persist(in_chunks(X)), client.persist(da.from_array(Y, chunks=50))
        for pair in ((blocks, Y), (blocks, y), (X, y)):
            here = SparseLinearRegression(k=3).fit(*pair)
            np.testing.assert_allclose(here.coef_, model.coef_, rtol=0, atol=1e-10)
        np.testing.assert_allclose(model.predict(blocks), model.predict(X), rtol=0, atol=1e-10)
        with pytest.raises(ValueError, match=r"by another client of Dask than the rest; persist all of them by"):
            SparseLinearRegression(k=3).fit(in_chunks(X), y)


@pytest.mark.parametrize(
    ("membership", "files", "limit"),
    [
        ("0::/", {"memory.max": "max"}, np.inf),
        ("0::/", {"memory.max": "4096"}, 4096),
        ("0::/a/b", {"memory.max": "max", "a/memory.max": "8192", "a/b/memory.max": "max"}, 8192),
        ("0::/elsewhere", {"memory.max": "4096"}, 4096),
        ("5:cpu:/\n4:memory:/a", {"memory/a/memory.limit_in_bytes": "2048", "memory/memory.limit_in_bytes": "9"}, 9),
        ("5:cpu:/a", {"memory.max": "4096"}, np.inf),
    ],
)
def test_limits_of_containers(tmp_path: Path, membership: str, files: dict[str, str], limit: float) -> None:
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    (tmp_path / "cgroup").write_text(f"{membership}\n")
    assert find_container_limit(tmp_path / "cgroup", str(tmp_path / "groups")) == limit
    assert find_container_limit(tmp_path / "none", str(tmp_path / "groups")) == np.inf


def test_workers_take_files_in_the_order_of_the_command(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{i}.parquet") for i in (1, 10, 2)]  # Dask would take 2 before 10
    for path, rows in zip(paths, np.split(X, 3), strict=True):
        pd.DataFrame(rows, columns=NAMES).to_parquet(path)
    engine = OnWorkers("threads of Dask", 1e9, reads_temporary_files=True)
    np.testing.assert_array_equal(engine.open_files(paths, NAMES, None).collect_columns(np.arange(P)), X)


def test_summaries_of_data_in_blocks(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    model = SparseLinearRegression(k=3).fit(X, Y)
    for stored in (in_chunks(X), open_blocks(tmp_path / "X.npy")):
        with pytest.raises(ValueError, match="need X in memory, not of Dask or on disk; pass some of the rows"):
            model.summary(stored, Y)
