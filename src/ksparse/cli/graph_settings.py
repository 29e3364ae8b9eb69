"""Options of ``ksparse graph``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .files.options import ReadingOptions


@dataclass(frozen=True)
class GraphSettings:
    """The options with their defaults; `None` leaves a choice to the command."""

    data: str
    k: int | None = None  # None: one edge for each variable
    choose_k: bool = False
    ks: Sequence[int] | None = None
    groups: Path | None = None
    transform: str | None = None
    shrinkage: float | None = None  # None: chosen, if `choose_shrinkage` says so, otherwise 0
    choose_shrinkage: bool = False
    drop: Sequence[str] = ()
    stability: int | None = None  # pairs of halves
    effort: int = 0
    seed: int = 0
    jobs: int | None = None
    out: Path | None = None
    max_memory: int | None = None
    reading: ReadingOptions = field(default_factory=ReadingOptions)
