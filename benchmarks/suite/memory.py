"""Peak memory of a process, above what it had before."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType

__all__ = ["PeakMemory"]

STATUS, MARK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
#: Seconds between two looks, where the kernel keeps no mark that can be reset.
INTERVAL = 0.005


def _status(name: str) -> float:
    """A line of the process's status, in MB; NaN where there is no such file."""
    if not STATUS.exists():
        return float("nan")
    return next((int(line.split()[1]) / 1024 for line in STATUS.read_text().splitlines() if line.startswith(name)), 0.0)


def _reset() -> bool:
    """Whether the kernel's high-water mark of resident memory could be reset."""
    try:
        MARK.write_text("5")
    except OSError:
        return False
    return True


class PeakMemory:
    """Resident memory at its highest while a block runs, above that at its beginning, in MB.

    The kernel's high-water mark (VmHWM) is reset at the beginning, or, where that is not allowed, resident memory is
    looked at every few milliseconds by a thread. What an allocator kept of earlier runs is used again unseen.

    Attributes
    ----------
    megabytes : float
        The peak, after the block; NaN where the system does not tell.
    """

    def __init__(self) -> None:
        self.megabytes = float("nan")
        self._stop = threading.Event()
        self._highest = 0.0
        self._watcher: threading.Thread | None = None

    def __enter__(self) -> PeakMemory:
        resets = _reset()
        self._before = self._highest = _status("VmRSS")
        if not resets:
            self._watcher = threading.Thread(target=self._watch, daemon=True)
            self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watcher is None:
            self._highest = _status("VmHWM")
        else:
            self._stop.set()
            self._watcher.join()
        self.megabytes = max(self._highest - self._before, 0.0)

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL):
            self._highest = max(self._highest, _status("VmRSS"))
