"""The hooks of an estimator with k features or edges: all that fitting and choosing k call."""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import _safe_indexing

from .._types import AnyArray, Array, IntArray, Mask, Matrix
from ..designs import Design
from ..designs.blocked import collect_values
from ..objectives import Objective
from ..objectives.protocols import WorkingForm
from ..optimize import minimize
from ..solvers import (
    FBS,
    HTP,
    IHT,
    FGraHTP,
    FixedSupport,
    GraHTP,
    GraSP,
    Result,
    Solver,
    SwapGraHTP,
    check_no_effort,
)
from ..sparsity import Sparsity
from ..tables.encoding import Encoding
from ..validation import check_number_of_units
from .parameters import check_parameter_names, list_names
from .paths import PrecisionPath, SparsityPath

__all__ = ["Samples", "SolverChoices", "SparseEstimator", "merge_results"]

E = TypeVar("E", bound="SparseEstimator")

#: Solvers by the names that users give them.
SolverChoices = Mapping[str, Callable[[], Solver]]
SOLVERS: SolverChoices = {
    "auto": SwapGraHTP,
    "grahtp": GraHTP,
    "fgrahtp": FGraHTP,
    "htp": HTP,
    "iht": IHT,
    "grasp": GraSP,
    "fbs": FBS,
}


@dataclass(frozen=True, eq=False)
class Samples:
    """Validated data of a fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.estimators import Samples
    >>> Samples(np.eye(3), np.array([1, 2, 3])).select_rows([0, 2]).y
    array([1, 3])
    """

    #: The features; a covariance matrix, where an estimator takes one instead of samples.
    X: Matrix
    #: The response or the labels, as the user gave them.
    y: Any = None
    #: Weights of the samples.
    sample_weight: Array | None = None
    #: The table that X was made from, if a `TableEncoder` has made it and features depend on the rows it was fitted to.
    encoding: Encoding | None = None
    #: Known part of the margins.
    offset: Array | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def select_rows(self, rows: Any) -> Samples:
        """The samples with these row numbers, or in this mask."""
        parts = (self.X, self.y, self.sample_weight, self.offset)
        X, y, sample_weight, offset = (None if part is None else _select(part, rows) for part in parts)
        return Samples(X, y, sample_weight, None if self.encoding is None else self.encoding.select_rows(rows), offset)

    def collect(self) -> Samples:
        """The samples with y, weights and offset in this process, to be split by row numbers."""
        parts = {name: collect_values(getattr(self, name)) for name in ("y", "sample_weight", "offset")}
        return replace(self, **parts)

    def split(self, train: Any, held_out: Any) -> tuple[Samples, Samples]:
        """The samples of two sets of row numbers; those of a table are encoded by what the first set tells."""
        training, others = self.select_rows(train), self.select_rows(held_out)
        if self.encoding is None:
            return training, others
        encoding, X, X_held_out = self.encoding.encode_parts(train, training.y, held_out)
        return replace(training, X=X, encoding=encoding), replace(others, X=X_held_out, encoding=None)


def _select(part: Any, rows: Any) -> Any:
    if not isinstance(part, Design):
        return _safe_indexing(part, rows)
    index = np.asarray(rows)
    return part.select_rows(np.flatnonzero(index) if index.dtype == bool else index)


class _InitSignature:
    """The signature of a class: that of `__init__`. Python before 3.11.3 may take that of `__new__` instead."""

    def __get__(self, instance: object, owner: type[Any]) -> inspect.Signature:
        signature = inspect.signature(owner.__init__)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


class SparseEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator with k features or edges.

    A subclass implements the abstract methods; `fit` validates the data and calls `fit_samples`. Together with
    `ksparse.selection.CrossValidated` or `ksparse.selection.InformationCriterion`, the same methods choose k. They are
    called in this order: `check_samples` once for each call of `fit`; then `prepare` and `build_sparsity` once for all
    samples and once for the training part of each fold, on a copy made by `copy_for_fold`; then the others, once for
    each solution. For linear models, subclass `SparseLinearModel`, which implements all of them.
    """

    #: What k counts, in messages.
    unit_name: ClassVar[str] = "features"
    #: The solvers that can be chosen by name.
    solver_choices: ClassVar[SolverChoices] = SOLVERS
    #: The parameter that acts while units are selected (a ridge, a shrinkage), and, if there is one, that which takes
    #: its place when the selected units are fitted for the last time; cross-validation chooses them.
    penalty_names: ClassVar[tuple[str, ...]] = ()

    #: Whether there may be several outputs, each with coefficients of its own; for the documentation.
    has_several_outputs: ClassVar[bool] = False
    #: Fitted attributes beyond those of every estimator of features or edges, as `_docs` names them.
    more_attributes: ClassVar[tuple[str, ...]] = ()

    k: int
    solver: str | Solver
    effort: int

    __signature__ = _InitSignature()

    def __new__(cls, *_: Any, **options: Any) -> Any:
        """Say what to pass instead of a parameter that this class has not."""
        check_parameter_names(cls.__name__, options, list_names(cls))
        return super().__new__(cls)

    @abstractmethod
    def check_samples(self, X: Any, y: Any = None, sample_weight: Any = None) -> Samples:
        """Validate what the user passes to `fit`, and set `n_features_in_` and `feature_names_in_`."""

    @abstractmethod
    def prepare(self, samples: Samples) -> Objective:
        """f on these samples; sets the fitted attributes that do not depend on k (classes, means, scales)."""

    @abstractmethod
    def build_sparsity(self, objective: Objective, k: int) -> Sparsity:
        """The set of coefficients with k units."""

    def depends_on_moments(self) -> bool:
        """Whether a fit depends on samples by their means and second moments only, as least squares does."""
        return False

    def stratify(self, y: AnyArray) -> AnyArray | None:
        """Labels of which folds and resamples have the same fractions as y: the classes; None where there are none."""
        return y if is_classifier(self) else None

    def has_minimum(self, objective: Objective, result: Result) -> bool:
        """Whether a criterion may choose a solution: not where the deviance falls without end as coefficients grow."""
        return True

    def check_splits(self, y: AnyArray, splits: Sequence[tuple[IntArray, IntArray]], by_loss: bool) -> None:
        """Refuse training and held-out rows on which the model cannot be fitted, or scored `by_loss`."""

    def find_solver(self) -> Solver:
        """The solver that the parameters `solver` and `effort` describe."""
        default = SwapGraHTP(effort=self.effort)  # checks effort, whatever the solver
        if self.solver == "auto":
            return default
        check_no_effort(self.solver, self.effort)
        if isinstance(self.solver, Solver):
            return self.solver
        if not isinstance(self.solver, str) or self.solver not in self.solver_choices:
            raise ValueError(
                f"solver must be one of {', '.join(map(repr, self.solver_choices))} or a solver such as "
                f"ksparse.GraHTP(); got {self.solver!r}"
            )
        return self.solver_choices[self.solver]()

    def choose_start(self, objective: Objective) -> Array | None:
        """Where the solver starts; None for its default."""
        return None

    def estimate_k(self) -> int:
        """About how many units will be selected: k itself, unless k is yet to be chosen."""
        return check_number_of_units(self.k, self.unit_name)

    def with_penalty(self, objective: Objective, value: float) -> Objective:
        """The objective with another value of the first of `penalty_names`."""
        raise NotImplementedError(f"{type(self).__name__} has no penalty to change")

    def suggest_penalties(self, objective: Objective) -> tuple[list[float], list[float]]:
        """Values to try of the parameters in `penalty_names`, for f on all samples; none for one that is not there."""
        raise NotImplementedError(f"{type(self).__name__} has no penalty to choose")

    @abstractmethod
    def store_result(self: E, result: Result) -> E:
        """Set the fitted attributes from a solution."""

    @abstractmethod
    def build_path(self, results: Mapping[int, Result], passes: int) -> SparsityPath | PrecisionPath:
        """The models for all k of `results`, which took this many passes over the data."""

    @abstractmethod
    def score_held_out(self, objective: Objective, result: Result, held_out: Samples) -> float:
        """Score of a solution on held-out samples; larger is better. `objective` is f on the training samples."""

    def score_held_out_samples(self, objective: Objective, result: Result, held_out: Samples) -> Array | None:
        """Score of each held-out sample, if `score_held_out` is their mean; None if they are not known.

        They tell how much the mean is subject to chance, even on a single split.
        """
        return None

    def score_refits(
        self, form: WorkingForm, x: Array, support: Mask, penalties: Sequence[float], held_out: Samples
    ) -> Array | None:
        """Scores of the selected coordinates, fitted again with each of some penalties; None if there is no short cut.

        They are what `score_held_out` gives for the refits. `x` and `support` are those of a solution in working
        coordinates.
        """
        return None

    @abstractmethod
    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """Minus twice the log-likelihood of a solution, up to a constant."""

    def count_parameters(self, objective: Objective, result: Result) -> float:
        """Number of parameters that a solution has fitted and that depend on k; one for each unit by default."""
        return len(result.selected)

    def count_samples(self, objective: Objective, samples: Samples) -> float:
        """n of an information criterion: the number of samples, or the sum of their weights."""
        return float(len(samples))

    @abstractmethod
    def limit_auto_k(self, n_samples: float) -> int:
        """The largest k that ks="auto" tries with this many samples."""

    def adapt_to_size(self, objective: Objective, result: Result, k: int) -> Result:
        """A solution for k of several, with constants of the loss that are estimated from a model with k units.

        By default the solution as it is: constants are those of one model for all k. `objective` is f with the penalty
        of this k.
        """
        return result

    def adopt_estimates(self, k: int) -> None:
        """Take the constants that `adapt_to_size` has estimated for k."""

    def fix_estimates(self) -> None:
        """Set parameters that a fit has estimated to its estimates, so that another fit uses the same."""

    def copy_for_fold(self: E, training: Samples) -> E:
        """The same estimator for the training part of a fold."""
        return copy.copy(self)

    def fit_samples(self: E, samples: Samples) -> E:
        """Fit the model with k units to validated samples."""
        given: Any = self.k
        chooser = f"pass how many {self.unit_name} to select; {type(self).__name__}CV chooses it"
        advice = chooser if isinstance(given, str) else ""
        k = check_number_of_units(given, self.unit_name, advice)
        objective, penalty = self.prepare(samples), self.get_refit_penalty()
        sparsity = self.build_sparsity(objective, k)
        start = self.choose_start(objective)
        result = minimize(objective, sparsity=sparsity, solver=self.find_solver(), x0=start)
        if penalty is not None:
            changed = self.with_penalty(objective, penalty)
            refitted = minimize(changed, sparsity=sparsity, solver=FixedSupport(), x0=result.x)
            result = merge_results(result, refitted)
        return self.store_result(result)

    def get_refit_penalty(self) -> float | None:
        """The penalty of the final fit of the selected units, if it is not the one that selected them."""
        if len(self.penalty_names) < 2:
            return None
        selecting, refitting = (getattr(self, name) for name in self.penalty_names)
        return None if refitting is None or refitting == selecting else refitting

    def _get_feature_names(self) -> AnyArray | None:
        """The names of the features, if X had any."""
        return getattr(self, "feature_names_in_", None)


def merge_results(selection: Result, refitted: Result, change: str = "another penalty") -> Result:
    """The result of a refit with a change of f, with the history of the search that selected its units."""
    # What failed, or is not unique, is said; of the rest, how the units were selected.
    decisive = selection if not selection.success or refitted.status is selection.status else refitted
    return replace(
        refitted,
        status=decisive.status,
        message=f"{decisive.message}; then f with {change} was minimized on the support",
        n_iter=selection.n_iter,
        history=selection.history,
        passes=selection.passes + refitted.passes,
        solved=selection.solved,  # what the selection is a solution of
    )
