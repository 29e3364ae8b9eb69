"""What the paper says of its logistic simulations (Figure 1), judged by our results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .base import TextTable
from .claims import (
    Claim,
    Verdict,
    at_limits,
    comparable,
    compared,
    falls,
    joined,
    leads,
    per_iteration,
    rises,
    verdict,
)
from .methods import DEFAULT, FAITHFUL
from .tables import Table

__all__ = ["claims_with_k", "claims_with_n", "ends_table", "lower_is_not_nearer"]

#: A k that the paper calls small.
SMALL_K = 200
#: Shares of relevant features that differ by no more are about the same.
ALIKE = 0.05
BOTH = ("GraHTP", "FGraHTP")
RIVALS = ("GraSP", "FBS")


def claims_with_n(paper: str, table: Table) -> list[Claim]:
    """What is said where n varies."""
    main, steps = table.where(kind="main"), table.where(kind="step")
    return [
        Claim(
            paper,
            "k fixed: the estimation errors of all algorithms tend to decrease as n increases",
            falls(main, "error", "n", FAITHFUL),
            falls(main, "error", "n", (DEFAULT,)),
        ),
        Claim(
            paper,
            "k fixed: GraHTP and FGraHTP are comparable",
            at_limits(comparable(main, "error", "n", *BOTH), main, BOTH),
            comparable(main, "error", "n", DEFAULT, "FGraHTP"),
            _coefficients_differ(main),
        ),
        Claim(
            paper,
            "k fixed: both are superior to GraSP and FBS",
            at_limits(joined({name: compared(main, "error", "n", name, RIVALS) for name in BOTH}), main, FAITHFUL),
            compared(main, "error", "n", DEFAULT, RIVALS),
            _steps_decide(main, steps, "n"),
        ),
        *_with_the_best_step(paper, main, steps, "n"),
        *_to_the_end(paper, main, table.where(kind="end"), "n"),
        *_times(paper, main, "n"),
    ]


def claims_with_k(paper: str, table: Table) -> list[Claim]:
    """What is said where k varies."""
    main, steps = table.where(kind="main"), table.where(kind="step")
    small, few_steps = (Table(row for row in part.rows if row["k"] < SMALL_K) for part in (main, steps))
    early = Table(row for row in main.rows if row["k"] <= SMALL_K)
    here = f"k = {', '.join(map(str, sorted(early.distinct('k'))))}"
    superior = {name: compared(small, "error", "k", name, RIVALS) for name in BOTH}
    return [
        Claim(
            paper,
            "n fixed: the errors of all but FBS tend to increase with k",
            _beside_fbs(rises(main, "error", "k", ("GraHTP", "FGraHTP", "GraSP")), main),
            rises(main, "error", "k", (DEFAULT,)),
            _stops_early(main),
        ),
        Claim(
            paper,
            "FBS is relatively insensitive to k (its errors span a lesser share of their mean than those of others do)",
            _less_sensitive(main, "FBS", ("GraHTP", "FGraHTP", "GraSP")),
            _less_sensitive(main, "FBS", (DEFAULT,)),
            "FBS adds features one by one here too; but the errors of others than GraHTP change even less with k.",
        ),
        Claim(
            paper,
            f"GraHTP and FGraHTP are comparable and superior to GraSP and FBS at small k < {SMALL_K}",
            at_limits(joined({"comparable": comparable(small, "error", "k", *BOTH), **superior}), small, FAITHFUL),
            joined(
                {
                    "comparable": comparable(small, "error", "k", DEFAULT, "FGraHTP"),
                    DEFAULT: compared(small, "error", "k", DEFAULT, RIVALS),
                }
            ),
            _steps_decide(small, few_steps, "k"),
        ),
        *_with_the_best_step(paper, small, few_steps, "k"),
        *_to_the_end(paper, small, Table(row for row in table.where(kind="end").rows if row["k"] < SMALL_K), "k"),
        *_times(paper, main, "k"),
        Claim(
            paper,
            f"when k is small ({here}), GraHTP is even faster than FGraHTP",
            at_limits(compared(early, "seconds", "k", "GraHTP", ("FGraHTP",)), early, BOTH),
            compared(early, "seconds", "k", DEFAULT, ("FGraHTP",)),
        ),
        Claim(
            paper,
            f"when k is small ({here}), GraHTP tends to need fewer iterations than FGraHTP",
            at_limits(compared(early, "iterations", "k", "GraHTP", ("FGraHTP",)), early, BOTH),
            compared(early, "iterations", "k", DEFAULT, ("FGraHTP",)),
        ),
    ]


def lower_is_not_nearer(main: Table, over: str, methods: Sequence[str]) -> str:
    """A sentence, if at the last setting the method with the lowest f is not the one with the smallest error."""
    last = max(main.distinct(over), default=None)
    there = main.where(**{over: last})
    known = [method for method in methods if np.isfinite(there.mean("recall", method=method))]
    if len(known) < 2:
        return ""
    lowest = min(known, key=lambda method: there.mean("loss", method=method))
    nearest = min(known, key=lambda method: there.mean("error", method=method))
    shares = [there.mean("recall", method=method) for method in (lowest, nearest)]
    if lowest == nearest or shares[0] < shares[1]:
        return ""
    return (
        f" A lower f need not be a smaller error: at {over} = {last} {lowest} has the lowest f and {shares[0]:.0%} of"
        f" the relevant features, and {nearest}, whose error is the smallest, only {shares[1]:.0%}: it is the"
        " coefficients that are nearer."
    )


def _coefficients_differ(main: Table) -> str:
    """What tells GraHTP from FGraHTP in the results."""
    shares = [main.mean("recall", method=name) for name in BOTH]
    lengths = [np.median(main.values("iterations", method=name)) for name in BOTH]
    lower = [part.mean("loss", method=BOTH[1]) < part.mean("loss", method=BOTH[0]) for part in main.parts("n").values()]
    said = (
        f"GraHTP ends after {lengths[0]:.0f} iterations (median), with the coefficients that minimize f on the support"
        f" that it has come to; FGraHTP takes {lengths[1]:.0f}, and has the lower f at {sum(lower)} of {len(lower)} n."
    )
    if abs(shares[0] - shares[1]) > ALIKE:
        return said
    return (
        f"{said} They find about as many of the relevant features ({shares[0]:.0%} and {shares[1]:.0%} on average): it"
        " is mostly the coefficients that differ."
    )


def _stops_early(main: Table) -> str:
    """Where GraHTP's error is not what the paper lets expect."""
    first, *others = (main.where(k=k, method="GraHTP") for k in sorted(main.distinct("k")))
    return (
        f"GraHTP is the exception, by its error at k = {first.rows[0]['k']}: {first.mean('error'):.3g}, and at most"
        f" {max(part.mean('error') for part in others):.3g} at larger k. It ends after {first.mean('iterations'):.1f}"
        " iterations there, with a constant step; the figure of steps has other ones."
        if others
        else ""
    )


