"""The report: settings that people can read."""

from __future__ import annotations

from dataclasses import dataclass

from ksparse.experiments import Settings
from ksparse.experiments.report import described


@dataclass(frozen=True)
class Many(Settings):
    places: tuple[tuple[int, int], ...] = ((100, 5), (200, 5), (300, 5), (400, 5))
    few: tuple[int, ...] = (1, 2, 3)
    uneven: tuple[float, ...] = (1.0, 2.0, 4.0, 0.00001)
    words: tuple[str, ...] = ("a", "b", "c", "d")
    tries_at: int = 3
    original: bool = False


def test_settings_in_a_line() -> None:
    assert described(Many()) == (
        "places = ((100, 5), (200, 5), …, (400, 5)); few = (1, 2, 3); uneven = (1, 2, 4, 1e-05);"
        " words = (a, b, c, d); tries at = 3; original = no"
    )
