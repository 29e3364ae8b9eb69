"""Labels of strata: unknown ones, missing ones, and the containers that hold them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ksparse import SparseCoxRegression, make_survival_target
from tests.estimators.models import MARGINS, N, X, pd
from tests.problems import draw_survival

Y = draw_survival(MARGINS - MARGINS.mean())
TIME, EVENT = Y["time"], Y["event"]


def stratify(labels: Any) -> SparseCoxRegression:
    """A model with half of the samples in each of two strata."""
    strata = np.resize(np.asarray(labels), N)
    return SparseCoxRegression(k=1).fit(X, make_survival_target(TIME, EVENT, strata=strata))


@pytest.mark.parametrize(
    ("known", "labels", "shown"),
    [
        (["a", "b"], pd.Series(["apple"], dtype=object), "'apple'"),
        (["a", "b"], pd.Series(["bee"], dtype="string"), "'bee'"),
        ([1, 2], pd.Series([1.9], dtype=object), "1.9"),
        ([1, 2], pd.Series(["x"], dtype=object), "'x'"),
        ([2, 10], ["2"], "'2'"),
        (["a", "b"], [1], "1"),
        (np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"), [5], "5"),
        ([1, 2], np.array(["2020-01-01"], dtype="datetime64[D]"), "'2020-01-01'"),
    ],
)
def test_a_stratum_that_was_not_there_is_no_other_stratum(known: Any, labels: Any, shown: str) -> None:
    model = stratify(known)
    with pytest.raises(ValueError, match=f"the stratum {shown} was not there in the fit, which had"):
        model.predict_survival_function(X[:1], strata=labels)
    y = make_survival_target([1.0], [True], strata=labels)
    with pytest.raises(ValueError, match=f"y has the stratum {shown}, which was not there in the fit"):
        model.encode_target(y)


@pytest.mark.parametrize("known", [["a", "b"], [2, 10], [0.5, 1.5], [False, True]])
def test_strata_are_the_same_in_any_container(known: list[Any]) -> None:
    model = stratify(known)
    expected = model.predict_survival_function(X[:2], [1.0], strata=np.array(known))
    objects = stratify(pd.Series(known, dtype=object))
    assert_array_equal(objects.strata_, model.strata_)
    for labels in (known, pd.Series(known), pd.Series(known, dtype=object), pd.Series(known).astype("category")):
        assert_array_equal(model.predict_survival_function(X[:2], [1.0], strata=labels), expected)
        assert_array_equal(objects.predict_survival_function(X[:2], [1.0], strata=labels), expected)
    if isinstance(known[0], str):
        labels = pd.Series(known, dtype="string")
        assert_array_equal(model.predict_survival_function(X[:2], [1.0], strata=labels), expected)


@pytest.mark.parametrize(
    "missing",
    [
        ["a", None],
        ["a", np.nan],
        pd.Series(["a", pd.NA], dtype="string"),
        pd.Series(["a", pd.NA], dtype=object),
        pd.to_datetime(pd.Series(["2020-01-01", None])),
        pd.Series([1.0, np.inf]),
        pd.Series(["a", None], dtype="category"),
    ],
)
def test_missing_strata_are_said_to_be_missing(missing: Any) -> None:
    with pytest.raises(ValueError, match=r"stratum of y has 1 missing value \(None, NaN, NaT or infinite\); remove"):
        make_survival_target([1.0, 2.0], [True, False], strata=missing)
    with pytest.raises(ValueError, match="strata has 1 missing value"):
        stratify(["a", "b"]).predict_survival_function(X[:2], strata=missing)
