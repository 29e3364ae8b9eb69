"""Settings of the tests that must be made before anything else."""

import os
import signal

import pytest

# Before SciPy is imported: without it, scikit-learn's checks would skip those of array API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# What nohup or a script starts in the background ignores interrupts, and so would all that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

#: Folders and files that a daily run leaves out: reproduction, benchmarks, figures, scikit-learn's checks.
SLOW = ("reproduction/", "tests/benchmarks/", "tests/plots/", "tests/estimators/test_sklearn_checks.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of the slow folders."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
