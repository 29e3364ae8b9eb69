"""Options of ``ksparse fit``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .files.options import ReadingOptions

FOLDS = 5
#: Seconds of ``--certify`` without a number.
CERTIFY_SECONDS = 10.0
#: Bootstrap resamples by default; fewer, but so many at least, if all of them together had more numbers than this: 95 %
#: percentiles need 39.
RESAMPLES, LEAST_RESAMPLES, RESAMPLED_NUMBERS = 100, 40, 200_000_000
#: What ``fit --out`` writes.
FILES = ("model.json", "features.csv", "predictions.csv", "report.html")


@dataclass(frozen=True)
class Settings:
    """The options with their defaults; `None` leaves a choice to the command."""

    data: str = "breast-cancer"
    target: str | Sequence[str] | None = None
    time: str | None = None
    event: str | None = None
    entry: str | None = None
    strata: str | None = None
    weights: str | None = None
    exposure: str | None = None
    offset: str | None = None
    k: int | None = None
    ks: Sequence[int] | None = None
    task: str = "auto"
    test: float = 0.25
    alpha: float | None = None
    criterion: str = "cv"
    rule: str = "smooth"
    always: Sequence[str] = ()
    drop: Sequence[str] = ()
    include: Sequence[str] = ()
    dates: str = "auto"
    positive: str | None = None
    class_weight: str | None = None
    categories: Sequence[str] = ()
    power: float | None = None
    quantile: float | None = None
    dispersion: float | None = None
    refit_all: bool = True
    nested: bool | None = None
    resamples: int | None = None
    effort: int = 0
    certify: float | None = None
    seed: int = 0
    jobs: int | None = None
    out: Path | None = None
    title: str | None = None
    max_memory: int | None = None
    out_of_core: bool = False
    workers: int | None = None
    scheduler: str | None = None
    reading: ReadingOptions = field(default_factory=ReadingOptions)


def choose_resamples(rows: int, features: int) -> int:
    """How many resamples are taken of data of this size, unless the user says it.

    Examples
    --------
    >>> from ksparse.cli.settings import choose_resamples
    >>> choose_resamples(1000, 100), choose_resamples(20_000, 200), choose_resamples(1_000_000, 1000)
    (100, 50, 40)
    """
    return min(RESAMPLES, max(LEAST_RESAMPLES, RESAMPLED_NUMBERS // max(rows * features, 1)))
