"""The paper's claims about its logistic simulations (Figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..base import TextTable
from ..claims import (
    Claim,
    Verdict,
    add_limits,
    add_seconds_per_iteration,
    combine,
    judge,
    judge_best,
    judge_better,
    judge_comparable,
    judge_trend,
)
from ..frames import count_runs, format_mean, mean, select_rows, split_rows, summarize, unique
from ..methods import DEFAULT, PUBLISHED

__all__ = ["describe_lowest", "judge_over_k", "judge_over_n", "tabulate_limits"]

#: The paper calls k below this small.
SMALL_K = 200
#: Recalls that differ by at most this are about the same.
SAME_RECALL = 0.05
BOTH = ("GraHTP", "FGraHTP")
RIVALS = ("GraSP", "FBS")


def judge_over_n(paper: str, frame: pd.DataFrame) -> list[Claim]:
    """The claims about varying n."""
    main, steps = select_rows(frame, kind="main"), select_rows(frame, kind="step")
    superior = combine({name: judge_better(main, "error", "n", name, RIVALS) for name in BOTH})
    return [
        Claim(
            paper,
            "k fixed: the estimation errors of all algorithms tend to decrease as n increases",
            judge_trend(main, "error", "n", PUBLISHED, -1.0),
            judge_trend(main, "error", "n", (DEFAULT,), -1.0),
        ),
        Claim(
            paper,
            "k fixed: GraHTP and FGraHTP are comparable",
            add_limits(judge_comparable(main, "error", "n", *BOTH), main, BOTH),
            judge_comparable(main, "error", "n", DEFAULT, "FGraHTP"),
            _compare_both(main),
        ),
        Claim(
            paper,
            "k fixed: both are superior to GraSP and FBS",
            add_limits(superior, main, PUBLISHED),
            judge_better(main, "error", "n", DEFAULT, RIVALS),
            _explain_by_steps(main, steps, "n"),
        ),
        *_judge_errors_with_best_step(paper, main, steps, "n"),
        *_judge_without_limits(paper, main, select_rows(frame, kind="end"), "n"),
        *_judge_figure_time(paper, main, "n"),
    ]


def judge_over_k(paper: str, frame: pd.DataFrame) -> list[Claim]:
    """The claims about varying k."""
    main, steps, last = (select_rows(frame, kind=kind) for kind in ("main", "step", "end"))
    small, small_steps, small_last = (part[part["k"] < SMALL_K] for part in (main, steps, last))
    early = main[main["k"] <= SMALL_K]
    at = f"k = {', '.join(map(str, sorted(unique(early, 'k'))))}"
    superior = {name: judge_better(small, "error", "k", name, RIVALS) for name in BOTH}
    others = ("GraHTP", "FGraHTP", "GraSP")
    return [
        Claim(
            paper,
            "n fixed: the errors of all but FBS tend to increase with k",
            _add_fbs(judge_trend(main, "error", "k", others, 1.0), main),
            judge_trend(main, "error", "k", (DEFAULT,), 1.0),
            _explain_first_error(main),
        ),
        Claim(
            paper,
            "FBS is relatively insensitive to k (smaller range of errors, relative to their mean)",
            _judge_sensitivity(main, "FBS", others),
            _judge_sensitivity(main, "FBS", (DEFAULT,)),
            "FBS adds features one at a time here too, but the errors of FGraHTP and GraSP change even less with k.",
        ),
        Claim(
            paper,
            f"GraHTP and FGraHTP are comparable and superior to GraSP and FBS at small k < {SMALL_K}",
            add_limits(
                combine({"comparable": judge_comparable(small, "error", "k", *BOTH), **superior}), small, PUBLISHED
            ),
            combine(
                {
                    "comparable": judge_comparable(small, "error", "k", DEFAULT, "FGraHTP"),
                    DEFAULT: judge_better(small, "error", "k", DEFAULT, RIVALS),
                }
            ),
            _explain_by_steps(small, small_steps, "k"),
        ),
        *_judge_errors_with_best_step(paper, small, small_steps, "k"),
        *_judge_without_limits(paper, small, small_last, "k"),
        *_judge_figure_time(paper, main, "k"),
        *(
            Claim(
                paper,
                f"when k is small ({at}), GraHTP {words} than FGraHTP",
                add_limits(judge_better(early, measure, "k", "GraHTP", ("FGraHTP",)), early, BOTH),
                judge_better(early, measure, "k", DEFAULT, ("FGraHTP",)),
            )
            for measure, words in (("seconds", "is even faster"), ("iterations", "tends to need fewer iterations"))
        ),
    ]


def describe_lowest(main: pd.DataFrame, over: str, methods: Sequence[str]) -> str:
    """A sentence, if at the last setting the method with the lowest f is not the one with the smallest error."""
    last = max(unique(main, over), default=None)
    there = select_rows(main, **{over: last})
    known = [method for method in methods if np.isfinite(mean(there, "recall", method=method))]
    if len(known) < 2:
        return ""
    lowest = min(known, key=lambda method: mean(there, "loss", method=method))
    nearest = min(known, key=lambda method: mean(there, "error", method=method))
    recalls = [mean(there, "recall", method=method) for method in (lowest, nearest)]
    if lowest == nearest or recalls[0] < recalls[1]:
        return ""
    return (
        f" The lowest f need not give the smallest error: at {over} = {last} {lowest} has the lowest f and finds"
        f" {recalls[0]:.0%} of the relevant features, while {nearest}, with the smallest error, finds {recalls[1]:.0%}:"
        " its coefficients are closer."
    )


def _compare_both(main: pd.DataFrame) -> str:
    """How GraHTP and FGraHTP differ."""
    recalls = [mean(main, "recall", method=name) for name in BOTH]
    lengths = [select_rows(main, method=name)["iterations"].median() for name in BOTH]
    losses = [
        mean(part, "loss", method=BOTH[1]) < mean(part, "loss", method=BOTH[0])
        for part in split_rows(main, "n").values()
    ]
    text = (
        f"GraHTP stops after {lengths[0]:.0f} iterations (median) with the minimizer of f on its support; FGraHTP runs"
        f" for {lengths[1]:.0f} and has the lower f at {sum(losses)} of {len(losses)} n."
    )
    if abs(recalls[0] - recalls[1]) > SAME_RECALL:
        return text
    return (
        f"{text} They find about the same fraction of the relevant features ({recalls[0]:.0%} and {recalls[1]:.0%} on"
        " average): mostly the coefficients differ."
    )


def _explain_first_error(main: pd.DataFrame) -> str:
    """GraHTP's error at the smallest k."""
    first, *others = (select_rows(main, k=k, method="GraHTP") for k in sorted(unique(main, "k")))
    if not others:
        return ""
    return (
        f"GraHTP is the exception because of its error at k = {first['k'].iloc[0]}: {mean(first, 'error'):.3g}, and at"
        f" most {max(mean(part, 'error') for part in others):.3g} at larger k. It stops after"
        f" {mean(first, 'iterations'):.1f} iterations there with its constant step; the figure of steps shows others."
    )