class _Best(NamedTuple):
    """A method with the step that gives the smallest error in a setting, and the errors of its rivals."""

    place: Any
    step: float
    error: float
    rivals: dict[str, float]

    @property
    def superior(self) -> list[bool]:
        return [self.error <= its for its in self.rivals.values()]


def _best_steps(main: Table, steps: Table, over: str, method: str) -> list[_Best]:
    found = []
    for place in sorted(steps.distinct(over)):
        here = {over: place}
        tried = steps.where(method=method, **here)
        error, step = min((tried.mean("error", multiple=each), each) for each in tried.distinct("multiple"))
        rivals = {name: main.mean("error", method=name, **here) for name in RIVALS}
        found.append(_Best(place, step, error, rivals))
    return found


def _steps_decide(main: Table, steps: Table, over: str) -> str:
    """How far the step explains that GraHTP and FGraHTP are not superior."""
    said = (
        "With a constant step GraHTP soon meets a support that the step does not change, and ends; which one, and so"
        " its error, depends on the step, which the paper does not give."
    )
    for method in BOTH:
        best = _best_steps(main, steps, over, method)
        yes = [f"{each.place}" for each in best if all(each.superior)]
        no = [f"{each.place}" for each in best if not all(each.superior)]
        if best:
            where = " and ".join(
                f"{words} at {over} = {', '.join(places)}"
                for words, places in (("is superior to both", yes), ("is not superior to both", no))
                if places
            )
            said += f" With the best of the steps tried {method} {where}."
    return f"{said} Where one is not, the step alone is not the reason."


def _with_the_best_step(paper: str, main: Table, steps: Table, over: str) -> list[Claim]:
    """Whether both are superior to GraSP and FBS with the best of the steps tried; nothing if none were."""
    places = sorted(steps.distinct(over))
    if not places:
        return []
    judged = Claim(
        paper,
        f"both are superior to GraSP and FBS: the same at {over} = {', '.join(map(str, places))}, with the best step of"
        " those tried for each of them (by its mean error)",
        at_limits(joined({name: _at_best(_best_steps(main, steps, over, name), over) for name in BOTH}), steps, BOTH),
        reason="Where they are not, none of the steps tried would do.",
    )
    return [judged]


def _at_best(best: list[_Best], over: str) -> Verdict:
    truths = [truth for each in best for truth in each.superior]
    said = []
    for each in best:
        others = ", ".join(f"{name} {its:.3g}" for name, its in each.rivals.items())
        said.append(f"{over} = {each.place}: {each.error:.3g} with {each.step:g}/L ({others})")
    return verdict(truths, f"{sum(truths)} of {len(truths)} comparisons; {'; '.join(said)}")


