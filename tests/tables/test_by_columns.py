"""An encoder that is fitted to some columns at a time is the one that is fitted to the whole table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ksparse.tables import NoColumnError, TableEncoder, describe_encoding, fit_by_columns, refit_by_columns

RNG = np.random.default_rng(0)
ROWS = 300
TABLE = pd.DataFrame(
    {
        "id": np.arange(ROWS),
        "age": RNG.normal(50, 10, ROWS),
        "gap": np.where(RNG.random(ROWS) < 0.2, np.nan, RNG.normal(size=ROWS)),
        "town": RNG.choice(["Ulm", "Bonn", "Kiel", "rare"], ROWS, p=[0.5, 0.3, 0.19, 0.01]),
        "when": pd.date_range("2024-01-01", periods=ROWS, freq="36h").astype(str),
        "price": [f"${value:,.2f}" for value in RNG.uniform(1, 9000, ROWS)],
        "site": "one",
    }
)
Y = TABLE["gap"].isna() + 0.01 * RNG.normal(size=ROWS)


def split(table: pd.DataFrame, width: int) -> Iterator[pd.DataFrame]:
    return (table.iloc[:, start : start + width] for start in range(0, table.shape[1], width))


@pytest.mark.parametrize("width", [1, 3, 10])
@pytest.mark.parametrize("options", [{}, {"drop": ["age"], "keep": ["id"]}, {"indicators": False}])
def test_the_same_encoder(width: int, options: dict[str, Any]) -> None:
    whole = TableEncoder(**options).fit(TABLE, Y)
    parts = fit_by_columns(TableEncoder(**options), split(TABLE, width), Y.to_numpy())
    assert parts.features_ == whole.features_
    assert sorted(parts.unused_, key=str) == sorted(whole.unused_, key=str)
    pd.testing.assert_frame_equal(parts.transform(TABLE), whole.transform(TABLE))
    assert sorted(describe_encoding(parts, TABLE)) == sorted(describe_encoding(whole, TABLE))
    rows = np.arange(0, ROWS, 2)
    again = refit_by_columns(parts, split(TABLE.iloc[rows], width), Y.to_numpy()[rows])
    expected = whole.refit(TABLE.iloc[rows], Y.iloc[rows])
    assert again.features_ == expected.features_
    np.testing.assert_array_equal(again.medians_, expected.medians_)


def test_no_column_can_be_used() -> None:
    with pytest.raises(NoColumnError, match="site"):
        fit_by_columns(TableEncoder(), split(TABLE[["id", "site"]], 1), Y.to_numpy())
    only = fit_by_columns(TableEncoder(), split(TABLE[["id", "site", "age"]], 1), Y.to_numpy())
    assert only.get_feature_names_out().tolist() == ["age"]
