"""What Ctrl-C and requests to terminate do to the command; imported before everything that takes time."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType

#: What is said of signals that end the command; Windows has no SIGHUP.
WORDS = {
    getattr(signal, name): word
    for name, word in (("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "hung up"))
    if hasattr(signal, name)
}
#: Seconds after a signal in which others are ignored, since what it ends cleans up.
PATIENCE = 1.0
#: Seconds after which a signal is sent again that came while Python could not raise an exception.
DELAY = 0.05


class Stop(KeyboardInterrupt):
    """A signal that ends the command. To libraries it is Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def describe_stop(stop: KeyboardInterrupt) -> tuple[str, int]:
    """What is said of a signal, and the exit code that shells expect."""
    number = stop.number if isinstance(stop, Stop) else signal.SIGINT
    return f"ksparse: {WORDS[signal.Signals(number)]}\n", 128 + number


def quit_on_signals() -> None:
    """Let signals end the process at once, with a message.

    This is for the time of the imports and of the exit, when there is nothing to clean up. An exception would fall into
    code of others, which may not expect one.
    """
    for number in _find_signals():
        signal.signal(number, _quit)


def _quit(number: int, _: FrameType | None) -> None:
    message, code = describe_stop(Stop(number))
    with suppress(OSError):
        os.write(2, message.encode())
    os._exit(code)


def _find_signals() -> list[int]:
    """The signals to handle: those that the caller ignores, as nohup does, remain ignored."""
    return [number for number in WORDS if signal.getsignal(number) not in (signal.SIG_IGN, None)]


class RaiseOnSignals:
    """A context in which signals raise `Stop`, but not within `hold`.

    It does nothing in other threads than the main one, which signals do not reach.
    """

    def __init__(self) -> None:
        self._handlers = {number: signal.getsignal(number) for number in _find_signals()}
        self._unraisablehook = sys.unraisablehook
        self._received: int | None = None
        self._pending = False
        self._held = 0
        self._quiet_until = 0.0

    def __enter__(self) -> RaiseOnSignals:
        with suppress(ValueError):  # not in the main thread
            for number in self._handlers:
                signal.signal(number, self._handle)
        self._unraisablehook, sys.unraisablehook = sys.unraisablehook, self._send_again
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        sys.unraisablehook = self._unraisablehook
        with suppress(ValueError):
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
        if self._received is not None and isinstance(error, Exception):
            raise Stop(self._received) from error  # a library made another error of it

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let signals wait until the end of this context."""
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
        if self._pending and not self._held:
            self._raise()

    def _handle(self, number: int, _: FrameType | None) -> None:
        if time.monotonic() < self._quiet_until:
            return
        self._received, self._pending = number, True
        if not self._held:
            self._raise()

    def _raise(self) -> None:
        assert self._received is not None
        self._pending = False
        self._quiet_until = time.monotonic() + PATIENCE
        raise Stop(self._received)

    def _send_again(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Send a signal again whose exception was lost, as in a destructor."""
        if not isinstance(unraisable.exc_value, Stop):
            self._unraisablehook(unraisable)
            return
        from threading import Timer

        self._quiet_until = 0.0
        again = Timer(DELAY, os.kill, (os.getpid(), unraisable.exc_value.number))
        again.daemon = True
        again.start()
