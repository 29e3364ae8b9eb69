"""All constants of the search."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...debias import Exact
from ..tolerance import Tolerance

__all__ = ["SwapTuning"]


@dataclass(frozen=True)
class SwapTuning:
    """The constants of `SwapGraHTP`."""

    # --- when f is lower ---
    lower: Tolerance = field(default=Tolerance(1e-9))
    tie: Tolerance = field(default=Tolerance(1e-12))
    clear_gain: float = 1e6

    # --- refits while the support moves ---
    loose_refit: Exact = field(default=Exact(tol=1e-3))
    first_refit_steps: int = 5
    pursuit_refit_steps: int = 2
    swap_refit_steps: int = 6

    # --- PURSUE ---
    longest_step: float = 16.0
    shortest_step: float = 0.25
    pursuit_decrease: float = 0.1

    # --- BULK_SWAP ---
    bulk_size: int = 600
    bulk_fraction: float = 1 / 8
    bulk_decrease: float = 0.05
    bulk_shrinkage: int = 4

    # --- SWAP ---
    chain_length: int = 16
    shortest_growing_chain: int = 4
    warm_chain_length: int = 2
    min_candidates: int = 30
    max_candidates: int = 200
    least_candidates: int = 5
    wide_model_size: int = 400
    candidates_per_swap: int = 2
    exact_fit_drop: float = 0.5

    # --- models ---
    max_model_size: int = 1500
    max_model_size_without_hessian: int = 600
    max_model_size_with_scores: int = 400

    first_ridge: float = 1e-8
    singular_pivot: float = 1e-11
    collinear: float = 1e-9

    # --- RESTART ---
    few_units: int = 64
    restarts_if_few: int = 3
    single_swaps_if_few: int = 8

    # --- PERTURB and VERIFY ---
    effort_growth: int = 3
    perturbed_fractions: tuple[float, ...] = (0.2, 0.1)
    min_perturbed: int = 2
    promising_gap: float = 0.02
    max_swaps_to_try_all: int = 1000
    verify_batch: int = 300
    verify_swaps_per_batch: int = 3

    # --- ties ---
    duplicate: float = 1e-9
