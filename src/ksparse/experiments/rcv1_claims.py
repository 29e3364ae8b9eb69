"""What the paper says of rcv1.binary (Figures 2 and 3), judged by our results."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import combinations

import numpy as np

from .claims import Claim, Verdict, at_limits, comparable, compared, joined, leads, per_iteration, verdict
from .methods import DEFAULT, FAITHFUL
from .tables import Table

__all__ = ["EARLY", "rcv1_claims"]

#: The loss after this many iterations says how fast a method converges.
EARLY = 10
#: Errors and losses are comparable within this share of the larger one, numbers of iterations within so many.
CLOSE, CLOSE_ITERATIONS = 0.1, 5
#: A loss that is higher by at most this share is slightly higher.
SLIGHTLY = 0.5
#: Times that differ by this factor differ significantly.
SIGNIFICANT = 1.5


def rcv1_claims(table: Table, shown_ks: Collection[int]) -> list[Claim]:
    """All claims; those on convergence are judged at the k that Figure 2 shows."""
    main = table.where(kind="main")
    shown = Table(row for row in main.rows if row["k"] in shown_ks)
    slow = ("FGraHTP", "FBS")
    significantly = 1 / SIGNIFICANT - 1
    return [
        Claim(
            "Figure 2",
            "GraHTP and GraSP are comparable in convergence",
            _converges_alike(shown, "GraHTP", "GraSP"),
            _converges_alike(shown, DEFAULT, "GraSP"),
            "GraHTP's constant step decides how low it gets: see the figure of steps.",
        ),
        *_with_some_step(table),
        Claim(
            "Figure 2",
            "GraHTP and GraSP are superior to FGraHTP and FBS in convergence",
            joined({name: _converges_faster(shown, name, slow) for name in ("GraHTP", "GraSP")}),
            _converges_faster(shown, DEFAULT, slow),
        ),
        Claim(
            "Figure 2",
            f"FGraHTP's curve is slightly less sharp than those of GraHTP and GraSP (its loss after {EARLY} iterations"
            f" is higher, by at most {SLIGHTLY:.0%})",
            joined({name: _slightly_sharper(shown, name, "FGraHTP") for name in ("GraHTP", "GraSP")}),
            _slightly_sharper(shown, DEFAULT, "FGraHTP"),
            "With its step FGraHTP rises for some of the first iterations where k is large (Figure 2).",
        ),
        Claim(
            "Figure 3",
            "an iteration of FGraHTP costs very little, and less than one of GraHTP, GraSP and FBS",
            compared(per_iteration(main), "pace", "k", "FGraHTP", ("GraHTP", "GraSP", "FBS")),
        ),
        Claim(
            "Figure 3",
            "in accuracy all methods are comparable",
            _comparable_pairs(main, combinations(FAITHFUL, 2)),
            _comparable_pairs(main, ((DEFAULT, method) for method in FAITHFUL)),
        ),
        Claim(
            "Figure 3",
            "in time FGraHTP is the most efficient",
            at_limits(leads(main, "seconds", "k", "FGraHTP", ("GraHTP", "GraSP", "FBS")), main, FAITHFUL),
            leads(main, "seconds", "k", "FGraHTP", (DEFAULT,)),
            "GraHTP ends after few iterations, and FGraHTP at the limit of 50.",
        ),
        Claim(
            "Figure 3",
            f"GraHTP is significantly faster (here: by a factor of {SIGNIFICANT:g}) than GraSP and FBS",
            at_limits(compared(main, "seconds", "k", "GraHTP", ("GraSP", "FBS"), slack=significantly), main, FAITHFUL),
            compared(main, "seconds", "k", DEFAULT, ("GraSP", "FBS"), slack=significantly),
        ),
        Claim(
            "Figure 3",
            "GraHTP and FGraHTP achieve better trade-offs between accuracy and efficiency than GraSP and FBS (the"
            " paper's sentence says GraHTP for GraSP)",
            joined({name: _trades_better(main, name) for name in ("GraHTP", "FGraHTP")}),
            _trades_better(main, DEFAULT),
        ),
    ]


def _converges_alike(table: Table, method: str, other: str) -> Verdict:
    gaps = [
        abs(table.mean("settled", k=k, method=method) - table.mean("settled", k=k, method=other))
        for k in table.distinct("k")
    ]
    near = [gap <= CLOSE_ITERATIONS for gap in gaps if np.isfinite(gap)]
    alike = verdict(near, f"differ by at most {CLOSE_ITERATIONS} for {sum(near)} of {len(near)} k")
    early = comparable(table, "early", "k", method, other, CLOSE)
    return joined({f"loss after {EARLY} iterations": early, "iterations until settled": alike})


def _with_some_step(table: Table) -> list[Claim]:
    """Whether some step makes GraHTP converge as GraSP does, where several were tried."""
    steps, rivals = table.where(kind="step", method="GraHTP"), table.where(kind="main", method="GraSP")
    truths, said = [], []
    for k in sorted(steps.distinct("k")):
        tried = steps.where(k=k).parts("multiple")
        alike = [
            f"{multiple:g}/L ({part.mean('early'):.3g})"
            for multiple, part in sorted(tried.items())
            if _converges_alike(Table([*part.rows, *rivals.where(k=k).rows]), "GraHTP", "GraSP").share == 1.0
        ]
        truths.append(bool(alike))
        which = f"η = {', '.join(alike)}" if alike else "none"
        said.append(f"k = {k} (GraSP {rivals.mean('early', k=k):.3g}): with {which}")
    if not truths:
        return []
    words = (
        "GraHTP and GraSP are comparable in convergence: the same with the best of the steps tried, at k ="
        f" {', '.join(map(str, sorted(steps.distinct('k'))))}"
    )
    return [Claim("Figure 2", words, verdict(truths, f"losses after {EARLY} iterations: {'; '.join(said)}"))]


def _slightly_sharper(table: Table, method: str, other: str) -> Verdict:
    # A is above B by at most a share s of B if they differ by at most s/(1 + s) of A.
    near = comparable(table, "early", "k", method, other, SLIGHTLY / (1.0 + SLIGHTLY))
    near = Verdict(near.share, near.numbers.partition(" % ")[2])  # the share of the larger one would only puzzle
    return joined(
        {
            f"{method} lower": compared(table, "early", "k", method, (other,)),
            f"{other} higher by at most {SLIGHTLY:.0%}": near,
        }
    )


def _converges_faster(table: Table, method: str, others: Iterable[str]) -> Verdict:
    others = tuple(others)
    return joined(
        {
            f"loss after {EARLY} iterations": compared(table, "early", "k", method, others),
            "iterations until settled": compared(table, "settled", "k", method, others),
        }
    )


def _comparable_pairs(table: Table, pairs: Iterable[tuple[str, str]]) -> Verdict:
    """Whether the errors of two methods differ by at most a share of the larger one, for pairs of methods."""
    truths, gaps = [], []
    for first, second in pairs:
        for k in table.distinct("k"):
            one, two = (table.mean("error", k=k, method=method) for method in (first, second))
            if np.isfinite(one) and np.isfinite(two):
                truths.append(abs(one - two) <= CLOSE * max(one, two))
                gaps.append(100 * abs(one - two))
    gap = max(gaps, default=np.nan)
    return verdict(
        truths,
        f"errors within {100 * CLOSE:g} % for {sum(truths)} of {len(truths)} pairs; largest gap {gap:.2f} points",
    )


def _trades_better(table: Table, method: str) -> Verdict:
    """Whether a method is faster than GraSP and FBS at an error that is at most a little higher."""
    truths = []
    for other in ("GraSP", "FBS"):
        for k in table.distinct("k"):
            own, its = (
                [table.mean(measure, k=k, method=name) for measure in ("error", "seconds")] for name in (method, other)
            )
            if np.isfinite([*own, *its]).all():
                truths.append(own[0] <= (1 + CLOSE) * its[0] and own[1] < its[1])
    return verdict(
        truths,
        f"faster, with an error at most {100 * CLOSE:g} % higher, in {sum(truths)} of {len(truths)} comparisons",
    )
