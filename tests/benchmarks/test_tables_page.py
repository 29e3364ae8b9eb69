"""The comparison on tables in the documentation is rendered from the committed results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tables import RESULTS, count_columns, fit_ksparse, fit_usual, render

ROOT = Path(__file__).parents[2]


def test_the_table_is_rendered_from_the_results() -> None:
    assert render(pd.read_csv(RESULTS)) in (ROOT / "docs" / "tables.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("fit", [fit_ksparse, fit_usual])
def test_both_use_the_columns_that_matter(fit: object) -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(["Bonn", "Kiel", "Ulm"], 200)
    table = pd.DataFrame({"town": town, "size": rng.normal(size=200), "noise": rng.normal(size=200)})
    y = 3.0 * (town == "Ulm") + table["size"].to_numpy()
    model = fit(table, y, False)  # type: ignore[operator]
    assert 2 <= count_columns(model, table) <= 3
    assert model.score(table, y) > 0.99
