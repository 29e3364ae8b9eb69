"""What a swap changes: the one formula, which NumPy applies to arrays and Numba to numbers.

Let z be the minimizer of a quadratic model of f on the support F, and H its Hessian. If coordinate j enters and i
leaves, and all other coefficients are refitted, the minimum changes by

    ½·(z_i − A_ij·s_j/S_j)² / (P_ii + A_ij²/S_j)  −  ½·s_j²/S_j,

with P = H_FF⁻¹, A_ij = (P·H_Fj)_i, the slope s_j = −∂f/∂x_j at z, and S_j = H_jj − H_jF·P·H_Fj, the curvature in j that
remains when F is refitted. The last term is what j gains; the first is what i costs after j has entered. On least
squares this is exact.

Units of several coordinates need the same with matrices in the place of P_ii and S_j, thus linear systems in the place
of divisions: `tableau.QuadraticSwapModel._compute_change`.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from ..._types import Array

__all__ = ["Entering", "all_changes", "change_of_swap", "entering_terms", "sweep_first"]

Number = TypeVar("Number", float, Array)


def change_of_swap(
    coefficient: Number, inverse: Number, cross: Number, step: Number, inverse_schur: Number, gain: Number
) -> Number:
    """The formula, for z_i, P_ii, A_ij and the `Entering` terms of j."""
    left = coefficient - cross * step
    return 0.5 * left * left / (inverse + cross * cross * inverse_schur) - gain


class Entering(NamedTuple):
    """The terms of the formula that depend on the entering coordinate alone: s_j/S_j, 1/S_j and ½·s_j²/S_j."""

    step: Array
    inverse_schur: Array
    gain: Array


def entering_terms(slope: float, schur: float, least: float) -> tuple[float, float, float]:
    """The `Entering` terms of a coordinate; `_kernels.list_entering_terms` applies it to several.

    One whose S_j is at most `least` is explained by the support: its gain is −∞, so that no swap with it is chosen.
    """
    if not schur > least:
        return 0.0, 0.0, -np.inf
    inverse_schur = 1.0 / schur
    step = slope * inverse_schur
    return step, inverse_schur, 0.5 * slope * step


def all_changes(coefficients: Array, inverses: Array, cross: Array, entering: Entering) -> Array:
    """The formula for each pair of a leaving coordinate (row) and an entering one (column)."""
    return change_of_swap(coefficients[:, None], inverses[:, None], cross, *entering)


def sweep_first(hessian: Array, linear: Array, inverse: Array) -> Array:
    """The tableau swept on its first coordinates; `inverse` is that of their block."""
    size, inside = linear.size, inverse.shape[0]
    table = np.empty((size + 1, size + 1))
    table[:size, :size] = hessian
    table[:size, size] = table[size, :size] = linear
    table[size, size] = 0.0
    cross = table[:inside, inside:].copy()
    solved = inverse @ cross
    table[inside:, inside:] -= cross.T @ solved
    table[:inside, inside:] = solved
    table[inside:, :inside] = solved.T
    table[:inside, :inside] = -inverse
    return table
