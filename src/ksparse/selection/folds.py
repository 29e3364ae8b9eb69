"""The training and held-out part of a split, and scores of solutions on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._types import Array
from ..designs import BlockedDesign
from ..estimators import Samples, SparseEstimator
from ..inference.scorers import score_with_weights
from ..solvers import Result
from .penalties import PenaltyGrid, PenaltyPaths

__all__ = ["Fold"]


class Score(NamedTuple):
    """The score of a solution, and its standard error over the held-out samples; NaN if that is not known."""

    mean: float
    error: float


class Fold:
    """Solutions on the training part of a split, which is independent of all others, scored on its held-out part.

    Parameters
    ----------
    model : SparseEstimator
        The model, of which the fold makes a copy of its own.
    training, held_out : Samples
        The two parts.
    scorer : callable, optional
        A scorer of scikit-learn; by default the model's own score.
    """

    def __init__(self, model: SparseEstimator, training: Samples, held_out: Samples, scorer: Any = None) -> None:
        self._model = model.copy_for_fold(training)
        X = training.X
        #: Whether others than this process do the work.
        self.is_elsewhere = isinstance(X, BlockedDesign) and X.rows.runner.is_elsewhere
        #: f on the training part.
        self.objective = self._model.prepare(training)
        if sparse.issparse(held_out.X):
            held_out = replace(held_out, X=held_out.X.tocsc())  # scores read columns
        self._held_out, self._scorer = held_out, scorer

    def set_grid(self, grid: PenaltyGrid) -> None:
        """Set the penalties to try, before any score."""
        self._paths = PenaltyPaths(self._model, self.objective, grid)
        # Held-out samples have lost the names of their features, which scikit-learn would miss in predictions.
        self._model.__dict__.pop("feature_names_in_", None)
        self._refits = None if None in grid.refit else [float(penalty or 0.0) for penalty in grid.refit]
        # Several penalties of the selection often find the same units, whose refits are the same.
        self._known: dict[bytes, Array] = {}

    def score(self, ks: list[int]) -> Array:
        """Solve for these k, and score each solution.

        The array has the axes: penalty of the selection, k, penalty of refits, the two fields of `Score`.
        """
        self._paths.solve(ks)
        return np.array([[self._score_refits(i, k) for k in ks] for i in range(len(self._paths.solvers))])

    def _score_refits(self, selection: int, k: int) -> Array:
        if self._refits is None:
            return self._score_each(selection, k)
        units = self._paths.solvers[selection].results[k].selected.tobytes()
        if units not in self._known:
            scores = self._score_together(selection, k) if self._scorer is None else None
            self._known[units] = self._score_each(selection, k) if scores is None else scores
        return self._known[units]

    def _score_together(self, selection: int, k: int) -> Array | None:
        """The scores of all refits by the model's short cut, if it has one."""
        x, support = self._paths.solvers[selection].get_working_solution(k)
        scores = self._model.score_refits(self._paths.form, x, support, self._refits or (), self._held_out)
        return None if scores is None else np.array([Score(mean, np.nan) for mean in scores])

    def _score_each(self, selection: int, k: int) -> Array:
        return np.array([self._score(result) for result in self._paths.refit(selection, k, self._paths.grid.refit)])

    def _score(self, result: Result) -> Score:
        if self._scorer is not None:
            model = self._model.store_result(result)
            part = self._held_out
            return Score(score_with_weights(self._scorer, model, part.X, part.y, part.sample_weight), np.nan)
        samples = self._model.score_held_out_samples(self._paths.objective, result, self._held_out)
        if samples is None:
            return Score(self._model.score_held_out(self._paths.objective, result, self._held_out), np.nan)
        known = len(samples) > 1 and bool(np.isfinite(samples).all())
        error = float(samples.std(ddof=1)) / np.sqrt(len(samples)) if known else np.nan
        return Score(float(samples.mean()), error)
