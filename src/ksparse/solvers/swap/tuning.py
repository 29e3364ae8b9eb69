"""All constants of the search, and what each of them does."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...debias import Exact
from ..problem import Tolerance

__all__ = ["SwapTuning"]


@dataclass(frozen=True)
class SwapTuning:
    """The constants of `SwapGraHTP`.

    The values were chosen on the paper's simulations and on `benchmarks/run.py`. What changes if one is halved (½) or
    doubled (2) was measured by `benchmarks/tuning.py` on 122 problems: the mean change of f, on how many values of f it
    rises / falls, and passes over the data or time where they change. A mean below about 0.2 % with as many rises as
    falls is chance: the search ends in other local minima, whose f may differ by 10 to 20 %. "Nothing" means less than
    0.001 % of f and 2 % of passes. Tolerances were varied by a factor of 100.
    """

    # --- when f is lower (`descent`, `ties`) ---

    #: A support is better if it lowers f by more than this fraction: far above rounding, far below what matters.
    #: 1e-11, 1e-7: nothing.
    lower: Tolerance = field(default=Tolerance(1e-9))
    #: Duplicates have values of f that differ by less than this fraction: above the rounding of two exact refits.
    #: 1e-14, 1e-10: nothing.
    tie: Tolerance = field(default=Tolerance(1e-12))
    #: A gain that is this many times the least decrease of f is not rounding: if no step realizes it, the refits are
    #: wrong, and the search says that it is unfinished. ½, 2: nothing.
    clear_gain: float = 1e6

    # --- refits while the support moves (`descent`) ---

    #: Refits that compare supports need three digits of f. ½: nothing. 2: f rises on 1 problem.
    loose_refit: Exact = field(default=Exact(tol=1e-3))
    #: Newton steps of the first refit, which starts at zero. ½: f +0.18 %, 35 / 21. 2: +0.02 %, 19 / 10.
    first_refit_steps: int = 5
    #: Newton steps of refits in PURSUE, which start near. ½: f +0.40 %, 32 / 27, time −9 %. 2: +0.59 %, 33 / 19.
    pursuit_refit_steps: int = 2
    #: Newton steps of refits in SWAP. Too few, and good swaps are rejected. ½: f −0.05 %, 7 / 10, time +14 %.
    #: 2: +0.08 %, 4 / 3.
    swap_refit_steps: int = 6

    # --- the start (`swap_grahtp`) ---

    #: Free coordinates are not fitted first if then the gain of every unit is below this fraction of f. 1e-10, 1e-6:
    #: nothing; it concerns functions such as networks.
    dead_gain: float = 1e-8

    # --- PURSUE (`descent`) ---

    #: The first step tried, in units of the inverse curvature. It does not matter for the first support, since all
    #: coefficients are zero; later steps are halved until f falls. ½, 2: f as before; without a Hessian, passes −4 %,
    #: +1 %.
    longest_step: float = 16.0
    #: The shortest step tried: below it, the support of a step is the present one. ½, 2: nothing.
    shortest_step: float = 0.25
    #: Pursuit continues while it lowers f by this fraction. ½: f +0.04 %, 11 / 11, passes +4 %. 2: −0.18 %, 10 / 13,
    #: passes −7 %.
    pursuit_decrease: float = 0.1

    # --- BULK_SWAP (`descent`) ---

    #: More coordinates than this begin with bulk swaps, since their quadratic model takes a large part of a second.
    #: ½: nothing. 2: f +0.02 %, passes 10 instead of 14 on the large problem, in the same time.
    bulk_size: int = 600
    #: The fraction of the units that is swapped first. ½, 2: f −0.02 %, −0.04 % on the large problem.
    bulk_fraction: float = 1 / 8
    #: Bulk swaps continue while they lower f by this fraction. ½: nothing. 2: f −0.1 % on the large problem.
    bulk_decrease: float = 0.05
    #: How many times shorter than the last bulk swap the first chain is. ½, 2: nothing.
    bulk_shrinkage: int = 4

    # --- SWAP (`descent`, `screened`) ---

    #: The longest first chain. ½: f −0.16 %, 20 / 15. 2: +0.03 %, 5 / 1.
    chain_length: int = 16
    #: After a success the next chain is twice as long as the last, and at least this long. ½: f +0.06 %, 3 / 0.
    #: 2: +0.07 %, 8 / 7.
    shortest_growing_chain: int = 4
    #: The longest first chain from an almost final support. ½: f −0.14 %, 4 / 8. 2: −0.05 %, 2 / 3.
    warm_chain_length: int = 2
    #: Fewest candidates, also if k is smaller; without a Hessian the number itself, since each one costs gradients.
    #: ½: f −0.02 %, 23 / 11 (graphs: 7 / 0). 2: +0.17 %, 23 / 21; without a Hessian passes −13 %, +12 %.
    min_candidates: int = 30
    #: Most coordinates of candidates: a model of more takes longer than the swaps it adds are worth. ½: f −0.1 % on 1
    #: problem. 2: nothing.
    max_candidates: int = 200
    #: Fewest candidates if units have many coordinates each, more than 40 with a Hessian. ½, 2: nothing.
    least_candidates: int = 5
    #: The second, wider model has this many coordinates. ½: f +0.18 %, 4 / 0. 2: +0.04 %, 1 / 1.
    wide_model_size: int = 400
    #: A chain is made from this many candidates for each swap. ½: f −0.26 %, 18 / 25. 2: −0.09 %, 11 / 9.
    candidates_per_swap: int = 2
    #: A singular support is refitted exactly first; where less than this fraction of f is left, it fits (almost)
    #: exactly, which the trial refits had not shown. ½, 2: nothing; it concerns supports with more units than samples.
    exact_fit_drop: float = 0.5

    # --- models (`ranking`, `tableau`, `screened`) ---

    #: Most coordinates of a quadratic model if the Hessian is cheap. ½: on the large problem f +0.14 %, passes 88
    #: instead of 14 and twice the time, since the additive model ranks swaps worse. 2: nothing.
    max_model_size: int = 1500
    #: The same if the Hessian is made of differences of gradients. ½, 2: nothing (the problems have 50 coordinates).
    max_model_size_without_hessian: int = 600
    #: The same if the objective has scores of its own, which rank swaps almost as well: graphs. ½: nothing. 2: f −0.2 %
    #: on the large graph, in 1.7 times the time.
    max_model_size_with_scores: int = 400
    #: A singular block gets this ridge first, as a fraction of each coordinate's curvature. 1e-10, 1e-6: nothing.
    first_ridge: float = 1e-8
    #: A block is singular if a pivot is smaller than this fraction of its diagonal entry: rounding errors must not
    #: decide which of several exact fits is found. 1e-13, 1e-9: nothing.
    singular_pivot: float = 1e-11
    #: A candidate cannot enter if the support leaves less than this fraction of its curvature: it is a duplicate.
    #: 1e-11, 1e-7: nothing.
    collinear: float = 1e-9

    # --- RESTART (`restarts`) ---

    #: With no more units than this, a search is so cheap that it may take several times as long for a lower f: restarts
    #: and further single swaps. ½: f +1.2 % on the 12 problems with 40 units (5 / 0), a quarter of the passes.
    few_units: int = 64
    #: With no more units than this, a model of as many as are few is explored: the support, and the candidates with the
    #: best swaps. 0: f +0.5 % on 20 logistic problems with 100 units (9 of them), +0.14 % on linear ones (6), and
    #: +0.05 to +0.3 % on Cox models of survival tables, in three quarters of the time. With p = 1000, f is lower on 6
    #: of 40, and the time up to twice as long.
    some_units: int = 200
    #: Swaps of the chain that explores a model of few units, if it is exact and units have one coordinate. Of 240
    #: proved optima in problems like those of benchmarks/heuristic.py, it misses none. ½: 2. 2: none, time +22 %.
    explored_swaps: int = 200
    #: The same if it is not exact, or units have several coordinates, which takes fifty times as long. Of 120 best
    #: logistic models, 1 is missed. ½: 2. 2: 1.
    fewer_explored_swaps: int = 50
    #: Other supports at which such chains start too, if the model is not exact. Of the best logistic, Poisson and Huber
    #: models of benchmarks/heuristic.py and Cox models of its survival tables, 12 of 600 are missed. 0: 24.
    explored_starts: int = 3
    #: Supports of such chains that are tried. 4: 16 are missed. 8: 12.
    explored_trials: int = 6
    #: Restarts after exploring a model that is not exact. 2: 10, time +20 %.
    restarts_if_explored: int = 1
    #: Restarts if there are few units, and no model that may be explored. 2: 4 of 120 logistic models are missed, time
    #: −20 %. 6: 1, time +40 %.
    restarts_if_few: int = 3
    #: Single swaps that are tried before a support is final, if there are few units. ½, 2: f as before; time −20 %,
    #: +27 % on problems with 40 units.
    single_swaps_if_few: int = 8
    #: The same before a model is explored. Of 300 best logistic models of 20 to 60 samples none is missed, and 1 of 120
    #: others, by which this number was chosen. 0: 2 and 3, time −6 %. 2: 1 and 1. 8: 0 and 1, time +8 %.
    single_swaps_if_explored: int = 4

    # --- PERTURB and VERIFY (`restarts`) ---

    #: Perturbations: this number to the power of the effort. With 2, on 4 problems of effort 2: f +0.3 %, 2 / 0, 0.56
    #: times the time. With 6: −3.7 %, 0 / 2, 3.4 times the time.
    effort_growth: int = 3
    #: Fractions of the units that are replaced, in turn. ½: 1 / 1, 2: 3 / 1 of 6 problems with effort.
    perturbed_fractions: tuple[float, ...] = (0.2, 0.1)
    #: Fewest units that are replaced: a single one is a swap, which was tried. ½: nothing. 2: f 1 / 2.
    min_perturbed: int = 2
    #: A quick descent that ends above the best f by a larger fraction is not refitted exactly: short refits leave less.
    #: ½, 2: nothing.
    promising_gap: float = 0.02
    #: VERIFY tries each single swap on f if there are no more than this. ½, 2: nothing.
    max_swaps_to_try_all: int = 1000
    #: Otherwise it models all units outside, this many coordinates at a time,
    verify_batch: int = 300
    #: and tries this many swaps of each model. ½, 2 (both): nothing.
    verify_swaps_per_batch: int = 3

    # --- ties (`ties`) ---

    #: Slopes and curvatures of duplicates differ by no more than this fraction. 1e-11, 1e-7: nothing.
    duplicate: float = 1e-9
