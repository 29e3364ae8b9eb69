"""Cases of the fuzzer, drawn by Hypothesis: the same ones each time, and the simplest one that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.checks import CHECKS
from fuzz.outcomes import Missed, Refused


@st.composite
def drawn_cases(draw: Callable[[Any], Any], name: str) -> Any:
    return CHECKS[name].draw(lambda options: draw(st.sampled_from(options)))


def check_many(name: str, examples: int) -> None:
    """Run a check on some cases; clear refusals, and solutions that a search may miss, are no failures."""

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(drawn_cases(name))
    def run(case: Any) -> None:
        try:
            CHECKS[name].run(case)
        except (Refused, Missed):
            return

    run()
