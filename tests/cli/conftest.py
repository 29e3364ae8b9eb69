"""Fits of the tests take few resamples: they test what is shown, not how good an interval is. And a table to fit."""

from __future__ import annotations

import pytest

from ksparse.cli import settings

from .patients import write_patients

__all__ = ["take_few_resamples", "write_patients"]


@pytest.fixture(autouse=True)
def take_few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "RESAMPLES", 2)
