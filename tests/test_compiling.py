"""Compiled functions work where their cache may be written, and where it may not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ksparse
from ksparse import compiling, objectives


def test_without_a_place_for_the_cache_functions_are_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    plain: Any = compiling.njit  # type: ignore[attr-defined]

    def nowhere(*, cache: bool = False, **options: Any) -> Any:
        if cache:
            raise RuntimeError("cannot cache function 'double': no locator available for file")
        return plain(**options)

    monkeypatch.setattr(compiling, "njit", nowhere)

    def double(x: float) -> float:
        return 2.0 * x

    assert compiling.jit_compile(double)(3.0) == 6.0


@pytest.mark.slow
def test_numba_is_imported_only_when_it_is_needed(tmp_path: Path) -> None:
    code = "import sys, ksparse; print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert run.stdout.strip() == "False"


def count_signatures() -> dict[str, int]:
    """For how many types of arguments each function has been compiled."""
    modules = [module for name, module in sys.modules.items() if name.startswith("ksparse.") and module is not None]
    found = {id(value): value for module in modules for value in vars(module).values() if is_compiled(value)}
    return {value.__qualname__: len(value.__wrapped__.signatures) for value in found.values()}


def is_compiled(value: Any) -> bool:
    return hasattr(value, "__wrapped__") and hasattr(value.__wrapped__, "nopython_signatures")


def make_problem(kind: str, number: Callable[[float], Any]) -> Any:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30)) + rng.standard_normal((60, 1))
    y = X[:, :3].sum(axis=1) + 3.0 * rng.standard_normal(60)
    counts = rng.poisson(1.0, 60)
    problems: dict[str, Callable[[], Any]] = {
        "squares": lambda: objectives.LeastSquares(X, y, alpha=number(1)),
        "logistic": lambda: objectives.Logistic(X, y > 0, alpha=number(1)),
        "huber": lambda: objectives.Huber(X, y, alpha=number(1), delta=number(1)),
        "quantile": lambda: objectives.Quantile(X, y, alpha=number(1), quantile=0.5, bandwidth=number(1)),
        "tweedie": lambda: objectives.Tweedie(X / 5, counts, alpha=number(1), power=number(1)),
        "counts": lambda: objectives.NegativeBinomial(X / 5, counts, alpha=number(1), dispersion=number(1)),
    }
    return problems[kind]()


def use_numbers(kind: str, number: Callable[[float], Any], integer: Callable[[int], Any]) -> None:
    """Give numbers of some type wherever a number is taken."""
    problem = make_problem(kind, number)
    result = ksparse.minimize(problem, integer(3), solver=ksparse.SwapGraHTP(max_iter=integer(50)))
    result.certificate(steps=integer(50), time_limit=number(20))
    limits = {"time_limit": number(20), "max_nodes": integer(200)}
    ksparse.solve_exact(problem, integer(3), gap=number(1), **limits)
    ksparse.solve_exact(problem, integer(3), within=number(0), **limits)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["squares", "logistic", "huber", "quantile", "tweedie", "counts"])
def test_numbers_of_other_types_compile_nothing_again(kind: str) -> None:
    use_numbers(kind, float, int)
    before = count_signatures()
    assert before
    for number, integer in ((np.float32, np.int32), (np.float64, np.int64), (int, np.uint8), (np.int16, int)):
        use_numbers(kind, number, integer)
        assert count_signatures() == before
