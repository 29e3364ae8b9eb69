"""Cox regression with k features: the relative hazard is exp(Xw)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._types import AnyArray, Array, IntArray, Matrix
from ..inference import concordance_index
from ..objectives import Cox, LinearObjective, Objective
from ..objectives.columns import LinearModel
from ..objectives.losses.cox import BoundCoxLoss
from ..objectives.strata import find_stratum_numbers, list_labels, read_strata
from ..objectives.survival import EVENT, as_survival_target, encode_survival, find_strata
from ..solvers import Result
from ..validation import as_real_array
from ._docs import document
from .base import Samples
from .baseline_hazard import BaselineHazard, estimate_baseline
from .linear_model import ACCEPTED, SparseLinearModel
from .margins import add_offset, multiply_selected
from .offset_scores import OffsetScoreMixin
from .paths import SparsityPath
from .stored_data import refuse_stored_data

__all__ = ["SparseCoxRegression"]

C = TypeVar("C", bound="SparseCoxRegression")


class FitData(NamedTuple):
    """What a baseline hazard is estimated from."""

    X: Matrix
    #: The samples with their risk sets.
    bound: BoundCoxLoss
    offset: Array | None


@document
@dataclass(eq=False, repr=False, kw_only=True)
class SparseCoxRegression(OffsetScoreMixin, SparseLinearModel):
    """Cox's proportional hazards with k features, for times until an event of which some are censored.

    Minimizes (1/n)·Σᵢ dᵢ [log Σ_{j at risk at tᵢ} exp(mⱼ) − mᵢ] + (alpha/2)·‖w‖² with mᵢ = wᵀxᵢ, over w with at most k
    nonzero features: the negative log partial likelihood, with d = 1 for an event. See `ksparse.objectives.Cox` for
    ties and weights. The hazard of a sample is exp(m) times a baseline hazard, which is not restricted, and
    exp(coefficient) is a hazard ratio. There is no intercept.

    `fit` takes y as `ksparse.make_survival_target` makes it, with entry times (left truncation) and strata if there are
    some; as a structured array of scikit-survival; as a data frame with the columns ``time`` and ``event``, and perhaps
    ``entry`` and ``stratum``; or as an array with these columns in this order.

    $fields

    References
    ----------
    D. R. Cox, *Regression models and life-tables*, Journal of the Royal Statistical Society B 34 (1972), 187–220.

    N. E. Breslow, discussion of the above, 216–217.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse import SparseCoxRegression, make_survival_target
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 30))
    >>> time = rng.exponential(np.exp(X[:, 9] - X[:, 4]))
    >>> y = make_survival_target(np.minimum(time, 3.0), time < 3.0)
    >>> model = SparseCoxRegression(k=2).fit(X, y)
    >>> model.get_support(indices=True), np.exp(model.coef_[model.support_]).round(2)      # hazard ratios
    (array([4, 9]), array([2.92, 0.43]))
    >>> round(model.score(X, y), 2)                                           # Harrell's concordance index
    0.77
    >>> model.predict_survival_function(X[:2], times=[0.5, 1.0]).round(2)
    array([[0.4 , 0.11],
           [0.82, 0.62]])
    """

    has_certificate: ClassVar[bool] = False
    ratio_name: ClassVar[str] = "hazard_ratio"
    effect_name: ClassVar[str] = "for the logarithm of the hazard: a positive one means earlier events"
    more_attributes: ClassVar[tuple[str, ...]] = (
        "event_times_",
        "baseline_hazard_",
        "baseline_cumulative_hazard_",
        "baseline_survival_",
        "event_strata_",
        "strata_",
        "mean_predictor_",
    )

    # A constant changes no partial likelihood.
    fit_intercept: bool = field(default=False, init=False)

    ties: str = "efron"

    def build_objective(self, X: Matrix, target: Array, **options: Any) -> LinearObjective:
        return Cox(X, target, ties=self.ties, **options)

    def check_data(self, X: Any, y: Any) -> tuple[Matrix, AnyArray]:
        refuse_stored_data(self, X)
        if y is None:  # scikit-learn says so
            return super().check_data(X, y)
        X = validate_data(self, X, **ACCEPTED, ensure_all_finite=False)
        target = as_survival_target(y)
        check_consistent_length(X, target)
        self.strata_: AnyArray | None = find_strata(target)  # of all samples: those of a fold may lack one
        return X, target

    def stratify(self, y: AnyArray) -> AnyArray | None:
        """The events: each fold gets some of them."""
        return y["event"].astype(np.intp)

    def check_splits(self, y: AnyArray, splits: Sequence[tuple[IntArray, IntArray]], by_loss: bool) -> None:
        """The training part of each fold needs an event."""
        count = int(y["event"].sum())
        if count and not all(y["event"][train].any() for train, _ in splits):
            raise ValueError(
                f"y has {count} event{'s' if count > 1 else ''}, and the training part of a fold has none; "
                "cross-validation needs more events: at least two, in different folds"
            )
        without = sum(len(test) > 1 and not y["event"][test].any() for _, test in splits)
        if without:
            warnings.warn(
                f"y has {count} event{'s' if count > 1 else ''}, and the held-out part of {without} of {len(splits)} "
                "folds has none, so that its score says little; use fewer folds",
                UserWarning,
                stacklevel=4,
            )

    def fit_target(self, y: AnyArray) -> AnyArray:
        """y as it is, which `Cox` encodes, but for strata: they have the numbers of those in all samples of a fold."""
        return y if self.strata_ is None else self.encode_target(y)

    def encode_target(self, y: AnyArray) -> Array:
        return encode_survival(y, strata=self.strata_)

    def prepare(self, samples: Samples) -> LinearObjective:
        objective = super().prepare(samples)
        assert isinstance(objective.bound_loss, BoundCoxLoss)
        self._fit_data = FitData(samples.X, objective.bound_loss, samples.offset)
        return objective

    def store_result(self: C, result: Result) -> C:
        super().store_result(result)
        baseline = self._find_baseline(result)
        if baseline is not None:
            self.mean_predictor_ = baseline.mean_predictor
            self.event_times_, self.baseline_hazard_ = baseline.times, baseline.hazard
            self.event_strata_ = None if self.strata_ is None else self.strata_[baseline.strata]
        return self

    def build_path(self, results: Mapping[int, Result], passes: int) -> SparsityPath:
        # A model of the path may be asked for when the samples are gone.
        self._baselines = {k: self._estimate_baseline(result) for k, result in results.items()}
        return super().build_path(results, passes)

    def _find_baseline(self, result: Result) -> BaselineHazard | None:
        """The baseline hazard of a solution; of one of the path, if there are no samples any more."""
        if hasattr(self, "_fit_data"):
            return self._estimate_baseline(result)
        known: dict[int, BaselineHazard] = getattr(self, "_baselines", {})
        return known.get(self.k)

    def _estimate_baseline(self, result: Result) -> BaselineHazard:
        X, bound, offset = self._fit_data
        coefficients, _ = self.coefficients(result)
        return estimate_baseline(add_offset(multiply_selected(X, coefficients), offset), bound)

    def __getstate__(self) -> Any:
        return {name: value for name, value in super().__getstate__().items() if name != "_fit_data"}

    @property
    def baseline_cumulative_hazard_(self) -> Array:
        """The baseline hazard, summed over the times of each stratum."""
        return self._find_baselines().cumulative_hazard

    @property
    def baseline_survival_(self) -> Array:
        """exp(−cumulative hazard): the probability to have no event until a time and at it."""
        return np.exp(-self.baseline_cumulative_hazard_)

    def _find_baselines(self) -> BaselineHazard:
        check_is_fitted(self)
        numbers = np.zeros(len(self.event_times_), dtype=np.intp)
        if self.strata_ is not None:
            assert self.event_strata_ is not None
            numbers = np.searchsorted(self.strata_, self.event_strata_)
        return BaselineHazard(self.event_times_, self.baseline_hazard_, numbers, self.mean_predictor_)

    def predict(self, X: Any, offset: Any = None) -> Array:
        """Predict the log relative hazard Xw, plus the offset if there is one; larger means earlier events."""
        return self.linear_predictor(X, offset)

    def predict_cumulative_hazard(self, X: Any, times: Any = None, *, strata: Any = None, offset: Any = None) -> Array:
        """The cumulative hazard of samples until some times: exp(Xw) times that of the baseline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The features.
        times : array-like of shape (n_times,), optional
            The times; by default the distinct ones of `event_times_`. After the last event nothing is known: the
            hazard stays where it is.
        strata : array-like of shape (n_samples,), optional
            The stratum of each sample, if the model was fitted with strata.
        offset : array-like of shape (n_samples,), optional
            Known part of the log relative hazards.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
            The cumulative hazards.
        """
        predictor = self.predict(X, offset)
        baselines = self._find_baselines()
        at = np.unique(self.event_times_) if times is None else as_real_array(times, "times")
        if at.ndim != 1:
            raise ValueError(f"times must be a list of numbers; got an array of shape {at.shape}")
        if np.isnan(at).any():
            raise ValueError(f"times has {int(np.isnan(at).sum())} NaN; leave them out")
        numbers = self._number_strata(strata, len(predictor))
        with np.errstate(over="ignore"):  # a hazard beyond all floats is infinite
            relative = np.exp(predictor - self.mean_predictor_)
        hazards = np.empty((len(predictor), len(at)))
        for number in np.unique(numbers):
            rows = numbers == number
            baseline = baselines.find_cumulative_hazard(int(number), at)
            hazards[rows] = np.where(baseline > 0, relative[rows][:, None], 0.0) * baseline
        return hazards

    def predict_survival_function(self, X: Any, times: Any = None, *, strata: Any = None, offset: Any = None) -> Array:
        """The probability to have no event until some times: exp(−cumulative hazard).

        Parameters and the shape of what is returned are those of `predict_cumulative_hazard`.
        """
        return np.exp(-self.predict_cumulative_hazard(X, times, strata=strata, offset=offset))

    def _number_strata(self, strata: Any, n: int) -> AnyArray:
        if self.strata_ is None:
            if strata is not None:
                raise ValueError("the model has no strata; leave strata out")
            return np.zeros(n, dtype=np.intp)
        if strata is None:
            raise ValueError("the model has strata, each with a baseline of its own; pass strata, one for each sample")
        labels = read_strata(strata, "strata")
        if labels.shape != (n,):
            raise ValueError(f"strata has shape {labels.shape}, expected ({n},): one for each sample")
        numbers = find_stratum_numbers(labels, self.strata_)
        if (new := numbers < 0).any():
            raise ValueError(
                f"the stratum {list_labels(labels[new])[0]!r} was not there in the fit, which had "
                f"{list_labels(self.strata_)}"
            )
        return numbers

    def score_predictions(self, y: Any, prediction: AnyArray, sample_weight: Any = None) -> float:
        """Harrell's concordance index: ½ for predictions that say nothing; see `concordance_index`.

        NaN, with a warning, where no pair of samples is comparable.
        """
        index = concordance_index(y, prediction, sample_weight)
        if np.isnan(index):
            warnings.warn(
                "no pair of samples is comparable, so there is no concordance index: score more samples with events",
                UndefinedMetricWarning,
                stacklevel=3,
            )
        return index

    def deviance(self, objective: Objective, result: Result, n_samples: float) -> float:
        """Minus twice the log partial likelihood, above its least value; the number of events does not enter."""
        assert isinstance(objective, LinearModel)
        return 2.0 * objective.total_weight * self.mean_loss(objective, result)

    def count_samples(self, objective: Objective, samples: Samples) -> float:
        """The number of events, or their weight: censored samples tell little of the hazards."""
        events = self.encode_target(samples.y)[:, EVENT]
        return float(events.sum() if samples.sample_weight is None else samples.sample_weight @ events)
