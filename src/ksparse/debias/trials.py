"""Many short refits of a small model in one compiled call, which shows that they come to nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._types import Array, Mask
from ..objectives.base import Objective, value_at_zero
from ..objectives.columns import LinearModel
from .compiled import collect_data, count_work, load_refits, make_ridge, make_samples
from .exact import TrialRefit, find_limits

__all__ = ["count_failures"]


def count_failures(
    objective: Objective, starts: Sequence[tuple[Mask, Array, Array | None]], settings: TrialRefit, least: float
) -> int:
    """How many refits in a row, from the first, do not take f below a value.

    A refit is given by its support, where it starts, and the Hessian there if it is known. What comes after those that
    are counted is for the general method to find out; that is 0 of them where compiled code does not know the loss.
    """
    if not isinstance(objective, LinearModel) or objective.is_quadratic:
        return 0
    supports = np.array([support for support, _, _ in starts])
    together: Mask = np.any(supports, axis=0)
    data = collect_data(objective, together)
    if data is None:
        return 0
    width = int(np.count_nonzero(together))
    hessians = np.full((len(starts), width, width), np.nan)
    for at, (support, _, hessian) in zip(hessians, starts, strict=True):
        if hessian is not None:
            kept = support[together].nonzero()[0]
            at[kept[:, None], kept] = hessian
    result: Any = load_refits().count_failing_refits(
        *make_samples(data, data.columns, width > data.columns.shape[1]),
        make_ridge(objective.alpha, data.columns.shape[1], width),
        np.array([support[together] for support in supports]),
        np.array([x[together] for _, x, _ in starts]),
        value_at_zero(objective),
        hessians,
        find_limits(settings),
        least,
    )
    failures, n_steps, n_hessians = result
    count_work(objective, n_steps, n_hessians, int(np.count_nonzero(supports[0])))
    return int(failures)
