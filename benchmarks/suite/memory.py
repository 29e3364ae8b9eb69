"""Peak memory of a process above its memory at a starting point."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

__all__ = ["PeakMemory"]

STATUS, CLEAR_REFS = Path("/proc/self/status"), Path("/proc/self/clear_refs")
#: Seconds between samples of the resident memory, where the kernel's peak cannot be reset.
INTERVAL = 0.005


def _read_status(name: str) -> float:
    """Read an entry of the process status, in MB; NaN where the file does not exist."""
    if not STATUS.exists():
        return float("nan")
    return next((int(line.split()[1]) / 1024 for line in STATUS.read_text().splitlines() if line.startswith(name)), 0.0)


def _reset_peak() -> bool:
    """Reset the kernel's peak of the resident memory; return whether that was permitted."""
    try:
        CLEAR_REFS.write_text("5")
    except OSError:
        return False
    return True


class PeakMemory:
    """Context manager that measures the peak resident memory in a block, above that at its start, in MB.

    The kernel's peak (VmHWM) is reset at the start; where that is not permitted, a thread samples the resident memory
    every few milliseconds. Memory that the allocator kept from earlier runs and reuses is not counted.

    Attributes
    ----------
    megabytes : float
        The peak, after the block; NaN where the system has no /proc/self/status.
    """

    def __init__(self) -> None:
        self.megabytes = float("nan")
        self._stop = threading.Event()
        self._highest = 0.0
        self._sampler: threading.Thread | None = None

    def __enter__(self) -> PeakMemory:
        is_reset = _reset_peak()
        self._before = self._highest = _read_status("VmRSS")
        if not is_reset:
            self._sampler = threading.Thread(target=self._sample, daemon=True)
            self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sampler is None:
            self._highest = _read_status("VmHWM")
        else:
            self._stop.set()
            self._sampler.join()
        self.megabytes = max(self._highest - self._before, 0.0)

    def _sample(self) -> None:
        while not self._stop.wait(INTERVAL):
            self._highest = max(self._highest, _read_status("VmRSS"))
