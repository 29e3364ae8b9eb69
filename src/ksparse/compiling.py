"""Functions compiled by Numba; modules that use it are imported only when they are needed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar, overload

from numba import njit
from numba.core.event import Event, Listener, register

from .clock import compiling_time
from .signal_guard import guard_signals

__all__ = ["jit_compile"]

log = logging.getLogger(__name__)

F = TypeVar("F", bound=Callable[..., Any])

#: Changes of a sum that the compiler may make to vectorize it; NaN and infinity keep their meaning.
REASSOCIATE = {"reassoc", "nsz", "contract"}
#: The event that spans compiling, and loading what was compiled before; "numba:compile" is compiling alone.
LOCK = "numba:compiler_lock"


@overload
def jit_compile(function: F) -> F: ...


@overload
def jit_compile(*, reassociate: bool) -> Callable[[F], F]: ...


def jit_compile(function: F | None = None, *, reassociate: bool = False) -> Any:
    """Compile a function on its first call, and cache the result for other processes where that is possible.

    It releases the GIL, and divides by zero as NumPy does. Handlers of signals wait until it has returned. With
    `reassociate` the terms of a sum may be added in another order.
    """
    if function is None:
        return lambda later: _compile(later, reassociate)
    return _compile(function, reassociate)


def _compile(function: F, reassociate: bool) -> Any:
    options: Any = {"nogil": True, "error_model": "numpy", "fastmath": REASSOCIATE if reassociate else False}
    try:
        return _Compiled(njit(cache=True, **options)(function))
    except RuntimeError:  # neither the package's folder nor the user's is writable
        return _Compiled(njit(**options)(function))


class _Compiled:
    """A compiled function, for calls from Python; compiled functions that call it use what Numba has made."""

    def __init__(self, function: Any) -> None:
        self._function = function
        #: Where Numba looks for the type of a global name.
        self._numba_type_ = function._numba_type_
        update_wrapper(self, function, updated=())

    def __call__(self, *arguments: Any) -> Any:
        return guard_signals.call(self._function, arguments)


class _CompilingListener(Listener):
    """Keeps the time that compiling takes, which is not to count in time limits, and says why it takes long."""

    def on_start(self, event: Event) -> None:
        if event.kind == LOCK:
            compiling_time.start()
        elif compiling_time.depth == 1:
            log.info("compiling for the first time, up to a minute in all: %s", event.data["dispatcher"].__name__)

    def on_end(self, event: Event) -> None:
        if event.kind == LOCK:
            compiling_time.end()


_listener = _CompilingListener()
for _kind in (LOCK, "numba:compile"):
    register(_kind, _listener)  # type: ignore[no-untyped-call]
