"""How much memory there is: of the machine, or what its container may take."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

__all__ = ["find_container_limit", "find_machine_memory"]

#: Where Linux says which groups a process belongs to, and what each may take.
MEMBERSHIP, GROUPS = "/proc/self/cgroup", "/sys/fs/cgroup"


def find_machine_memory() -> float:
    """Bytes of memory that this machine has, or that its container may take if that is less."""
    machine = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    return min(machine, find_container_limit())


def find_container_limit(membership: str | os.PathLike[str] = MEMBERSHIP, groups: str = GROUPS) -> float:
    """The smallest limit of the control groups of this process, in bytes; infinite without any."""
    try:
        lines = Path(membership).read_text().splitlines()
    except OSError:  # not Linux
        return float("inf")
    limits = [float("inf")]
    for line in lines:
        number, controllers, group = line.split(":", 2)
        if "memory" in controllers.split(","):  # the first version
            base, name = Path(groups, "memory"), "memory.limit_in_bytes"
        elif number == "0":
            base, name = Path(groups), "memory.max"
        else:
            continue
        # Within a container, its group may be the root. A group has no more than those that it is in.
        inner = PurePosixPath(group.lstrip("/"))
        limits += [_read_limit(base / part / name) for part in (inner, *inner.parents)]
    return min(limits)


def _read_limit(path: Path) -> float:
    try:
        text = path.read_text().strip()
        return float(text) if text != "max" else float("inf")
    except (OSError, ValueError):
        return float("inf")
