"""The paper's data are read in the formats of the original files, or else from substitutes."""

from __future__ import annotations

import bz2
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from reproduction import data as originals
from reproduction.data import (
    HESS_SUBSTITUTE,
    RCV1_SUBSTITUTE,
    has_original_hess,
    has_original_rcv1,
    load_hess,
    load_rcv1,
)

needs_data = pytest.mark.skipif("KSPARSE_DATA" not in os.environ, reason="KSPARSE_DATA names no folder of real data")
DOCUMENTS = ["-1 1:0.6 47236:0.8", "1 2:1", "1 3:0.8 4:0.6"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path))
    for name in ("text", "hess_mda133"):
        (tmp_path / name).mkdir()
    return tmp_path


def _write(path: Path, lines: list[str]) -> None:
    text = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(bz2.compress(text) if path.suffix == ".bz2" else text)


@pytest.mark.parametrize("suffix", ["", ".bz2"])
def test_the_original_texts(folder: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(folder / (originals.RCV1_TRAIN + suffix), DOCUMENTS)
    assert not has_original_rcv1()
    _write(folder / (originals.RCV1_TEST + suffix), DOCUMENTS[::-1])
    assert has_original_rcv1()
    monkeypatch.setattr(originals, "RCV1_TRAIN_SIZE", 3)
    monkeypatch.setattr(originals, "RCV1_TEST_SIZE", 2)
    data = load_rcv1(random_state=3)
    assert data.original
    assert "all 3 documents of its training file and the first 2 of its test file" in data.source
    assert data.X_train.shape == (3, 47_236)
    assert data.X_test.shape == (2, 47_236)
    assert data.y_train.tolist() == [-1, 1, 1]
    assert data.y_test.tolist() == [1, 1]
    # Features count from 1.
    assert_allclose(data.X_train[[0], :].toarray()[0, [0, 1, -1]], [0.6, 0.0, 0.8])
    assert_allclose(data.X_test[[1], :].toarray()[0, :3], [0.0, 1.0, 0.0])


def test_the_substitute_is_shuffled_and_split_in_the_papers_ratio(folder: Path) -> None:
    rows = sparse.csr_array(np.diag(np.arange(1, 101)))
    parts = {"indices": rows.indices.astype(np.uint16), "indptr": rows.indptr, "shape": rows.shape}
    y = np.where(np.arange(100) % 3 == 0, 1, -1)
    np.savez(folder / RCV1_SUBSTITUTE, val_micro=rows.data * 1_000_000, y=y, **parts)
    data = load_rcv1(random_state=1)
    assert not data.original
    assert "100 documents" in data.source
    assert "50 for training and 50 for testing" in data.source
    both = np.concatenate([data.X_train.sum(axis=1), data.X_test.sum(axis=1)])
    assert_allclose(np.sort(both), np.arange(1, 101))
    labels = np.concatenate([data.y_train, data.y_test])
    assert_allclose(labels, y[both.astype(int) - 1])
    assert_allclose(load_rcv1(random_state=1).X_train.toarray(), data.X_train.toarray())
    assert not np.array_equal(load_rcv1(random_state=2).y_train, data.y_train)


@pytest.mark.parametrize(("train", "test", "which"), [(2, 2, "train"), (3, 4, "test")])
def test_truncated_texts(folder: Path, monkeypatch: pytest.MonkeyPatch, train: int, test: int, which: str) -> None:
    monkeypatch.setattr(originals, "RCV1_TRAIN_SIZE", train)
    monkeypatch.setattr(originals, "RCV1_TEST_SIZE", test)
    for name in (originals.RCV1_TRAIN, originals.RCV1_TEST):
        _write(folder / name, DOCUMENTS)
    message = rf"rcv1_{which}\.binary has 3 documents where {train if which == 'train' else test} are expected"
    with pytest.raises(ValueError, match=message):
        load_rcv1()


def test_numbers_of_the_original_files() -> None:
    assert (originals.RCV1_TRAIN_SIZE, originals.RCV1_TEST_SIZE, originals.RCV1_FEATURES) == (20_242, 20_000, 47_236)
    assert (originals.HESS_SUBJECTS, originals.HESS_PROBES) == ({"RD": 99, "pCR": 34}, 22_283)


def _expect(monkeypatch: pytest.MonkeyPatch, subjects: dict[str, int], probes: int) -> None:
    """Let a table of these sizes be the original one."""
    monkeypatch.setattr(originals, "HESS_SUBJECTS", subjects)
    monkeypatch.setattr(originals, "HESS_PROBES", probes)


def test_the_original_expressions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _expect(monkeypatch, {"RD": 1, "pCR": 1}, 3)
    assert not has_original_hess()
    _write(folder / originals.HESS_TABLE, ['label,"a_at",b_at,c_at', "pCR,0,1,3", '"RD",7,15,1'])
    assert has_original_hess()
    X, y, original, source = load_hess()
    assert_allclose(X, [[0, 1, 2], [3, 4, 1]])
    assert y.tolist() == [1, 0]
    assert original
    assert source == "2 subjects with 3 probes, from mda133.csv"


def test_the_substitute_of_the_expressions(folder: Path) -> None:
    raw = np.array([[0.0, 1.0], [3.0, 7.0]])
    np.savez(folder / HESS_SUBSTITUTE, mbei=raw, y=[0, 1], probe_id=["a_at", "b_at"])
    data = load_hess()
    assert_allclose(data.X, [[0, 1], [2, 3]])
    assert not data.original
    assert "2 of the 22,283 probes, preselected" in data.source


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["label,a", "CR,1"], "line 2: the first column must be pCR or RD, got 'CR'"),
        (["label,a", "RD,1", "pCR,x"], "line 3: an expression level is not a number"),
        (["label,a,b", "RD,1"], "line 2: 1 expression levels, but the first line names 2"),
        (["label,a", "RD,-1"], "line 2: expression levels must be finite and nonnegative"),
        (["label,a", "RD,nan"], "line 2: expression levels must be finite"),
        (["label,a"], "no subjects or no probes"),
        ([], "no subjects or no probes"),
        (["RD,1,2", "pCR,1,2"], "starts with a subject; expected a line with the names of the columns first"),
        (["label,a,b", "RD,1,2"], "has 0 subjects with pCR, but the data of Hess et al. have 1"),
        (["label,a,b", "RD,1,2", "RD,1,2", "pCR,1,2"], "has 2 subjects with RD, but the data of Hess et al. have 1"),
        (["label,a", "RD,1", "pCR,1"], "has 1 probes, but the data of Hess et al. have 2"),
    ],
)
def test_a_table_that_is_not_as_described(
    folder: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], message: str
) -> None:
    _expect(monkeypatch, {"RD": 1, "pCR": 1}, 2)
    _write(folder / originals.HESS_TABLE, lines)
    with pytest.raises(ValueError, match=message):
        load_hess()


