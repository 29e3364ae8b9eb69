"""Settings of the tests that must be made before SciPy is imported."""

import os

# Without it, scikit-learn's checks would skip those of array API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
