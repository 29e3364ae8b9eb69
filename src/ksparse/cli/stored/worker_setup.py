"""What Dask runs in worker processes that the command starts, before they work."""

from __future__ import annotations

import signal
from typing import Any

__all__ = ["dask_setup"]


def dask_setup(worker: Any) -> None:  # noqa: ARG001 - what Dask passes
    """Ignore Ctrl-C, which a terminal sends to all processes: the command ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
