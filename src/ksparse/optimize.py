"""`minimize`, the entry point, and `solve_exact`, the same with a proof."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .objectives import Objective
from .objectives.base import require_objective
from .objectives.protocols import WorkingForm, find_labels, working_form
from .signal_guard import guard_signals
from .solvers import Callback, Problem, Result, Solver, SwapGraHTP, check_no_effort, specialize
from .sparsity import Sparsity, Units, make_set
from .threads import one_thread
from .validation import check_callable, check_iterations, check_nonnegative_number, check_time_limit

if TYPE_CHECKING:
    from .certificates import ExactResult, Progress

__all__ = ["minimize", "solve_exact"]


def minimize(
    objective: Objective,
    k: int | None = None,
    *,
    sparsity: Sparsity | None = None,
    solver: Solver | None = None,
    effort: int = 0,
    x0: Any = None,
    callback: Callback | None = None,
) -> Result:
    """Minimize f(x) subject to ‖x‖₀ ≤ k, or another sparsity set (paper, equation 1).

    Parameters
    ----------
    objective : Objective
        f, bound to its data: see `ksparse.objectives`.
    k : int
        Number of nonzero entries (features); rows, for objectives of a matrix. If there are no more than k, the
        constraint is inactive.
    sparsity : Sparsity, optional
        Instead of k: groups, always-selected units, bounds. See `ksparse.sparsity`.
    solver : Solver, optional
        The method, see `ksparse.solvers`; by default `SwapGraHTP`, and for graphs `StagedSwap`.
    effort : int, default=0
        How much more time the default solver spends on a lower f, from 0 to 5; see `ksparse.SwapGraHTP`.
    x0 : array-like, optional
        Where to start, by default zero (Ω = αI for a precision matrix); only its k largest units are used.
    callback : callable, optional
        Called after each iteration as ``callback(iteration, x)``, with an `Iteration`; returning True stops the solver.

    Returns
    -------
    Result
        The solution with its support, value, status, message and history.

    Warns
    -----
    ConvergenceWarning
        If the solver did not converge; `Result.message` says why and what to do.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> from ksparse.objectives import Logistic
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 50))
    >>> y = rng.random(200) < 1 / (1 + np.exp(-4 * X[:, 5] + 4 * X[:, 17]))
    >>> result = ksparse.minimize(Logistic(X, y, alpha=1e-4), k=2)
    >>> result.selected, str(result.status)
    (array([ 5, 17]), 'converged')
    """
    if solver is not None:
        check_no_effort(solver, effort)
    _check_types(objective, k, sparsity, solver, callback)
    return _minimize(objective, k, sparsity, SwapGraHTP(effort=effort) if solver is None else solver, x0, callback)


def _minimize(
    objective: Objective,
    k: int | None,
    sparsity: Sparsity | None,
    solver: Solver,
    x0: Any = None,
    callback: Callback | None = None,
    prepare: Callable[[WorkingForm, Units], None] | None = None,
) -> Result:
    """`minimize` with checked arguments; `prepare` sees f in its working coordinates before the search begins."""
    solver = specialize(solver, objective)
    chosen = _make_set(objective, k) if sparsity is None else sparsity
    # A step may leave the domain of f: values that are not finite are checked for, and have a status of their own.
    with guard_signals, one_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        start = objective.check_point(objective.start if x0 is None else x0, "x0")
        if not np.isfinite(start).all():
            raise ValueError("x0 has NaN or infinite entries; pass a finite starting point")
        units = chosen.bind(objective.shape, objective.free)
        form = working_form(objective)
        feasible = form.to_working(start if x0 is None else units.truncate(start))
        units = units.divide_bounds(form.unit)
        if prepare is not None:
            prepare(form, units)
        result = solver.solve(Problem(form, units), feasible, callback)
    if not result.success:
        warnings.warn(result.message, ConvergenceWarning, stacklevel=3)
    return result


def solve_exact(
    objective: Objective,
    k: int | None = None,
    *,
    sparsity: Sparsity | None = None,
    gap: float = 1e-4,
    time_limit: float | None = 60.0,
    within: float | None = None,
    max_nodes: int = 10_000_000,
    solver: Solver | None = None,
    callback: Callable[[Progress], Any] | None = None,
) -> ExactResult:
    """Minimize f(x) subject to ‖x‖₀ ≤ k with a proof, by branch and bound from the answer of `minimize`.

    For linear models whose loss is a sum over samples. It is fast where `Result.certificate` has a small gap: where
    alpha is not small or, for least squares, where there are more samples than features. What is returned at the time
    limit is a solution with a valid bound too, and so is what is returned after Ctrl-C (KeyboardInterrupt).

    Parameters
    ----------
    objective : Objective
        f, bound to its data.
    k : int
        Number of nonzero entries (features); rows, for objectives of a matrix.
    sparsity : Sparsity, optional
        Instead of k: groups, always-selected units, bounds.
    gap : float, default=1e-4
        The relative gap between f and its lower bound that is enough.
    time_limit : float or None, default=60
        Limit in seconds of the search, after `minimize` and the Gram matrix that it shares with the proof, and without
        what is compiled on the first use; None or infinity for no limit.
    within : float, optional
        Find all supports of k units whose f exceeds the lowest one by at most this fraction (of f above the least value
        that the loss can have); `gap` is then of no effect.
    max_nodes : int, default=10,000,000
        Limit of the nodes, which is the same on every machine.
    solver : Solver, optional
        What finds the first solution; see `minimize`.
    callback : callable, optional
        Called with a `ksparse.certificates.Progress` before the first division, then about twice a second, and at the
        end; returning True ends the search. What it raises is not caught.

    Returns
    -------
    ExactResult
        The best solution, its lower bound, gap, status and number of nodes.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 20)) + rng.standard_normal((50, 1))
    >>> f = ksparse.objectives.LeastSquares(X, X[:, :4].sum(axis=1) + 2 * rng.standard_normal(50), alpha=0.01)
    >>> proof = ksparse.solve_exact(f, k=4)
    >>> str(proof.status), proof.gap <= 1e-4
    ('optimal', True)
    >>> near = ksparse.solve_exact(f, k=4, within=0.05).supports
    >>> bool(np.array_equal(near[0].selected, proof.selected))
    True
    """
    # Floats and ints of Python: compiled functions would be compiled again for other numbers.
    gap, max_nodes = check_nonnegative_number(gap, "gap"), check_iterations(max_nodes, "max_nodes")
    seconds = check_time_limit(time_limit)
    within = None if within is None else check_nonnegative_number(within, "within")
    if callback is not None:
        check_callable(callback, "callback", "a function of a Progress")
    _check_types(objective, k, sparsity, solver, None)
    from .certificates.bounding import anticipate_gram
    from .certificates.proof import prove

    start = _minimize(objective, k, sparsity, SwapGraHTP() if solver is None else solver, prepare=anticipate_gram)
    assert start.solved is not None
    solved = start.solved
    return prove(
        solved.form,
        solved.units,
        solved.x,
        solved.value,
        gap=gap,
        time_limit=seconds,
        max_nodes=max_nodes,
        within=within,
        callback=callback,
    )


def _make_set(objective: Objective, k: Any) -> Sparsity:
    """The sparsity set that an integer k means."""
    return make_set(objective.unit_kind, k, find_labels(objective))


def _describe_type(thing: Any) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"a {type(thing).__name__}"


def _check_types(objective: Any, k: Any, sparsity: Any, solver: Any, callback: Any) -> None:
    require_objective(objective)
    if isinstance(k, Sparsity):
        raise TypeError(f"k must be an integer; pass a set of units as sparsity={type(k).__name__}(...)")
    if solver is not None and not isinstance(solver, Solver):
        raise TypeError(
            f"solver must be a ksparse solver such as ksparse.GraHTP(), got {solver!r}"
            + ("; did you forget the parentheses?" if isinstance(solver, type) else "")
        )
    if callback is not None:
        check_callable(callback, "callback", "a function of an iteration and x")
    if (k is None) == (sparsity is None):
        raise ValueError("pass either k or sparsity" + ("" if k is None else ", not both"))
    if sparsity is not None and not isinstance(sparsity, Sparsity):
        raise TypeError(f"sparsity must be a set of ksparse.sparsity, got {sparsity!r}; for an integer, use k")
