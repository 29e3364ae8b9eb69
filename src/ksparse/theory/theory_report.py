"""What the theory says about a problem: a report in words, with all its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from unicodedata import combining

import numpy as np

from .conditions import ConditionC
from .eigenvalues import Bracket, RestrictedEigenvalues
from .gradients import GradientBound
from .verdicts import Verdict

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KnownTarget", "TheoryReport"]

#: Letters of a line of text.
TEXT_WIDTH = 100
#: What is known of a number: that it is exact, a proven bound, or an estimate from samples; or it was chosen.
Kind = Literal["exact", "bound", "estimate", "choice"]


@dataclass(frozen=True)
class KnownTarget:
    """The true x̄, as far as Theorem 2 is concerned."""

    #: ‖x⁽⁰⁾ − x̄‖ for the default start.
    initial_error: float
    #: ‖∇_k f(x̄)‖.
    gradient_k: float
    #: ‖∇_s f(x̄)‖, s = 2k + k̄.
    gradient_s: float


@dataclass(frozen=True)
class TheoryReport:
    """What the paper's theory says about minimizing f with k units: the result of `report`.

    ``print`` it to read it; a notebook shows it as a table, and `to_frame` has all numbers.

    Attributes
    ----------
    objective : str
        What is minimized.
    k, k_true : int
        k, and k̄, the number of units of the target x̄.
    curvature_2k, curvature_s : RestrictedEigenvalues
        m and M on 2k units, and on s = 2k + k̄ units.
    condition_2k, condition_s : ConditionC or None
        The best Condition C that is proven from them.
    proposition_2k, proposition_s : ConditionC or None
        That of Proposition 1 (logistic regression with a ridge) or 3 (`LogDet` with bounds).
    theorem_1, theorem_2a, theorem_2b : Verdict
        Convergence, and the errors of GraHTP and of FGraHTP.
    step : float or None
        The step that the rates are for: the one given, or the recommended one.
    step_source : str
        Where it comes from.
    target : KnownTarget or None
        What is known of x̄, if `truth` was given.
    gradient_bound_k, gradient_bound_s : GradientBound or None
        Proposition 2, for logistic regression.
    notes : tuple of str
        What else should be known.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import Quadratic
    >>> found = ksparse.theory.report(Quadratic(np.diag([1.0, 1.1, 0.9, 1.0]), np.ones(4)), k=1)
    >>> found.to_frame().round(3).head(4)
             value   kind        source
    number
    m_2        0.9  exact  all supports
    M_2        1.1  exact  all supports
    m_3        0.9  exact  all supports
    M_3        1.1  exact  all supports
    """

    objective: str
    k: int
    k_true: int
    curvature_2k: RestrictedEigenvalues
    curvature_s: RestrictedEigenvalues
    condition_2k: ConditionC | None
    condition_s: ConditionC | None
    proposition_2k: ConditionC | None
    proposition_s: ConditionC | None
    theorem_1: Verdict
    theorem_2a: Verdict
    theorem_2b: Verdict
    step: float | None
    step_source: str
    target: KnownTarget | None
    gradient_bound_k: GradientBound | None
    gradient_bound_s: GradientBound | None
    notes: tuple[str, ...]

    @property
    def s(self) -> int:
        """2k + k̄, the size of the supports of Theorem 2."""
        return 2 * self.k + self.k_true

    def bound_error(self, method: Literal["GraHTP", "FGraHTP"], t: Any) -> Any:
        """Theorem 2's bound of ‖x⁽ᵗ⁾ − x̄‖ after t iterations, if it applies at the step and `truth` was given."""
        if method not in ("GraHTP", "FGraHTP"):
            raise ValueError(f'method must be "GraHTP" or "FGraHTP", got {method!r}')
        verdict = self.theorem_2a if method == "GraHTP" else self.theorem_2b
        if verdict.rate is None or verdict.factor is None:
            raise ValueError(f"Theorem 2 has no bound for {method} with the step {self.step!r}; print the report")
        if self.target is None:
            raise ValueError("the bound needs the target: pass truth to report")
        gradient = self.target.gradient_k if method == "GraHTP" else self.target.gradient_s
        return verdict.rate ** np.asarray(t) * self.target.initial_error + verdict.factor * gradient

    def to_frame(self) -> pd.DataFrame:
        """All numbers: ``value``, whether it is exact, a bound or an estimate, and ``source``, by name."""
        import pandas as pd

        rows = [(row.name, row.value, row.kind, row.source) for row in _list_numbers(self)]
        return pd.DataFrame(rows, columns=["number", "value", "kind", "source"]).set_index("number")

    def __str__(self) -> str:
        return _describe(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in _list_paragraphs(self))
        return f"{text}{self.to_frame().to_html(escape=True, border=0, float_format='%.4g')}"


class _Number(NamedTuple):
    """A number of a report."""

    name: str
    value: float
    kind: Kind
    source: str


