"""Solutions that a search finds: f minimized on supports, the best of them, and those near to it."""

from __future__ import annotations

import numpy as np

from .._types import Array, IntArray, Mask
from ..debias import Bounds, Exact
from ..objectives.protocols import WorkingForm
from ..sparsity import Units

__all__ = ["Incumbents", "settle_value"]

#: Rounding of f, as a fraction of the numbers that it is computed from.
VALUE_ROUNDING_UNITS = 4e-15
#: Residuals below this fraction of the numbers that they are differences of are rounding.
RESIDUAL_ROUNDING = 1e-14
#: Values of f above the least one that differ by this fraction are the same.
TIE = 1e-12


def settle_value(value: float, least: float, start: float) -> float:
    """f, or its least value if only rounding of the residuals or of f is between them; `start` is f at the start."""
    rounding = RESIDUAL_ROUNDING**2 * abs(start) + VALUE_ROUNDING_UNITS * abs(least)
    return float(least if value <= least + rounding else value)


class Incumbents:
    """Supports on which f was minimized.

    Parameters
    ----------
    form : WorkingForm
        f, in working coordinates.
    units : Units
        The sparsity set.
    least : float
        What no f is below; gaps are relative to f above it.
    within : float or None
        Supports whose f above the least value exceeds the best one's by at most this fraction are looked for.
    """

    def __init__(self, form: WorkingForm, units: Units, least: float, within: float | None) -> None:
        self._form, self._units, self._least, self._within = form, units, least, within
        self._values: dict[bytes, float] = {}
        #: The lowest f, and where it is.
        self.value = np.inf
        self.x: Array = np.zeros(form.objective.shape)

    def offer(self, x: Array, value: float) -> None:
        """A solution that is known."""
        value = settle_value(value, self._least, self._form.value_at_start)
        if value < self.value:
            self.value, self.x = value, x

    def refit(self, chosen: Mask) -> float:
        """f minimized on the coordinates of some units."""
        key = np.packbits(chosen).tobytes()
        return self._values[key] if key in self._values else self.minimize_on(chosen)[0]

    def refit_units(self, chosen: IntArray) -> float:
        """f minimized on the coordinates of some units, given by their numbers."""
        mask = np.zeros(self._units.count, dtype=bool)
        mask[chosen] = True
        return self.refit(mask)

    @property
    def collects(self) -> bool:
        """Whether all supports near to the best are looked for."""
        return self._within is not None

    def minimize_on(self, chosen: Mask) -> tuple[float, Array]:
        """The minimum of f on the coordinates of some units, and where it is."""
        objective, units = self._form.objective, self._units
        support = units.to_mask(chosen)
        x = np.zeros(objective.shape)
        if support.any():
            start = np.where(support, self.x, 0.0)[support]
            bounds = None
            if units.lower is not None and units.upper is not None:
                bounds = Bounds(units.lower[support], units.upper[support])
                start = bounds.clip(start)
            solution = Exact()(objective.restrict(support), start, bounds)
            x[support] = solution.point.x
            value = solution.point.value
        else:
            value = objective.evaluate(x).value
        value = settle_value(value, self._least, self._form.value_at_start) if np.isfinite(value) else np.inf
        self._values[np.packbits(chosen).tobytes()] = value
        self.offer(x, value)
        return value, x

    @property
    def threshold(self) -> float:
        """What f of solutions that are looked for does not exceed."""
        return self._least + (1.0 + (self._within or 0.0)) * (self.value - self._least)

    @property
    def upper(self) -> float:
        """The same rounded up, so that no rounding of f or of bounds leaves one out."""
        value = self.value if self._within is None else self.threshold
        return value + VALUE_ROUNDING_UNITS * (abs(value) + abs(self._form.value_at_start))

    def list_near(self) -> list[tuple[float, Mask]]:
        """The supports that are near to the best, by f; the best one that is known comes first, also at a limit."""
        limit = self.threshold + TIE * (self.value - self._least)
        near = [(value, self._unpack(key)) for value, key in sorted((v, key) for key, v in self._values.items())]
        near = [(value, mask) for value, mask in near if value <= limit]
        best = self._units.find_units((self.x != 0) & self._units.constrained) | self._units.always
        if not any((best <= mask).all() for _, mask in near):
            near.insert(0, (self.value, self._complete(best)))
        return near

    def _complete(self, best: Mask) -> Mask:
        """A support of k units that has these: the best one that is known, or that with the first other units."""
        known = [(value, key) for key, value in self._values.items() if (best <= self._unpack(key)).all()]
        if known:
            return self._unpack(min(known)[1])
        whole = best.copy()
        whole[np.flatnonzero(~best)[: max(self._units.k - int(best.sum()), 0)]] = True
        return whole

    def _unpack(self, key: bytes) -> Mask:
        return np.unpackbits(np.frombuffer(key, np.uint8), count=self._units.count).astype(bool)
