"""Cross-validation of tables in blocks: each fold encodes its own rows, as in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from ksparse import SparseLinearRegressionCV, SparseLogisticRegressionCV
from ksparse.cli.reading import ReadingOptions
from ksparse.cli.stored.encoded_rows import EncodedRows
from ksparse.cli.stored.engines import InProcess
from ksparse.cli.stored.feature_file import FeatureFile
from ksparse.cli.stored.large_files import find_stored_files
from ksparse.tables import TableEncoder
from tests.scaling.test_command import BLOCKS, MIXED, run, write


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "target"),
    [
        (SparseLinearRegressionCV(ks=[1, 2, 3], alphas=[0.0, 0.1]), "y"),
        (SparseLogisticRegressionCV(ks=[2, 4], alphas=0.1, refit_alphas=None), "label"),
    ],
)
def test_folds_find_medians_in_their_own_training_rows(model: Any, target: str, tmp_path: Path) -> None:
    frame = MIXED[MIXED["y"].notna()].drop(columns=["patient", "when"]).reset_index(drop=True)
    y, frame = frame[target].to_numpy(), frame.drop(columns=["y", "label"])
    files = find_stored_files(str(write(frame, tmp_path / "a.parquet")), ReadingOptions(), 400_000, asked="a test")
    assert files is not None
    encoder = TableEncoder()
    here = clone(model).fit(encoder.fit_transform(frame, y), y)
    table = files.open(ReadingOptions(), tmp_path, lambda _: [])
    rows = EncodedRows(table, InProcess(files.limit), tmp_path, in_place=True)
    there = clone(model).fit(rows.open(encoder, np.arange(len(y))), y)
    np.testing.assert_allclose(there.grid_scores_, here.grid_scores_, rtol=1e-6)
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-6, atol=1e-12)


@pytest.mark.slow
def test_files_of_folds_are_removed_when_they_are_not_needed(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write_features, there = write(MIXED, tmp_path / "a.parquet"), FeatureFile.write, list[int]()

    def count(*arguments: Any) -> FeatureFile:
        there.append(len(list(tmp_path.rglob("features-*"))))
        return write_features(*arguments)

    monkeypatch.setattr(FeatureFile, "write", count)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code, *_ = run(capsys, path, "--target", "y", "--drop", "label,patient,when", "--ks", "1,2", *BLOCKS)
    assert code == 0
    assert len(there) == 1 + 2 * 5 + 1
    assert max(there) == 1 + 5  # all training rows, and held-out rows, too few here to be compressed
