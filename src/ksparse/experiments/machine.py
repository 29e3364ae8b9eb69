"""What a run was made with."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .journal import Mark

__all__ = ["effort", "machine", "versions"]

PACKAGES = ("ksparse", "numpy", "scipy", "scikit-learn", "numba")


def machine() -> str:
    """The processor and its cores."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def versions() -> str:
    """Versions of Python and of the packages that the results depend on."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in PACKAGES)])


def effort(marks: Sequence[Mark | None]) -> str:
    """From when to when tasks were done, and what they took; nothing if it is known of none.

    Parameters
    ----------
    marks : sequence of Mark or None
        Of each task that was done; None where it is not known.
    """
    known = [mark for mark in marks if mark is not None]
    if not known:
        return ""
    days = sorted({mark.when.date().isoformat() for mark in known})
    when = f"on {days[0]}" if len(days) == 1 else f"from {days[0]} to {days[-1]}"
    which = "" if len(known) == len(marks) else f" of {len(known)} of the {len(marks)} tasks (not known of the others)"
    return f"results{which} {when}, {sum(mark.seconds for mark in known):.0f} seconds of the processor"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown processor")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"