class _BestStep(NamedTuple):
    """The step with the smallest error of a method in a setting, and the errors of its rivals."""

    setting: Any
    step: float
    error: float
    rivals: dict[str, float]

    @property
    def superior(self) -> list[bool]:
        return [self.error <= error for error in self.rivals.values()]


def _find_best_steps(main: pd.DataFrame, steps: pd.DataFrame, over: str, method: str) -> list[_BestStep]:
    found = []
    for setting in sorted(unique(steps, over)):
        here = {over: setting}
        errors = summarize(steps, "multiple", "error", method=method, **here)["mean"]
        rivals = {name: mean(main, "error", method=name, **here) for name in RIVALS}
        found.append(_BestStep(setting, errors.idxmin(), errors.min(), rivals))
    return found


def _explain_by_steps(main: pd.DataFrame, steps: pd.DataFrame, over: str) -> str:
    """To what extent the step explains that GraHTP and FGraHTP are not superior."""
    text = (
        "With a constant step GraHTP soon reaches a support that the step does not change, and stops; which support,"
        " and so its error, depends on the step, which the paper does not state."
    )
    for method in BOTH:
        best = _find_best_steps(main, steps, over, method)
        if not best:
            continue
        places = {
            words: [f"{each.setting}" for each in best if all(each.superior) == truth]
            for words, truth in (("is superior to both", True), ("is not superior to both", False))
        }
        where_ = " and ".join(f"{words} at {over} = {', '.join(at)}" for words, at in places.items() if at)
        text += f" With the best of the tried steps {method} {where_}."
    return f"{text} Where it is not, the step alone is not the reason."


def _judge_errors_with_best_step(paper: str, main: pd.DataFrame, steps: pd.DataFrame, over: str) -> list[Claim]:
    """Whether both are superior to GraSP and FBS with the best of the tried steps; empty if none were tried."""
    settings = sorted(unique(steps, over))
    if not settings:
        return []
    verdicts = {name: _judge_best_steps(_find_best_steps(main, steps, over, name), over) for name in BOTH}
    at = f"{over} = {', '.join(map(str, settings))}"
    text = f"both are superior to GraSP and FBS: the same with the best of the tried steps ({at})"
    reason = "Where they are not, none of the tried steps suffices."
    return [Claim(paper, text, add_limits(combine(verdicts), steps, BOTH), reason=reason)]


def _judge_best_steps(best: list[_BestStep], over: str) -> Verdict:
    truths = [truth for each in best for truth in each.superior]
    parts = []
    for each in best:
        others = ", ".join(f"{name} {error:.3g}" for name, error in each.rivals.items())
        parts.append(f"{over} = {each.setting}: {each.error:.3g} with {each.step:g}/L ({others})")
    return judge(truths, f"{sum(truths)} of {len(truths)} comparisons; {'; '.join(parts)}")


