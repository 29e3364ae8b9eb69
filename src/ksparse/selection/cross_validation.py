"""Choosing k, and penalties with it, by cross-validation, whatever k counts."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from .._types import AnyArray, Array, IntArray
from ..designs import Design
from ..estimators import Samples
from ..inference.scorers import find_scorer
from ..objectives import Objective
from ..threads import one_thread
from .choosing import ChosenK
from .compression import split_samples
from .folds import Fold
from .pathwise import PathSolver
from .penalties import PenaltyGrid, PenaltyPaths, check_penalties
from .rules import RULES, Choice, Comparison, compare, compute_deviations, compute_standard_errors

__all__ = ["CrossValidated", "CrossValidatedLinearModel", "CrossValidatedPenalties"]

log = logging.getLogger(__name__)

C = TypeVar("C", bound="CrossValidated")
#: Seed of the folds if cv is a number: the same call gives the same folds.
FOLD_SEED = 0


@dataclass(eq=False, repr=False, kw_only=True)
class CrossValidated(ChosenK):
    """An estimator whose k is chosen by cross-validation; for linear models, see `CrossValidatedLinearModel`.

    Put it before an estimator with a fixed k, as a dataclass: the parameters are those of the estimator without `k` and
    `warm_start`, and `ks`, `cv`, `scoring`, `rule` and `n_jobs`.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.selection import CrossValidated
    >>> @dataclass(eq=False, repr=False)
    ... class OneRidgeCV(CrossValidated, SparseLinearRegression):
    ...     "Least squares with k chosen by cross-validation, and a ridge that is given."
    >>> X, y = load_diabetes(return_X_y=True)
    >>> OneRidgeCV(ks=range(1, 6), alpha=1e-3).fit(X, y).k_
    5
    """

    cv: Any = 5
    scoring: Any = None
    rule: str = "smooth"
    n_jobs: int | None = None

    def fit(self: C, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, offset: Any = None) -> C:
        """Choose k by cross-validation, with the penalties if there are some, and fit the model to all samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array-like of shape (n_samples,)
            The response or the labels.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples, in fitting and in the scores of held-out samples; `scoring` gets theirs as
            ``sample_weight``.
        groups : array-like of shape (n_samples,), optional
            Groups of the samples, for splitters such as `GroupKFold`.
        offset : array-like of shape (n_samples,), optional
            Known part of the margins of a linear model, such as the logarithm of an exposure.

        Returns
        -------
        self
            The fitted estimator.
        """
        if offset is None:
            return self.fit_samples(self.check_samples(X, y, sample_weight), groups)
        if self.scoring is not None:
            raise ValueError("scorers know no offset; leave scoring out to score by the loss")
        return self.fit_samples(self.check_samples(X, y, sample_weight, offset), groups)  # type: ignore[call-arg]

    def build_grid(self, objective: Objective, training: Sequence[Objective]) -> PenaltyGrid:
        """The penalties to try, for f on all samples and on those of each fold; by default those that the model has."""
        return PenaltyGrid()

    def fit_samples(self: C, samples: Samples, groups: Any = None) -> C:
        """Choose k by cross-validation, and fit the model to all samples; `groups` are for the splitter."""
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(map(repr, RULES))}, got {self.rule!r}")
        samples = samples.collect()
        splits = self._split(samples, groups)
        scorer = None if self.scoring is None else find_scorer(self, self.scoring)
        parts = split_samples(self, samples, splits, scores_moments=scorer is None)
        objective = self.prepare(parts.whole)
        self.check_splits(samples.y, splits, by_loss=scorer is None)
        folds = [Fold(self, training, held_out, scorer) for training, held_out in parts.folds]
        grid = self.build_grid(objective, [fold.objective for fold in folds])
        whole = PenaltyPaths(self, objective, grid)
        for fold in folds:
            fold.set_grid(grid)
        self._score_ks(whole, folds, min(len(train) for train, _ in splits))
        return self._store_models(whole)

    def _split(self, samples: Samples, groups: Any) -> list[tuple[IntArray, IntArray]]:
        """Training and held-out rows of each fold; a number of folds is shuffled, since files are often sorted."""
        labels = self.stratify(samples.y)
        y = samples.y if labels is None else labels
        splitter = check_cv(self.cv, y, classifier=labels is not None)
        if self.cv is None or isinstance(self.cv, Integral):
            splitter = type(splitter)(splitter.n_splits, shuffle=True, random_state=FOLD_SEED)
        # Splitters look at the number of rows only, and would copy X that is not in memory.
        X = np.empty((len(samples), 0)) if isinstance(samples.X, Design) else samples.X
        with warnings.catch_warnings():
            if not is_classifier(self):  # the labels are not the user's; `check_splits` says what is wrong with y
                warnings.filterwarnings("ignore", "The least populated class in y", UserWarning)
            splits = list(splitter.split(X, y, groups))
        if not splits:
            raise ValueError("cv gives no splits; pass at least one, and note that an iterator can be read only once")
        return splits

    def _score_ks(self, whole: PenaltyPaths, folds: Sequence[Fold], n_training: int) -> None:
        """Score all combinations for each k on each fold."""
        # On a cluster, one fold computes while another waits for the scheduler.
        n_jobs = len(folds) if self.n_jobs is None and folds[0].is_elsewhere else self.n_jobs
        scores: dict[int, Array] = {}
        errors: dict[int, Array] = {}

        def evaluate(further: list[int]) -> dict[int, float]:
            # Each fold runs on one thread; the folds run in parallel, share the data, and keep their solutions.
            with one_thread():
                jobs = (delayed(fold.score)(further) for fold in folds)
                parts = np.array(Parallel(n_jobs=n_jobs, require="sharedmem")(jobs))
            for i, k in enumerate(further):
                values, spreads = np.moveaxis(parts[:, :, i], (0, -1), (-1, 0))  # each: selection, refit, fold
                if np.isnan(values).any() or np.isposinf(values).any():
                    raise ValueError(f"the score for k = {k} is NaN or +inf in some fold; choose another scoring")
                scores[k], errors[k] = values, _pool_errors(values, spreads)
                best = values.reshape(-1, len(folds))[values.mean(axis=-1).argmax()]
                log.info("k = %d: score %.4g ± %.2g", k, best.mean(), compute_standard_errors(best[None])[0])
            self.ks_ = np.array(sorted(scores))
            self.grid_scores_ = np.stack([scores[k] for k in sorted(scores)], axis=1)
            self._grid_errors = np.stack([errors[k] for k in sorted(errors)], axis=1)
            comparison = self._compare()
            # Further k are tried around the one that would be chosen now.
            comparison.rates[comparison.choose(self.rule).k] = comparison.rates.max()
            return dict(zip(self.ks_.tolist(), comparison.rates.tolist(), strict=True))

        self.evaluate_ks(whole.solvers[0], n_training, evaluate)

    def _compare(self) -> Comparison:
        """How the k that were tried so far compare."""
        return compare(self.grid_scores_, self.ks_, self.rule, self._grid_errors)

    def _store_models(self: C, whole: PenaltyPaths) -> C:
        """Fit the models for all k to all samples, each with its penalties, and store the chosen one."""
        comparison = self._compare()
        ks, by_k, chosen = self.ks_.tolist(), comparison.choices, comparison.choose(self.rule)
        self.scores_ = np.array([self.grid_scores_[choice] for choice in by_k])
        for selection in sorted({choice.selection for choice in by_k}):
            whole.solvers[selection].solve([ks[choice.k] for choice in by_k if choice.selection == selection])
        whole.solvers[chosen.selection].refine(ks[chosen.k])
        results = {}
        for choice in by_k:
            k, penalty = ks[choice.k], whole.grid.refit[choice.refit]
            (result,) = whole.refit(choice.selection, k, [penalty])
            results[k] = self.adapt_to_size(whole.find_objective(choice.selection, penalty), result, k)
        self.store_grid(whole, chosen)
        self.choice_ = self._describe_choice(ks[chosen.k], whole.solvers[0])
        log.info(self.choice_)
        return self.store_choice(results, sum(solver.passes for solver in whole.solvers), ks[chosen.k])

    def store_grid(self, whole: PenaltyPaths, chosen: Choice) -> None:
        """Set the fitted attributes of the penalties: those that were tried on all samples, and the chosen ones."""

    def _describe_choice(self, k: int, solver: PathSolver) -> str:
        tried, most = self.ks_.tolist(), solver.most
        groups = getattr(self, "feature_groups", None)
        unit = self.unit_name if groups is None else "columns" if isinstance(groups, str) else "groups"
        said = f"k = {k} of {most} {unit}"
        if len(tried) == 1:
            return said
        said += f", chosen among {len(tried)} k from {tried[0]} to {tried[-1]}"
        if k == 0:
            return f"{said}; no {unit[:-1]} improves clearly on the model without {unit}"
        if k == tried[-1] and k < most:
            return f"{said}; this is the largest k that was tried, and a larger one may predict better: try some by ks="
        return said

    @property
    def compared_scores_(self) -> Array:
        """What `rule` compares, for each of `ks_`: with "smooth", averages over neighbouring models.

        A k whose own score is clearly worse than the best has −∞: it must not be chosen.
        """
        return self._compare().rates

    @property
    def cv_results_(self) -> dict[str, Any]:
        """The scores of all combinations as columns of a table, as in scikit-learn's `GridSearchCV`."""
        axes = self.list_grid_axes()
        positions = np.indices(self.grid_scores_.shape[:-1]).reshape(3, -1)
        columns = {name: values[positions[axis]] for axis, (name, values) in axes.items()}
        scores = self.grid_scores_.reshape(-1, self.grid_scores_.shape[-1])
        means = scores.mean(axis=1)
        table: dict[str, Any] = {f"param_{name}": column for name, column in columns.items()}
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        table["params"] = [dict(zip(columns, row, strict=True)) for row in rows]
        table |= {f"split{i}_test_score": column for i, column in enumerate(scores.T)}
        table |= {"mean_test_score": means, "std_test_score": compute_deviations(scores)}
        table["rank_test_score"] = rankdata(-means, method="min").astype(int)
        return table

    def list_grid_axes(self) -> dict[int, tuple[str, AnyArray]]:
        """Name and values of each axis of `grid_scores_` that has a name, by its position."""
        return {1: ("k", self.ks_)}

    def describe_fixed(self, model: Any, position: int) -> None:
        choice = self._compare().choices[position]
        for axis, (name, values) in self.list_grid_axes().items():
            setattr(model, name, values[choice[axis]].item())
        model.scores_ = self.scores_[position]


