"""What a solver gives back: the solution, why it stopped, and what happened on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .._types import AnyArray, Array, Mask
from ..objectives.protocols import WorkingForm
from ..sparsity import Units

if TYPE_CHECKING:
    from ..certificates import Certificate

__all__ = ["History", "Iteration", "Result", "Solved", "Status"]


class Status(str, Enum):
    """Why a solver stopped.

    ``converged``: its halting rule was met. ``singular``: the same, but the minimizer on the support is not unique.
    ``stopped``: by the callback. ``periodic``: supports repeat. ``max_iter``, ``time_limit``: a limit was reached.
    ``unfinished``: minimizing on the final support did not converge. ``no_minimum``: f is unbounded below on it.
    ``not_finite``: f or its gradient became NaN or infinite. A status equals its name: ``status == "converged"``.

    Examples
    --------
    >>> from ksparse import Status
    >>> Status.CONVERGED == "converged", Status.PERIODIC.success
    (True, False)
    """

    CONVERGED = "converged"
    SINGULAR = "singular"
    PERIODIC = "periodic"
    MAX_ITER = "max_iter"
    TIME_LIMIT = "time_limit"
    STOPPED = "stopped"
    UNFINISHED = "unfinished"
    NO_MINIMUM = "no_minimum"
    NOT_FINITE = "not_finite"

    @property
    def success(self) -> bool:
        """Whether the solver's halting rule was met, or the caller asked it to stop."""
        return self in (Status.CONVERGED, Status.SINGULAR, Status.STOPPED)

    @property
    def opening(self) -> str:
        """How each message with this status begins: a message cannot say anything else."""
        return OPENINGS[self]

    def __str__(self) -> str:
        return self.value


OPENINGS = {
    Status.CONVERGED: "converged: ",
    Status.SINGULAR: "converged, but the minimizer on the support is not unique",
    Status.PERIODIC: "not converged: the supports repeat",
    Status.MAX_ITER: "not converged after ",
    Status.TIME_LIMIT: "not converged: the time limit",
    Status.STOPPED: "stopped by the callback",
    Status.UNFINISHED: "the support converged, but minimizing f on it did not",
    Status.NO_MINIMUM: "f has no minimum on the selected support",
    Status.NOT_FINITE: "stopped in iteration ",
}


@dataclass(frozen=True)
class Iteration:
    """One line of the history."""

    #: Number of the iteration, from 1.
    iteration: int
    #: f at the iterate.
    value: float
    #: Number of units that entered the support.
    support_change: int
    #: Step size of S1 (a multiple of the inverse curvature for scaled steps); NaN where there is none.
    step: float
    #: Norm of the gradient restricted to the support: 0 after exact debiasing.
    gradient_norm: float
    #: Time since the start.
    seconds: float
    #: Passes over the data since the start.
    passes: int


class History(Sequence[Iteration]):
    """The iterations, in order; ``history["value"]`` is a column of them as an array.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> history = ksparse.minimize(ksparse.objectives.LeastSquares(np.eye(3), [1.0, 2.0, 3.0]), k=1).history
    >>> history["value"].round(3)
    array([0.833, 0.833])
    """

    columns = tuple(field.name for field in fields(Iteration))

    def __init__(self, iterations: Sequence[Iteration] = ()) -> None:
        self._iterations = list(iterations)

    @overload
    def __getitem__(self, key: int) -> Iteration: ...
    @overload
    def __getitem__(self, key: slice) -> History: ...
    @overload
    def __getitem__(self, key: str) -> AnyArray: ...

    def __getitem__(self, key: int | slice | str) -> Iteration | History | AnyArray:
        if isinstance(key, slice):
            return History(self._iterations[key])
        if not isinstance(key, str):
            return self._iterations[key]
        if key not in self.columns:
            raise KeyError(f"{key!r} is not a column of the history; the columns are {', '.join(self.columns)}")
        return np.array([getattr(iteration, key) for iteration in self._iterations])

    def __len__(self) -> int:
        return len(self._iterations)

    def append(self, iteration: Iteration) -> None:
        """Add an iteration."""
        self._iterations.append(iteration)

    def __str__(self) -> str:
        header = "iteration          value  support_change        step  gradient_norm  passes  seconds"
        lines = [
            f"{line.iteration:9d}  {line.value:13.8g}  {line.support_change:14d}  {line.step:10.4g}"
            f"  {line.gradient_norm:13.2e}  {line.passes:6d}  {line.seconds:7.3f}"
            for line in self
        ]
        return "\n".join([header, *lines])

    def __repr__(self) -> str:
        return f"<History of {len(self)} iterations>"


