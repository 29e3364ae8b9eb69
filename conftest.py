"""Settings of the tests that must be made before anything else."""

import os
import signal

import pytest

# Before SciPy is imported: without it, scikit-learn's checks would skip those of array API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# What nohup or a script starts in the background ignores interrupts, and so would all that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Folders and files that a daily run leaves out: the reproduction, figures, brute force, long fits.
SLOW = (
    "reproduction/",
    "tests/benchmarks/",
    "tests/plots/",
    "tests/cli/test_fit.py",
    "tests/estimators/test_sklearn_checks.py",
    "tests/selection/test_cv.py",
    "tests/selection/test_stability.py",
    "tests/solvers/swap/test_effort.py",
    "tests/solvers/test_oracle.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of the slow folders."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
