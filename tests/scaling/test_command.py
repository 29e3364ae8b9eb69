"""`ksparse fit` and `predict` in blocks: as in memory, in this process, by worker processes and on a cluster."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse import SparseLinearRegression, load
from ksparse.cli import main
from ksparse.cli.errors import MemoryLimitError
from ksparse.cli.reading import ReadingOptions, open_table
from ksparse.cli.stored.large_files import find_stored_files
from tests.scaling.test_dask_arrays import NOISE, SIGNAL, X

NAMES = [f"f{j}" for j in range(X.shape[1])]
ROWS = len(X)
RNG = np.random.default_rng(5)
TOWNS = RNG.choice(["Ulm", "Bonn", "Kiel"], ROWS)
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=SIGNAL + NOISE, label=np.where(SIGNAL + NOISE > 0, "high", "low"))
#: Text, gaps, dates, identifiers, a column that turns out to be text in its last rows, and rows without a target.
MIXED = FRAME.assign(
    y=np.where(np.arange(ROWS) % 29 == 3, np.nan, SIGNAL + NOISE + 2.0 * (TOWNS == "Ulm")),
    town=TOWNS,
    f1=np.where(RNG.random(ROWS) < 0.1, np.nan, X[:, 1]),
    when=pd.date_range("2024-01-01", periods=ROWS, freq="D").strftime("%Y-%m-%d"),
    patient=[f"P{i:05d}" for i in range(ROWS)],
    late=["007" if i % 3 else "08" for i in range(ROWS - 20)] + ["x9"] * 20,
)
#: Small enough for many blocks, too small for worker processes.
BLOCKS = ["--out-of-core", "--max-memory", "400KB"]
FIXED = ["--k", "3", "--alpha", "0.01"]


@pytest.fixture
def files(tmp_path: Path) -> str:
    for i, part in enumerate(np.array_split(np.arange(ROWS), 3)):
        FRAME.iloc[part].to_parquet(tmp_path / f"{i}.parquet", row_group_size=40)
    return str(tmp_path / "*.parquet")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A folder for temporary files, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert os.listdir(folder) == []


def write(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


def run(capsys: Any, *arguments: Any, command: str = "fit") -> tuple[int, str, str]:
    code = main([command, *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def refuse(capsys: Any, *arguments: Any, command: str = "fit") -> str:
    code, _, err = run(capsys, *arguments, command=command)
    assert code == 2
    assert "Traceback" not in err
    assert err.count("\n") == 1
    return err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "options"),
    [
        (".csv", ["--target", "y", "--drop", "label", *FIXED]),
        (".csv.gz", ["--target", "label", "--drop", "y", *FIXED]),
        (".parquet", ["--target", "y", "--drop", "label", "--always", "town", *FIXED]),
        (".parquet", ["--target", "y", "--drop", "label,town,f1,when,late", "--ks", "1,2,3,5"]),
        (".parquet", ["--target", "y", "--drop", "label,patient", "--ks", "1,2,3,5"]),
        (".csv", ["--target", "label", "--drop", "y,patient,when", "--ks", "1,3", "--alpha", "0.01"]),
    ],
)
def test_the_same_as_in_memory(ending: str, options: list[str], tmp_path: Path, capsys: Any) -> None:
    """Model, lines about columns, scores and predictions."""
    path = write(MIXED, tmp_path / f"a{ending}")
    outputs = []
    for name, more in (("memory", ["--resamples", "0", "--no-nested"]), ("blocks", BLOCKS)):
        code, out, err = run(capsys, path, *options, *more, "--out", tmp_path / name)
        assert (code, "in blocks" in out) == (0, name == "blocks"), err
        outputs.append(out)
    same = (
        "Data",
        "Task",
        "Classes",
        "Split",
        "Left out",
        "Text as",
        "Dates",
        "Missing",
        "Chosen",
        "R²",
        "Accuracy",
        "The model",
    )
    lines = [[line for line in out.splitlines() if line.startswith(same)] for out in outputs]
    assert lines[0] == lines[1]
    models = [load(tmp_path / name / "model.json") for name in ("memory", "blocks")]
    assert models[0][0].features_ == models[1][0].features_
    np.testing.assert_array_equal(models[0][0].medians_, models[1][0].medians_)
    np.testing.assert_array_equal(models[0][-1].support_, models[1][-1].support_)
    np.testing.assert_allclose(models[0][-1].coef_, models[1][-1].coef_, rtol=1e-8, atol=1e-12)
    tables = [pd.read_csv(tmp_path / name / "predictions.csv") for name in ("memory", "blocks")]
    pd.testing.assert_frame_equal(*tables, rtol=1e-6)
    features = [pd.read_csv(tmp_path / name / "features.csv") for name in ("memory", "blocks")]
    assert features[0]["feature"].dropna().tolist() == features[1]["feature"].dropna().tolist()
    assert "<html" in (tmp_path / "blocks" / "report.html").read_text()


def test_several_files_are_read_in_blocks(files: str, tmp_path: Path, capsys: Any) -> None:
    code, out, _ = run(capsys, files, "--target", "y", "--drop", "label", *FIXED, "--out", tmp_path / "out")
    assert code == 0
    assert "3 files are read in blocks" in out
    assert "since they are several files" in out
    assert "The blocks are read by this process" in out
    model = load(tmp_path / "out" / "model.json")[-1]
    there = SparseLinearRegression(k=3, alpha=0.01, standardize=True).fit(X, FRAME["y"])
    np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-8)
    features = pd.read_csv(tmp_path / "out" / "features.csv")
    assert sorted(features["feature"]) == ["(intercept)", "f1", "f4", "f9"]
    assert json.loads((tmp_path / "out" / "model.json").read_text())["about"]["data"] == f"{tmp_path.name}/*.parquet"


@pytest.mark.slow
def test_several_text_files(tmp_path: Path, capsys: Any) -> None:
    for i, part in enumerate(np.array_split(np.arange(ROWS), 4)):
        write(MIXED.iloc[part], tmp_path / f"part-{i}.csv")
    arguments = ["--target", "y", "--drop", "label", *FIXED, "--out"]
    code, out, err = run(capsys, tmp_path / "part-*.csv", *arguments, tmp_path / "parts")
    assert (code, "4 files are read in blocks" in out) == (0, True), err
    run(capsys, write(MIXED, tmp_path / "whole.csv"), *arguments, tmp_path / "whole", "--resamples", "0")
    parts, whole = (load(tmp_path / name / "model.json")[-1] for name in ("parts", "whole"))
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_large_data_are_read_in_blocks(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = pd.DataFrame(np.random.default_rng(1).standard_normal((2000, 14))).add_prefix("f")
    path = str(write(large, tmp_path / f"a{ending}"))
    options = ReadingOptions()
    assert find_stored_files(path, options) is None
    found = find_stored_files(path, options, 200 * 1024)
    assert found is not None
    assert found.describe().startswith("1 file is read in blocks, within 204800 bytes of memory, since reading it as")
    assert found.reason.endswith("more than the 204800 bytes of --max-memory")
    monkeypatch.setattr("ksparse.cli.stored.large_files.find_machine_memory", lambda: 400 * 1024.0)
    found = find_stored_files(path, options)
    assert found is not None
    assert "more than half of the 409600 bytes of memory" in found.reason


@pytest.mark.slow
def test_large_data_are_fitted_in_blocks(tmp_path: Path, capsys: Any) -> None:
    path = write(pd.concat([FRAME] * 7, ignore_index=True), tmp_path / "a.parquet")
    arguments = [path, "--target", "y", "--drop", "label", *FIXED, "--test", "0", "--resamples", "0"]
    for options, said in (([], False), (["--max-memory", "200KB"], True)):
        code, out, err = run(capsys, *arguments, *options)
        assert (code, "1 file is read in blocks" in out, "bytes of --max-memory" in out) == (0, said, said), err


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_a_file_is_read_in_blocks_where_the_reader_refuses_it(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no limit of memory with which it is not read."""
    monkeypatch.setattr("ksparse.limits.MAX_BYTES", 1000)  # without --max-memory
    monkeypatch.setattr("ksparse.limits.SIZE_FACTOR", 1)
    path, options = str(write(FRAME, tmp_path / f"a{ending}")), ReadingOptions()
    refused = []
    for limit in range(50_000, 900_000, 50_000):
        try:
            open_table(path, options, limit).read()
            refused.append(False)
        except MemoryLimitError:
            refused.append(True)
        assert (find_stored_files(path, options, limit) is not None) == refused[-1]
    assert True in refused
    assert False in refused


