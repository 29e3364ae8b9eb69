"""Signals while compiled functions run: their handlers wait until the function has returned.

Numba makes Python objects of what a function returns, and calls Python for that. Where the handler of a signal raises
an exception there, as that of Ctrl-C does, the process crashes, or the exception becomes a SystemError.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from .clock import compiling_time

__all__ = ["SignalGuard", "guard_signals"]

#: Signals whose handlers raise exceptions in the programs of some; Windows has not all of them.
GUARDED = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM") if hasattr(signal, name)]
MAIN_THREAD = threading.main_thread().ident


class SignalGuard:
    """A context in which handlers of signals are called at once, as ever, but not within compiled functions.

    It belongs to the main thread, which is where Python calls handlers, and does nothing in others. Within itself it
    does nothing either. Entering it takes some microseconds, so that fits and proofs do so once.
    """

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._pending: list[tuple[int, FrameType | None]] = []
        self._depth = self._compiled = 0
        self._note = self._receive  # one object, which can be recognized

    def __enter__(self) -> None:
        if threading.get_ident() != MAIN_THREAD:
            return
        if self._depth == 0:
            self._compiled += 1  # handlers that are exchanged already wait
            try:
                for number in GUARDED:
                    handler = signal.getsignal(number)
                    if callable(handler) and handler is not self._note:
                        self._handlers[number] = handler
                        signal.signal(number, self._note)
            finally:
                self._compiled -= 1
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        if threading.get_ident() != MAIN_THREAD:
            return
        self._depth -= 1
        if self._depth > 0:
            return
        self._compiled += 1
        try:
            for number, handler in reversed(self._handlers.items()):  # that of Ctrl-C comes last
                if signal.getsignal(number) is self._note:  # otherwise a callback has set another one
                    signal.signal(number, handler)
        finally:
            self._compiled -= 1
        self._call_pending()

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """What a compiled function returns."""
        if threading.get_ident() != MAIN_THREAD:
            return function(*arguments)
        if self._depth == 0:
            with self:
                return self.call(function, arguments)
        self._compiled += 1
        try:
            return function(*arguments)
        finally:
            self._compiled -= 1
            if self._pending:
                self._call_pending()

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._compiled and not compiling_time.depth:
            self._pending.append((number, frame))
        else:
            self._handlers[number](number, frame)

    def _call_pending(self) -> None:
        while self._pending and not self._compiled:
            number, frame = self._pending.pop(0)
            self._handlers[number](number, frame)


guard_signals = SignalGuard()