def _beside(main: Table, ends: Table, over: str) -> Table:
    """The rows of the same data sets."""
    known = {(row[over], row["replication"]) for row in ends.rows}
    return Table(row for row in main.rows if (row[over], row["replication"]) in known)


def _to_the_end(paper: str, main: Table, ends: Table, over: str) -> list[Claim]:
    """Whether it matters that limits end runs, and which x they then give; nothing if it was not tried."""
    if not len(ends):
        return []
    others = Table(row for row in _beside(main, ends, over).rows if row["method"] not in ends.distinct("method"))
    both = Table([*others.rows, *ends.rows])
    places = ", ".join(map(str, sorted(ends.distinct(over))))
    judged = Claim(
        paper,
        f"both are superior to GraSP and FBS: the same at {over} = {places} ({ends.repeats('data set')} each) with the"
        " last x of GraSP, and with FGraHTP run until it ends",
        joined({name: compared(both, "error", over, name, RIVALS) for name in BOTH}),
        compared(both, "error", over, DEFAULT, RIVALS),
        "So neither FGraHTP's limit of iterations nor which x of GraSP counts is the reason.",
    )
    return [judged]


def ends_table(main: Table, ends: Table, over: str) -> TextTable:
    """What the limits of iterations do to the errors."""
    rows: list[list[Any]] = []
    for place, part in sorted(ends.parts(over).items()):
        for method, there in part.parts("method").items():
            beside = _beside(main, there, over).where(method=method)
            rows.append(
                [
                    place,
                    method,
                    beside.with_error("error", 2),
                    _ended(beside),
                    there.with_error("error", 2),
                    _ended(there),
                    f"{there.mean('iterations'):.0f}",
                ]
            )
    heads = (over, "method", "error in the figure", "ended by itself", "error of the last x", "ended by itself")
    caption = (
        f"What limits of iterations do: errors over {ends.repeats('data set')}, with standard errors, as in the figure"
        " (x with the lowest f where a run did not end by itself), and those of the last x of GraSP at the same limit,"
        " and of FGraHTP with a limit that is so large that it ends by itself."
    )
    return TextTable(caption, (*heads, "iterations"), rows)


def _ended(table: Table) -> str:
    """The share of runs that ended by themselves."""
    return f"{np.mean([row['status'] == 'converged' for row in table.rows]):.0%}"


def _times(paper: str, main: Table, over: str) -> list[Claim]:
    """What the paper says of Figure 1(b), both panels together."""
    quick = {name: compared(main, "seconds", over, name, ("GraSP",), slack=0.1) for name in BOTH}
    pace = per_iteration(main)
    return [
        Claim(
            paper,
            "in most cases FBS is the fastest one",
            at_limits(leads(main, "seconds", over, "FBS", ("GraHTP", "FGraHTP", "GraSP")), main, FAITHFUL),
            leads(main, "seconds", over, "FBS", (DEFAULT,)),
            "GraHTP ends after a few iterations here, in each of which Newton's method minimizes on its support;"
            " FBS needs k of them, on supports that grow.",
        ),
        Claim(
            paper,
            "GraHTP and FGraHTP are superior or comparable to GraSP in time",
            at_limits(joined(quick), main, FAITHFUL),
            compared(main, "seconds", over, DEFAULT, ("GraSP",), slack=0.1),
            "Where k is so large that GraSP's supports settle, it ends after few iterations, and FGraHTP does not.",
        ),
        Claim(
            paper,
            "an iteration of GraHTP is cheaper than one of GraSP, and one of FGraHTP cheaper still (§3.2, and §5)",
            joined(
                {
                    "GraHTP and GraSP": compared(pace, "pace", over, "GraHTP", ("GraSP",)),
                    "FGraHTP and GraHTP": compared(pace, "pace", over, "FGraHTP", ("GraHTP",)),
                }
            ),
        ),
    ]


def _beside_fbs(judged: Verdict, main: Table) -> Verdict:
    """A verdict with the numbers of the method that the sentence excepts."""
    return Verdict(judged.share, f"{judged.numbers}; beside them {rises(main, 'error', 'k', ('FBS',)).numbers}")


def _less_sensitive(main: Table, method: str, others: tuple[str, ...]) -> Verdict:
    """Whether the mean errors of a method vary less with k than those of others."""
    spans = {}
    for name in (method, *others):
        means = main.series("k", "error", method=name).mean
        if means.size > 1:
            spans[name] = float(np.ptp(means) / means.mean())
    truths = [spans[method] <= spans[other] for other in others if {method, other} <= spans.keys()]
    said = ", ".join(f"{name} {span:.0%}" for name, span in spans.items())
    return verdict(truths, f"errors span, of their mean: {said}")
