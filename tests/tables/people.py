"""A table of people with a column of each kind."""

from __future__ import annotations

import numpy as np
import pandas as pd


def make_table(rows: int = 60, seed: int = 0) -> pd.DataFrame:
    """Numbers with and without gaps, categories, truth, dates and an identifier."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Bonn", "Kiel", "Ulm"], rows, p=[0.5, 0.3, 0.2]).astype(object)
    town[::9] = None
    gaps = rng.normal(size=rows)
    gaps[::7] = np.nan
    return pd.DataFrame(
        {
            "name": [f"person {j}" for j in range(rows)],
            "plain": rng.normal(size=rows),
            "gaps": gaps,
            "town": town,
            "sick": rng.random(rows) < 0.5,
            "born": pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 3000, rows), unit="D"),
        }
    )
