"""X on disk: memmaps, Zarr, HDF5 and Parquet give the answers of memory, within a limit of it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import zarr

import ksparse
from ksparse import SparseLinearRegression, SparseLogisticRegression, SparsePrecision, open_blocks
from ksparse._types import Array
from ksparse.designs.blocked import BlockedDesign, LocalRunner
from ksparse.designs.blocked.row_layout import RowLayout
from tests.scaling.test_dask_arrays import MODELS, NOISE, SIGNAL, P, X, assert_same

LABELS = MODELS["logistic"][1]
#: Blocks of ten rows of X, and 17 of single precision.
LIMIT = 8 * 8 * P * 10
NAMES = [f"f{j}" for j in range(P)]


def write_memmap(folder: Path, values: Array) -> Any:
    np.save(folder / "X.npy", values)
    return np.load(folder / "X.npy", mmap_mode="r")


def write_zarr(folder: Path, values: Array) -> Any:
    array: Any = zarr.open(str(folder / "X.zarr"), mode="w", shape=values.shape, chunks=(7, P), dtype=values.dtype)
    array[...] = values
    return array


def write_hdf5(folder: Path, values: Array) -> Any:
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=values, chunks=(5, 4))
    return h5py.File(folder / "X.h5")["X"]


def write_parquet(folder: Path, values: Array) -> str:
    for i, part in enumerate(np.split(values, [100, 130])):
        pd.DataFrame(part, columns=NAMES).to_parquet(folder / f"{i}.parquet", row_group_size=8)
    return str(folder / "*.parquet")


FORMS: dict[str, Callable[[Path, Array], Any]] = {
    "memmap": write_memmap,
    "zarr": write_zarr,
    "hdf5": write_hdf5,
    "parquet": write_parquet,
}


@pytest.fixture(autouse=True)
def small_row_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the limit be for X alone: the vectors with an entry for each row are as large as X here."""
    monkeypatch.setattr("ksparse.designs.blocked.disk_inputs.ROW_VECTORS", 0)
    monkeypatch.setattr("ksparse.designs.blocked.disk_inputs.GATHERED_FRACTION", 1000.0)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_answers_are_those_in_memory(tmp_path: Path, form: str, dtype: Any) -> None:
    values = X.astype(dtype)
    design = open_blocks(FORMS[form](tmp_path, values), memory_limit=LIMIT)
    assert max(design.rows.sizes) <= 20
    model = SparseLogisticRegression(k=3, alpha=1e-3)
    assert_same(model.fit(design, LABELS), SparseLogisticRegression(k=3, alpha=1e-3).fit(values, LABELS))
    margins = model.decision_function(design)
    np.testing.assert_allclose(margins, values.astype(float) @ model.coef_[0] + model.intercept_, atol=1e-9)
    linear = SparseLinearRegression(k=3).fit(design, SIGNAL + NOISE)
    assert_same(linear, SparseLinearRegression(k=3).fit(values, SIGNAL + NOISE))


@pytest.mark.parametrize("form", ["zarr", "hdf5"])
def test_estimators_take_open_arrays(tmp_path: Path, form: str) -> None:
    array = FORMS[form](tmp_path, X)
    assert_same(SparseLinearRegression(k=3).fit(array, SIGNAL), SparseLinearRegression(k=3).fit(X, SIGNAL))
    here = SparsePrecision(k=6).fit(array)
    np.testing.assert_allclose(here.precision_, SparsePrecision(k=6).fit(X).precision_, atol=1e-10)


def test_parquet_columns_have_names(tmp_path: Path) -> None:
    design = open_blocks(write_parquet(tmp_path, X), columns=NAMES[2:])
    model = SparseLinearRegression(k=2).fit(design, SIGNAL)
    there = SparseLinearRegression(k=2).fit(pd.DataFrame(X, columns=NAMES)[NAMES[2:]], SIGNAL)
    assert model.feature_names_in_.tolist() == NAMES[2:]
    assert model.get_feature_names_out().tolist() == there.get_feature_names_out().tolist()


def test_an_index_is_no_feature(tmp_path: Path) -> None:
    """The names are those that pandas and Dask read."""
    frame = pd.DataFrame(X, columns=NAMES)
    frame[frame["f0"] > 0].to_parquet(tmp_path / "some rows.parquet")
    frame.set_index(pd.Index(np.roll(np.arange(len(frame)), 5), name="id")).to_parquet(tmp_path / "id.parquet")
    frame.set_index(np.roll(np.arange(len(frame)), 5)).rename_axis("__null_dask_index__").to_parquet(
        tmp_path / "of Dask.parquet"
    )
    plain = pq.read_table(tmp_path / "some rows.parquet").replace_schema_metadata(None)
    pq.write_table(plain, tmp_path / "said nowhere.parquet")
    for path in sorted(tmp_path.iterdir()):
        assert len(pq.read_schema(path).names) == P + 1
        assert open_blocks(path).column_names.tolist() == NAMES
    assert open_blocks(tmp_path / "id.parquet", columns=["f1", "id"]).column_names.tolist() == ["f1", "id"]


