"""Standard output and error that may be closed, full or broken."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .errors import InputError, escape_control


class ClosedStream(io.TextIOBase):
    """A stream that was closed before the command began; Python has None for it."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, "it is closed")


def occupy_descriptors() -> None:
    """Open closed standard streams on the null device, so that no file gets their numbers, and with it stray text."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            with suppress(OSError):
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # gets the lowest free number


@contextmanager
def prepare_streams() -> Iterator[None]:
    """Within this context, standard streams exist, and take letters that a terminal lacks."""
    before: dict[str, Any] = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    for name, stream in before.items():
        if stream is None:
            setattr(sys, name, ClosedStream())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        for name, stream in before.items():
            setattr(sys, name, stream)


def is_output_closed() -> bool:
    """Whether standard output was closed before the command began."""
    return isinstance(sys.stdout, ClosedStream)


def require_output(advice: str) -> None:
    """Raise early if standard output is closed, and all that is printed would be lost."""
    if is_output_closed():
        raise InputError(f"cannot write to standard output: it is closed; {advice}")


def write_output(text: str) -> None:
    """Write to standard output, now: errors must not wait until the interpreter exits."""
    with explain_output_errors():
        sys.stdout.write(text)
        sys.stdout.flush()


@contextmanager
def explain_output_errors() -> Iterator[None]:
    """Turn what can go wrong with standard output into an `InputError`; a broken pipe remains one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        discard_buffer(sys.stdout)
        raise InputError(f"cannot write to standard output: {error.strerror or error}; direct it elsewhere") from error


def write_error(text: str) -> None:
    """Write to standard error if that is possible; there is no other place for errors."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        discard_buffer(sys.stderr)


def complain(problem: object) -> None:
    """Show a problem in one line."""
    write_error(f"ksparse: {escape_control(problem)}\n")


def discard_buffer(stream: Any) -> None:
    """Give up what a stream could not write, which Python would try again when it exits."""
    with suppress(OSError, ValueError):  # a stream without a descriptor has nothing to write at exit
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