def test_half_of_the_memory_is_what_reading_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(write(FRAME, tmp_path / "a.csv"))
    for times, is_large in ((10, True), (30, False)):  # numbers take about ten times the size of their text
        memory = float(times * os.path.getsize(path))
        monkeypatch.setattr("ksparse.cli.stored.large_files.find_machine_memory", lambda memory=memory: memory)
        assert (find_stored_files(path, ReadingOptions()) is not None) == is_large


@pytest.mark.slow
def test_files_that_take_too_much_memory_as_a_whole(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(FRAME, tmp_path / "a.csv")
    code, out, err = run(capsys, path, "--target", "y", "--drop", "label", *FIXED, "--max-memory", "400KB")
    assert (code, "more than the 409600 bytes of --max-memory" in out) == (0, True), err
    monkeypatch.setenv("KSPARSE_MAX_MEMORY", "400KB")
    err = refuse(capsys, path, "--target", "y")
    assert err.endswith("allow more with --max-memory SIZE, or read the file in blocks with --out-of-core\n")


@pytest.mark.slow
def test_few_rows_are_in_memory(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.cli.stored.block_fitting.MOST_SAMPLED", 50)
    monkeypatch.setattr("ksparse.cli.stored.block_fitting.MOST_HELD_OUT", 40)
    path = write(MIXED, tmp_path / "a.csv")
    code, out, err = run(capsys, path, "--target", "label", "--k", "3", *BLOCKS, "--out", tmp_path / "out")
    assert code == 0, err
    assert f"{ROWS - 40} rows for training, 40 for testing" in out
    assert "40 rows are held out, fewer than --test 0.25 of all" in out
    assert "Training scores are those of 50 of the training rows" in out
    counts = MIXED["label"].value_counts()
    assert f"high ({counts['high']} rows), low ({counts['low']} rows)" in out
    assert len(pd.read_csv(tmp_path / "out" / "predictions.csv")) == 40
    assert "of a sample of 90 rows" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.slow
def test_k_is_chosen_on_some_rows(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ksparse.cli.stored.block_fitting.MOST_CHOOSING_NUMBERS", 12 * 150)
    path = write(FRAME, tmp_path / "a.parquet")
    arguments = ["--target", "label", "--drop", "y", "--ks", "1,3", "--test", "0", *BLOCKS, "--out", tmp_path / "out"]
    code, out, err = run(capsys, path, *arguments)
    assert code == 0, err
    assert f"k and ridges were chosen on 150 of the {ROWS} training rows" in out
    model = load(tmp_path / "out" / "model.json")[-1]
    again = type(model)(**model.get_params()).fit(X, FRAME["label"])
    np.testing.assert_allclose(model.coef_, again.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_predictions_in_blocks(ending: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same text and the same lines, but for the one that says so."""
    run(capsys, write(MIXED, tmp_path / f"a{ending}"), "--target", "y", "--drop", "label", *FIXED, "--out", tmp_path)
    new = MIXED.assign(town=MIXED["town"].where(MIXED.index % 50 > 0, "Köln"), f4=MIXED["f4"].where(MIXED.index > 2))
    path, model = write(new, tmp_path / f"new{ending}"), tmp_path / "model.json"
    code, expected, notes = run(capsys, model, path, command="predict")
    assert code == 0
    monkeypatch.setattr("ksparse.cli.stored.large_files.find_machine_memory", lambda: 10_000.0)
    monkeypatch.setattr("ksparse.cli.stored.table.StoredTable.choose_step", lambda *_: 37)
    code, out, lines = run(capsys, model, path, command="predict")
    assert (code, out) == (0, expected)
    said = [line for line in lines.splitlines() if "in blocks" not in line]
    assert (said, len(lines.splitlines())) == (notes.splitlines(), len(said) + 1)
    run(capsys, model, path, "--out", tmp_path / "p.csv", command="predict")
    assert (tmp_path / "p.csv").read_text() == expected


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_worker_processes(ending: str, tmp_path: Path, capsys: Any) -> None:
    path = write(MIXED, tmp_path / f"a{ending}")
    arguments = ["--target", "y", "--drop", "label", *FIXED, "--out"]
    more = ["--out-of-core", "--workers", "2", "--max-memory", "1500MB"]
    code, out, err = run(capsys, path, *arguments, tmp_path / "workers", *more)
    assert (code, "The blocks are read by 2 worker processes with 750 MB each" in out) == (0, True), err
    run(capsys, path, *arguments, tmp_path / "here", "--out-of-core", "--workers", "0")
    workers, here = (load(tmp_path / name / "model.json")[-1] for name in ("workers", "here"))
    np.testing.assert_allclose(workers.coef_, here.coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.slow
def test_a_scheduler(tmp_path: Path, cluster: Any, capsys: Any) -> None:
    """Its workers encode the parts of a table."""
    for i, part in enumerate(np.array_split(np.arange(ROWS), 3)):
        write(MIXED.iloc[part], tmp_path / f"{i}.parquet")
    address, pattern = cluster.scheduler_address, tmp_path / "*.parquet"
    arguments = ["--target", "y", "--drop", "label", *FIXED, "--out"]
    code, out, err = run(capsys, pattern, *arguments, tmp_path / "cluster", "--scheduler", address)
    assert (code, f"The blocks are read by the workers of {address}" in out) == (0, True), err
    assert "3 files are read in blocks, since --scheduler asks for it" in out
    run(capsys, pattern, *arguments, tmp_path / "here")
    workers, here = (load(tmp_path / name / "model.json")[-1] for name in ("cluster", "here"))
    np.testing.assert_allclose(workers.coef_, here.coef_, rtol=1e-8, atol=1e-12)
    err = refuse(capsys, write(MIXED, tmp_path / "a.csv"), "--target", "y", "--scheduler", address)
    assert "read Parquet files only" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere/*.parquet", "--target", "y"], "no file matches 'nowhere/*.parquet'"),
        (["breast-cancer", "--out-of-core", "--target", "y"], "'breast-cancer' is no file"),
        (["-", "--out-of-core", "--target", "y"], "'-' is no file"),
        (["FILES", "--target", "z"], "has no column 'z', which --target names; there are 'f0'"),
        (["FILES", "--target", "y,f1"], "need one --target COL"),
        (["FILES", "--target", "y", "--drop", "y"], "'y' is both --target and --drop"),
        (["FILES"], "need one --target COL"),
        (["FILES", "--target", "y", "--certify"], "--certify is for data in memory"),
        (["FILES", "--target", "y", "--task", "ordinal"], "--task ordinal needs data in memory"),
        (["FILES", "--target", "y", "--transpose"], "--transpose needs the whole table"),
        (["FILES", "--target", "y", "--out-of-core", "--workers", "9", "--max-memory", "1GB"], "--workers 9 need"),
    ],
)
def test_what_cannot_be_read_is_explained(files: str, arguments: list[str], message: str, capsys: Any) -> None:
    assert message in refuse(capsys, *(files if part == "FILES" else part for part in arguments))


def test_formats_that_are_read_as_a_whole(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n0 2:1\n")
    assert "cannot be read in blocks, but text" in refuse(capsys, path, "--out-of-core")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_files_with_other_columns(ending: str, tmp_path: Path, capsys: Any) -> None:
    write(FRAME, tmp_path / f"1{ending}")
    for frame, said in (
        (FRAME.drop(columns="y"), "lacks 'y'"),
        (FRAME.assign(extra=1.0), "has 'extra' besides"),
    ):
        write(frame, tmp_path / f"2{ending}")
        err = refuse(capsys, tmp_path / f"*{ending}", "--target", "y", *FIXED)
        assert said in err
        assert f"2{ending}' has not the same columns as" in err


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_files_with_columns_in_another_order(ending: str, tmp_path: Path, capsys: Any) -> None:
    """The same model and predictions as of files with one order: numbers, text, late text, and names of rows."""
    names = ["f1", "f4", "town", "late", "y"]
    models = []
    for folder, order in (("same", names), ("other", names[::-1])):
        (tmp_path / folder).mkdir()
        for place, columns in enumerate((names, order)):
            part = MIXED[place * ROWS // 2 : (place + 1) * ROWS // 2][columns]
            path = tmp_path / folder / f"{place}{ending}"
            part.to_parquet(path) if ending == ".parquet" else part.to_csv(path)
        pattern = tmp_path / folder / f"*{ending}"
        code, _, err = run(capsys, pattern, "--target", "y", *FIXED, "--out", tmp_path / folder)
        assert code == 0, err
        models.append(load(tmp_path / folder / "model.json"))
        assert f"{folder}/*{ending}" in (tmp_path / folder / "report.html").read_text()
    np.testing.assert_array_equal(models[0].feature_names_in_, models[1].feature_names_in_)
    np.testing.assert_array_equal(models[0][-1].coef_, models[1][-1].coef_)
    tables = [(tmp_path / folder / "predictions.csv").read_text() for folder in ("same", "other")]
    assert tables[0] == tables[1]


def test_names_of_rows_in_one_file_only(tmp_path: Path, capsys: Any) -> None:
    FRAME.to_csv(tmp_path / "1.csv")
    FRAME.to_csv(tmp_path / "2.csv", index=False)
    err = refuse(capsys, tmp_path / "*.csv", "--target", "y", *FIXED)
    assert "2.csv' has 0 columns without a name, but" in err


def test_damaged_and_empty_files(tmp_path: Path, capsys: Any) -> None:
    text = FRAME.to_csv(index=False).encode()
    contents = {
        "cut.csv.gz": (gzip.compress(text)[:-900], "is damaged"),
        "empty.csv": (b"", "is empty"),
        "header.csv": (b"y,f1\n", "has a header but no rows"),
        "short.csv": (text[:20_000] + b"\n" + text[20_000:], "do not have as many cells as the header"),
        "long.csv": (text + b"1,2,3," + text[-200:], "cells, but the header has 14"),
        "cut.parquet": (b"PAR1" + bytes(1000), "is not a Parquet file or is damaged"),
    }
    for name, (content, said) in contents.items():
        (tmp_path / name).write_bytes(content)
        assert said in refuse(capsys, tmp_path / name, "--target", "y", *FIXED, *BLOCKS), name


def test_rows_that_say_nothing(tmp_path: Path, capsys: Any) -> None:
    path = write(FRAME.assign(y=np.nan), tmp_path / "a.csv")
    assert "the target 'y' is missing in all rows" in refuse(capsys, path, "--target", "y", *FIXED, *BLOCKS)
    path = write(FRAME[["y"]].assign(site="Ulm"), tmp_path / "b.csv")
    assert "no column of the table can be used: site" in refuse(capsys, path, "--target", "y", *FIXED, *BLOCKS)


def test_a_full_disk(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(MIXED, tmp_path / "a.csv")
    arguments = [path, "--target", "y", *FIXED, *BLOCKS, "--out", tmp_path / "out"]
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 1000}))
        assert "1000 bytes left; free some, or name a folder" in refuse(capsys, *arguments)

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", fail)
    assert "no space is left in" in refuse(capsys, *arguments)
    assert not (tmp_path / "out").exists()


def test_an_interrupt(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    path = write(MIXED, tmp_path / "a.csv")
    monkeypatch.setattr("ksparse.cli.stored.block_fitting._measure", interrupt)
    code, out, err = run(capsys, path, "--target", "y", *FIXED, *BLOCKS, "--out", tmp_path / "out")
    assert (code, out, err) == (130, "", "ksparse: interrupted\n")
    assert not (tmp_path / "out").exists()


def test_a_column_of_long_text(tmp_path: Path, capsys: Any) -> None:
    path = write(FRAME.assign(remark="x" * 3000), tmp_path / "a.csv")
    err = refuse(capsys, path, "--target", "y", *FIXED, *BLOCKS)
    assert "the text in the column 'remark' takes" in err
    assert run(capsys, path, "--target", "y", "--drop", "remark", *FIXED, *BLOCKS)[0] == 0
