"""Whether the paper's guarantees apply to a problem, which steps they allow, and what error to expect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Array
from ..objectives import LogDet, Logistic, Objective, Quadratic
from ..objectives.base import require_objective
from ..objectives.columns import LinearModel
from ..objectives.protocols import WorkingForm, working_form
from ..validation import check_number_of_units, check_positive_number
from .conditions import ConditionC, logdet_condition, logistic_condition
from .curvature import bracket_curvature
from .eigenvalues import RestrictedEigenvalues
from .gradients import GradientBound, bind_units, logistic_gradient_bound, norm_of_largest
from .theory_report import KnownTarget, TheoryReport
from .verdicts import Verdict, find_condition, judge_theorem_1, judge_theorem_2

__all__ = ["report"]

#: Fraction of the largest step of a theorem that is recommended.
STEP_FRACTION = 0.99
#: X of more entries is not copied for Propositions 1 and 2.
MAX_ENTRIES = 20_000_000


def report(
    objective: Objective,
    k: int,
    *,
    truth: Any = None,
    k_true: int | None = None,
    step: float | None = None,
    sigma: float | None = None,
    points: Sequence[Any] = (),
    max_supports: int = 200_000,
) -> TheoryReport:
    """Say whether the paper's guarantees apply to a problem, which steps they allow, and what error to expect.

    They are those of `GraHTP` and `FGraHTP` with a constant step, which converge if it is short enough (Theorem 1), and
    whose error falls geometrically to a multiple of ‖∇_k f(x̄)‖ if f is well conditioned on s = 2k + k̄ units (Theorem
    2). They need m_s and M_s, the extreme eigenvalues of the Hessian on s units, see `bracket_curvature`.

    Parameters
    ----------
    objective : Objective
        f.
    k : int
        Number of units.
    truth : array-like, optional
        x̄, the target, for example in a simulation: with it the bounds of the error are numbers.
    k_true : int, optional
        k̄, the number of units of the target, at most k; by default that of `truth`, or k.
    step : float, optional
        The step η to judge; by default the report recommends one.
    sigma : float, optional
        The sub-Gaussian constant of Proposition 2, see `logistic_gradient_bound`.
    points : sequence of array-like, default=()
        Where to sample Hessians besides the start, such as a solution.
    max_supports : int, default=200_000
        Up to so many supports are enumerated for exact constants.

    Returns
    -------
    TheoryReport

    Examples
    --------
    >>> import ksparse
    >>> from ksparse.datasets import make_linear
    >>> X, y, coef = make_linear(n=4000, p=12, k=2, random_state=1)
    >>> found = ksparse.theory.report(ksparse.objectives.LeastSquares(X, y), k=2, truth=coef)
    >>> found.theorem_1.applies, found.theorem_2a.applies, round(found.step, 3), round(found.theorem_2a.rate, 3)
    ('yes', 'yes', 0.927, 0.291)
    >>> bool(found.bound_error("GraHTP", t=10) < 0.2)
    True
    """
    require_objective(objective)
    k = check_number_of_units(k)
    if k == 0:
        raise ValueError("k must be at least 1 for a report")
    form = working_form(objective)
    x_true = None if truth is None else _check_truth(objective, truth)
    k_true = _check_k_true(objective, k, x_true, k_true)
    s = 2 * k + k_true
    curvature_2k, curvature_s = (
        bracket_curvature(objective, size, points=points, max_supports=max_supports) for size in (2 * k, s)
    )
    one, (recommended, source) = judge_theorem_1(curvature_2k), _recommend_step(curvature_2k, curvature_s)
    if isinstance(objective, LogDet):
        source = "without bounds of the eigenvalues it would be Theorem 1's"
    if step is not None:
        recommended, source = check_positive_number(step, "step"), "given"
    two_a, two_b = (judge_theorem_2(curvature_s, recommended, fast) for fast in (False, True))
    if isinstance(objective, LogDet):
        one, two_a, two_b = _restrict_to_bounds(objective, x_true, one, two_a, two_b)
    gradient_k, gradient_s = (_bound_gradient(objective, size, x_true, sigma) for size in (k, s))
    return TheoryReport(
        objective=repr(objective),
        k=k,
        k_true=k_true,
        curvature_2k=curvature_2k,
        curvature_s=curvature_s,
        condition_2k=find_condition(curvature_2k),
        condition_s=find_condition(curvature_s),
        proposition_2k=_find_proposition(objective, 2 * k),
        proposition_s=_find_proposition(objective, s),
        theorem_1=one,
        theorem_2a=two_a,
        theorem_2b=two_b,
        step=recommended,
        step_source=source,
        target=None if x_true is None else _measure_target(form, objective, x_true, k, s),
        gradient_bound_k=gradient_k,
        gradient_bound_s=gradient_s,
        notes=tuple(_list_notes(objective, two_a.applies)),
    )


def _check_truth(objective: Objective, truth: Any) -> Array:
    x = objective.check_point(truth, "truth")
    if bad := int(x.size - np.isfinite(x).sum()):
        raise ValueError(f"truth has {bad} NaN or infinite values; pass the coefficients of the target")
    return x


def _check_k_true(objective: Objective, k: int, truth: Array | None, k_true: int | None) -> int:
    if truth is not None:
        units = bind_units(objective, k)
        counted = int(units.find_units((truth != 0) & units.constrained).sum())
        k_true = max(counted, 1) if k_true is None else k_true
        if counted > k_true:
            raise ValueError(f"truth has {counted} nonzero units, more than k_true = {k_true}")
    k_true = k if k_true is None else check_number_of_units(k_true)
    if not 1 <= k_true <= k:
        raise ValueError(f"Theorem 2 needs 1 <= k_true <= k = {k}, got {k_true}; raise k")
    return k_true


def _recommend_step(on_2k: RestrictedEigenvalues, on_s: RestrictedEigenvalues) -> tuple[float | None, str]:
    """The longest step for which all holds that can hold, and which theorems that is."""
    longest = 1.0 / on_2k.largest.high if 0 < on_2k.largest.high < np.inf else None
    condition = find_condition(on_s)
    if longest is None:
        seen = max(on_2k.largest.low, on_s.largest.low)
        if 0 < seen < np.inf:
            return STEP_FRACTION / seen, "estimate: Theorem 1's limit if no Hessian were larger than those sampled"
        return None, "nothing is known of the curvature"
    for find, name in ((ConditionC.find_grahtp_steps, "2(a)"), (ConditionC.find_fgrahtp_steps, "2(b)")):
        steps = None if condition is None else find(condition)
        if steps is None:
            continue
        chosen = STEP_FRACTION * min(longest, steps[1])
        if chosen > steps[0]:
            return chosen, f"Theorems 1 and {name}"
        return 0.5 * (steps[0] + steps[1]), f"Theorem {name}; Theorem 1 allows only shorter steps"
    proven = find_condition(on_2k) is not None
    return STEP_FRACTION * longest, "Theorem 1" if proven else "f cannot rise; Theorem 1 does not apply"


def _measure_target(form: WorkingForm, objective: Objective, truth: Array, k: int, s: int) -> KnownTarget:
    """In the coordinates in which solvers work: with an intercept, those of centred features."""
    x, start = form.to_working(truth), form.to_working(objective.start)
    gradient = form.objective.evaluate(x).gradient
    norms = (norm_of_largest(objective, gradient, size) for size in (k, s))
    return KnownTarget(float(np.linalg.norm(start - x)), *norms)


def _find_proposition(objective: Objective, s: int) -> ConditionC | None:
    """Condition C of Proposition 1 or 3, where it applies."""
    if isinstance(objective, LogDet) and objective.bounds.lower > 0 and objective.bounds.upper < np.inf:
        return logdet_condition(objective.bounds)
    if isinstance(objective, Logistic) and objective.alpha > 0 and not objective.fit_intercept:
        X = _collect_features(objective)
        return None if X is None else logistic_condition(X, objective.alpha, s)
    return None


def _collect_features(objective: LinearModel) -> Array | None:
    if objective.n_samples * objective.size > MAX_ENTRIES:
        return None
    samples = objective.collect_samples()
    return None if samples is None else samples.columns


def _bound_gradient(objective: Objective, s: int, truth: Array | None, sigma: float | None) -> GradientBound | None:
    """Proposition 2: for a logistic loss of samples that count alike, without an intercept, in memory."""
    if not isinstance(objective, Logistic) or objective.fit_intercept or objective.has_offset:
        return None
    X = _collect_features(objective)
    if X is None or not np.isclose(objective.effective_samples, objective.n_samples):
        return None
    norm = 0.0 if truth is None else norm_of_largest(objective, truth, s)
    return logistic_gradient_bound(X, s, alpha=objective.alpha, norm=norm, sigma=sigma)


def _restrict_to_bounds(
    objective: LogDet, truth: Array | None, one: Verdict, two_a: Verdict, two_b: Verdict
) -> tuple[Verdict, Verdict, Verdict]:
    """§4.2.3: within eigenvalue bounds only Theorem 2(a) is proven, for a target that they leave room around."""
    reason = "the paper proves it only without bounds of the eigenvalues (§4.2)"
    if one.applies == "yes":
        one = Verdict("unknown", reason)
    if two_b.applies == "yes":
        two_b = Verdict("unknown", reason)
    if two_a.applies == "yes" and (truth is None or not _is_dominated(objective, truth)):
        two_a = Verdict(
            "unknown", "within bounds it needs a target Ω̄ with Ω̄ − αI and βI − Ω̄ diagonally dominant (§4.2)"
        )
    return one, two_a, two_b


def _is_dominated(objective: LogDet, truth: Array) -> bool:
    """Whether Ω̄ − αI and βI − Ω̄ are diagonally dominant."""
    lower, upper = objective.bounds
    diagonal = truth.diagonal()
    radius = np.abs(truth).sum(axis=1) - np.abs(diagonal)
    return bool((diagonal - lower >= radius).all() and (upper - diagonal >= radius).all())


def _list_notes(objective: Objective, applies: str) -> list[str]:
    notes = [
        "m_s and M_s are the smallest and the largest curvature of f in directions of s units. The guarantees are "
        "those of GraHTP and FGraHTP with a constant step; the default solver has none, and usually ends lower."
    ]
    if applies == "no":
        notes.append(
            f"{_find_remedy(objective)}The conditions are sufficient, not necessary: the methods often work without."
        )
    if isinstance(objective, LinearModel) and objective.fit_intercept:
        notes.append(
            "The intercept is in every support and does not count in k; errors and steps are those of centred "
            "features, with which solvers work."
        )
    if isinstance(objective, LogDet):
        notes.append("Units are edges; the diagonal is in every support.")
    if not isinstance(objective, LinearModel | LogDet | Quadratic):
        notes.append(
            "The form of f is not known. Its Hessians are sampled at the start and at the points given: they can "
            "refute a guarantee, but not prove it."
        )
    return notes


def _find_remedy(objective: Objective) -> str:
    """What lowers M_s/m_s."""
    if isinstance(objective, LogDet):
        return "What helps: narrower bounds of the eigenvalues. "
    if isinstance(objective, LinearModel):
        return (
            "What helps: less correlated features of one scale, more samples, a smaller k, or a larger ridge, which "
            "biases the coefficients. "
        )
    return ""
