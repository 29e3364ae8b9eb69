"""A fitted model with all that the command tells about it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from .._types import AnyArray, Array, IntArray
from ..estimators import Samples, SparseLinearModel
from ..inference import Summary, orient, rename_features
from ..selection.compression import compress_for_fits
from .data import Data
from .encoded_model import EncodedModel
from .scoring import Predicted, Scores, predict_encoded
from .settings import Settings, choose_resamples
from .target import is_same_value
from .tasks import Task


@dataclass(frozen=True)
class FittedModel:
    """A fitted model, for features in the units of the data, with all that is reported about it.

    Attributes
    ----------
    data : Data
        The rows with a target.
    settings : Settings
        The options.
    task : Task
        The kind of model.
    reason : str
        Why this task.
    y : ndarray
        The target as the model takes it.
    train, test : ndarray of int
        The rows that k was chosen on, and those held out, if any.
    training : EncodedModel
        What was fitted to the training rows.
    final : EncodedModel
        The model that is reported and saved: fitted to all rows, with what was chosen on the training rows, unless the
        user wants the other.
    scores : Scores
        Scores of `training` on its rows and on the test rows.
    on_test : Predicted or None
        Its predictions of the test rows.
    seconds : float
        Seconds of the fit to the training rows.
    preparation : tuple of str
        How the data were read, and what was done to their columns.
    findings : tuple of str
        What a user should know of the choice of k.
    nothing : EncodedModel or None
        The model of the training rows without features, where rows have offsets.
    proof : str
        What is proved about other models with as many features; empty unless that was asked for.
    """

    data: Data
    settings: Settings
    task: Task
    reason: str
    y: AnyArray
    train: IntArray
    test: IntArray
    training: EncodedModel
    final: EncodedModel
    scores: Scores
    on_test: Predicted | None
    seconds: float
    preparation: tuple[str, ...]
    findings: tuple[str, ...]
    nothing: EncodedModel | None = None
    proof: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know."""
        return (*self.preparation, *self.findings)

    @property
    def model(self) -> SparseLinearModel:
        """The final estimator."""
        return self.final.estimator

    @property
    def chosen(self) -> Any:
        """The estimator that was fitted to the training rows: with the scores of all k, if it chose k."""
        return self.training.estimator

    @property
    def names(self) -> Sequence[str]:
        """The names of the features, or their numbers."""
        return self.data.names if self.final.encoder is None else self.final.encoder.get_feature_names_out().tolist()

    @property
    def rows(self) -> IntArray:
        """The rows that the final model was fitted to."""
        return np.arange(len(self.y)) if self.final is not self.training else self.train

    @cached_property
    def features(self) -> Any:
        """The features of the rows that the final model was fitted to."""
        return self.final.encode(self.data.X, self.rows)

    @cached_property
    def scaler(self) -> StandardScaler:
        """Means and standard deviations of these features, with the weights of the rows."""
        X = getattr(self.features, "to_numpy", lambda: self.features)()
        weights = self.data.row_values.select(self.rows).weights
        return StandardScaler(with_mean=False).fit(X, sample_weight=weights)

    @property
    def row_count(self) -> int:
        """Number of rows with a target."""
        return len(self.y)

    @property
    def training_count(self) -> int:
        """Number of rows that k was chosen on."""
        return len(self.train)

    @property
    def class_counts(self) -> Mapping[Any, int]:
        """Rows of each class."""
        classes, counts = np.unique(self.y, return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist(), strict=True))

    @property
    def is_sampled(self) -> bool:
        """Whether the data here are some of the rows only."""
        return False

    @property
    def shown_ks(self) -> list[int]:
        """The k whose models can be shown."""
        return list(self.chosen.ks_.tolist()) if self.chose_k else [self.k]

    @property
    def resamples(self) -> int:
        """Number of bootstrap resamples: what the user asked for, or fewer for larger data."""
        rows, features = len(self.rows), self.model.n_features_in_
        return choose_resamples(rows, features) if self.settings.resamples is None else self.settings.resamples

    @cached_property
    def numbered_summary(self) -> Summary:
        """What is known about the final model, with intervals from resamples; features are called by their numbers."""
        return self.model.summary(
            intervals="bootstrap" if self.resamples else None,
            resamples=max(self.resamples, 1),
            feature_names=range(self.model.n_features_in_),
            random_state=self.settings.seed,
            n_jobs=self.settings.jobs,
        )

    @property
    def summary(self) -> Summary:
        """The same with the names of features, and for the class of --positive."""
        return orient(rename_features(self.numbered_summary, self.names), self.sign)

    def find_models(self, k: int) -> tuple[EncodedModel, EncodedModel]:
        """The models with k features: as it was fitted to the training rows, and as it is fitted to all of them."""
        if k == self.k:
            return self.training, self.final
        chosen = self.chosen.at(k)
        judged = EncodedModel(self.training.encoder, chosen)
        if self.final is self.training:
            return judged, judged
        model, few = clone(chosen), self._compressed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            # The features of all rows are the same for each k; to encode them takes longer than a fit.
            values = self.data.row_values
            if few is None:
                model.fit(self.features, self.y, **values.options)
            else:
                model.check_samples(self.features, self.y, **values.options)
                model.fit_samples(few)
        return judged, EncodedModel(self.final.encoder, model)

    @cached_property
    def _compressed(self) -> Samples | None:
        """Few rows that give the same models as all of them, if there are such."""
        model = clone(self.model)
        return compress_for_fits(model, model.check_samples(self.features, self.y, **self.data.row_values.options))

    def predict_rows(self, rows: IntArray) -> Predicted:
        """The predictions of the model that was fitted to the training rows."""
        return predict_encoded(self.training, self.data, self.y, rows, self.task)

    @property
    def is_skilled(self) -> bool:
        """Whether the model predicts test rows better than a constant, as far as this is known."""
        return self.scores.comparison is None or self.scores.comparison.is_better

    @property
    def k(self) -> int:
        """Number of features that was set or chosen."""
        return int(getattr(self.chosen, "k_", self.chosen.k))

    @property
    def chose_k(self) -> bool:
        """Whether k was chosen among several."""
        return len(getattr(self.chosen, "ks_", ())) > 1

    @property
    def unit(self) -> str:
        """What k counts, in messages."""
        return self.final.unit

    @property
    def column_name(self) -> str:
        """What the data have, in messages: columns of a table, or features by number."""
        return "features" if self.final.encoder is None else "columns"

    @property
    def selected(self) -> list[int]:
        """Selected features: by the largest standardized coefficient of their column, then of their own."""
        sizes, columns = np.abs(self.coefficients(standardize=True)).max(axis=0), self.final.columns
        selected = np.flatnonzero(self.model.support_).tolist()
        largest: dict[Any, float] = {}
        for feature in selected:
            largest[columns[feature]] = max(largest.get(columns[feature], 0.0), sizes[feature])
        first: dict[Any, int] = {columns[feature]: feature for feature in reversed(selected)}
        return sorted(selected, key=lambda j: (-largest[columns[j]], first[columns[j]], -sizes[j] if sizes[j] else 0.0))

    @property
    def selected_columns(self) -> list[str]:
        """The columns of the selected features, in their order."""
        return list(dict.fromkeys(self.final.columns[feature] for feature in self.selected))

    @property
    def sign(self) -> float:
        """−1 if the class whose odds the coefficients describe is the first one, by --positive."""
        if self.settings.positive is None or not self.task.has_classes or len(self.model.classes_) != 2:
            return 1.0
        return 1.0 if is_same_value(self.settings.positive, str(self.model.classes_[1])) else -1.0

    def coefficients(self, *, standardize: bool) -> Array:
        """Coefficients, one row for each class or a single row: standardized, or in the units of the data."""
        return self.sign * np.atleast_2d(self.model.coef_) * (self.scaler.scale_ if standardize else 1.0)

    def intercepts(self, *, standardize: bool) -> Array:
        """One intercept for each row of coefficients; the standardized one is the prediction for average features."""
        shift = self.coefficients(standardize=False) @ self.scaler.mean_ if standardize else 0.0
        return self.sign * np.atleast_1d(self.model.intercept_) + shift
