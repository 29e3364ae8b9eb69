"""Settings of the tests that must be made before anything else."""

import os
import signal

from hypothesis import HealthCheck, settings

# Before SciPy is imported: without it, scikit-learn's checks would skip those of array API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
# Workers of xdist share the cores already; threads of theirs would wait for each other. Before NumPy is imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# What nohup or a script starts in the background ignores signals, and so would all that the tests send them to.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
# The same examples each time, however slow or busy the machine is.
settings.register_profile(
    "same", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")
