"""`ksparse fit` of Parquet files in blocks: in this process, and on a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse import SparseLinearRegression, load
from ksparse.cli import main
from tests.scaling.test_dask_arrays import NOISE, SIGNAL, X

NAMES = [f"f{j}" for j in range(X.shape[1])]
FRAME = pd.DataFrame(X, columns=NAMES).assign(
    y=SIGNAL + NOISE, town=np.where(SIGNAL + NOISE > 0, "Ulm", "Bonn"), few=np.arange(len(X))
)


@pytest.fixture
def files(tmp_path: Path) -> str:
    for i, part in enumerate(np.array_split(np.arange(len(FRAME)), 3)):
        FRAME.iloc[part].to_parquet(tmp_path / f"{i}.parquet", row_group_size=40)
    return str(tmp_path / "*.parquet")


def run(capsys: Any, *arguments: str) -> tuple[int, str, str]:
    code = main(["fit", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_several_files_are_read_in_blocks(files: str, tmp_path: Path, capsys: Any) -> None:
    arguments = ["--target", "y", "--drop", "town,few", "--k", "3", "--alpha", "0.01", "--out", str(tmp_path / "out")]
    code, out, _ = run(capsys, files, *arguments)
    assert code == 0
    assert "3 files are read in blocks" in out
    assert "since they are several files" in out
    assert "Least squares with 3 of 12 features" in out
    model = load(tmp_path / "out" / "model.json")
    there = SparseLinearRegression(k=3, alpha=0.01, standardize=True).fit(X, FRAME["y"])
    np.testing.assert_allclose(model.coef_, there.coef_, rtol=1e-8)
    features = pd.read_csv(tmp_path / "out" / "features.csv")
    assert features["feature"].tolist() == ["f1", "f4", "f9", "(intercept)"]


def test_classes(files: str, capsys: Any) -> None:
    code, out, _ = run(capsys, files, "--target", "town", "--drop", "y,few", "--k", "3", "--test", "0")
    assert code == 0
    assert "Logistic regression with 3 of 12 features" in out
    assert "held-out" not in out


def test_large_data_are_read_in_blocks(
    files: str, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ksparse.cli.stored.choosing.find_machine_memory", lambda: 15_000.0)
    one = str(tmp_path / "0.parquet")
    code, out, _ = run(capsys, one, "--target", "y", "--drop", "town,few", "--k", "3")
    assert code == 0
    assert "1 file is read in blocks" in out
    assert "more than half of the 15000 bytes of memory" in out


def test_small_files_are_read_as_before(files: str, tmp_path: Path, capsys: Any) -> None:
    arguments = [str(tmp_path / "0.parquet"), "--target", "y", "--drop", "town,few", "--k", "3", "--resamples", "0"]
    code, out, _ = run(capsys, *arguments)
    assert (code, "in blocks" in out) == (0, False)
    code, out, _ = run(capsys, *arguments[:-2], "--out-of-core")
    assert (code, "1 file is read in blocks" in out, "as you asked" in out) == (0, True, True)


@pytest.mark.slow
def test_a_scheduler(files: str, cluster: Any, capsys: Any) -> None:
    address = cluster.scheduler_address
    arguments = ["--target", "y", "--drop", "town,few", "--k", "3", "--alpha", "0.01", "--scheduler", address]
    code, out, err = run(capsys, files, *arguments)
    assert code == 0, err
    assert f"3 files are read by the workers of {address}" in out
    assert "Least squares with 3 of 12 features" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere/*.parquet", "--target", "y"], "no file matches 'nowhere/*.parquet'"),
        (["*.csv", "--target", "y"], "is not Parquet"),
        (["FILES", "--target", "y"], "columns that are not numbers cannot be read in blocks: 'town'"),
        (["FILES", "--target", "z"], "has no column 'z' for --target"),
        (["FILES", "--target", "y,few"], "has no column 'y,few'"),
        (["FILES"], "need one --target COL"),
        (["FILES", "--target", "y", "--certify"], "--certify is for data in memory"),
    ],
)
def test_what_cannot_be_read_is_explained(files: str, arguments: list[str], message: str, capsys: Any) -> None:
    code, _, err = run(capsys, *(files if part == "FILES" else part for part in arguments))
    assert code != 0
    assert message in err
    assert "Traceback" not in err


def test_gaps_are_refused(tmp_path: Path, capsys: Any) -> None:
    FRAME.assign(f3=FRAME["f3"].where(FRAME["f3"] < 1)).to_parquet(tmp_path / "a.parquet")
    arguments = [str(tmp_path / "a.parquet"), "--target", "y", "--drop", "town", "--k", "2", "--out-of-core"]
    code, _, err = run(capsys, *arguments)
    assert (code != 0, "X has NaN or infinite values" in err) == (True, True)
    FRAME.assign(y=FRAME["y"].where(FRAME["y"] < 1)).to_parquet(tmp_path / "a.parquet")
    code, _, err = run(capsys, *arguments)
    assert (code != 0, "the target 'y' is missing in" in err) == (True, True)


def test_models_of_blocks_are_plain_json(files: str, tmp_path: Path, capsys: Any) -> None:
    run(capsys, files, "--target", "y", "--drop", "town,few", "--k", "2", "--out", str(tmp_path / "out"))
    assert json.loads((tmp_path / "out" / "model.json").read_text())["about"]["data"] == "*.parquet"
