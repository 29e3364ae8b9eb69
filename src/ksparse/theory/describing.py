"""A report of the theory in words, and its numbers in one list."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .conditions import ConditionC
from .eigenvalues import Bracket
from .gradients import GradientBound
from .verdicts import Verdict

if TYPE_CHECKING:
    from .guarantees import Kind, TheoryReport

__all__ = ["Number", "describe", "list_numbers", "list_paragraphs"]

WIDTH = 100


class Number(NamedTuple):
    """A number of a report."""

    name: str
    value: float
    kind: Kind
    source: str


def describe(report: TheoryReport) -> str:
    """The report as text."""
    paragraphs = [fill(paragraph, WIDTH, subsequent_indent="  ") for paragraph in list_paragraphs(report)]
    numbers = list_numbers(report)
    width = max(len(number.name) for number in numbers)
    lines = [f"{n.name:{width}}  {_format(n.value):>10}  {n.kind:8}  {n.source}" for n in numbers]
    return "\n".join([*paragraphs, "", *lines])


def list_paragraphs(report: TheoryReport) -> list[str]:
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


def list_numbers(report: TheoryReport) -> list[Number]:
    """Every number with its kind: exact, a bound that is proven, an estimate from samples, or the choice of a step."""
    numbers = list[Number]()
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
        numbers.append(Number("step η", report.step, kind, report.step_source.removeprefix("estimate: ")))
    if report.target is not None:
        numbers.append(Number("‖x⁽⁰⁾ − x̄‖", report.target.initial_error, "exact", "the default start and truth"))
        numbers.append(Number("‖∇_k f(x̄)‖", report.target.gradient_k, "exact", "truth"))
        numbers.append(Number("‖∇_s f(x̄)‖", report.target.gradient_s, "exact", "truth"))
    for name, bound in (("‖∇_k f(w̄)‖", report.gradient_bound_k), ("‖∇_s f(w̄)‖", report.gradient_bound_s)):
        if bound is not None:
            source = f"Proposition 2, with probability {max(bound.probability, 0.0):.3g}"
            numbers.append(Number(f"{name} ≤", bound.value, "bound", source))
    return numbers


def _list_bracket(name: str, bracket: Bracket, proven: str) -> list[Number]:
    """An exact number, or what is proven and what was seen of it."""
    if bracket.is_exact:
        return [Number(name, bracket.low, "exact", bracket.high_source if proven == "low" else bracket.low_source)]
    ends = [(f"{name} ≥", bracket.low, bracket.low_source), (f"{name} ≤", bracket.high, bracket.high_source)]
    if proven == "high":
        ends.reverse()
    (certain, seen) = ends
    numbers = [] if np.isinf(certain[1]) else [Number(*certain[:2], "bound", certain[2])]
    if not np.isinf(seen[1]):
        # What was seen bounds the constant from the side that refutes; where nothing is proven, it estimates it.
        kind: Kind = "bound" if numbers else "estimate"
        numbers.append(Number(*seen[:2], kind, seen[2]))
    return numbers or [Number(name, np.nan, "estimate", bracket.low_source)]


def _list_conditions(report: TheoryReport) -> list[Number]:
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
    numbers = list[Number]()
    for condition, curvature, suffix, source in found:
        if condition is not None:
            kind: Kind = "exact" if curvature.is_exact and not suffix else "bound"
            numbers.append(Number(f"ζ of C({curvature.s}){suffix}", condition.zeta, kind, source))
            numbers.append(Number(f"ρ of C({curvature.s}){suffix}", condition.rho, kind, source))
    return numbers


def _list_verdict(name: str, verdict: Verdict, rate: str, kind: Kind) -> list[Number]:
    numbers = list[Number]()
    if verdict.steps is not None:
        source = "inequality (3.2)" if rate == "μ₁" else name
        if verdict.steps[0] > 0:
            numbers.append(Number(f"{name}: η above", verdict.steps[0], kind, source))
        numbers.append(Number(f"{name}: η below", verdict.steps[1], kind, source))
    if verdict.rate is not None and verdict.factor is not None:
        numbers.append(Number(f"{name}: {rate}", verdict.rate, kind, "at the step η"))
        numbers.append(Number(f"{name}: multiple of the gradient", verdict.factor, kind, "at the step η"))
    return numbers


def _format(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:.6g}" if 0.999 < value < 1 else f"{value:.3g}"  # a rate just below 1 is not 1
