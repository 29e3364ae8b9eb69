"""Names of features, pipelines, searches, copies and files: everything that scikit-learn does with an estimator."""

from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

import joblib
import numpy as np
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.estimators.models import FOUR, MODELS, NAMES, P, X, assert_same, fitted, model, pd, response

FRAMES: dict[str, Any] = {
    "pandas": pd.DataFrame(X, columns=NAMES),
    "polars": pl.DataFrame(X, schema=NAMES.tolist()),
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.slow
def test_names_of_features(name: str, frame: str) -> None:
    data = FRAMES[frame]
    here = fitted(name, data)
    chosen = NAMES[here.support_].tolist()
    assert here.feature_names_in_.tolist() == NAMES.tolist()
    assert here.get_feature_names_out().tolist() == chosen
    assert here.get_feature_names_out(NAMES).tolist() == chosen
    for output, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        table = clone(here).set_output(transform=output).fit(data, response(name)).transform(data)
        assert isinstance(table, kind)
        assert list(table.columns) == chosen
        np.testing.assert_array_equal(table.to_numpy(), X[:, here.support_])
    with pytest.raises(ValueError, match="same order"):
        here.predict(data[NAMES[::-1].tolist()])
    with pytest.raises(ValueError, match=r"(?s)unseen at fit time.*- other"):
        here.predict(data.rename(columns={"f0": "other"}) if frame == "pandas" else data.rename({"f0": "other"}))


@pytest.mark.parametrize("name", FOUR)
def test_data_without_names(name: str) -> None:
    here = fitted(name)
    assert not hasattr(here, "feature_names_in_")
    assert here.get_feature_names_out().tolist() == [f"x{j}" for j in here.get_support(indices=True)]
    restored = here.inverse_transform(here.transform(X))
    np.testing.assert_array_equal(restored, np.where(here.support_, X, 0.0))
    again = fitted(name, FRAMES["pandas"])
    again.fit(X, response(name))
    assert not hasattr(again, "feature_names_in_")


@pytest.mark.parametrize("name", MODELS)
def test_last_in_a_pipeline(name: str) -> None:
    pipeline = make_pipeline(StandardScaler(), model(name, alpha=0.1)).fit(X, response(name))
    assert_same(pipeline[-1], fitted(name, StandardScaler().fit_transform(X), alpha=0.1))
    assert pipeline.score(X, response(name)) > 0.2


@pytest.mark.parametrize("frame", FRAMES)
def test_a_selector_before_another_classifier(frame: str) -> None:
    data, y = FRAMES[frame], response("logistic")
    selector = model("logistic")
    pipeline = make_pipeline(StandardScaler(), selector, LogisticRegression()).set_output(transform=frame)
    pipeline.fit(data, y)
    assert pipeline[-1].coef_.shape == (1, 3)
    assert pipeline[-1].feature_names_in_.tolist() == NAMES[selector.support_].tolist()
    assert pipeline.score(data, y) > 0.7


@pytest.mark.parametrize("name", FOUR)
@pytest.mark.slow
def test_searches_and_cross_validation(name: str) -> None:
    y = response(name)
    search = GridSearchCV(model(name), {"k": [0, 3], "alpha": [1e-3, 10.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"k": 3, "alpha": 1e-3}
    assert_same(search.best_estimator_, fitted(name, alpha=1e-3))
    assert cross_val_score(model(name), X, y, cv=3).mean() > 0.2


@pytest.mark.parametrize("name", MODELS)
def test_files_hold_the_whole_model(name: str) -> None:
    here = fitted(name, FRAMES["pandas"])
    stream = BytesIO()
    joblib.dump(here, stream)
    stream.seek(0)
    for again in (pickle.loads(pickle.dumps(here)), joblib.load(stream)):
        assert again.predict(FRAMES["pandas"]).tobytes() == here.predict(FRAMES["pandas"]).tobytes()
        assert repr(again.result_) == repr(here.result_)
        assert again.result_.status == "converged"
        assert again.result_.history["value"].tolist() == here.result_.history["value"].tolist()
        assert again.get_feature_names_out().tolist() == here.get_feature_names_out().tolist()
        assert_same(again.fit(FRAMES["pandas"], response(name)), here)


@pytest.mark.parametrize("name", FOUR)
def test_parameters(name: str) -> None:
    here = model(name, k=2, feature_groups=list(range(P)), always_select=[1])
    copy = clone(here)
    assert repr(copy) == repr(here)
    assert copy.get_params() == here.get_params()
    assert f"{type(here).__name__}(" in repr(here)
    assert "k=2" in repr(here)
    assert here.set_params(k=4, positive=True).get_params()["k"] == 4
    assert here.positive is True
    with pytest.raises(ValueError, match="Invalid parameter 'lasso'"):
        here.set_params(lasso=1)
    assert set(here.get_params()) >= {
        "k",
        "alpha",
        "fit_intercept",
        "feature_groups",
        "always_select",
        "positive",
        "solver",
    }
    assert is_classifier(here) == (name == "logistic")
    assert is_regressor(here) == (name != "logistic")


@pytest.mark.parametrize("name", FOUR)
def test_html(name: str) -> None:
    for estimator in (model(name, always_select=[0]), fitted(name, always_select=[0])):
        html = estimator._repr_html_()
        assert MODELS[name][0].__name__ in html
        assert "always_select" in html


@pytest.mark.parametrize("name", FOUR)
def test_fitting_changes_no_parameter_and_returns_the_estimator(name: str) -> None:
    here = model(name)
    before = here.get_params()
    assert here.fit(X, response(name)) is here
    assert here.get_params() == before
    assert here.fit_transform(X, response(name)).shape == (len(X), 3)