def _select_same_data(main: pd.DataFrame, last: pd.DataFrame, over: str) -> pd.DataFrame:
    """The rows of `main` for the data sets in `last`."""
    return main.merge(last[[over, "replication"]].drop_duplicates(), on=[over, "replication"])


def _judge_without_limits(paper: str, main: pd.DataFrame, last: pd.DataFrame, over: str) -> list[Claim]:
    """Whether the iteration limits, and the x returned there, decide; empty if it was not tried."""
    if not len(last):
        return []
    same = _select_same_data(main, last, over)
    both = pd.concat([same[~same["method"].isin(unique(last, "method"))], last])
    settings = ", ".join(map(str, sorted(unique(last, over))))
    text = (
        "both are superior to GraSP and FBS: the same with the last x of GraSP and with FGraHTP run until convergence"
        f" ({over} = {settings}; {count_runs(last, 'data set')} each)"
    )
    return [
        Claim(
            paper,
            text,
            combine({name: judge_better(both, "error", over, name, RIVALS) for name in BOTH}),
            judge_better(both, "error", over, DEFAULT, RIVALS),
            "So neither FGraHTP's iteration limit nor the x that GraSP returns is the reason.",
        )
    ]


def tabulate_limits(main: pd.DataFrame, last: pd.DataFrame, over: str) -> TextTable:
    """The effect of the iteration limits on the errors."""
    rows: list[list[Any]] = []
    for setting, part in sorted(split_rows(last, over).items()):
        for method, there in split_rows(part, "method").items():
            same = select_rows(_select_same_data(main, there, over), method=method)
            cells = [cell for each in (same, there) for cell in (format_mean(each, "error", 2), _count_converged(each))]
            rows.append([setting, method, *cells, f"{mean(there, 'iterations'):.0f}"])
    header = (over, "method", "error in the figure", "converged", "error of the last x", "converged", "iterations")
    caption = (
        f"Errors over {count_runs(last, 'data set')} with standard errors: as in the figure (x with the lowest f"
        " where a run did not converge), and of the last x of GraSP at the same limit and of FGraHTP with a limit high"
        " enough to converge."
    )
    return TextTable("The effect of the iteration limits", caption, header, rows)


def _count_converged(frame: pd.DataFrame) -> str:
    return f"{(frame['status'] == 'converged').mean():.0%}"


def _judge_figure_time(paper: str, main: pd.DataFrame, over: str) -> list[Claim]:
    """The claims about Figure 1(b), both panels together."""
    quick = {name: judge_better(main, "seconds", over, name, ("GraSP",), slack=0.1) for name in BOTH}
    pace = add_seconds_per_iteration(main)
    return [
        Claim(
            paper,
            "in most cases FBS is the fastest one",
            add_limits(judge_best(main, "seconds", over, "FBS", ("GraHTP", "FGraHTP", "GraSP")), main, PUBLISHED),
            judge_best(main, "seconds", over, "FBS", (DEFAULT,)),
            "GraHTP stops after a few iterations here, in each of which Newton's method minimizes on its support;"
            " FBS needs k iterations on growing supports.",
        ),
        Claim(
            paper,
            "GraHTP and FGraHTP are superior or comparable to GraSP in time",
            add_limits(combine(quick), main, PUBLISHED),
            judge_better(main, "seconds", over, DEFAULT, ("GraSP",), slack=0.1),
            "At large k GraSP's supports settle and it stops after few iterations; FGraHTP does not.",
        ),
        Claim(
            paper,
            "an iteration of GraHTP is cheaper than one of GraSP, and one of FGraHTP cheaper still (§3.2, and §5)",
            combine(
                {
                    "GraHTP and GraSP": judge_better(pace, "pace", over, "GraHTP", ("GraSP",)),
                    "FGraHTP and GraHTP": judge_better(pace, "pace", over, "FGraHTP", ("GraHTP",)),
                }
            ),
        ),
    ]


def _add_fbs(verdict: Verdict, main: pd.DataFrame) -> Verdict:
    """The verdict with the numbers of the method that the claim excludes."""
    fbs = judge_trend(main, "error", "k", ("FBS",), 1.0)
    return Verdict(verdict.fraction, f"{verdict.numbers}; for comparison {fbs.numbers}")


def _judge_sensitivity(main: pd.DataFrame, method: str, others: tuple[str, ...]) -> Verdict:
    """Whether the mean errors of a method vary less with k than those of others."""
    ranges = {}
    for name in (method, *others):
        means = summarize(main, "k", "error", method=name)["mean"]
        if len(means) > 1:
            ranges[name] = float(np.ptp(means) / means.mean())
    truths = [ranges[method] <= ranges[other] for other in others if {method, other} <= ranges.keys()]
    return judge(truths, "range of errors / mean: " + ", ".join(f"{name} {each:.0%}" for name, each in ranges.items()))
