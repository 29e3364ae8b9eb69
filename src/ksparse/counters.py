"""What a fit costs, counted in work rather than seconds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Counters"]


@dataclass
class Counters:
    """Counts of work that an objective, its restrictions and its design share.

    They are the same on every machine, so a test can limit them.

    Attributes
    ----------
    passes : int
        Passes over all of the data: full gradients, or what costs as much.
    columns : int
        Columns gathered from the design.
    products : int
        Entries of Gram matrices and of blocks between a support and candidates: n multiplications each.
    restrictions : int
        Restrictions of f to a support.
    gradients : int
        Gradients of f and of its restrictions.
    hessians : int
        Hessians of restrictions.
    newton_steps : int
        Newton steps; none where f is quadratic.
    swap_models : int
        Models that rank swaps.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives import LeastSquares
    >>> f = LeastSquares(np.eye(3), [1.0, 2.0, 3.0])
    >>> _ = f.evaluate(np.zeros(3)).gradient
    >>> f.counters.passes
    1
    """

    passes: int = 0
    columns: int = 0
    products: int = 0
    restrictions: int = 0
    gradients: int = 0
    hessians: int = 0
    newton_steps: int = 0
    swap_models: int = 0
