"""`from_jax` and `from_torch`: what a user's function is a function of, and the objective that it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._types import Array
from ...validation import check_callable, check_flag
from ..user import as_shape
from .derivatives import Derivatives
from .leaves import Layout
from .objective import AutodiffFunction

if TYPE_CHECKING:
    import torch

__all__ = ["from_jax", "from_torch"]


def from_jax(
    fun: Callable[..., Any], shape: Any, *, sparse: Any = None, columns: bool = False, jit: bool = True
) -> AutodiffFunction:
    """Any smooth f that is written in JAX, differentiated and compiled by JAX.

    The gradient, products with the Hessian, and the Hessian on a support come from automatic differentiation, in
    float64. Solvers use them like those of the objectives in this package.

    Parameters
    ----------
    fun : callable
        ``fun(x) -> f(x)``, one number of float64, computed from x by `jax.numpy`: a function, jitted or not, a
        `functools.partial`, a bound method, an object with ``__call__``. It may close over data, as NumPy or JAX
        arrays; it is traced once for each number of columns, so later changes of the data are not seen. A value that is
        NaN or infinite means that x is outside the domain: line searches step back.
    shape : int, tuple of int, or pytree of arrays
        The shape of x; or the parameters, if x is a pytree, such as a dict of arrays. Then the values of the free
        parameters are where their search starts; sparse parameters start at zero.
    sparse : str, sequence of str, or dict, optional
        Which arrays of the pytree are sparse (by default all): k limits their entries, and the others are free. Names
        are the keys on the way to an array, joined by points. A dict gives an axis for each name, as in
        ``{"layer.weights": 0}``: k then counts slices along the axis, a feature's weights together; the slices of
        several arrays with the same index are one feature.
    columns : bool, default=False
        Whether fun takes columns: ``fun(x, columns) -> f``, with x only in these columns, and zero in all others. Then
        f and its derivatives on a support of k columns cost O(nk) rather than O(np), if fun uses only these columns of
        its data, as in ``jnp.asarray(X)[:, columns] @ x`` (NumPy cannot index by arrays of JAX). ``columns`` is an
        array of different indices along the first axis of x, or the axis that `sparse` says, in increasing order; or
        ``slice(None)`` for all.
    jit : bool, default=True
        Whether to compile. Without it, each evaluation takes about a hundred times as long for small data, but fun may
        branch on the values of x, as in ``if x[0] > 0``. JAX still differentiates it: ``float(x[0])`` is an error.

    Returns
    -------
    AutodiffFunction
        The objective, for `ksparse.minimize`. Its x is the vector or matrix itself; for a pytree a vector of all
        parameters, the sparse ones first, which ``objective.unflatten(x)`` turns into the pytree.
        ``objective.compile_seconds`` is the time spent on compiling.

    Notes
    -----
    JAX computes in float64 only within the calls of this objective; ``jax_enable_x64`` is not changed for other code.
    Data in JAX arrays of float32 stay as they are, and so do their rounding errors: pass NumPy arrays.

    Compiled functions are for numbers of columns and Hessian rows such as 8, 12, 16, 24, 32, …: x is filled up with
    columns in which it is zero. So fun must be the same whichever zeros it sees, unlike ``jnp.mean(x**2)``, and
    supports of all sizes share a few functions.

    A sum of functions of one margin each, f(x) = Σᵢ φᵢ(mᵢ) + Σⱼ ψⱼ(xⱼ) with m = Ax + b, is recognized in the traced
    function, and its Hessian is Aᵀ diag(φ″) A + diag(ψ″). Margins that it multiplies by zero are left out.

    An error of fun arrives as it is, with a note that says at which x.

    Examples
    --------
    >>> import jax.numpy as jnp, numpy as np, ksparse
    >>> from ksparse.objectives import from_jax
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = X[:, 3] - 2.0 * X[:, 8]
    >>> f = from_jax(lambda w: jnp.mean(jnp.log(jnp.cosh(y - X @ w))), 20)
    >>> ksparse.minimize(f, k=2).selected
    array([3, 8])

    A function of columns, and a free intercept:

    >>> def loss(q, columns):
    ...     return jnp.mean((jnp.asarray(X)[:, columns] @ q["w"] + q["b"] - y - 5.0) ** 2)
    >>> f = from_jax(loss, {"w": np.zeros(20), "b": 0.0}, sparse="w", columns=True)
    >>> result = ksparse.minimize(f, k=2)
    >>> float(f.unflatten(result.x)["b"].round(6))
    5.0

    See Also
    --------
    from_torch : the same for PyTorch.
    Function : value, gradient and Hessian as functions of NumPy arrays.
    """
    try:
        from .jax_derivatives import JaxDerivatives, make_leaf, read_pytree
    except ImportError as error:
        raise ImportError("from_jax needs JAX; install it with: pip install jax") from error
    check_callable(fun, "fun", "a function of x")
    check_flag(columns, "columns")
    check_flag(jit, "jit")
    lengths = _read_shape(shape, sparse)
    arrays, structure = read_pytree(shape) if lengths is None else ({"x": np.zeros(lengths)}, make_leaf())
    layout = _make_layout(arrays, sparse)
    return _make_objective(JaxDerivatives(fun, layout, structure, columns, jit), layout, arrays, lengths, columns)


def from_torch(
    fun: Callable[..., Any],
    shape: int | tuple[int, ...] | Mapping[str, Any] | torch.nn.Module,
    *,
    sparse: Any = None,
    columns: bool = False,
) -> AutodiffFunction:
    """Any smooth f that is written in PyTorch, differentiated by PyTorch.

    The gradient, products with the Hessian, and the Hessian on a support come from automatic differentiation, in
    float64. Solvers use them like those of the objectives in this package.

    Parameters
    ----------
    fun : callable
        ``fun(x) -> f(x)``, a tensor of float64 with one number. Data must be float64, too. A value that is NaN or
        infinite means that x is outside the domain: line searches step back.
    shape : int, tuple of int, dict of tensors, or torch.nn.Module
        The shape of x, then a tensor; or the parameters, if x is a dict of tensors. For a module, x is this module with
        other parameters, as in ``from_torch(lambda net: loss(net(X), y), net, sparse="0.weight")``; the module
        itself, with its buffers, is not changed. Parameters with ``requires_grad=False`` stay as they are. The values
        of the free parameters are where their search starts; sparse parameters start at zero.
    sparse : str, sequence of str, or dict, optional
        Which parameters are sparse (by default all), by name: k limits their entries, and the others are free. A dict
        gives an axis for each name: k then counts slices along the axis. ``{"0.weight": 1}`` selects input features of
        a network that begins with a linear layer. The slices of several parameters with the same index are one feature.
    columns : bool, default=False
        Whether fun takes columns, as ``fun(x, columns)``; see `from_jax`.

    Returns
    -------
    AutodiffFunction
        The objective, for `ksparse.minimize`. Its x is the vector or matrix itself, or a vector of all parameters, the
        sparse ones first, which ``objective.unflatten(x)`` turns into a dict of tensors:
        ``net.load_state_dict(objective.unflatten(result.x), strict=False)``.

    Notes
    -----
    f must be the same each time it is evaluated: switch off dropout with ``net.eval()``, and do not draw batches. A
    search begins with two evaluations at the same x, and an error if they differ. What is detached from x is a
    constant to PyTorch, and the gradient wrong: `ksparse.diagnostics.check_objective` shows it.

    An error of fun arrives as it is, with a note that says at which x.

    Examples
    --------
    >>> import torch, ksparse
    >>> from ksparse.objectives import from_torch
    >>> X = torch.randn(100, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    >>> y = X[:, 3] - 2.0 * X[:, 8]
    >>> f = from_torch(lambda w: torch.log(torch.cosh(y - X @ w)).mean(), 20)
    >>> ksparse.minimize(f, k=2).selected
    array([3, 8])

    See Also
    --------
    from_jax : the same for JAX, which compiles: faster for small data.
    """
    try:
        from .torch_derivatives import TorchDerivatives, check_not_frozen, find_caller, read_tensors
    except ImportError as error:
        raise ImportError("from_torch needs PyTorch; install it with: pip install torch") from error
    check_callable(fun, "fun", "a function of x")
    check_flag(columns, "columns")
    lengths = _read_shape(shape, sparse)
    arrays, device = read_tensors(shape if lengths is None else {"x": np.zeros(lengths)})
    check_not_frozen(shape, sparse)
    layout = _make_layout(arrays, sparse)
    caller = find_caller(fun, shape)
    derivatives = TorchDerivatives(caller, layout, device, columns, lengths is not None)
    return _make_objective(derivatives, layout, arrays, lengths, columns)


def _read_shape(shape: Any, sparse: Any) -> tuple[int, ...] | None:
    """The shape of x if it is an array; None if there are several arrays."""
    if isinstance(shape, (str, float)):
        raise TypeError(f"shape must be an integer, a tuple of them, or arrays of parameters; got {shape!r}")
    lengths = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(length, (int, np.integer)) for length in lengths):
        return None
    if sparse is not None:
        raise ValueError("sparse names arrays of a pytree or parameters of a module; here x is one array: leave it out")
    return as_shape(shape)


def _make_layout(arrays: Mapping[str, Array], sparse: Any) -> Layout:
    if not arrays:
        raise ValueError("there are no parameters; pass a shape, or arrays")
    for name, array in arrays.items():
        if array.dtype.kind != "f":
            if not name:  # a single array
                raise TypeError(
                    f"the array of parameters has entries of type {array.dtype}; pass floats, as np.zeros"
                    f"({array.shape}), or its shape, {array.shape}"
                )
            raise TypeError(
                f"the parameter {name!r} must be an array of floats, got {array.dtype}: {array!r}; pass floats, "
                "such as 1.0, or the shape of a single array as a tuple, such as (40, 2)"
            )
        if not np.isfinite(array).all():
            what = f"the parameter {name!r}" if name else "the array of parameters"
            raise ValueError(f"{what} has NaN or infinite entries; pass a finite starting point")
    return Layout.from_shapes({name: array.shape for name, array in arrays.items()}, sparse)


def _make_objective(
    derivatives: Derivatives,
    layout: Layout,
    arrays: Mapping[str, Array],
    lengths: tuple[int, ...] | None,
    takes_columns: bool,
) -> AutodiffFunction:
    start = np.empty(layout.size)
    for leaf, array in zip(layout.leaves, arrays.values(), strict=True):
        start[leaf.place] = array.ravel()
    return AutodiffFunction(derivatives, layout, lengths or (layout.size,), start, takes_columns)
