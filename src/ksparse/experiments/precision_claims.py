"""What the paper says of its simulated precision matrices (Figure 4), judged by our results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .claims import Claim, Verdict, at_limits, compared, joined, leads, median_ratio, verdict
from .graphs import GREEDY
from .methods import DEFAULT
from .tables import Table, counted

if TYPE_CHECKING:
    from .precision import PrecisionSettings

__all__ = ["beside_adm", "precision_claims"]

#: "Much more efficient": at most so large a share of the other's time.
MUCH_LESS = 0.5
UNSTABLE = (
    "k is chosen here from a grid of shares of the pairs, on which many data sets choose the same k; the paper does not"
    " say which k it tried."
)


def precision_claims(paper: str, settings: PrecisionSettings, table: Table) -> list[Claim]:
    """All claims."""
    main, adm = table.where(kind="main"), table.where(kind="adm")
    rivals = ("GraSP", "FBS", "GLasso")
    with_lasso = Table([*adm.rows, *beside_adm(table).where(method="GLasso").rows])
    much = MUCH_LESS - 1.0
    tried = f"p = {', '.join(map(str, settings.adm_at))}; {counted(settings.extras, 'data set')} each"
    return [
        Claim(
            paper,
            "GraHTP performs favourably in terms of estimation error and support recovery accuracy",
            _favourable(main, "GraHTP", rivals),
            _favourable(main, DEFAULT, rivals),
            f"{_ahead(main, 'GraHTP', rivals)} {_edges_beside_lasso(settings, main)}",
        ),
        Claim(
            paper,
            "the standard errors of GraHTP are relatively larger than GLasso's",
            _less_stable(main, ("GraHTP",)),
            _less_stable(main, (DEFAULT,)),
            UNSTABLE,
        ),
        Claim(
            paper,
            "so are those of GraSP and FBS",
            _less_stable(main, ("GraSP", "FBS")),
            reason=UNSTABLE,
        ),
        Claim(
            paper,
            f"GLasso is computationally superior to the three greedy methods: with the paper's ADM ({tried})",
            leads(with_lasso, "seconds", "p", "GLasso", GREEDY),
        ),
        Claim(
            paper,
            "GLasso is computationally superior to the three greedy methods: with neighbourhood coordinate descent",
            leads(main, "seconds", "p", "GLasso", GREEDY),
            leads(main, "seconds", "p", "GLasso", (DEFAULT,)),
            "Neighbourhood coordinate descent is many times faster than the paper's alternating direction method.",
        ),
        Claim(
            paper,
            f"GraHTP is computationally much more efficient than GraSP and FBS (at most {MUCH_LESS:g} of their"
            f" time): with the paper's ADM ({tried})",
            at_limits(compared(adm, "seconds", "p", "GraHTP", ("GraSP", "FBS"), slack=much), adm, GREEDY),
        ),
        Claim(
            paper,
            f"GraHTP is computationally much more efficient than GraSP and FBS (at most {MUCH_LESS:g} of their"
            " time): with neighbourhood coordinate descent",
            at_limits(compared(main, "seconds", "p", "GraHTP", ("GraSP", "FBS"), slack=much), main, GREEDY),
            compared(main, "seconds", "p", DEFAULT, ("GraSP", "FBS"), slack=much),
        ),
        Claim(
            paper,
            "GraHTP, GraSP and FBS tend to be sparser than GLasso for other values of p too",
            joined({name: compared(main, "edges", "p", name, ("GLasso",)) for name in GREEDY}),
            compared(main, "edges", "p", DEFAULT, ("GLasso",)),
        ),
    ]


def beside_adm(table: Table) -> Table:
    """The main results on the data on which the alternating direction method was tried."""
    keys = {(row["p"], row["replication"]) for row in table.where(kind="adm").rows}
    return Table(row for row in table.where(kind="main").rows if (row["p"], row["replication"]) in keys)


def _favourable(table: Table, method: str, others: Sequence[str]) -> Verdict:
    """Whether a method has smaller errors and larger F-scores than others."""
    return joined(
        {
            "error": compared(table, "error", "p", method, others),
            "F-score": compared(table, "fscore", "p", method, others, sign=-1.0),
        }
    )


def _less_stable(table: Table, methods: Sequence[str]) -> Verdict:
    """Whether the standard errors of methods, of both measures, are larger than those of GLasso."""
    truths, ratios = [], []
    for p in table.distinct("p"):
        for measure in ("error", "fscore"):
            its = table.error(measure, p=p, method="GLasso")
            for method in methods:
                own = table.error(measure, p=p, method=method)
                if np.isfinite(own) and np.isfinite(its):
                    truths.append(own > its)
                    ratios.append(own / its if its else np.nan)
    return verdict(truths, f"larger in {sum(truths)} of {len(truths)} comparisons; median ratio {median_ratio(ratios)}")


def _ahead(table: Table, method: str, rivals: Sequence[str]) -> str:
    """Where others do better, in a sentence."""
    parts = []
    for rival in rivals:
        for measure, sign, words in (("error", 1.0, "the smaller error"), ("fscore", -1.0, "the larger F-score")):
            places = [
                f"{p}"
                for p in table.distinct("p")
                if sign * table.mean(measure, p=p, method=rival) < sign * table.mean(measure, p=p, method=method)
            ]
            if places:
                parts.append(f"{rival} has {words} at p = {', '.join(places)}")
    return f"{'; '.join(parts)}." if parts else ""


def _edges_beside_lasso(settings: PrecisionSettings, main: Table) -> str:
    """How many edges GraHTP and GLasso keep of the largest graphs."""
    p = max(main.distinct("p"), default=0)
    kept = [main.mean("edges", p=p, method=method) for method in ("GraHTP", "GLasso")]
    true = settings.probability * p * (p - 1) / 2
    return (
        f"{settings.n} samples tell few of the edges of a large graph: at p = {p}, with about {true:.0f} edges, the"
        f" held-out likelihood keeps {kept[0]:.0f} of GraHTP, as large as they are, and {kept[1]:.0f} of GLasso, all"
        " shrunk."
    )
