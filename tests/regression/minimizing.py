"""Problems for `ksparse.minimize`: small and larger ones, with all solvers, options, and ways to stop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

import ksparse
from ksparse._types import Array
from ksparse.debias import Exact, GradientStep, Truncate
from ksparse.objectives import Huber, LeastSquares, Logistic, Multinomial, Poisson, SquaredHinge
from ksparse.solvers import Normalized
from ksparse.sparsity import Entries, Groups, Rows

from .. import problems
from .records import Record
from .solving import (
    Problem,
    bound,
    data,
    solve,
)


def products() -> dict[str, Problem]:
    """Every objective with every sparsity set and solver, on small data."""
    return {
        f"small: {f}, {units}, {solver}": partial(solve_small, f, units, solver)
        for f in problems.OBJECTIVES
        if f not in ("jax", "torch")  # their last digits are those of another package
        for units in problems.SPARSITY
        if units != "rows" or f.startswith("multi")  # of a vector they are its entries
        for solver in problems.SOLVERS
    }


def solve_small(name: str, units: str, solver: str) -> Record:
    objective = problems.OBJECTIVES[name]()
    chosen = problems.SPARSITY[units](len(objective.shape))
    return Record.of(ksparse.minimize(objective, sparsity=chosen, solver=problems.SOLVERS[solver]()))


def as_published() -> dict[str, Problem]:
    """The paper's methods with its step size, and other ways to refit."""
    table: dict[str, Problem] = {
        f"published: {f}, {solver}": partial(solve, problems.OBJECTIVES[f], 3, solver=make())
        for f in ("least squares", "logistic", "multinomial", "huber", "hinge", "quadratic")
        for solver, make in problems.PAPER_SOLVERS.items()
    }
    for solver in (ksparse.HTP(), ksparse.IHT()):
        name = f"published: least squares, {type(solver).__name__}"
        table[name] = partial(solve, problems.OBJECTIVES["least squares"], 3, solver=solver)
    refits: dict[str, Any] = {
        "newton-cholesky": Exact("newton-cholesky"),
        "newton-cg": Exact("newton-cg"),
        "lbfgs": Exact("lbfgs"),
        "gradient step": GradientStep(),
        "none": Truncate(),
    }
    for f in ("least squares", "logistic", "multinomial with intercept", "poisson", "function with hessian"):
        for name, debias in refits.items():
            refitting = ksparse.GraHTP(step=Normalized(scaled=True), debias=debias)
            table[f"refit: {f}, {name}"] = partial(solve, problems.OBJECTIVES[f], 3, solver=refitting)
    return table


#: Objectives that take longer, and k.
LARGER: dict[str, tuple[Callable[[], Any], int]] = {
    "linear": (partial(bound, LeastSquares, "linear", 300, 400, k=20), 20),
    "linear, correlated": (partial(bound, LeastSquares, "linear", 300, 400, correlation=0.9, k=20), 30),
    "linear, more than needed": (partial(bound, LeastSquares, "linear", 300, 400, k=10, fit_intercept=True), 60),
    "linear, wide": (partial(bound, LeastSquares, "linear", 100, 1500, k=5, alpha=1e-3), 12),
    "multiresponse": (partial(bound, LeastSquares, "multiresponse", 200, 300, k=10), 10),
    "logistic": (partial(bound, Logistic, "logistic", 300, 400, k=20, alpha=1e-3), 20),
    "logistic, correlated": (partial(bound, Logistic, "logistic", 400, 500, correlation=0.9, k=40, alpha=1e-4), 40),
    "logistic, intercept": (partial(bound, Logistic, "logistic", 300, 300, k=10, alpha=1e-4, fit_intercept=True), 15),
    "multinomial": (partial(bound, Multinomial, "multinomial", 300, 200, k=10, alpha=1e-3, fit_intercept=True), 10),
    "poisson": (partial(bound, Poisson, "poisson", 300, 200, k=10, alpha=1e-3, fit_intercept=True), 10),
    "huber": (partial(bound, Huber, "linear", 300, 200, k=10, fit_intercept=True), 12),
    "hinge": (partial(bound, SquaredHinge, "hinge", 300, 200, k=10, alpha=1e-3, fit_intercept=True), 12),
}
#: Supports of more coordinates than a model of all pairs is made for.
LARGEST: dict[str, tuple[Callable[[], Any], int]] = {
    "linear": (partial(bound, LeastSquares, "linear", 900, 1200, k=600, alpha=1e-3), 620),
    "logistic": (partial(bound, Logistic, "logistic", 900, 1000, k=300, alpha=1e-3), 610),
    "multinomial": (partial(bound, Multinomial, "multinomial", 300, 240, k=60, alpha=1e-2), 205),
}


