"""Fits and pages for the tests of the report."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from ksparse.cli.data import load_data
from ksparse.cli.fitted_model import FittedModel
from ksparse.cli.fitting import fit_model
from ksparse.cli.settings import Settings

#: A name that would be markup, a formula of a spreadsheet or of Plotly, and an escape sequence of a terminal.
EVIL = "=</script><img src=x onerror=alert(1)><b>&amp;%{y}$x$\u202e\x1b[31m"


def fit(**options: Any) -> FittedModel:
    """What ``ksparse fit`` computes."""
    settings = Settings(**options)
    return fit_model(load_data(settings), settings)


@cache
def fit_cancer() -> FittedModel:
    """Two classes, with several k."""
    return fit(data="breast-cancer", ks=(0, 2, 4), alpha=0.01)


@cache
def fit_diabetes() -> FittedModel:
    """A number, with several k."""
    return fit(data="diabetes", ks=(1, 3), alpha=0.01)


def fit_iris(folder: Path, resamples: int) -> FittedModel:
    """Three classes, with intervals."""
    frame = load_iris(as_frame=True)
    table = frame.data.assign(species=frame.target_names[frame.target])
    table.to_csv(folder / "iris.csv", index=False)
    return fit(data=str(folder / "iris.csv"), target="species", k=2, alpha=0.01, resamples=resamples)


def write_evil_table(folder: Path, rows: int = 80) -> Path:
    """A table whose names and classes are hostile."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, 3))
    labels = np.array([f"a{EVIL}", "@SUM(1)", "</style>"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    names = ",".join(f'"{name}"' for name in (f"x{EVIL}", "b", "c", f"t{EVIL}"))
    lines = [f'{a},{b},{c},"{label}"' for (a, b, c), label in zip(X.tolist(), labels.tolist(), strict=True)]
    path = folder / "evil.csv"
    path.write_text("\n".join([names, *lines]))
    return path


def read_data(page: str) -> dict[str, Any]:
    """The data within a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.S)
    assert found is not None
    return json.loads(found[1])


def find_state(data: dict[str, Any], k: int) -> dict[str, Any]:
    """What a page shows of the model with k features."""
    return next(state for state in data["states"] if state["k"] == k)
