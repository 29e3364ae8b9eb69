"""How a check ends: it passes, refuses, misses the best solution, or fails; and what a clear refusal is."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import ksparse

__all__ = ["Failed", "Missed", "Refused", "check_status", "demand", "fit_clearly", "refuse_clearly"]

#: Where an error for a user may be raised.
EXPECTED_PLACES = (Path(ksparse.__file__).parent.as_posix(), "sklearn/utils", "sklearn/model_selection")
#: What the message of a solver that has succeeded does not say.
FAILING_WORDS = ("falls for ever", "unbounded", "not converge", "did not", "NaN", "gave up")


class Failed(AssertionError):
    """What ksparse gives is wrong."""


class Refused(Exception):
    """The input was refused with an error or a warning that says why."""


class Missed(Exception):
    """The solution is right, but a search with more effort finds a better one, or another: heuristics may do so."""


def demand(holds: Any, message: str) -> None:
    """Fail with a message unless this holds."""
    if not holds:
        raise Failed(message)


@contextmanager
def refuse_clearly() -> Iterator[None]:
    """Turn an error that is meant for a user into `Refused`, and any other error or warning into `Failed`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("always", ksparse.ConvergenceWarning)
            yield
    except (Failed, Refused, Missed, MemoryError, TimeoutError):
        raise
    except ValueError as error:
        place = Path(traceback.extract_tb(error.__traceback__)[-1].filename).as_posix()
        if isinstance(error, np.linalg.LinAlgError) or not any(part in place for part in EXPECTED_PLACES):
            raise Failed(f"{type(error).__name__} from {place}: {error}") from error
        demand("\n" not in str(error).strip() or "sklearn" in place, f"an error of several lines: {error}")
        raise Refused(str(error)) from error
    except Exception as error:
        raise Failed(f"{type(error).__name__}: {error}") from error


def fit_clearly(problem: Any, **changes: Any) -> Any:
    """A fitted estimator whose status, message and warnings say the same."""
    with refuse_clearly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ksparse.ConvergenceWarning)
        model = problem.fit(**changes)
    check_status(model.result_, bool(caught))
    return model


def check_status(result: ksparse.Result, warned: bool) -> None:
    """The status, the message and the warning must not contradict each other."""
    demand(result.success or warned, f"status {result.status} without a warning: {result.message}")
    demand(not (result.success and warned), f"status {result.status} with a warning: {result.message}")
    words = [word for word in FAILING_WORDS if result.success and word in result.message]
    demand(not words, f"status {result.status}, but the message says: {result.message}")
    demand(
        result.success or not result.message.startswith("converged"),
        f"status {result.status}, but the message says: {result.message}",
    )
