"""An objective from a function that a package for automatic differentiation can differentiate."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from ..._types import Array, IntArray, Mask
from ..base import Objective, Point, TwiceDifferentiable
from ..protocols import HasGroups, HasWorkingForm, WorkingForm
from ..user import UserFunction, add_note, check_gradient, check_hessian, note_point
from .derivatives import Derivatives, KnownGradient, SharedParts
from .leaves import Layout, Window, fill_columns
from .quadratic_form import HessianRows, QuadraticForm, bound_curvature, find_steepest
from .separable_form import SeparableForm

__all__ = ["AutodiffFunction"]

#: Most numbers in the directions that are multiplied by the Hessian at once.
MAX_BATCH_SIZE = 2**21
#: How many directions are multiplied at once: the first number that fits. JAX compiles a function for each.
BATCHES = (64, 16, 1)
#: Most coordinates whose curvature is computed at the start, if each takes a product with all of the data.
MAX_CURVATURES = 1000
#: The same if it takes a product with a few columns.
MAX_CURVATURES_BY_COLUMN = 20_000
#: Most coordinates of a quadratic of columns that is seen as a whole: beyond, only its columns are cheap.
MAX_QUADRATIC_OF_COLUMNS = 2000
#: Most numbers in the matrix of margins by which a quadratic is evaluated: more take longer than compiling products.
MAX_NUMBERS_OF_QUADRATIC = 2**19
#: How many columns are differentiated at once for their curvature: the cost is proportional to it.
CURVATURE_COLUMNS = 16
#: By how much f of some columns may differ from f of all, or f from f the next time, relative to f.
MAX_DIFFERENCE = 1e-6
#: What to do about a function that differs from one time to the next.
REPETITION_ADVICE = (
    "it must be the same each time: switch off dropout with net.eval(), and draw batches and random numbers before"
)


class AutodiffFunction(UserFunction, TwiceDifferentiable, HasWorkingForm, HasGroups):
    """A function differentiated by JAX or PyTorch; `from_jax` and `from_torch` make it.

    If the function takes columns, f on a support is computed from the columns of the support alone.

    Attributes
    ----------
    compile_seconds : float
        Seconds spent on tracing and compiling the function so far.

    Examples
    --------
    >>> import jax.numpy as jnp, numpy as np, ksparse
    >>> from ksparse.objectives import from_jax
    >>> start = {"w": np.zeros(3), "b": 0.0}
    >>> f = from_jax(lambda q: jnp.sum((q["w"] + q["b"] - jnp.arange(3.0)) ** 2), start, sparse="w")
    >>> f.shape, f.free
    ((4,), array([False, False, False,  True]))
    >>> f.unflatten([0.0, 0.0, 2.0, 0.5])["w"]
    array([0., 0., 2.])
    """

    def __init__(
        self, derivatives: Derivatives, layout: Layout, shape: tuple[int, ...], start: Array, takes_columns: bool
    ) -> None:
        super().__init__(shape)
        self._derivatives, self._layout, self._takes_columns = derivatives, layout, takes_columns
        self._start = np.where(layout.free, start, 0.0)
        # Working coordinates of free entries are differences from where they start: zero is a start, too.
        self._origin = np.zeros(layout.size)
        self._shared = SharedParts()
        self._window = self._whole = Window(None, slice(None), slice(None), slice(None))
        self.free = layout.free.reshape(shape) if layout.free.any() else None
        if takes_columns:
            layout.check_columns()

    def __repr__(self) -> str:
        return f"AutodiffFunction(shape={self.shape})"

    @property
    def start(self) -> Array:
        return self._extract((self._start - self._origin).reshape(self._full_shape))

    @property
    def labels(self) -> IntArray | None:
        return self._layout.column_of[~self._layout.free] if self._layout.counts_columns else None

    @property
    def compile_seconds(self) -> float:
        """Seconds spent on tracing and compiling the function so far."""
        return self._derivatives.compile_seconds

    def unflatten(self, x: Any) -> Any:
        """The function's parameters, such as a dict of arrays, of an x like that of a result."""
        return self._derivatives.unflatten(self.check_point(x).ravel() + self._origin)

    def working_form(self) -> WorkingForm:
        self._check_repetition()
        if not self._start.any():
            return WorkingForm(self._simplify())
        moved, origin = copy.copy(self), self._start.reshape(self.shape)
        moved._origin, moved._value_at_zero = self._start, None
        return WorkingForm(moved._simplify(), to_working=lambda x: x - origin, to_user=lambda x: x + origin)

    def _check_repetition(self) -> None:
        """A function that draws random numbers has no minimum that could be found."""
        if self._derivatives.is_traced or self._shared.is_repeated:
            return
        (first, slopes), (second, others) = (self._differentiate_whole(self._start) for _ in range(2))
        is_finite = math.isfinite(first) and math.isfinite(second)
        if is_finite and abs(first - second) > MAX_DIFFERENCE * max(abs(first), abs(second)):
            raise ValueError(
                f"the function returned {first:.9g} and then {second:.9g} at the same x; {REPETITION_ADVICE}"
            )
        size, difference = np.abs(slopes).max(initial=0.0), np.abs(slopes - others).max(initial=0.0)
        if np.isfinite(size) and difference > MAX_DIFFERENCE * size:
            raise ValueError(f"the gradient of the function differs from one time to the next; {REPETITION_ADVICE}")
        self._shared.is_repeated = True

    def _simplify(self) -> Objective:
        """The same function as a quadratic, or as a sum of functions of one margin each, if it is known to be one."""
        form: Objective | None
        with np.errstate(invalid="ignore", over="ignore"):  # the solver says that f is not finite
            form = self._make_quadratic() if self._examine() else self._separate()
            is_simple = form is not None and (not isinstance(form, QuadraticForm) or self._confirm(form))
        simple = form if form is not None and is_simple else self
        if self._takes_columns and not self._shared.is_compared:
            self._compare_columns(simple)
            self._shared.is_compared = True
        return simple

    def _compare_columns(self, whole: Objective) -> None:
        """Check that f of a few columns is f of all of them, where a search begins and at an x near it."""

        def differentiate(x: Array) -> tuple[float, Array]:
            """f and its gradient, after the check."""
            if whole is self:
                few, (value, slopes) = self.evaluate(x).value, self._differentiate_whole(x.ravel())
            else:  # the gradient of a few columns is never asked for: it is not compiled
                few, point = self._apply_to_columns(self._derivatives.compute_value, x), whole.evaluate(x)
                value, slopes = point.value, whole.gradient(point)
            self._check_agreement(few, value)
            return value, slopes

        value, slopes = differentiate(np.zeros(self.shape))
        self._value_at_zero = value
        if math.isfinite(value) and np.isfinite(slopes).all():  # otherwise the solver says that f is not finite
            differentiate(find_steepest(slopes, 2).reshape(self.shape))

    def _make_quadratic(self) -> QuadraticForm:
        """The same function as a quadratic; by its margins if they are few: then nothing else needs to be compiled."""
        shared = self._shared
        margins = shared.margins
        form = self._separate() if margins and margins.count * self.size <= MAX_NUMBERS_OF_QUADRATIC else None
        if shared.rows is None:
            shared.rows = HessianRows(self.size, self._compute_rows if form is None else form.compute_rows)
        return QuadraticForm(self, self._differentiate_on if form is None else form.differentiate_on, shared.rows)

    def _confirm(self, form: QuadraticForm) -> bool:
        """Whether values of f are those of a quadratic: not those of its derivatives with something lost."""
        if self._shared.is_confirmed is None:
            self._shared.is_confirmed = form.is_finite and form.has_values_of_quadratic()
        return self._shared.is_confirmed

    def _separate(self) -> SeparableForm | None:
        """The same function as a sum of functions of one margin each, if it is known to be one."""
        shared = self._shared
        if shared.margins is None:
            return None
        if shared.margin_map is None:
            shared.margin_map = shared.margins.compute_map()
            if shared.margin_map is None:
                shared.margins = None
                return None
        offset, columns = shared.margin_map
        return SeparableForm(self, shared.margins, columns, offset, self._origin)

    def _differentiate_whole(self, x: Array) -> tuple[float, Array]:
        """f and its gradient at a flat vector, by the function of all columns."""
        value, known = self._differentiate(x, self._whole)
        return value, known.gradient

    def _differentiate_on(self, x: Array, coordinates: IntArray) -> tuple[float, Array]:
        """The same with the gradient in some coordinates."""
        value, gradient = self._differentiate_whole(x)
        return value, gradient[coordinates]

    def _examine(self) -> bool:
        """Find the margins, if there are some, and whether f is known to be quadratic."""
        shared, is_large = self._shared, self.size > MAX_QUADRATIC_OF_COLUMNS
        if not shared.is_examined and not (self._takes_columns and is_large):
            shared.is_examined = True
            if self._takes_columns:  # first with a few columns, so that errors are those of most calls
                self._apply_to_columns(self._derivatives.trace, np.zeros(self.shape))
            with self._noting(self._whole, self._start):
                shared.is_quadratic = self._derivatives.is_quadratic(self._start)
            shared.margins = self._derivatives.find_margins(self._start)
        return shared.is_quadratic

    def _compute_rows(self, coordinates: IntArray) -> Array:
        """Rows of the Hessian at the start."""
        rows = [products for _, products in self._iterate_rows(self._whole, self._start, coordinates)]
        return check_hessian(np.concatenate(rows), math.nan)

    def restrict(self, support: Mask) -> UserFunction:
        restricted = super().restrict(support)
        assert isinstance(restricted, AutodiffFunction)
        assert restricted._support is not None
        restricted._window = self._make_window(np.flatnonzero(restricted._support))
        return restricted

    def _make_window(self, coordinates: IntArray) -> Window:
        """The part of the flat vector that has some coordinates; all of it, unless the function takes columns."""
        if not self._takes_columns:
            return Window(None, slice(None), coordinates, coordinates)
        columns = self._layout.find_columns(coordinates)
        count = self._derivatives.round_up(columns.size)
        if count >= self._layout.n_columns:
            return Window(None, slice(None), coordinates, coordinates)
        return self._layout.make_window(fill_columns(columns, count), coordinates)

    def _fill(self, window: Window, x: Array) -> Array:
        """The user's parameters in a window."""
        flat = self._origin[window.entries].copy()
        flat[window.positions] += x.ravel()
        return flat

    # --- value and gradient -------------------------------------------------------------------------------------

    def evaluate(self, x: Array) -> Point:
        x = self.check_point(x)
        value, known = self._evaluate(x, self._window)
        if not x.any():
            self._value_at_zero = value
        return Point(self, x, value, known)

    def _evaluate(self, x: Array, window: Window) -> tuple[float, KnownGradient]:
        if self._takes_columns and window is self._whole:
            window, x = self._gather(x)
        return self._differentiate(x, window)

    def _gather(self, x: Array) -> tuple[Window, Array]:
        """The columns of the nonzero entries of an x of all coordinates, and x in these."""
        coordinates = np.flatnonzero((x.ravel() != 0) | self._layout.free)
        return self._make_window(coordinates), x.ravel()[coordinates]

    def _apply_to_columns(self, operation: Callable[[Array, IntArray | None], Any], x: Array) -> Any:
        """Apply an operation to the function of the columns in which an x of all coordinates is nonzero."""
        window, values = self._gather(x)
        flat = self._fill(window, values)
        with self._noting(window, flat):
            return operation(flat, window.columns)

    def _differentiate(self, x: Array, window: Window) -> tuple[float, KnownGradient]:
        flat = self._fill(window, x)
        with self._noting(window, flat):
            value, gradient = self._derivatives.evaluate(flat, window.columns)
        self.counters.compilations = self._derivatives.compilations
        return value, KnownGradient(window, gradient)

    @contextmanager
    def _noting(self, window: Window, flat: Array) -> Iterator[None]:
        """Errors of the user's function have notes that say how it was called."""
        x = self._origin.copy()
        x[window.entries] = flat
        with note_point(x.reshape(self._full_shape)):
            try:
                yield
            except Exception as error:
                if window.columns is not None:
                    add_note(
                        error,
                        "With columns=True, your function is called as fun(x, columns) and gets x in "
                        f"{window.columns.size} of the {self._layout.n_columns} columns only: take these of the data",
                    )
                raise

    def gradient(self, point: Point) -> Array:
        self.counters.passes += self._window.columns is None
        gradient = self._find_gradient(point).reshape(self.shape)
        return check_gradient(gradient, point.value, self._embed(point.x) + self._origin.reshape(self._full_shape))

    def _find_gradient(self, point: Point) -> Array:
        """The gradient where it is known, otherwise by another evaluation."""
        known: KnownGradient = point.state
        if known.window.columns is None:
            return known.gradient[self._window.coordinates]
        if known.window is not self._window:
            value, computed = self._differentiate(point.x, self._window)
            self._check_agreement(point.value, value)
            known.window, known.gradient = computed.window, computed.gradient
        return known.gradient[self._window.positions]

    def _check_agreement(self, few: float, value: float) -> None:
        """f of a few columns and of all of them must be the same where the others are zero."""
        if math.isfinite(few) and math.isfinite(value):
            scale = max(abs(few), abs(value), abs(self._value_at_zero or 0.0))
            differ = abs(few - value) > MAX_DIFFERENCE * scale
        else:
            differ = math.isfinite(few) or math.isfinite(value)
        if differ:
            raise ValueError(
                f"with columns=True the function must not depend on which zeros it sees, but it is {few:.9g} "
                f"for some columns and {value:.9g} for others at the same x; use only the given columns of the data, "
                "and nothing that depends on their number, as (w**2).mean() does: x has only the entries of the given "
                "columns, perhaps none; divide a sum by a constant"
            )

    # --- Hessian ------------------------------------------------------------------------------------------------

    def hessian(self, point: Point) -> Array:
        window, flat = self._window, self._fill(self._window, point.x)
        positions = np.arange(flat.size)[window.positions]
        rows = [products[:, positions] for _, products in self._iterate_rows(window, flat, positions)]
        hessian = np.concatenate(rows) if rows else np.zeros((0, 0))
        return check_hessian(0.5 * (hessian + hessian.T), point.value)

    def hessian_operator(self, point: Point) -> LinearOperator:
        window, flat = self._window, self._fill(self._window, point.x)

        def multiply(direction: Array) -> Array:
            directions = np.zeros((1, flat.size))
            directions[0, window.positions] = direction.ravel()
            return self._multiply(window, flat, directions)[0, window.positions]

        return LinearOperator((self.size, self.size), matvec=multiply, dtype=np.float64)

    def _multiply(self, window: Window, flat: Array, directions: Array) -> Array:
        """The Hessian of the function of a window times each row."""
        with self._noting(window, flat):
            products = self._derivatives.multiply_hessian(flat, window.columns, directions)
        self.counters.passes += len(directions) if window.columns is None else 0
        self.counters.compilations = self._derivatives.compilations
        return products

    def _iterate_rows(self, window: Window, flat: Array, positions: IntArray) -> Iterator[tuple[IntArray, Array]]:
        """Rows of the Hessian of the function of a window, as many at once as fit into memory."""
        batch = next(size for size in BATCHES if size * flat.size <= MAX_BATCH_SIZE or size == 1)
        for first in range(0, positions.size, batch):
            part = positions[first : first + batch]
            directions = np.zeros((part.size, flat.size))
            directions[np.arange(part.size), part] = 1.0
            yield part, self._multiply(window, flat, directions)

    def curvature(self, point: Point) -> Array:
        """The diagonal of the Hessian at the start, times the change of the curvature along the gradient since then.

        Beyond some thousand coordinates, the mean curvature along the gradient for all of them.
        """
        if self._layout.size > (MAX_CURVATURES_BY_COLUMN if self._takes_columns else MAX_CURVATURES):
            return Objective.curvature(self, point)
        if self._shared.curvature is None:
            self._shared.curvature = self._compute_start_curvature()
        # By differences of gradients: no more needs to be compiled than the gradient.
        gradient, start = point.gradient.ravel(), Point(self, self.start, np.nan)
        here, there = (abs(float(gradient @ self._multiply_hessian(at, gradient))) for at in (point, start))
        change = here / there if here > 0 and there > 0 and math.isfinite(here / there) else 1.0
        return bound_curvature(change * self._shared.curvature[self._window.coordinates]).reshape(self.shape)

    def _compute_start_curvature(self) -> Array:
        """The absolute diagonal of the Hessian at the start, over all coordinates."""
        diagonal = np.zeros(self._layout.size)
        for window in self._iterate_windows():
            flat = self._start[window.entries].copy()
            entries = np.arange(diagonal.size)[window.entries]
            for part, products in self._iterate_rows(window, flat, np.arange(flat.size)):
                diagonal[entries[part]] = np.abs(products[np.arange(part.size), part])
        return diagonal if np.isfinite(diagonal).all() else np.ones_like(diagonal)

    def _iterate_windows(self) -> Iterator[Window]:
        """Windows that cover all coordinates, of a few columns each where the function takes columns."""
        if not self._takes_columns:
            yield self._whole
            return
        total, count = self._layout.n_columns, self._derivatives.round_up(CURVATURE_COLUMNS)
        if count >= total:
            yield self._whole
            return
        for first in range(0, total, count):
            columns = np.arange(count) + min(first, total - count)
            yield self._layout.make_window(columns, np.empty(0, dtype=np.intp))
