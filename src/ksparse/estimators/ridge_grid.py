"""Ridges that fit the scale of the data, for cross-validation to choose from."""

from __future__ import annotations

from collections.abc import Iterable

from ..objectives import Objective
from ..objectives.columns import LinearModel
from ..objectives.protocols import working_form
from ..optimize import minimize
from ..solvers import FixedSupport

__all__ = ["suggest_ridges"]

#: Ridges that are tried while features are selected, and for the final coefficients, as multiples of the curvature of
#: the loss; docs/estimators.md says how they were found.
SELECTION_RIDGES = (0.03, 0.3, 3.0)
REFIT_RIDGES = (0.003, 0.03, 0.1, 0.3, 1.0, 3.0)
#: The weakest ridge of the coefficients for losses that may have no minimum without one, which are those that are not
#: functions of residuals: this many times the curvature, divided by the number of samples; and what is added to it in
#: proportion to the number of features for each sample, up to one. With more features than samples, selected features
#: separate the classes of the training samples, and weak ridges give overconfident predictions.
WEAKEST_RIDGE, CROWDED_RIDGE = 2.0, 6.0


def suggest_ridges(objective: Objective, n_features: int) -> tuple[list[float], list[float]]:
    """Ridges to try while features are selected, and for the final coefficients.

    They are multiples of the mean curvature of the loss in the coefficients, at the model without features. For least
    squares with standardized features the curvature is 1. Rescaling X or y rescales the penalties, so that the models
    are the same, and weights times a constant are the same weights.
    """
    null = minimize(objective, 0, solver=FixedSupport())
    form = working_form(objective)
    assert isinstance(form.objective, LinearModel)
    scale = form.objective.typical_curvature(form.objective.evaluate(form.to_working(null.x)))
    has_minimum = form.objective.loss.of_residuals
    n_samples = form.objective.effective_samples
    crowding = min(1.0, n_features / n_samples)
    weakest = 0.0 if has_minimum else (WEAKEST_RIDGE + CROWDED_RIDGE * crowding) / n_samples
    # A ridge that is near the weakest one would give nearly the same model.
    least = REFIT_RIDGES[0] if has_minimum else 2.0 * weakest
    refits = [weakest, *(multiple for multiple in REFIT_RIDGES if multiple > least)]

    def scale_to_data(multiples: Iterable[float]) -> list[float]:
        return [float(f"{multiple * scale:.3g}") for multiple in multiples]  # as a person would write them

    return scale_to_data(SELECTION_RIDGES), scale_to_data(refits)
