"""What a fit costs, counted in work rather than seconds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Counters"]


@dataclass
class Counters:
    """Counts of work that an objective, its restrictions and its design share.

    They are the same on every machine, so a test can limit them.

    Examples
    --------
    >>> import numpy as np
    >>> from ksparse.objectives import LeastSquares
    >>> f = LeastSquares(np.eye(3), [1.0, 2.0, 3.0])
    >>> _ = f.evaluate(np.zeros(3)).gradient
    >>> f.counters.passes
    1
    """

    #: Passes over all of the data: full gradients, or what costs as much.
    passes: int = 0
    #: Columns gathered from the design.
    columns: int = 0
    #: Entries of Gram matrices and of blocks between a support and candidates: n multiplications each.
    products: int = 0
    #: Restrictions of f to a support.
    restrictions: int = 0
    #: Gradients of f and of its restrictions.
    gradients: int = 0
    #: Hessians of restrictions.
    hessians: int = 0
    #: Newton steps; none where f is quadratic.
    newton_steps: int = 0
    #: Models that rank swaps.
    swap_models: int = 0
    #: Functions compiled for an objective that compiles them.
    compilations: int = 0
    #: Times that all blocks of rows were asked for something at once, where X is in blocks.
    round_trips: int = 0
    #: Bytes of functions and vectors sent to the workers of a cluster, and of sums that came back.
    bytes_sent: int = 0
    bytes_received: int = 0
