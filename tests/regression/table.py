"""A wide table of problems, whose answers must stay the same when code is reorganized.

    python -m tests.regression.table

writes `recorded.csv` again, after a change that is meant to change answers; the difference of the two files shows which
ones.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np

import ksparse
from ksparse._types import Array

from .. import precision, problems
from .estimating import choosing, estimators
from .graphs import graph_estimators, graphs
from .minimizing import as_published, larger, options, products, with_units
from .records import DIGITS, Record, fragile_fields, write
from .solving import Problem

#: To see which answers depend on rounding, data are multiplied by 1 + NOISE·N(0, 1), in each of DRAWS draws.
NOISE, DRAWS = 1e-13, 3

PROBLEMS: dict[str, Problem] = {
    **products(),
    **as_published(),
    **graphs(),
    **larger(),
    **with_units(),
    **options(),
    **estimators(),
    **choosing(),
    **graph_estimators(),
}


def run(name: str) -> Record:
    """Solve a problem; what cannot be solved is recorded as refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ksparse.ConvergenceWarning)
        try:
            return PROBLEMS[name]()
        except (TypeError, ValueError):
            return Record("refused", "")


@contextmanager
def perturbed(seed: int) -> Iterator[None]:
    """All data multiplied by 1 + noise of the size of a few roundings."""
    design, covariance = problems.design, precision.covariance

    def noise(shape: tuple[int, ...]) -> Array:
        return 1.0 + NOISE * np.random.default_rng(seed).standard_normal(shape)

    def noisy_design(*arguments: Any, **options: Any) -> Array:
        X = design(*arguments, **options)
        return X * noise(X.shape)

    def noisy_covariance(*arguments: Any, **options: Any) -> Array:
        sigma = covariance(*arguments, **options)
        factors = noise(sigma.shape)
        return np.asarray(sigma * (factors + factors.T) / 2)

    with (
        mock.patch.object(problems, "design", noisy_design),
        mock.patch.object(precision, "covariance", noisy_covariance),
    ):
        yield


def recorded(name: str) -> Record:
    """What a problem gives, and what of it depends on rounding."""
    record = run(name)
    others = []
    for seed in range(DRAWS):
        with perturbed(seed):
            others.append(run(name))
    # The noise is too small for single precision, and scikit-learn's versions stop the graphical lasso elsewhere
    rough = {DIGITS} if "float32" in name or "glasso" in name else set()
    return replace(record, fragile=fragile_fields(record, others) | rough)


if __name__ == "__main__":
    table = {name: recorded(name) for name in PROBLEMS}
    write(table)
    fragile = sum(bool(record.fragile) for record in table.values())
    sys.stdout.write(f"{len(table)} problems, {fragile} of which depend on rounding\n")