def test_refits_do_not_read_x(tmp_path: Path) -> None:
    """Blocks are read once for each pass that is counted: the columns of supports and candidates are kept."""
    design = open_blocks(write_memmap(tmp_path, X), memory_limit=LIMIT)
    reads: list[int] = []
    known = design.rows.X.values

    def count(read: Any) -> Any:
        reads.append(1)
        return read()

    design.rows.X.values = [partial(count, read) for read in known]
    SparseLogisticRegression(k=3, alpha=1e-3).fit(design, LABELS)
    assert len(reads) % len(known) == 0
    assert len(reads) / len(known) <= design.counters.passes + 1 <= 15


def test_the_next_block_is_read_while_one_is_computed_with() -> None:
    ahead, computing = threading.Event(), []

    def read(i: int) -> Array:
        if i == 1:
            ahead.set()
        return np.full((2, 1), float(i))

    def compute(block: Array) -> float:
        if block[0, 0] == 0:
            computing.append(ahead.wait(timeout=60))
        return float(block.sum())

    runner = LocalRunner()
    blocks = runner.hold([lambda i=i: read(i) for i in range(3)])
    assert runner.reduce(compute, [blocks], sum) == 6.0
    assert computing == [True]


def test_an_error_of_a_file_ends_the_fit() -> None:
    def fail() -> Array:
        raise OSError("the disk is gone")

    runner = LocalRunner()
    rows = RowLayout.of_blocks(runner, runner.hold([lambda: X[:100], fail]), [100, 200], in_memory=False)
    with pytest.raises(OSError, match="the disk is gone"):
        SparseLinearRegression(k=2).fit(BlockedDesign(rows, P, X.nbytes), SIGNAL)


def test_what_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array = write_zarr(tmp_path, X)
    with pytest.raises(ValueError, match=r"stored in parts of 672 bytes.*limit of 2000 bytes is too small"):
        open_blocks(array, memory_limit=2000)
    with pytest.raises(ValueError, match="size such as"):
        open_blocks(array, memory_limit="much")
    with pytest.raises(ValueError, match="has shape \\(300,\\); expected \\(n, p\\)"):
        open_blocks(X[:, 0])
    with pytest.raises(FileNotFoundError, match="no file matches"):
        open_blocks(str(tmp_path / "*.parquet"))
    write_parquet(tmp_path, X)
    pd.DataFrame({"f0": ["a"]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="has no column 'f1'"):
        open_blocks(str(tmp_path / "*.parquet"))
    with pytest.raises(ValueError, match=r"the columns \['f0'\] of .*a.parquet' are not numbers"):
        open_blocks(str(tmp_path / "a.parquet"))
    monkeypatch.setattr("ksparse.designs.blocked.disk_inputs.ROW_VECTORS", 6)
    with pytest.raises(ValueError, match="an entry for each of 300 rows take 14400 bytes"):
        open_blocks(array, memory_limit=20_000)


def test_supports_that_do_not_fit_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.designs.blocked.disk_inputs.GATHERED_FRACTION", 0.25)
    design = open_blocks(write_memmap(tmp_path, X), memory_limit=2 * LIMIT)
    assert_same(
        SparseLogisticRegression(k=7, alpha=1e-3).fit(design, LABELS),
        SparseLogisticRegression(k=7, alpha=1e-3).fit(X, LABELS),
    )
    assert design.counters.passes > 15


MEMORY_SCRIPT = """
import resource, sys
import numpy as np
import ksparse
from ksparse.threads import keep_threads
y = np.load(sys.argv[1] + "/y.npy")
small = np.random.default_rng(0).standard_normal((3000, 40))
ksparse.SparseLogisticRegression(k=3, alpha=1e-3).fit(ksparse.open_blocks(small, memory_limit="1MB"), y[:3000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
on_disk = open(sys.argv[1] + "/X.bin", "rb")
class OnDisk:
    shape, dtype = (100_000, 100), np.dtype(float)
    def __getitem__(self, rows):
        on_disk.seek(rows.start * 800)
        return np.frombuffer(on_disk.read((rows.stop - rows.start) * 800)).reshape(-1, 100)
model = ksparse.SparseLogisticRegression(k=3, alpha=1e-3).fit(ksparse.open_blocks(OnDisk(), memory_limit="32MB"), y)
print(*model.get_support(indices=True), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.slow
def test_memory_stays_within_the_limit(tmp_path: Path) -> None:
    values = np.random.default_rng(0).standard_normal((100_000, 100))
    values.tofile(tmp_path / "X.bin")
    np.save(tmp_path / "y.npy", values[:, 5] - values[:, 50] + values[:, 70] > 0)
    command = [sys.executable, "-c", MEMORY_SCRIPT, str(tmp_path)]
    *support, added = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert support == ["5", "50", "70"]
    assert float(added) <= 32 * 2**20 < values.nbytes


def test_it_is_offered_at_the_top() -> None:
    assert ksparse.open_blocks is open_blocks