@dataclass(frozen=True, eq=False)
class Solved:
    """A problem and its solution, in working coordinates."""

    #: f.
    form: WorkingForm
    #: The sparsity set.
    units: Units
    #: The solution.
    x: Array
    #: f(x).
    value: float


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `ksparse.minimize`.

    Attributes
    ----------
    x : ndarray
        The best point found.
    support : ndarray of bool, of x's shape
        Where x is nonzero, an intercept left out.
    selected : ndarray
        Names of the units that are nonzero or always selected: feature indices, group labels or row numbers.
    value : float
        f(x).
    status : Status
        Why the solver stopped.
    message : str
        The same in a sentence that says what to do about it; it begins as `Status.opening` says.
    n_iter : int
        Number of iterations.
    history : History
        Value, support change, step, restricted gradient norm, seconds and passes of each iteration.
    passes : int
        Passes over the data in all.
    nuisance : ndarray or None
        Parameters of the loss besides x, which f takes at their best values: the thresholds of `objectives.Ordinal`.

    Examples
    --------
    >>> import numpy as np, ksparse
    >>> result = ksparse.minimize(ksparse.objectives.LeastSquares(np.eye(3), [1.0, 2.0, 3.0]), k=1)
    >>> result.x, result.selected, result.success
    (array([0., 0., 3.]), array([2]), True)
    """

    x: Array
    support: Mask
    selected: AnyArray
    value: float
    status: Status
    message: str
    n_iter: int
    history: History
    passes: int
    nuisance: Array | None = None
    #: What was solved. It refers to the data, and is neither copied, pickled nor saved.
    solved: Solved | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "solved": None}

    def __post_init__(self) -> None:
        if not self.message.startswith(self.status.opening):
            raise ValueError(
                f"a message of the status {self.status} begins with {self.status.opening!r}; got {self.message!r}"
            )

    @property
    def success(self) -> bool:
        """Whether the solver's halting rule was met, or the caller asked it to stop."""
        return self.status.success

    def certificate(self, *, steps: int = 100, time_limit: float | None = None, effort: int = 0) -> Certificate:
        """A proof of how far f(x) is from the lowest f with at most k units.

        For linear models whose loss is a sum over samples with a known conjugate: least squares, logistic, multinomial,
        Poisson, Huber, squared hinge, gamma, negative binomial and smoothed quantile regression. The bound is good
        where alpha is not small; for least squares also where there are more samples than features.

        Parameters
        ----------
        steps : int, default=100
            Limit of the steps that improve the bound, after each screening of the units. A step is a pass over the
            data, or a product with the Gram matrix for least squares.
        time_limit : float, optional
            Limit in seconds, tested after each step; None or infinity for no limit.
        effort : {0, 1}, default=0
            Where the gap stays open, more curvature is looked for: for least squares the best diagonal, for logistic,
            Poisson, negative binomial and Huber regression and the squared hinge that on the set of all solutions that
            are not worse. With 0 it is if that takes at most about thirty passes over the data or some hundredths of a
            second; with 1 always, which may take seconds where many hundred features are left.

        Returns
        -------
        Certificate
            The lower bound, the gap, and units that every best solution has, or none; ``print`` it to read it.

        Examples
        --------
        >>> import numpy as np, ksparse
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = ksparse.objectives.Logistic(X, X[:, 5] > X[:, 2], alpha=0.1)
        >>> ksparse.minimize(f, k=2).certificate().optimal
        True
        """
        from ..certificates import certify

        solved = self._require_data()
        return certify(solved.form, solved.units, solved.x, solved.value, steps, time_limit, effort)

    def is_swap_optimal(self, pairs: int = 1) -> bool:
        """Whether no swap of one unit, or of up to two at once, lowers f.

        All swaps are tried, but those that a lower bound excludes: k·(p − k) of one unit, and about k²·p²/4 of two. It
        takes long where there is no bound, as for most functions of one's own.

        Parameters
        ----------
        pairs : {1, 2}, default=1
            How many units may leave, for as many that enter.

        Returns
        -------
        bool
            Whether the solution is the best of those that differ from it by so few units; decreases of f below 1e-9 of
            it do not count.

        Examples
        --------
        >>> import numpy as np, ksparse
        >>> X = np.random.default_rng(0).standard_normal((100, 20))
        >>> f = ksparse.objectives.Logistic(X, X[:, 5] > X[:, 2], alpha=0.1)
        >>> ksparse.minimize(f, k=2).is_swap_optimal(pairs=2)
        True
        """
        from ..certificates import has_better_swap

        solved = self._require_data()
        return not has_better_swap(solved.form, solved.units, solved.x, solved.value, pairs)

    def _require_data(self) -> Solved:
        if self.solved is None:
            raise ValueError("a result that was copied, unpickled or loaded has no data; solve the problem again")
        return self.solved

    def __repr__(self) -> str:
        shown = np.array2string(self.selected, threshold=12, edgeitems=5)
        return (
            f"Result ({self.status})\n"
            f"   message: {self.message}\n"
            f"     value: {self.value:.8g}\n"
            f"  selected: {shown} ({len(self.selected)} units)\n"
            f"    n_iter: {self.n_iter} ({self.passes} passes)"
        )
