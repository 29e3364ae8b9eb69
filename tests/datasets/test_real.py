"""Real data are found through KSPARSE_DATA, and missed with a clear message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from ksparse.datasets import load_feature_names, load_real, load_stocks, weight_terms
from ksparse.datasets.real import REAL_DATA, STOCKS
from tests.real_data import needs_data


def test_dense_and_sparse_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path))
    for name in ("golub", "reuters", "rcv1"):
        (tmp_path / REAL_DATA[name]).parent.mkdir(exist_ok=True)
    dense = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / REAL_DATA["golub"], X=dense, y=[0, 1])
    counts = sparse.csr_array(np.array([[1, 0, 2], [0, 3, 0]]))
    parts = {"indices": counts.indices.astype(np.uint16), "indptr": counts.indptr, "shape": counts.shape, "y": [-1, 1]}
    np.savez(tmp_path / REAL_DATA["reuters"], tf=counts.data, **parts)
    np.savez(tmp_path / REAL_DATA["rcv1"], val_micro=counts.data * 500_000, **parts)
    assert_allclose(load_real("golub").X, dense)
    assert_allclose(load_real("reuters").X.toarray(), counts.toarray())
    X, y = load_real("rcv1")
    assert_allclose(X.toarray(), 0.5 * counts.toarray())
    assert y.tolist() == [-1, 1]


def test_expressions_are_logarithms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path))
    (tmp_path / REAL_DATA["hess"]).parent.mkdir()
    raw = np.array([[0.0, 1.0], [3.0, 7.0], [15.0, 0.0]])
    np.savez(tmp_path / REAL_DATA["hess"], mbei=raw, y=[0, 1, 0], probe_id=["a_at", "b_at"])
    X, y = load_real("hess")
    assert_allclose(X, [[0, 1], [2, 3], [4, 0]])
    assert y.tolist() == [0, 1, 0]
    assert load_feature_names("hess").tolist() == ["a_at", "b_at"]


def test_prices_become_log_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path))
    (tmp_path / STOCKS).parent.mkdir()
    prices = np.array([[1.0, 2.0], [np.e, 2.0], [1.0, 2.0 * np.e]])
    np.savez(tmp_path / STOCKS, X=prices, ticker=["A", "B"], sector=["Energy", "Utilities"])
    returns, tickers, sectors = load_stocks()
    assert_allclose(returns, [[1, 0], [-1, 1]], atol=1e-15)
    assert tickers.tolist() == ["A", "B"]
    assert sectors.tolist() == ["Energy", "Utilities"]


@needs_data
def test_the_real_breast_cancer_data() -> None:
    X, y = load_real("hess")
    assert X.shape == (133, 1400)
    assert np.bincount(y).tolist() == [99, 34]
    assert len(set(load_feature_names("hess"))) == 1400
    assert 0 <= X.min() < X.max() < 20


@needs_data
def test_the_real_stocks() -> None:
    returns, tickers, sectors = load_stocks()
    assert returns.shape == (1257, 452)
    assert np.isfinite(returns).all()
    assert len(set(tickers)) == 452
    assert len(set(sectors)) == 10


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="name must be one of 'golub'"):
        load_real("iris")
    with pytest.raises(ValueError, match="colon has no feature names; data sets that have them: golub, reuters, hess"):
        load_feature_names("colon")
    monkeypatch.delenv("KSPARSE_DATA", raising=False)
    for load in (lambda: load_real("golub"), lambda: load_feature_names("golub"), load_stocks):
        with pytest.raises(FileNotFoundError, match="set the environment variable KSPARSE_DATA"):
            load()
    monkeypatch.setenv("KSPARSE_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"golub_leukemia_72x7129\.npz does not exist"):
        load_real("golub")


def test_weight_terms_follow_the_training_part() -> None:
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, (8, 5)).astype(float)
    train, test = counts[:5], counts[5:]
    rarity = np.log(5 / np.maximum((train > 0).sum(axis=0), 1))
    for part, weighted in zip(
        (train, test), weight_terms(sparse.csr_array(train), sparse.csr_array(test)), strict=True
    ):
        raw = np.where(part > 0, (1 + np.log(np.maximum(part, 1))) * rarity, 0.0)
        lengths = np.linalg.norm(raw, axis=1, keepdims=True)
        assert_allclose(weighted.toarray(), raw / np.where(lengths > 0, lengths, 1.0))