def _describe(report: TheoryReport) -> str:
    """The report as text."""
    paragraphs = [fill(paragraph, TEXT_WIDTH, subsequent_indent="  ") for paragraph in _list_paragraphs(report)]
    numbers = _list_numbers(report)
    width = max(_measure(number.name) for number in numbers)
    lines = [
        f"{n.name}{' ' * (width - _measure(n.name))}  {_format(n.value):>10}  {n.kind:8}  {n.source}" for n in numbers
    ]
    return "\n".join([*paragraphs, "", *lines])


def _measure(text: str) -> int:
    """How many letters wide a text is: the bar of x̄ takes no room."""
    return sum(not combining(letter) for letter in text)


def _list_paragraphs(report: TheoryReport) -> list[str]:
    """What the report says, one paragraph for each question."""
    paragraphs = [f"{report.objective} with k = {report.k}: do the guarantees of GraHTP apply?"]
    paragraphs.append(_describe_convergence(report))
    paragraphs.append(_describe_error(report, "GraHTP", report.theorem_2a))
    paragraphs.append(_describe_error(report, "FGraHTP", report.theorem_2b))
    paragraphs.append(_describe_step(report))
    if report.gradient_bound_k is not None and report.gradient_bound_s is not None:
        paragraphs.append(_describe_gradient(report, report.gradient_bound_k, report.gradient_bound_s))
    return [*paragraphs, f"Note: {report.notes[0]}", *report.notes[1:]]


def _describe_convergence(report: TheoryReport) -> str:
    verdict, largest = report.theorem_1, report.curvature_2k.largest.high
    if verdict.applies == "yes":
        assert verdict.steps is not None
        return (
            f"Convergence (Theorem 1): yes, with steps below {_format(verdict.steps[1])}: GraHTP ends after finitely "
            "many iterations, and f never rises, for FGraHTP either."
        )
    text = f"Convergence (Theorem 1): {_ANSWERS[verdict.applies]}: {verdict.reason}."
    if 0 < largest < np.inf and "bounds of the eigenvalues" not in verdict.reason:
        text += (
            f" But f never rises with steps below 1/M_{report.curvature_2k.s} = {_format(1 / largest)}: the proof of "
            "that needs no more."
        )
    return text


_ANSWERS = {"yes": "yes", "no": "no", "unknown": "not known"}


def _describe_error(report: TheoryReport, method: str, verdict: Verdict) -> str:
    letter, gradient, rate = ("a", "‖∇_k f(x̄)‖", "μ₁") if method == "GraHTP" else ("b", "‖∇_s f(x̄)‖", "μ₂")
    head = f"Error of {method} (Theorem 2({letter}))"
    if verdict.applies != "yes":
        return f"{head}: {_ANSWERS[verdict.applies]}: {verdict.reason}."
    assert verdict.steps is not None
    low, high = (_format(step) for step in verdict.steps)
    text = f"{head}: yes, with steps between {low} and {high}: {verdict.reason}."
    if verdict.rate is None or verdict.factor is None:
        return f"{text} The step {_format(report.step)} is not among them."
    text += (
        f" After t iterations with the step {_format(report.step)}, ‖x⁽ᵗ⁾ − x̄‖ is at most "
        f"{_format(verdict.rate)}ᵗ·‖x⁽⁰⁾ − x̄‖ + {_format(verdict.factor)}·{gradient} ({rate} = {_format(verdict.rate)})"
    )
    if report.target is None:
        return text + ", for any x̄ of k̄ units; without noise the gradient at the true x̄ is 0."
    norm = report.target.gradient_k if method == "GraHTP" else report.target.gradient_s
    end = verdict.factor * norm
    return f"{text}. For this x̄: {_format(report.target.initial_error)} at the start, {_format(end)} in the end."


def _describe_step(report: TheoryReport) -> str:
    if report.step is None:
        return f"Step: none can be recommended: {report.step_source}; use Backtracking()."
    if report.step_source == "given":
        limit = report.theorem_1.steps
        if limit is None:
            return f"Step: {_format(report.step)} was given."
        word = "below" if report.step < limit[1] else "not below"
        return f"Step: {_format(report.step)} was given, which is {word} Theorem 1's limit {_format(limit[1])}."
    return f"Step: GraHTP(step={_format(report.step)}) ({report.step_source})."


def _describe_gradient(report: TheoryReport, on_k: GradientBound, on_s: GradientBound) -> str:
    ridge = ""
    if report.target is None:
        ridge = ", plus alpha·‖w̄‖ if there is a ridge"
    return (
        f"Gradient at the truth (Proposition 2): if the model is right, ‖∇_k f(w̄)‖ ≤ {_format(on_k.value)} and "
        f"‖∇_s f(w̄)‖ ≤ {_format(on_s.value)}{ridge}, with probability at least {max(on_k.probability, 0.0):.3g}."
    )


