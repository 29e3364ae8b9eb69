"""A table of patients, and fits of it by the command."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from .helpers import accepted

ROWS = 240


def make_patients(seed: int = 0) -> pd.DataFrame:
    """People whose illness depends on their age and on smoking, and whose cost depends on their age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, ROWS)
    smoker = rng.choice(["never", "former", "daily"], ROWS, p=[0.5, 0.3, 0.2])
    risk = 0.12 * (age - 50) + 2.5 * (smoker == "daily") + rng.logistic(size=ROWS)
    return pd.DataFrame(
        {
            "row": np.arange(1, ROWS + 1),
            "patient": [f"P{number:04d}" for number in rng.permutation(ROWS)],
            "age": age,
            "smoker": smoker,
            "pressure": np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(130, 15, ROWS).round(1)),
            "admitted": (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, ROWS), unit="D")).date,
            "site": "Ulm",
            "outcome": np.where(risk > 0, "ill", "well"),
            "cost": (100 + 3 * age + rng.normal(0, 20, ROWS)).round(2),
        }
    )


@pytest.fixture(name="patients")
def write_patients(tmp_path: Path) -> Path:
    make_patients().to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def fit(capsys: pytest.CaptureFixture[str], path: Path, target: str, *options: str | Path) -> str:
    return accepted(capsys, "fit", path, "--target", target, "--no-nested", *options)


def fit_ill(capsys: pytest.CaptureFixture[str], path: Path, *options: str | Path) -> str:
    """The illness by two columns of three."""
    drop = ["--drop", "cost,admitted", "--k", "2", "--alpha", "0.01"]
    return fit(capsys, path, "outcome", *drop, *options)


def read(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text))
