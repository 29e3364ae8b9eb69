"""Fixtures of the tests of the command line."""

from __future__ import annotations

import sys

import pytest

from ksparse.cli import reproduce
from ksparse.experiments import running

from .small_experiment import Small, WithData


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Small:
    experiments = (Small(), WithData())
    monkeypatch.setenv("KSPARSE_DATA", "")  # what --data sets is then undone
    monkeypatch.delenv("KSPARSE_DATA")
    # The package calls its function by the name of the module.
    for module in (reproduce, sys.modules["ksparse.cli.main"]):
        monkeypatch.setattr(module, "EXPERIMENTS", experiments)
    monkeypatch.setattr(running, "experiment_named", lambda name: next(e for e in experiments if e.name == name))
    return experiments[0]
