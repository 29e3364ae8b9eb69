"""Bounds on the expected number of false selections, which stability selection guarantees."""

from __future__ import annotations

import numpy as np

__all__ = ["check_threshold", "expected_false_selections", "find_smallest_threshold"]


def expected_false_selections(
    threshold: float, n_selected: float, n_features: int, n_pairs: int, assumption: str = "unimodal"
) -> float:
    """An upper bound on the expected number of falsely selected features; for graphs, read edges and pairs.

    With q features selected on each half, of p, and a threshold τ of the selection frequency over B complementary
    pairs, the expected number of selected features that a random half selects no more often than by chance (q/p) is at
    most

    - q²/((2τ − 1)·p), whatever the distribution (Meinshausen and Bühlmann 2010, Theorem 1; Shah and Samworth 2013,
      Theorem 1);
    - C(τ, B)·q²/p, where simultaneous selection proportions are unimodal (Shah and Samworth, Theorem 2), with
      C = 1/(2(2τ − 1 − 1/(2B))) for τ ≤ ¾ and C = 4(1 − τ + 1/(2B))/(1 + 1/B) beyond. It holds for q/p ≤ 1/√3 and τ
      above ½ + min(θ², 1/(2B) + ¾θ²) with θ = q/p; elsewhere the first bound is given.

    Parameters
    ----------
    threshold : float
        τ, more than ½ and at most 1.
    n_selected : float
        q, the (mean) number of features selected on a half.
    n_features : int
        p.
    n_pairs : int
        B.
    assumption : {"unimodal", "none"}, default="unimodal"
        What is assumed.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from ksparse.selection import expected_false_selections
    >>> expected_false_selections(0.9, n_selected=10, n_features=1000, n_pairs=50, assumption="none")
    0.125
    >>> round(expected_false_selections(0.9, n_selected=10, n_features=1000, n_pairs=50), 3)
    0.043
    """
    check_threshold(threshold, assumption)
    by_chance = n_selected**2 / n_features
    plain = by_chance / (2.0 * threshold - 1.0)
    rate, half_step = n_selected / n_features, 0.5 / n_pairs
    least = 0.5 + min(rate**2, half_step + 0.75 * rate**2)
    if assumption == "none" or rate > 1.0 / np.sqrt(3.0) or threshold <= least:
        return plain
    if threshold <= 0.75:
        room = 2.0 * threshold - 1.0 - half_step
        return min(plain, by_chance / (2.0 * room)) if room > 0 else plain
    return min(plain, by_chance * 4.0 * (1.0 - threshold + half_step) / (1.0 + 1.0 / n_pairs))


def check_threshold(threshold: float, assumption: str) -> None:
    """Refuse a threshold or an assumption for which there is no bound."""
    if assumption not in ("none", "unimodal"):
        raise ValueError(f'assumption must be "none" or "unimodal", got {assumption!r}')
    if not 0.5 < threshold <= 1.0:
        raise ValueError(f"threshold must lie between 0.5 and 1, got {threshold!r}; it is a selection frequency")


def find_smallest_threshold(
    max_false: float, n_selected: float, n_features: int, n_pairs: int, assumption: str = "unimodal"
) -> float:
    """The smallest threshold for which at most `max_false` false selections are expected.

    Parameters
    ----------
    max_false : float
        Largest expected number of false selections.
    n_selected, n_features, n_pairs, assumption
        As in `expected_false_selections`.

    Returns
    -------
    float
        The threshold, a multiple of 1/(2B).

    Examples
    --------
    >>> from ksparse.selection import find_smallest_threshold
    >>> find_smallest_threshold(0.1, n_selected=10, n_features=1000, n_pairs=50)
    0.76
    """
    fits = 2 * n_pairs
    frequencies = np.arange(n_pairs + 1, fits + 1) / fits
    bounds = [expected_false_selections(tau, n_selected, n_features, n_pairs, assumption) for tau in frequencies]
    enough = np.flatnonzero(np.array(bounds) <= max_false)
    if not enough.size:
        raise ValueError(
            f"with {n_selected:g} of {n_features} features selected on each half, at least {min(bounds):.3g} false "
            f"selections may be expected at any threshold, more than the {max_false:g} allowed; select fewer features, "
            "or raise max_false"
        )
    return float(frequencies[enough[0]])
