"""Fits of the tests take few resamples: they test what is shown, not how good an interval is."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ksparse.cli.settings import Settings


@pytest.fixture(autouse=True)
def take_few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = zip(fields(Settings), Settings.__init__.__defaults__ or (), strict=True)
    few = tuple(2 if field.name == "resamples" else default for field, default in defaults)
    monkeypatch.setattr(Settings.__init__, "__defaults__", few)