def _pool_errors(scores: Array, errors: Array) -> Array:
    """Standard errors of mean scores over the folds (the last axis): by the held-out samples of each, where known."""
    pooled: Array = np.sqrt(np.square(errors).sum(axis=-1)) / errors.shape[-1]
    return np.where(np.isnan(pooled), compute_standard_errors(scores), pooled)


class CrossValidatedPenalties(CrossValidated):
    """An estimator whose k and penalties are chosen by cross-validation.

    For each of the estimator's `penalty_names`, such as `alpha`, a subclass has a parameter `alphas` instead: "auto", a
    number or a sequence of numbers; for the second penalty also None, which stands for that of the selection.
    """

    def build_grid(self, objective: Objective, training: Sequence[Objective]) -> PenaltyGrid:
        given = [getattr(self, f"{name}s") for name in self.penalty_names]
        suggested: tuple[list[float], list[float]] = ([], [])
        if any(isinstance(values, str) for values in given):
            suggested = self.suggest_penalties(objective)
        axes = [
            check_penalties(values, f"{name}s", auto)
            for values, name, auto in zip(given, self.penalty_names, suggested, strict=False)
            if values is not None or name == self.penalty_names[0]
        ]
        return PenaltyGrid(*axes)

    def store_grid(self, whole: PenaltyPaths, chosen: Choice) -> None:
        axes = ((whole.grid.selection, chosen.selection), (whole.grid.refit, chosen.refit))
        used = np.nan
        for name, (penalties, position) in zip(self.penalty_names, axes, strict=False):
            values: Array = np.array(penalties, dtype=np.float64)  # None, the penalty of the selection, is NaN
            used = used if np.isnan(values[position]) else float(values[position])
            setattr(self, f"{name}s_", values)
            setattr(self, f"{name}_", used)

    def list_grid_axes(self) -> dict[int, tuple[str, AnyArray]]:
        selecting, *refitting = ((name, getattr(self, f"{name}s_")) for name in self.penalty_names)
        axes = {0: selecting, **super().list_grid_axes()}
        if refitting and not np.isnan(refitting[0][1]).any():
            axes[2] = refitting[0]
        return axes