def test_messages_about_missing_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(folder / originals.RCV1_TRAIN, DOCUMENTS)
    places = {
        str(folder): (
            f"; the folder {folder} has only text/rcv1_train.binary",
            f"; the folder {folder} has none of them",
        ),
        str(folder / "no"): (f"; the folder {folder / 'no'} does not exist",) * 2,
        "": ("which replaces them", "which replaces it"),
    }
    for place, (texts, genes) in places.items():
        monkeypatch.setenv("KSPARSE_DATA", place)
        assert not has_original_rcv1()
        with pytest.raises(
            FileNotFoundError, match=r"KSPARSE_DATA .* to a folder with text/rcv1_train.*LIBSVM's page"
        ) as caught:
            load_rcv1()
        assert str(caught.value).endswith(texts)
        with pytest.raises(FileNotFoundError, match=r"hess_mda133/mda133\.csv.*Hess et al\..*pCR or RD") as caught:
            load_hess()
        assert str(caught.value).endswith(genes)


def test_files_that_are_not_texts(folder: Path) -> None:
    for name in (originals.RCV1_TRAIN, originals.RCV1_TEST):
        _write(folder / name, ["hello world"])
    with pytest.raises(ValueError, match=r"rcv1_train\.binary is not in svmlight format .*; expected a label"):
        load_rcv1()


@needs_data
def test_a_hundred_genuine_rows() -> None:
    path = Path(os.environ["KSPARSE_DATA"]) / "text/rcv1_train_binary_100rows.svm.bz2"
    X, y = originals._read_documents(path, None)
    assert X.shape == (100, 47_236)
    assert set(y.tolist()) == {-1.0, 1.0}
    assert_allclose(np.sqrt(X.power(2).sum(axis=1)), 1.0, atol=1e-5)
    assert originals._read_documents(path, 7)[0].shape == (7, 47_236)


@needs_data
def test_the_real_texts() -> None:
    data = load_rcv1()
    if not data.original:
        assert data.X_train.shape == (11_935, 47_236)
        assert data.X_test.shape == (11_792, 47_236)
    assert_allclose(np.sqrt(data.X_test.power(2).sum(axis=1)), 1.0, atol=1e-4)
