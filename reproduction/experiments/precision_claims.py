"""The paper's claims about its simulated precision matrices (Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..claims import Claim, Verdict, add_limits, combine, format_median_ratio, judge, judge_best, judge_better
from ..frames import describe_count, mean, mean_table, select_rows, split_rows, summarize, unique
from ..graphs import GREEDY
from ..methods import DEFAULT

if TYPE_CHECKING:
    from .precision import PrecisionSettings

__all__ = ["DESCENT_IS_FASTER", "judge_precision", "select_adm_data"]

#: "Much more efficient": at most this fraction of the other's time.
MUCH_LESS = 0.5
COARSE_GRID = (
    "k is chosen here from a grid of fractions of the pairs, on which many data sets choose the same k; the paper does"
    " not state which k it tried."
)
DESCENT_IS_FASTER = (
    "Neighbourhood coordinate descent is many times faster than the paper's alternating direction method."
)


def judge_precision(paper: str, settings: PrecisionSettings, frame: pd.DataFrame) -> list[Claim]:
    """All claims."""
    main, adm = select_rows(frame, kind="main"), select_rows(frame, kind="adm")
    rivals = ("GraSP", "FBS", "GLasso")
    with_lasso = pd.concat([adm, select_rows(select_adm_data(frame), method="GLasso")])
    margin = MUCH_LESS - 1.0
    with_adm = f"with the paper's ADM (p = {', '.join(map(str, settings.adm_at))};"
    with_adm += f" {describe_count(settings.extras, 'data set')} each)"
    with_descent = "with neighbourhood coordinate descent"
    lasso = "GLasso is computationally superior to the three greedy methods"
    greedy = f"GraHTP is computationally much more efficient than GraSP and FBS (at most {MUCH_LESS:g} of their time)"
    return [
        Claim(
            paper,
            "GraHTP performs favourably in terms of estimation error and support recovery accuracy",
            _judge_favourable(main, "GraHTP", rivals),
            _judge_favourable(main, DEFAULT, rivals),
            f"{_describe_better_rivals(main, 'GraHTP', rivals)} {_describe_edges(settings, main)}",
        ),
        Claim(
            paper,
            "the standard errors of GraHTP are relatively larger than GLasso's",
            _judge_less_stable(main, ("GraHTP",)),
            _judge_less_stable(main, (DEFAULT,)),
            COARSE_GRID,
        ),
        Claim(
            paper,
            "the standard errors of GraSP and FBS are relatively larger than GLasso's",
            _judge_less_stable(main, ("GraSP", "FBS")),
            reason=COARSE_GRID,
        ),
        Claim(paper, f"{lasso}: {with_adm}", judge_best(with_lasso, "seconds", "p", "GLasso", GREEDY)),
        Claim(
            paper,
            f"{lasso}: {with_descent}",
            judge_best(main, "seconds", "p", "GLasso", GREEDY),
            judge_best(main, "seconds", "p", "GLasso", (DEFAULT,)),
            DESCENT_IS_FASTER,
        ),
        Claim(
            paper,
            f"{greedy}: {with_adm}",
            add_limits(judge_better(adm, "seconds", "p", "GraHTP", ("GraSP", "FBS"), slack=margin), adm, GREEDY),
        ),
        Claim(
            paper,
            f"{greedy}: {with_descent}",
            add_limits(judge_better(main, "seconds", "p", "GraHTP", ("GraSP", "FBS"), slack=margin), main, GREEDY),
            judge_better(main, "seconds", "p", DEFAULT, ("GraSP", "FBS"), slack=margin),
        ),
        Claim(
            paper,
            "GraHTP, GraSP and FBS tend to be sparser than GLasso for other values of p too",
            combine({name: judge_better(main, "edges", "p", name, ("GLasso",)) for name in GREEDY}),
            judge_better(main, "edges", "p", DEFAULT, ("GLasso",)),
        ),
    ]


def select_adm_data(frame: pd.DataFrame) -> pd.DataFrame:
    """The main results on the data on which the alternating direction method was tried."""
    main, adm = select_rows(frame, kind="main"), select_rows(frame, kind="adm")
    if not len(adm):
        return main.iloc[:0]
    return main.merge(adm[["p", "replication"]].drop_duplicates(), on=["p", "replication"])


def _judge_favourable(frame: pd.DataFrame, method: str, others: Sequence[str]) -> Verdict:
    """Whether a method has smaller errors and larger F-scores than others."""
    return combine(
        {
            "error": judge_better(frame, "error", "p", method, others),
            "F-score": judge_better(frame, "fscore", "p", method, others, sign=-1.0),
        }
    )


def _judge_less_stable(frame: pd.DataFrame, methods: Sequence[str]) -> Verdict:
    """Whether the standard errors of methods, of both measures, are larger than those of GLasso."""
    truths, ratios = [], []
    for group in split_rows(frame, "p").values():
        for measure in ("error", "fscore"):
            errors = summarize(group, "method", measure)["sem"].dropna()
            for method in methods:
                if {method, "GLasso"} <= set(errors.index):
                    own, its = errors[method], errors["GLasso"]
                    truths.append(own > its)
                    ratios.append(own / its if its else np.nan)
    count = f"larger in {sum(truths)} of {len(truths)} comparisons"
    return judge(truths, f"{count}; median ratio {format_median_ratio(ratios)}")


def _describe_better_rivals(frame: pd.DataFrame, method: str, rivals: Sequence[str]) -> str:
    """Where other methods are better."""
    parts = []
    for rival in rivals:
        for measure, sign, words in (("error", 1.0, "the smaller error"), ("fscore", -1.0, "the larger F-score")):
            means = sign * mean_table(frame, measure, "p", (method, rival))
            sizes = means.index[means[rival] < means[method]]
            if len(sizes):
                parts.append(f"{rival} has {words} at p = {', '.join(map(str, sizes))}")
    return f"{'; '.join(parts)}." if parts else ""


def _describe_edges(settings: PrecisionSettings, main: pd.DataFrame) -> str:
    """How many edges GraHTP and GLasso keep of the largest graphs."""
    p = max(unique(main, "p"), default=0)
    kept = [mean(main, "edges", p=p, method=method) for method in ("GraHTP", "GLasso")]
    true = settings.probability * p * (p - 1) / 2
    return (
        f"{settings.n} samples reveal few of the edges of a large graph: at p = {p}, with about {true:.0f} edges, the"
        f" held-out likelihood selects {kept[0]:.0f} edges of GraHTP, which are not shrunk, and {kept[1]:.0f} of"
        " GLasso, all shrunk."
    )