@dataclass(eq=False, repr=False, kw_only=True)
class CrossValidatedLinearModel(CrossValidatedPenalties):
    """A linear model whose k, ridge of the selection and ridge of the coefficients are chosen by cross-validation.

    Put it before a `SparseLinearModel`, as a dataclass: the parameters are those of the model without `k`, `alpha`,
    `refit_alpha` and `warm_start`, and `ks`, `alphas`, `refit_alphas`, `cv`, `scoring`, `rule` and `n_jobs`.
    `standardize` is True by default, so that the ridges do not depend on the units of the features.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from sklearn.datasets import load_diabetes
    >>> from ksparse import SparseLinearRegression
    >>> from ksparse.selection import CrossValidatedLinearModel
    >>> @dataclass(eq=False, repr=False)
    ... class MyRegressionCV(CrossValidatedLinearModel, SparseLinearRegression):
    ...     "Least squares with k and ridges chosen by cross-validation."
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = MyRegressionCV(ks=range(1, 6), rule="1se").fit(X, y)
    >>> model.k_, model.at(k=3).get_support(indices=True)
    (4, array([2, 3, 8]))
    """

    alpha: Any = field(default=None, init=False)
    refit_alpha: Any = field(default=None, init=False)

    alphas: Any = "auto"
    refit_alphas: Any = "auto"
    standardize: bool = True