def _list_numbers(report: TheoryReport) -> list[_Number]:
    """Every number with its kind: exact, a bound that is proven, an estimate from samples, or the choice of a step."""
    numbers = list[_Number]()
    for found in (report.curvature_2k, report.curvature_s):
        numbers += _list_bracket(f"m_{found.s}", found.smallest, proven="low")
        numbers += _list_bracket(f"M_{found.s}", found.largest, proven="high")
    numbers += _list_conditions(report)
    for name, verdict, rate, found in (
        ("Theorem 1", report.theorem_1, "", report.curvature_2k),
        ("Theorem 2(a)", report.theorem_2a, "μ₁", report.curvature_s),
        ("Theorem 2(b)", report.theorem_2b, "μ₂", report.curvature_s),
    ):
        numbers += _list_verdict(name, verdict, rate, "exact" if found.is_exact else "bound")
    if report.step is not None:
        kind: Kind = "estimate" if report.step_source.startswith("estimate") else "choice"
        numbers.append(_Number("step η", report.step, kind, report.step_source.removeprefix("estimate: ")))
    if report.target is not None:
        numbers.append(_Number("‖x⁽⁰⁾ − x̄‖", report.target.initial_error, "exact", "the default start and truth"))
        numbers.append(_Number("‖∇_k f(x̄)‖", report.target.gradient_k, "exact", "truth"))
        numbers.append(_Number("‖∇_s f(x̄)‖", report.target.gradient_s, "exact", "truth"))
    for name, bound in (("‖∇_k f(w̄)‖", report.gradient_bound_k), ("‖∇_s f(w̄)‖", report.gradient_bound_s)):
        if bound is not None:
            source = f"Proposition 2, with probability {max(bound.probability, 0.0):.3g}"
            numbers.append(_Number(f"{name} ≤", bound.value, "bound", source))
    return numbers


def _list_bracket(name: str, bracket: Bracket, proven: str) -> list[_Number]:
    """An exact number, or what is proven and what was seen of it."""
    if bracket.is_exact:
        return [_Number(name, bracket.low, "exact", bracket.high_source if proven == "low" else bracket.low_source)]
    ends = [(f"{name} ≥", bracket.low, bracket.low_source), (f"{name} ≤", bracket.high, bracket.high_source)]
    if proven == "high":
        ends.reverse()
    (certain, seen) = ends
    numbers = [] if np.isinf(certain[1]) else [_Number(*certain[:2], "bound", certain[2])]
    if not np.isinf(seen[1]):
        # What was seen bounds the constant from the side that refutes; where nothing is proven, it estimates it.
        kind: Kind = "bound" if numbers else "estimate"
        numbers.append(_Number(*seen[:2], kind, seen[2]))
    return numbers or [_Number(name, np.nan, "estimate", bracket.low_source)]


def _list_conditions(report: TheoryReport) -> list[_Number]:
    """The constants of Condition C, from m and M and from the paper's lemma and propositions."""
    found = [
        (report.condition_2k, report.curvature_2k, "", "m and M: ρ = (M − m)/(M + m)"),
        (report.condition_s, report.curvature_s, "", "m and M: ρ = (M − m)/(M + m)"),
    ]
    for condition, curvature in ((report.condition_2k, report.curvature_2k), (report.condition_s, report.curvature_s)):
        if condition is not None:
            lemma = ConditionC.from_convexity(curvature.smallest.low, curvature.largest.high)
            found.append((lemma, curvature, ", Lemma 1", "m and M: ζ = m/M²"))
    which = "Proposition 3" if report.objective.startswith("LogDet") else "Proposition 1"
    for condition, curvature in (
        (report.proposition_2k, report.curvature_2k),
        (report.proposition_s, report.curvature_s),
    ):
        found.append((condition, curvature, f", {which}", "the ridge and R_s" if which.endswith("1") else "α and β"))
    numbers = list[_Number]()
    for condition, curvature, suffix, source in found:
        if condition is not None:
            kind: Kind = "exact" if curvature.is_exact and not suffix else "bound"
            numbers.append(_Number(f"ζ of C({curvature.s}){suffix}", condition.zeta, kind, source))
            numbers.append(_Number(f"ρ of C({curvature.s}){suffix}", condition.rho, kind, source))
    return numbers


def _list_verdict(name: str, verdict: Verdict, rate: str, kind: Kind) -> list[_Number]:
    numbers = list[_Number]()
    if verdict.steps is not None:
        source = "inequality (3.2)" if rate == "μ₁" else name
        if verdict.steps[0] > 0:
            numbers.append(_Number(f"{name}: η above", verdict.steps[0], kind, source))
        numbers.append(_Number(f"{name}: η below", verdict.steps[1], kind, source))
    if verdict.rate is not None and verdict.factor is not None:
        numbers.append(_Number(f"{name}: {rate}", verdict.rate, kind, "at the step η"))
        numbers.append(_Number(f"{name}: multiple of the gradient", verdict.factor, kind, "at the step η"))
    return numbers


def _format(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:.6g}" if 0.999 < value < 1 else f"{value:.3g}"  # a rate just below 1 is not 1
