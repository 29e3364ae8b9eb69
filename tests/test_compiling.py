"""Compiled functions work where their cache may be written, and where it may not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ksparse import compiling


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
