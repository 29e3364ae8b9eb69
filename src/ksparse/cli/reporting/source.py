"""What a report takes from a fit; only this module knows `FittedModel`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..._types import AnyArray, Array, IntArray, Matrix
from ...inference.ordinary import take_columns
from ...inference.summaries import NEGLIGIBLE_EFFECT
from ...limits import LARGEST
from ...selection import compute_standard_errors
from ...weights import count_weighted_samples
from ..encoded_model import EncodedModel
from ..files.sources import shorten_source
from ..fitted_model import FittedModel
from ..scoring import Predicted, predict_encoded
from ..tasks import Task

#: Number of k whose models a page holds; of more, the chosen one and others evenly spread over them. Fewer, but so many
#: at least, if the features of all of them together would have more numbers than this: each is fitted to all rows.
MOST_MODELS, LEAST_MODELS, MOST_FITTED_NUMBERS = 40, 8, 80_000_000


@dataclass(frozen=True)
class Source:
    """A fit as its report sees it: one model for each k, and the rows that show how well each predicts."""

    data: str
    target: str
    task: Task
    X: Matrix  # features of all rows, as the shown models take them
    y: AnyArray
    names: Sequence[str]  # of the features
    units: Sequence[str] | None  # what each feature belongs to, where k counts something else than features
    train: IntArray
    held_out: IntArray
    k: int
    chose_k: bool
    models: dict[int, Any]  # those that are shown, by k
    judged: dict[int, EncodedModel]  # those that have not seen the held-out rows
    tried: int  # number of k
    scale: Array
    center: Array
    folds: dict[int, tuple[float, float | None]] | None  # mean score and its standard error, by k
    criterion: str
    seed: int
    title: str | None
    notes: tuple[str, ...]
    fit: FittedModel

    @property
    def rows(self) -> IntArray:
        """The rows that scores and charts are about: those held out, or all if there are none."""
        return self.held_out if len(self.held_out) else self.train

    @property
    def fitted_rows(self) -> str:
        """The training rows that are here, in words."""
        rows = f"{len(self.train):,}"
        return f"{rows} of the rows it was fitted to" if self.fit.is_sampled else f"the {rows} rows it was fitted to"

    @property
    def classes(self) -> list[Any]:
        """The classes, or an empty list."""
        return self.models[self.k].classes_.tolist() if self.task.has_classes else []

    @property
    def responses(self) -> tuple[str, ...]:
        """The names of several targets; empty for one."""
        return self.fit.data.target.names

    @property
    def has_probabilities(self) -> bool:
        """Whether the model says how probable each class is."""
        return self.task.has_classes and hasattr(self.models[self.k], "predict_proba")

    @property
    def unit_name(self) -> str:
        """What k counts, in the plural."""
        return self.fit.unit

    @property
    def column_name(self) -> str:
        """What the data have, in the plural: columns of a table, or features by number."""
        return self.fit.column_name

    @property
    def unit_count(self) -> int:
        """Number of features, or of columns if k counts those."""
        return len(self.names) if self.units is None else len(set(self.units))

    @property
    def refitted(self) -> bool:
        """Whether the model was fitted again to all rows after it had been judged on those held out."""
        return self.fit.final is not self.fit.training

    def count_outputs(self) -> int:
        """Number of coefficients of a feature."""
        return len(np.atleast_2d(self.models[self.k].coef_))

    def coefficients(self, k: int, *, standardize: bool) -> Array:
        """One row for each class, or a single row; 0 in place of rounding error."""
        raw = np.atleast_2d(self.models[k].coef_)
        sizes = np.abs(raw * self.scale)
        known = np.where(sizes < NEGLIGIBLE_EFFECT * sizes.max(axis=1, keepdims=True, initial=0.0), 0.0, raw)
        return known * (self.scale if standardize else 1.0)

    @cached_property
    def binary(self) -> set[int]:
        """The features of the shown models that are only 0 and 1."""
        used = np.flatnonzero(np.any([model.support_ for model in self.models.values()], axis=0))
        columns = take_columns(self.X, used)
        return set(used[((columns == 0) | (columns == 1)).all(axis=0)].tolist())

    def list_constants(self, k: int) -> dict[str, tuple[Array, Array]]:
        """Constants of the model by name, for each row of coefficients: of average features, and as they are.

        Intercepts are added to the margins; thresholds are what these must reach.
        """
        shift, model = self.coefficients(k, standardize=False) @ self.center, self.models[k]
        sign = -1.0 if self.task.has_order else 1.0
        return {name: (values + sign * shift, values) for name, values in model.list_constants().items()}

    def rank_features(self, k: int) -> list[int]:
        """Selected features: units by their largest standardized coefficient, and so within each unit."""
        sizes = np.abs(self.coefficients(k, standardize=True)).max(axis=0)
        selected = np.flatnonzero(self.models[k].support_).tolist()
        largest: dict[str, float] = {}
        for feature in selected:
            unit = self.find_unit(feature)
            largest[unit] = max(largest.get(unit, 0.0), sizes[feature])
        first = {unit: rank for rank, unit in enumerate(sorted(largest, key=lambda unit: -largest[unit]))}
        return sorted(selected, key=lambda feature: (first[self.find_unit(feature)], -sizes[feature]))

    def rank_units(self, k: int) -> list[str]:
        """Names of the selected features, or of their columns if k counts those; the most important first."""
        if self.units is None:
            return [self.names[feature] for feature in self.rank_features(k)]
        return list(dict.fromkeys(self.find_unit(feature) for feature in self.rank_features(k)))

    def find_unit(self, feature: int) -> str:
        """What a feature belongs to; a number where each feature is its own unit."""
        return str(feature) if self.units is None else self.units[feature]

    def find_predicted(self, k: int) -> Predicted:
        """Predictions for `rows` of the model that has not seen those held out."""
        return self._predicted[k]

    def predict_training(self, k: int) -> Array:
        """What the model that has not seen the held-out rows predicts for the training rows."""
        values = self.fit.data.row_values.select(self.train)
        model = self.judged[k].estimator
        return Predicted.of_model(model, self._training_features, self.y[self.train], self.task, values).prediction

    @cached_property
    def _training_features(self) -> Any:
        return next(iter(self.judged.values())).encode(self.fit.data.X, self.train)

    def compute_scores(self, k: int) -> dict[str, float]:
        """Scores on `rows`, by name."""
        with ignore_overflow():
            return self._predicted[k].compute_points(self.task, self.y[self.train], self.train_weights)

    @property
    def train_weights(self) -> Array | None:
        """Weights of the training rows; None if each counts once."""
        return self.fit.data.row_values.select(self.train).weights

    @cached_property
    def size(self) -> float:
        """How many rows `rows` stand for, by their weights."""
        weights = self.fit.data.row_values.select(self.rows).weights
        return float(len(self.rows)) if weights is None else count_weighted_samples(weights)

    @cached_property
    def _predicted(self) -> dict[int, Predicted]:
        """The predictions of `rows` by k, of the models that have not seen those held out."""
        data, y = self.fit.data, self.y[self.rows]
        X, values = next(iter(self.judged.values())).encode(data.X, self.rows), data.row_values.select(self.rows)
        found = {k: Predicted.of_model(model.estimator, X, y, self.task, values) for k, model in self.judged.items()}
        if self.fit.nothing is None:
            return found
        nothing = predict_encoded(self.fit.nothing, data, self.y, self.rows, self.task)
        return {k: predicted.refer_to(nothing) for k, predicted in found.items()}

    def read_columns(self, features: Sequence[int], rows: IntArray) -> Array:
        """Some features of some rows, not sparse."""
        part = self.X[rows][:, list(features)]
        return np.asarray(part.toarray() if sparse.issparse(part) else part, dtype=np.float64)


def take_source(fitted: FittedModel) -> Source:
    """What a report needs of a fit."""
    chosen, ks = fitted.chosen, _choose_shown(fitted)
    pairs = {k: fitted.find_models(k) for k in ks}
    refitted = fitted.final is not fitted.training
    X = fitted.features if refitted else fitted.final.encode(fitted.data.X, np.arange(len(fitted.y)))
    return Source(
        data=shorten_source(fitted.data.source),
        target=fitted.data.target.name,
        task=fitted.task,
        X=X.tocsr() if sparse.issparse(X) else X.to_numpy(),
        y=fitted.y,
        names=fitted.names,
        units=None if fitted.model._labels is None else [str(label) for label in fitted.final.columns],
        train=fitted.train,
        held_out=fitted.test,
        k=fitted.k,
        chose_k=fitted.chose_k,
        models={k: final.estimator for k, (_, final) in pairs.items()},
        judged={k: judged for k, (judged, _) in pairs.items()},
        tried=len(getattr(chosen, "ks_", [fitted.k])),
        scale=fitted.scaler.scale_,
        center=fitted.scaler.mean_,
        folds=_find_choice(chosen, set(ks)) if fitted.chose_k else None,
        criterion=fitted.settings.criterion,
        seed=fitted.settings.seed,
        title=fitted.settings.title,
        notes=fitted.notes,
        fit=fitted,
    )


def _choose_shown(fitted: FittedModel) -> list[int]:
    """The k whose models are shown, among them the chosen one."""
    tried = fitted.shown_ks
    room = MOST_FITTED_NUMBERS // max(len(fitted.y) * fitted.model.n_features_in_, 1)
    most = min(MOST_MODELS, max(LEAST_MODELS, room))
    if len(tried) <= most:
        return tried
    spread = np.linspace(0, len(tried) - 1, most - 1).round().astype(int)
    return sorted({tried[place] for place in spread.tolist()} | {fitted.k})


def _find_choice(model: Any, ks: set[int]) -> dict[int, tuple[float, float | None]]:
    """What k was chosen by: mean scores on folds with their standard errors, or an information criterion."""
    if hasattr(model, "scores_"):
        means, errors = model.scores_.mean(axis=1).tolist(), compute_standard_errors(model.scores_).tolist()
    else:
        means, errors = model.criterion_.tolist(), [None] * len(model.ks_)
    found = zip(model.ks_.tolist(), means, errors, strict=True)
    return {k: (mean, error) for k, mean, error in found if k in ks}


@contextmanager
def ignore_overflow() -> Iterator[None]:
    """Predictions of far rows may overflow; what is not finite is left out later."""
    with np.errstate(over="ignore"):
        yield


def is_usable(values: Any) -> Any:
    """Where numbers are finite and small enough to be drawn."""
    with np.errstate(invalid="ignore"):
        return np.abs(np.asarray(values, dtype=np.float64)) <= LARGEST
