"""The command as a whole: its streams, signals and exit codes. What takes time is imported by its functions."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .interrupts import RaiseOnSignals, describe_stop, quit_on_signals

#: Exit codes that shells expect for bad input and a closed pipe; that of a signal is 128 and its number.
BAD_INPUT, BROKEN_PIPE = 2, 141


def run() -> None:
    """Run the command line of this process, and exit."""
    quit_on_signals()
    from .streams import occupy_descriptors

    occupy_descriptors()
    _hide_warnings()
    sys.exit(main())


def _hide_warnings() -> None:
    """Hide warnings of libraries, which are for programmers, unless Python was told to show them."""
    import os
    import warnings

    if not sys.warnoptions:
        warnings.simplefilter("ignore")
        os.environ["PYTHONWARNINGS"] = "ignore"  # for the processes of --jobs


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code, 2 for bad input."""
    from .errors import InputError
    from .streams import complain, discard_buffer, prepare_streams, write_error

    with prepare_streams():
        try:
            from .parsing import parse_arguments

            command = parse_arguments(arguments)
            with RaiseOnSignals() as signals:
                command(hold=signals.hold)
        except BrokenPipeError:
            discard_buffer(sys.stdout)
            return BROKEN_PIPE
        except (InputError, OSError) as error:
            complain(error)
            return BAD_INPUT
        except MemoryError as error:
            complain(str(error) or "not enough memory; use fewer rows or columns")
            return BAD_INPUT
        except KeyboardInterrupt as stop:
            message, code = describe_stop(stop)
            write_error(message)
            return code
    return 0