def larger() -> dict[str, Problem]:
    """Larger problems, with the default solver and those of the paper, and with more effort."""
    table: dict[str, Problem] = {}
    for name, (make, k) in LARGER.items():
        for effort in range(3 if name.startswith("multi") else 4):
            table[f"larger: {name}, effort {effort}"] = partial(solve, make, k, effort=effort)
        for solver in ("GraHTP", "GraHTP scaled backtracking", "FGraHTP", "GraSP", "FBS"):
            table[f"larger: {name}, {solver}"] = partial(solve, make, k, solver=problems.SOLVERS[solver]())
    for name, (make, k) in LARGEST.items():
        table[f"largest: {name}"] = partial(solve, make, k)
    return table


def with_units() -> dict[str, Problem]:
    """Larger problems with groups, bounds, and units that are always in."""
    groups = np.repeat(np.arange(60), 5)
    sets: dict[str, Any] = {
        "groups": Groups(8, groups),
        "groups with always": Groups(8, groups, always=[3, 7], lower=-1.0, upper=1.0),
        "uneven groups": Groups(8, np.minimum(np.arange(300) // 3, 70)),
        "nonnegative": Entries(15, lower=0.0),
        "box": Entries(15, lower=-0.1, upper=0.2),
        "always": Entries(15, always=[0, 1, 2]),
        "all always": Entries(3, always=[0, 1, 2]),
        "none": Entries(0),
    }
    makers: dict[str, Callable[[], Any]] = {
        "linear": partial(bound, LeastSquares, "linear", 200, 300, k=12),
        "logistic": partial(bound, Logistic, "logistic", 250, 300, k=12, alpha=1e-3, fit_intercept=True),
        "poisson": partial(bound, Poisson, "poisson", 250, 300, k=6, alpha=1e-2),
    }
    table: dict[str, Problem] = {
        f"units: {name}, {units}": partial(solve, make, sparsity=sets[units])
        for name, make in makers.items()
        for units in sets
    }
    several = partial(bound, Multinomial, "multinomial", 250, 100, k=6, alpha=1e-3, fit_intercept=True)
    for units, chosen in (
        ("rows", Rows(6)),
        ("rows with always", Rows(6, always=[1, 4])),
        ("entries", Entries(15)),
        ("groups", Groups(4, np.repeat(np.arange(25), 4))),
    ):
        table[f"units: multinomial, {units}"] = partial(solve, several, sparsity=chosen)
    return table


#: Forms of X.
FORMS: dict[str, Callable[[Array], Any]] = {
    "csc": sparse.csc_array,
    "csr": sparse.csr_array,
    "float32": np.float32,
    "Fortran": np.asfortranarray,
}


def options() -> dict[str, Problem]:
    """Options of the default solver, starts, kinds of X, weights, and every way to stop."""
    examples = {"logistic": LARGER["logistic"][0], "linear": LARGER["linear, correlated"][0]}
    solvers = {
        "no swaps": ksparse.SwapGraHTP(max_swaps=0),
        "20 swaps": ksparse.SwapGraHTP(max_swaps=20),
        "5 candidates": ksparse.SwapGraHTP(candidates=5),
        "2 restarts": ksparse.SwapGraHTP(restarts=2),
    }
    table: dict[str, Problem] = {}
    for f, make in examples.items():
        table |= {f"option: {f}, {name}": partial(solve, make, 20, solver=solver) for name, solver in solvers.items()}
        for start in ("random", "ones", "larger model"):
            for solver in ("default", "GraHTP", "FBS"):
                table[f"start: {f}, {start}, {solver}"] = partial(solve_from, make, start, solver)
    for form, convert in FORMS.items():
        for f in ("least squares", "logistic", "multinomial", "poisson"):
            table[f"form: {f}, {form}"] = partial(solve_form, f, convert, False)
            table[f"form: {f}, {form}, weights"] = partial(solve_form, f, convert, True)
    for k in (10, 30):
        table[f"sparse: logistic, k = {k}"] = partial(solve, _sparse_logistic, k)
        table[f"sparse: logistic, k = {k}, GraHTP"] = partial(solve, _sparse_logistic, k, solver=ksparse.GraHTP())
    return table | ends()


def solve_from(make: Callable[[], Any], start: str, solver: str) -> Record:
    objective = make()
    starts: dict[str, Callable[[], Array]] = {
        "random": lambda: np.random.default_rng(5).standard_normal(objective.shape),
        "ones": lambda: np.ones(objective.shape),
        "larger model": lambda: ksparse.minimize(make(), 30).x,
    }
    return Record.of(ksparse.minimize(objective, 20, solver=problems.SOLVERS[solver](), x0=starts[start]()))


def solve_form(name: str, convert: Any, weighted: bool) -> Record:
    weights = np.random.default_rng(3).uniform(0.2, 2.0, problems.N) if weighted else None
    objective = problems.linear(name, convert(problems.design()), sample_weight=weights, fit_intercept=True)
    return Record.of(ksparse.minimize(objective, 3))


def _sparse_logistic() -> Logistic:
    X, _ = data("logistic", 500, 1500)
    X = np.where(np.random.default_rng(8).random(X.shape) < 0.03, X, 0.0)
    signs = np.where(np.arange(1500) % 2, 1.0, -1.0)
    y = problems.responses("logistic", 3 * X[:, :40] @ signs[:40])
    return Logistic(sparse.csc_array(X), y, alpha=1e-4, fit_intercept=True)


def ends() -> dict[str, Problem]:
    """Every way to stop."""

    def duplicated() -> LeastSquares:
        X, y = data("linear", 40, 6)
        return LeastSquares(np.hstack([X, X]), y)

    def separable() -> Logistic:
        X, _ = data("logistic", 40, 6)
        return Logistic(X, X[:, 2] > 0)

    def unbounded() -> Any:
        return ksparse.objectives.Function(lambda x: float(x.sum() - x @ x), gradient=lambda x: 1 - 2 * x, shape=5)

    def stop(iteration: Any, x: Array) -> bool:
        return bool(iteration.iteration == 2)

    twenty = partial(solve, LARGER["logistic"][0], 20)
    table: dict[str, Problem] = {
        "end: one iteration": partial(twenty, solver=ksparse.SwapGraHTP(max_iter=1)),
        "end: no iteration": partial(twenty, solver=ksparse.SwapGraHTP(max_iter=0)),
        "end: callback": partial(twenty, callback=stop),
        "end: no time": partial(twenty, solver=ksparse.SwapGraHTP(time_limit=0.0)),
        "end: all features": partial(solve, duplicated, 12),
    }
    for solver in ("default", "GraHTP", "GraSP", "FBS"):
        for what, make, k in (("duplicates", duplicated, 8), ("separable", separable, 3), ("unbounded", unbounded, 2)):
            table[f"end: {what}, {solver}"] = partial(solve, make, k, solver=problems.SOLVERS[solver]())
    return table
