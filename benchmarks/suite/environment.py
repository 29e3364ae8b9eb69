"""Environment variables that fix the number of threads; libraries read them when they are imported."""

from __future__ import annotations

import os

__all__ = ["make_environment", "use_one_thread"]


def make_environment(threads: int) -> dict[str, str]:
    """Return the variables that limit BLAS, OpenMP, Numba and JAX to a number of threads."""
    variables = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    variables["JAX_PLATFORMS"] = "cpu"
    if threads == 1:
        variables["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    return variables


def use_one_thread() -> None:
    """Limit this process to one thread; call it before NumPy is imported. Variables that are already set are kept."""
    for name, value in make_environment(1).items():
        os.environ.setdefault(name, value)
