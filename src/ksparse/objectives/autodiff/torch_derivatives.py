"""Values and derivatives of a function by PyTorch. Only `from_torch` imports this module, and with it PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch

from ..._types import Array, IntArray
from ..user import add_note
from .leaves import Layout

__all__ = ["TorchDerivatives", "check_not_frozen", "find_caller", "read_tensors"]

#: From the arrays by name to the value of the user's function, with the columns if it takes them.
Caller = Callable[..., Any]


def read_tensors(parameters: Mapping[str, Any] | torch.nn.Module) -> tuple[dict[str, Array], Any]:
    """The arrays of the parameters by name, and the device on which they are."""
    if isinstance(parameters, torch.nn.Module):
        tensors = {name: tensor for name, tensor in parameters.named_parameters() if tensor.requires_grad}
        if not tensors:
            count = len(list(parameters.parameters()))
            raise ValueError(
                f"none of the {count} parameters of the module may change: all have requires_grad=False; call "
                "requires_grad_(True) on those that f is a function of"
                if count
                else "the module has no parameters; pass one that has, or a shape"
            )
    elif not isinstance(parameters, Mapping):
        kind = type(parameters).__name__
        raise TypeError(f"shape must be an integer, a tuple of them, a dict of tensors, or a module; got {kind}")
    else:
        tensors = {str(name): torch.as_tensor(tensor) for name, tensor in parameters.items()}
    devices = {tensor.device for tensor in tensors.values()}
    if len(devices) > 1:
        raise ValueError(f"the parameters are on {sorted(map(str, devices))}; move them to one device")
    arrays = {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors.items()}
    return arrays, next(iter(devices), torch.get_default_device())


def check_not_frozen(parameters: Any, sparse: Any) -> None:
    """Raise if `sparse` names a parameter of a module that has no gradient."""
    if not isinstance(parameters, torch.nn.Module) or sparse is None:
        return
    named = [sparse] if isinstance(sparse, str) else list(sparse) if isinstance(sparse, Iterable) else []
    frozen = [name for name, tensor in parameters.named_parameters() if not tensor.requires_grad and name in named]
    if frozen:
        raise ValueError(
            f"sparse names {', '.join(map(repr, frozen))}, but requires_grad=False keeps that as it is; call "
            "requires_grad_(True) on it, or leave it out of sparse"
        )


def find_caller(function: Callable[..., Any], parameters: Any) -> Caller:
    """How to call a function of a tensor, of a dict of tensors, or of a module."""
    if isinstance(parameters, torch.nn.Module):
        return _pass_module(function, parameters)
    if isinstance(parameters, Mapping):
        return function
    return lambda tensors, *columns: function(*tensors.values(), *columns)


def _pass_module(function: Callable[..., Any], module: torch.nn.Module) -> Caller:
    """Call a function of a module with other parameters, which leaves the module itself as it is.

    Its constants, the frozen parameters and buffers as they are now, are copied for each call: a normalization writes
    into its buffers, also the one that counts. Those with floats are passed as float64.
    """
    inner = _FunctionOfModule(function, module)
    frozen = [pair for pair in inner.named_parameters() if not pair[1].requires_grad]
    constants = {
        name: tensor.detach().to(torch.float64 if tensor.is_floating_point() else tensor.dtype, copy=True)
        for name, tensor in [*frozen, *inner.named_buffers()]
    }

    def call(tensors: dict[str, Any], *columns: Any) -> Any:
        copies = {name: tensor.clone() for name, tensor in constants.items()}
        renamed = {f"module.{name}": tensor for name, tensor in tensors.items()}
        return torch.func.functional_call(inner, {**copies, **renamed}, columns)

    return call


class _FunctionOfModule(torch.nn.Module):  # type: ignore[misc]
    """A module whose output is the function of another one."""

    def __init__(self, function: Callable[..., Any], module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module
        self._call = function
        self.training = module.training  # of this module alone: parts of the user's may be in another mode

    def forward(self, *columns: Any) -> Any:
        return self._call(self.module, *columns)


class TorchDerivatives:
    """A function of a flat vector, differentiated backwards, twice for products with the Hessian."""

    compile_seconds = 0.0
    compilations = 0
    is_traced = False

    def __init__(self, caller: Caller, layout: Layout, device: Any, takes_columns: bool, is_single: bool) -> None:
        self._caller, self._layout, self._device = caller, layout, device
        self._takes_columns, self._is_single = takes_columns, is_single

    def round_up(self, count: int) -> int:
        return count  # nothing is compiled

    def unflatten(self, x: Array) -> Any:
        tensors = self._split(torch.tensor(x, device=self._device), self._layout)
        return next(iter(tensors.values())) if self._is_single else tensors

    def trace(self, x: Array, columns: IntArray | None) -> None:
        """Nothing: PyTorch calls the function for each evaluation."""

    def compute_value(self, x: Array, columns: IntArray | None) -> float:
        value: float = self._run(x, columns)[1].item()
        return value

    def evaluate(self, x: Array, columns: IntArray | None) -> tuple[float, Array]:
        flat, value = self._run(x, columns)
        gradient = torch.autograd.grad(value, flat)[0]
        return value.item(), gradient.cpu().numpy()

    def multiply_hessian(self, x: Array, columns: IntArray | None, directions: Array) -> Array:
        flat, value = self._run(x, columns)
        gradient = torch.autograd.grad(value, flat, create_graph=True)[0]
        if not gradient.requires_grad:
            return np.zeros_like(directions)  # f is linear
        rows = torch.as_tensor(directions, device=self._device)
        options: dict[str, Any] = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
        try:
            products = torch.autograd.grad(gradient, flat, rows, is_grads_batched=True, **options)[0]
        except RuntimeError:  # some derivatives cannot be batched
            products = torch.stack([torch.autograd.grad(gradient, flat, row, **options)[0] for row in rows])
        return products.cpu().numpy()

    def is_quadratic(self, x: Array) -> bool:
        return False  # PyTorch records operations that have run, not how their results depend on x

    def find_margins(self, x: Array) -> None:
        return None

    def _run(self, x: Array, columns: IntArray | None) -> tuple[Any, Any]:
        """The flat vector as a tensor, and f of it."""
        layout = self._layout.with_columns(None if columns is None else columns.size)
        with torch.enable_grad():
            flat = torch.tensor(x, dtype=torch.float64, device=self._device, requires_grad=True)
            arguments: list[Any] = [self._split(flat, layout)]
            if self._takes_columns:
                arguments.append(slice(None) if columns is None else torch.as_tensor(columns, device=self._device))
            try:
                return flat, _check_value(self._caller(*arguments))
            except (RuntimeError, TypeError) as error:
                if "dtype" in str(error):
                    add_note(error, "x is float64, and so must the data be: convert them with .double()")
                if "numpy" in str(error):
                    add_note(error, "x is a tensor, and so must the data be: convert them with torch.as_tensor(X)")
                raise

    def _split(self, flat: Any, layout: Layout) -> dict[str, Any]:
        return {leaf.name: array for leaf, array in zip(layout.leaves, layout.split(flat), strict=True)}


def _check_value(value: Any) -> Any:
    """What the user's function returned, as a scalar."""
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"the function returned a {type(value).__name__}; it must return one number, f(x), as a tensor")
    if value.numel() != 1:
        shape = tuple(value.shape)
        raise ValueError(f"the function returned a tensor of shape {shape}; it must return one number, f(x)")
    if value.is_complex():
        raise ValueError(f"the function returned {value.dtype}; f(x) must be real: return abs(…)**2 or the real part")
    if value.dtype != torch.float64:
        raise ValueError(
            f"the function returned {value.dtype} for parameters of float64; compute in float64: "
            "convert data with .double(), and leave out .float()"
        )
    if not value.requires_grad:
        raise ValueError(
            "the function returned a tensor without derivatives; compute it from x by operations of PyTorch, without "
            ".detach(), .item(), .numpy() and torch.no_grad()"
        )
    return value.reshape(())
