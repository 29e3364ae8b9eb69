"""The paper's Condition C, the rates and bounds of its theorems, and a report of whether they apply to a problem."""

from .conditions import ConditionC, logdet_condition, logistic_condition
from .curvature import bracket_curvature, sample_curvature
from .eigenvalues import (
    Bracket,
    RestrictedEigenvalues,
    bound_restricted_eigenvalues,
    bracket_restricted_eigenvalues,
    restricted_eigenvalues,
    search_restricted_eigenvalues,
)
from .gradients import GradientBound, logistic_gradient_bound, norm_of_largest
from .guarantees import report
from .theory_report import KnownTarget, TheoryReport
from .verdicts import Verdict

__all__ = [
    "Bracket",
    "ConditionC",
    "GradientBound",
    "KnownTarget",
    "RestrictedEigenvalues",
    "TheoryReport",
    "Verdict",
    "bound_restricted_eigenvalues",
    "bracket_curvature",
    "bracket_restricted_eigenvalues",
    "logdet_condition",
    "logistic_condition",
    "logistic_gradient_bound",
    "norm_of_largest",
    "report",
    "restricted_eigenvalues",
    "sample_curvature",
    "search_restricted_eigenvalues",
]
