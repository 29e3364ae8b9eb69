"""The same data in another form gives the same model; unusual data gives a sensible one."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from tests.estimators.models import (
    FIXED,
    FOUR,
    MODELS,
    NAMES,
    TRUE,
    P,
    X,
    assert_same,
    fitted,
    margins,
    model,
    pd,
    reference,
    response,
)

ROUNDED = np.round(2 * X)

FORMS: dict[str, Any] = {
    "Fortran order": np.asfortranarray,
    "strided": lambda data: np.repeat(np.repeat(data, 2, axis=0), 3, axis=1)[::2, ::3],
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
    "CSR matrix": sparse.csr_matrix,
    "COO": sparse.coo_array,
    "list": lambda data: data.tolist(),
    "objects": lambda data: data.astype(object),
    "float32": lambda data: data.astype(np.float32),
    "float32 CSR": lambda data: sparse.csr_array(data.astype(np.float32)),
    "float32 Fortran": lambda data: np.asfortranarray(data.astype(np.float32)),
    "integers": lambda data: data.astype(np.int64),
    "int8": lambda data: data.astype(np.int8),
    "pandas": lambda data: pd.DataFrame(data, columns=NAMES),
    "nullable pandas": lambda data: pd.DataFrame(data, columns=NAMES).astype("Float64"),
    "sparse pandas": lambda data: pd.DataFrame(data, columns=NAMES).astype(pd.SparseDtype(float, 0.0)),
    "polars": lambda data: pl.DataFrame(data, schema=NAMES.tolist()),
}


@cache
def rounded(name: str) -> Any:
    return fitted(name, ROUNDED, alpha=0.01)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FOUR)
def test_forms_of_the_data(name: str, form: str) -> None:
    """Whole numbers, so that every form holds the same ones."""
    data = FORMS[form](ROUNDED)
    there, here = rounded(name), fitted(name, data, alpha=0.01)
    assert_same(here, there, rtol=1e-4 if "float32" in form else 1e-7)
    expected = there.predict(ROUNDED)
    if name in ("logistic", "multinomial"):
        np.testing.assert_array_equal(here.predict(data), expected)
    else:
        np.testing.assert_allclose(here.predict(data), expected, rtol=1e-3 if "float32" in form else 1e-7)


def test_truth_and_falsehood_are_numbers() -> None:
    for form in (np.asarray, sparse.csr_array):
        assert_same(fitted("linear", form(X > 0)), fitted("linear", (X > 0).astype(float)))


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("name", FOUR)
def test_inputs_are_not_changed_and_may_be_read_only(name: str, form: Any) -> None:
    data, y, weights = form(X), response(name), np.linspace(1, 2, len(X))
    for part in (data.data, data.indices, data.indptr) if sparse.issparse(data) else (data,):
        part.flags.writeable = False
    y.flags.writeable = weights.flags.writeable = False
    here = fitted(name, data, y, weights)
    here.predict(data), here.transform(data), here.score(data, y, weights)
    np.testing.assert_array_equal(data.toarray() if sparse.issparse(data) else data, X)


@pytest.mark.parametrize("name", MODELS)
def test_no_features(name: str) -> None:
    here = fitted(name, k=0)
    assert not here.coef_.any()
    assert not here.support_.any()
    assert len(np.unique(here.predict(X), axis=0)) == 1
    if name in ("linear", "responses"):
        np.testing.assert_allclose(here.intercept_, response(name).mean(axis=0))
    if name == "poisson":
        assert np.exp(here.intercept_) == pytest.approx(response(name).mean())


@pytest.mark.parametrize("name", MODELS)
def test_more_features_than_there_are(name: str) -> None:
    assert_same(fitted(name, k=100, alpha=0.01), fitted(name, k=P, alpha=0.01))
    one = fitted(name, X[:, [4]], k=3)
    assert one.support_.tolist() == [True]
    assert one.predict(X[:, [4]]).shape == response(name).shape


@pytest.mark.parametrize("name", ["linear", "poisson", "huber"])
def test_one_sample(name: str) -> None:
    here = fitted(name, X[:1], [3.0])
    np.testing.assert_allclose(here.predict(X[:1]), 3.0, rtol=1e-6)
    assert not here.coef_.any()


@pytest.mark.parametrize("form", [np.asarray, sparse.csc_array])
@pytest.mark.parametrize("name", FOUR)
def test_constant_columns_are_not_selected(name: str, form: Any) -> None:
    data = X.copy()
    data[:, 0], data[:, 2], data[:, 3] = 0.0, 7.0, 1e8
    here = fitted(name, form(data))
    assert not here.support_[[0, 2, 3]].any()
    np.testing.assert_array_equal(here.get_support(indices=True), TRUE)
    assert not fitted(name, form(np.ones((len(X), 3)))).support_.any()


@pytest.mark.parametrize("name", MODELS)
def test_one_of_two_equal_columns_is_enough(name: str) -> None:
    data = np.column_stack([X, X[:, 4]])
    here, there = fitted(name, data), reference(name)
    np.testing.assert_allclose(margins(here, data), margins(there, X), atol=1e-5)
    assert here.support_[[4, P]].sum() == 1
    fixed = FIXED.get(name, {})  # what is estimated may depend on k
    both, there = fitted(name, data, always_select=[4, P], k=4, **fixed), fitted(name, **fixed)
    np.testing.assert_allclose(margins(both, data), margins(there, X), atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", FOUR)
def test_large_means_and_small_variances(name: str, form: Any) -> None:
    there = reference(name)
    assert_same(fitted(name, form(X + 1e8)), there, rtol=1e-4)
    narrow = X.copy()
    narrow[:, 4] = 1.0 + 1e-7 * X[:, 4]
    scale = np.where(np.arange(P) == 4, 1e7, 1.0)
    assert_same(fitted(name, form(narrow)), there, rtol=1e-4, scale=scale)


@pytest.mark.parametrize("name", FOUR)
def test_more_features_than_samples(name: str) -> None:
    wide = np.random.default_rng(0).standard_normal((30, 200))
    y = response(name)[:30]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        here = model(name, k=3, alpha=1e-3).fit(wide, y)
    assert here.support_.sum() == 3
    assert_same(model(name, k=3, alpha=1e-3).fit(sparse.csr_array(wide), y), here)
